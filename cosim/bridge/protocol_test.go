package bridge

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/cosim/dpi"
	"github.com/nicloop/nicloop/drivers"
)

// compile builds a C++ program with the sources of package dpi and runs it.
func compile(t *testing.T, flags, files []string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, dpi.Sources.(fs.ReadDirFS)))
	program := filepath.Join(dir, "program")
	cmd := exec.Command("g++", append(append([]string{"-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", program}, flags...), files...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(program, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// Both languages use the same frame layout. The C++ side prints its own.
func TestLayout(t *testing.T) {
	var program strings.Builder
	program.WriteString("#include <cstdio>\n#include \"protocol.h\"\nusing namespace nicloop;\nint main() {\n")
	var want []string
	expect := func(expression string, value any) {
		fmt.Fprintf(&program, "std::printf(\"%%s %%llu\\n\", %q, (unsigned long long)(%s));\n", expression, expression)
		want = append(want, fmt.Sprintf("%s %d", expression, value))
	}
	expect("kMagic", uint64(magic))
	for name, v := range map[string]int{
		"kVersion": version, "kMaxMessage": maxMessage, "kMaxNodes": maxNodes, "kMaxVpids": maxVPIDs,
		"kPostReg": cmdPostReg, "kPostPio": cmdPostPIO, "kReadReg": cmdReadReg, "kWatch": cmdWatch, "kArm": cmdArm,
		"kArmPio": cmdArmPIO, "kArmIrq": cmdArmIRQ, "kRun": cmdRun, "kTrace": cmdTrace, "kWaves": cmdWaves, "kShutdown": cmdShutdown, "kRepeat": cmdRepeat, "kSegment": cmdSegment,
		"kStopped": evStopped, "kWatchHit": evWatchHit, "kPioHit": evPIOHit, "kIrqHit": evIRQHit, "kRegValue": evRegValue,
		"kBusError": evBusError, "kDmaError": evDMAError, "kFault": evFault, "kHeartbeat": evHeartbeat, "kError": evError, "kRepeated": evRepeated,
		"kStopQuiet": stopQuiet, "kStopIdle": stopIdle, "kStopTraceFull": stopTraceFull, "kStopNoAnswer": stopNoAnswer,
		"kReadResume": readResume, "kMsgBufferIdle": msgBufferIdle, "kMsgBufferLooking": msgBufferLooking, "kMsgBufferFull": msgBufferFull,
		"kCommandBuffer": commandBuffer, "kEventBuffer": eventBuffer, "kMsgBuffersEnd": msgBuffersEnd,
		"sizeof(Command)": commandBytes, "sizeof(PioLine)": lineBytes, "sizeof(Event)": eventBytes, "sizeof(Text)": textBytes,
		"sizeof(Hello)": helloBytes, "sizeof(Welcome)": welcomeBytes, "sizeof(MsgBuffer)": int(unsafe.Sizeof(msgBuffer{})),
		"offsetof(MsgBuffer, bytes)": int(unsafe.Offsetof(msgBuffer{}.bytes)), "offsetof(MsgBuffer, data)": int(unsafe.Offsetof(msgBuffer{}.data)),
		"offsetof(Control, trace_count)": int(unsafe.Offsetof(control{}.traceCount)),
		"offsetof(Control, pio_taken)":   int(unsafe.Offsetof(control{}.pioTaken)), "sizeof(Control)": int(unsafe.Sizeof(control{})),
		"sizeof(TraceRecord)":          int(unsafe.Sizeof(drivers.TraceEvent{})),
		"offsetof(TraceRecord, cycle)": int(unsafe.Offsetof(drivers.TraceEvent{}.Cycle)),
		"offsetof(TraceRecord, data)":  int(unsafe.Offsetof(drivers.TraceEvent{}.Data)),
		"offsetof(TraceRecord, node)":  int(unsafe.Offsetof(drivers.TraceEvent{}.Node)),
		"offsetof(TraceRecord, point)": int(unsafe.Offsetof(drivers.TraceEvent{}.Point)),
		"offsetof(TraceRecord, flags)": int(unsafe.Offsetof(drivers.TraceEvent{}.Flags)),
		"offsetof(TraceRecord, vc)":    int(unsafe.Offsetof(drivers.TraceEvent{}.VC)),
	} {
		expect(name, v)
	}
	// Fields inside the frames: a frame encoded in Go is decoded in C++.
	c := command{typ: 1, node: 2, id: 3, at: 4, addr: 5, value: 6}
	fmt.Fprintf(&program, "unsigned char b[] = {%s}; Command c; __builtin_memcpy(&c, b, sizeof c);\n", bytesOf(c.append(nil)))
	for i, field := range []string{"type", "node", "id", "at", "addr", "value"} {
		expect("c."+field, i+1)
	}
	w := welcome{nodes: 1, memoryBytes: 2, memoryStart: 3, traceStart: 4, traceRecords: 5, sharedBytes: 6, buildHash: [32]byte{7}}
	fmt.Fprintf(&program, "unsigned char d[] = {%s}; Welcome w; __builtin_memcpy(&w, d, sizeof w);\n", bytesOf(w.append(nil)))
	for i, field := range []string{"nodes", "memory_bytes", "memory_offset", "trace_offset", "trace_records", "shared_bytes", "build_hash[0]"} {
		expect("w."+field, i+1)
	}
	program.WriteString("}\n")
	dir := t.TempDir()
	file := filepath.Join(dir, "layout.cpp")
	require.NoError(t, os.WriteFile(file, []byte(program.String()), 0o600))
	out := compile(t, []string{"-I."}, []string{file})
	require.Equal(t, strings.Join(want, "\n")+"\n", out)
}

func bytesOf(b []byte) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(b), " ", ","), "[]") }

// The C++ decoder and executor with random and mutated messages, under sanitizers.
func TestFuzzFrames(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a fuzzer")
	}
	n := seed(t)
	out := compile(t, []string{"-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"},
		[]string{"fuzz_frames.cpp", "decode.cpp", "bridge.cpp", "border.cpp", "wiring.cpp"}, fmt.Sprint(n), "20000")
	require.Contains(t, out, fmt.Sprintf("seed %d", n))
	t.Log(strings.TrimSpace(out))
}

func FuzzDecode(f *testing.F) {
	f.Add(make([]byte, eventBytes))
	stopped := make([]byte, eventBytes)
	stopped[0] = evStopped
	f.Add(stopped)
	f.Add(append([]byte{evFault}, make([]byte, eventBytes+textBytes)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &Session{nodes: 4, watches: 3, mem: &shared{}, cfg: Config{Only: []int{1, 3}}}
		var a answer
		var stop drivers.Stop
		for len(b) > 0 {
			var e event
			n, err := decodeEvent(b, &e)
			if (err == nil) != (n > 0) || n > len(b) {
				t.Fatalf("decodeEvent: %d of %d bytes, error %v", n, len(b), err)
			}
			if err != nil {
				require.ErrorIs(t, err, drivers.ErrProtocol)
				return
			}
			if _, err := s.apply(&a, &e, &stop); err != nil {
				require.ErrorIs(t, err, drivers.ErrProtocol)
			}
			b = b[n:]
		}
		for _, fired := range stop.Fired {
			require.Less(t, fired.Node, 4)
			require.Less(t, int(fired.Watch), 3)
		}
	})
}

// A message that the simulator does not understand ends the session with an error that names it.
func TestGarbageToSimulator(t *testing.T) {
	valid := (&command{typ: cmdRun, at: 10}).append(nil)
	for want, message := range map[string][]byte{
		"frame type 0x0077 is unknown":                    append([]byte{0x77}, make([]byte, 31)...),
		"frame type 0x0000 is unknown":                    make([]byte, 64),
		"expected 32 bytes, found 5":                      append(valid[:32:32], 1, 2, 3, 4, 5),
		"POST_PIO at byte 0 of 32 is cut":                 (&command{typ: cmdPostPIO, value: 1}).append(nil),
		"POST_PIO: 9 quadwords, expected 1..8":            append((&command{typ: cmdPostPIO, value: 9}).append(nil), make([]byte, 64)...),
		"POST_PIO: VPID 99, but there are 16":             (&command{typ: cmdPostPIO, id: 99, value: 1}).append(nil),
		"frame 0x01: node 4, but there are 4":             (&command{typ: cmdPostReg, node: 4}).append(nil),
		"ARM: watch 7, but there are 0":                   (&command{typ: cmdArm, id: 7}).append(nil),
		"WATCH: expected id 0, found 1":                   (&command{typ: cmdWatch, id: 1, value: 8}).append(nil),
		"leaves the memory of 0x10000 bytes":              (&command{typ: cmdWatch, addr: ^uint64(0), value: 2}).append(nil),
		"0x11000 bytes from 0x0 on":                       (&command{typ: cmdSegment, value: 0x11000}).append(nil),
		"0x800 at address 0x0: expected multiples of":     (&command{typ: cmdSegment, at: 0x800, value: 8}).append(nil),
		"SEGMENT: node 1: one at address 8192 overlaps":   (&command{typ: cmdSegment, node: 1, addr: 0x2000, value: 8}).append((&command{typ: cmdSegment, node: 1, addr: 0x1000, value: 0x1001}).append(nil)),
		"TRACE: the session was opened without":           (&command{typ: cmdTrace, value: 1}).append(nil),
		"WAVES: the simulator was started without a file": (&command{typ: cmdWaves, value: 1}).append(nil),
		"message of 40000 bytes, expected at most 32768":  make([]byte, 40000),
	} {
		s := start(t, nil)
		require.NoError(t, s.conn.write(message))
		s.bySocket = true
		var stop drivers.Stop
		var err error
		for range 2 { // the first may still be sent before the simulator exits
			if err = s.Run(20, &stop); err != nil {
				break
			}
		}
		require.ErrorIs(t, err, drivers.ErrProtocol)
		require.ErrorContains(t, err, want)
		<-s.proc.done
		require.Equal(t, 3, s.proc.cmd.ProcessState.ExitCode())
	}
}

// startFake starts a session with a simulator played by this test binary.
func startFake(t *testing.T, role string) (*Session, error) {
	t.Helper()
	t.Setenv("BRIDGE_TEST_ROLE", role)
	t.Setenv("TMPDIR", t.TempDir())
	cfg := config()
	cfg.Program = os.Args[0]
	cfg.Patience = 2 * time.Second
	s, err := Start(context.Background(), cfg)
	left, _ := os.ReadDir(os.Getenv("TMPDIR"))
	require.Empty(t, left)
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, err
}

func TestHandshakeMismatch(t *testing.T) {
	for role, want := range map[string]string{
		"hello-magic":   "this is no simulator of ours: expected magic 0x3147444252434c4e, found 00",
		"hello-version": "expected protocol version 4, the simulator has 5",
		"hello-short":   "expected 72 bytes, found 40",
		"hello-nodes":   "nodes: expected 4, the simulator has 5",
		"hello-dims":    "mesh: expected [2 2 1], the simulator has [4 1 1]",
		"hello-vpids":   "VPIDs: expected 16, the simulator has 8",
		"hello-desc":    "description hash: expected 0x1122334455667788, the simulator has 0x1122334455667789",
		"hello-hash":    "build hash: expected ",
	} {
		_, err := startFake(t, role)
		require.ErrorIs(t, err, drivers.ErrProtocol, role)
		require.ErrorContains(t, err, want)
	}
	// And in the other direction: a simulator that does not match the host refuses, too.
	_, err := startFake(t, "exit")
	require.ErrorIs(t, err, drivers.ErrPeerDied)
	require.ErrorContains(t, err, "exit status 7; it said:\nlast words")
	_, err = startFake(t, "silent")
	require.ErrorIs(t, err, drivers.ErrStarved)
}

func TestSimulatorChecksWelcome(t *testing.T) {
	for want, change := range map[string]func(*welcome){
		"the model has 4 nodes, the host wants 3":  func(w *welcome) { w.nodes = 3 },
		"the host wants ff":                        func(w *welcome) { w.buildHash[0] = 0xff },
		"layout contradicts itself":                func(w *welcome) { w.memoryBytes = 5 },
		"shared memory of 282624 bytes, announced": func(w *welcome) { w.sharedBytes += 4096 },
	} {
		cfg := config()
		require.NoError(t, cfg.validate())
		s, err := newSession(cfg)
		require.NoError(t, err)
		s.cfg.BuildHash = fixture.Hash
		s.mem.layout.buildHash[0] = fixture.Hash[0]
		change(&s.mem.layout)
		err = s.start(context.Background())
		require.ErrorIs(t, err, drivers.ErrPeerDied)
		require.ErrorContains(t, err, want)
		s.release(0)
	}
}

func TestGarbageFromSimulator(t *testing.T) {
	for role, want := range map[string]string{
		"event-type":   "event type 0x0001 is unknown",
		"event-cut":    "event is cut: expected 32 bytes, found 31",
		"event-node":   "event 0x43 of node 9, but there are 4",
		"event-watch":  "watch 0 fired, but there are 0",
		"event-behind": "32 bytes behind STOPPED",
		"event-past":   "stopped at cycle 5, before 10",
		"event-long":   "a message of more than 32768 bytes",
		"event-hangup": "exit status 0",
	} {
		s, err := startFake(t, role)
		require.NoError(t, err)
		var stop drivers.Stop
		for err == nil {
			err = s.Run(10, &stop)
		}
		if role == "event-hangup" {
			require.ErrorIs(t, err, drivers.ErrPeerDied)
		} else {
			require.ErrorIs(t, err, drivers.ErrProtocol)
		}
		require.ErrorContains(t, err, want)
		require.NoError(t, s.Close())
	}
}

// playSimulator is a simulator with one fault.
func playSimulator(role, socket string) {
	if role == "exit" {
		fmt.Println("last words")
		os.Exit(7)
	}
	address := &net.UnixAddr{Name: socket, Net: "unixpacket"}
	c, err := net.DialUnix("unixpacket", nil, address)
	if err != nil {
		panic(err)
	}
	if role == "silent" {
		readAll(c)
		return
	}
	_, _ = c.Write(fakeHello(role))
	b := make([]byte, maxMessage)
	if n, _ := c.Read(b); n == 0 || strings.HasPrefix(role, "hello") {
		return
	}
	stopped := func(cycle uint64) []byte { return fakeEvent(evStopped, 0, cycle) }
	_, _ = c.Write(stopped(0))
	_, _ = c.Read(b)
	_, _ = c.Write(stopped(10))
	_, _ = c.Read(b)
	switch role {
	case "event-type":
		_, _ = c.Write(fakeEvent(1, 0, 10))
	case "event-cut":
		_, _ = c.Write(stopped(10)[:31])
	case "event-node":
		_, _ = c.Write(fakeEvent(evPIOHit, 9, 10))
	case "event-watch":
		_, _ = c.Write(fakeEvent(evWatchHit, 0, 10))
	case "event-behind":
		_, _ = c.Write(append(stopped(10), stopped(10)...))
	case "event-past":
		_, _ = c.Write(stopped(5))
	case "event-long":
		_, _ = c.Write(make([]byte, maxMessage+1))
	case "event-hangup":
		return
	}
	readAll(c)
}

func fakeEvent(typ, node uint16, cycle uint64) []byte {
	b := binary.LittleEndian.AppendUint16(nil, typ)
	b = binary.LittleEndian.AppendUint16(b, node)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint64(b, cycle)
	return append(b, make([]byte, 16)...)
}

// fakeHello is correct except for the role's fault.
func fakeHello(role string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, magic)
	for _, v := range []uint32{version, 4, 2, 2, 1, 16} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = binary.LittleEndian.AppendUint64(b, testDesc)
	model, err := buildFixture(false)
	if err != nil {
		panic(err)
	}
	b = append(b, model.Hash[:]...)
	switch role {
	case "hello-magic":
		b[0] = 0
	case "hello-version":
		b[8]++
	case "hello-short":
		b = b[:40]
	case "hello-nodes":
		b[12]++
	case "hello-dims":
		b[16], b[20] = 4, 1
	case "hello-vpids":
		b[28] = 8
	case "hello-desc":
		b[32]++
	case "hello-hash":
		b[40]++
	}
	return b
}

// asNobody runs f in a thread of another user, which ends with it.
func asNobody(t *testing.T, f func() error) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		const nobody, same = 65534, ^uintptr(0)
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, same, nobody, same); errno != 0 {
			result <- errno
			return
		}
		result <- f()
	}()
	require.NoError(t, <-result)
}

func dial(path string) (conn, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return conn{}, err
	}
	return conn{fd}, unix.Connect(fd, &unix.SockaddrUnix{Name: path})
}

func TestOtherUserCannotConnect(t *testing.T) {
	t.Setenv("TMPDIR", "/tmp")
	l, err := listen()
	require.NoError(t, err)
	defer l.close()
	var stranger conn
	asNobody(t, func() error {
		c, err := dial(l.path)
		c.close()
		if err == nil {
			return fmt.Errorf("the directory let another user in")
		}
		return nil
	})
	// Even with permissions for everybody, the credentials are checked.
	require.NoError(t, os.Chmod(l.dir, 0o755))
	require.NoError(t, os.Chmod(l.path, 0o666))
	asNobody(t, func() (err error) {
		stranger, err = dial(l.path)
		return err
	})
	defer stranger.close()
	c, err := l.accept(context.Background(), nil, time.Second)
	require.NoError(t, err)
	defer c.close()
	require.ErrorContains(t, c.checkPeer(0), "runs as user 65534, expected 0")
}

func TestOtherProcessIsRefused(t *testing.T) {
	l, err := listen()
	require.NoError(t, err)
	defer l.close()
	self, err := dial(l.path)
	require.NoError(t, err)
	defer self.close()
	c, err := l.accept(context.Background(), nil, time.Second)
	require.NoError(t, err)
	defer c.close()
	require.NoError(t, c.checkPeer(os.Getpid()))
	require.ErrorContains(t, c.checkPeer(1), "connected, expected the simulator, 1")
}

// The simulator checks the user of the host, too.
func TestSimulatorRefusesOtherUser(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "nicloop-test-")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o777))
	path := filepath.Join(dir, "bridge")
	var fd int
	asNobody(t, func() (err error) {
		if fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0); err != nil {
			return err
		}
		if err = unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
			return err
		}
		return unix.Listen(fd, 1)
	})
	defer unix.Close(fd)
	out, err := exec.Command(fixture.Program, path).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "runs as user 65534, expected 0")
}

// Batches of random size arrive complete and in order, through message buffer and socket.
func TestMsgBufferAndSocketKeepOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(seed(t), 4))
	s := start(t, nil)
	for i := range 300 {
		n := 1 + r.IntN(3)
		if r.IntN(8) == 0 {
			n = 100 + r.IntN(2000)
		}
		last := uint64(0)
		for range n {
			last = r.Uint64()
			s.PostReg(i%4, 0, regScratch, last)
		}
		v, err := s.ReadReg(i%4, regScratch)
		require.NoError(t, err)
		require.Equal(t, last, v)
	}
}
