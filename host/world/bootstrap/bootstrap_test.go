package bootstrap

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/world"
)

// A child is this test binary, started with childAt set. It joins as described by its launcher
// variables, passes a fence and prints the directory.
const childAt = "NICLOOP_TEST_JOIN"

func TestMain(m *testing.M) {
	if at := os.Getenv(childAt); at != "" {
		if err := child(at); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var token = []byte("this is known to all programs")

func child(at string) error {
	id, found, err := FromEnvironment(os.Getenv)
	if err != nil || !found {
		return fmt.Errorf("launcher's variables: %v, %w", found, err)
	}
	s, err := Join(context.Background(), Config{Address: at, Token: token, Size: id.Size, World: "test", Mine: map[int]world.Location{id.Rank: location(id.Rank)}})
	if err != nil {
		return err
	}
	defer s.Close()
	text, err := json.Marshal(s.Directory())
	if err != nil {
		return err
	}
	fmt.Println(string(text))
	if os.Getenv("NICLOOP_TEST_SLEEP") != "" {
		time.Sleep(time.Hour)
	}
	if err := s.Fence(context.Background()); err != nil {
		return err
	}
	fmt.Println("passed")
	return nil
}

// start starts a child.
func start(t *testing.T, at string, rank, size int, env ...string) (*exec.Cmd, *bufio.Scanner) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, childAt+"="+at, fmt.Sprintf("PMI_RANK=%d", rank), fmt.Sprintf("PMI_SIZE=%d", size))...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewScanner(out)
}

func location(rank int) world.Location {
	return world.Location{Host: "h", Node: rank / 2, VPID: rank % 2, Domain: 3}
}

func config(t *testing.T, network string, size int, mine ...int) Config {
	c := Config{Address: "tcp:127.0.0.1:0", Token: token, Size: size, World: "test", Mine: map[int]world.Location{}, Timeout: 10 * time.Second}
	if network == "unix" {
		c.Address = "unix:" + filepath.Join(t.TempDir(), "socket")
	}
	for _, r := range mine {
		c.Mine[r] = location(r)
	}
	return c
}

func listen(t *testing.T, c Config) *Listener {
	l, err := Listen(c)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

var networks = []string{"unix", "tcp"}

// TestPrograms: the programs of one machine agree on the directory and pass a fence.
func TestPrograms(t *testing.T) {
	for _, network := range networks {
		t.Run(network, func(t *testing.T) {
			l := listen(t, config(t, network, 4, 0, 2))
			_, one := start(t, l.Addr(), 1, 4)
			_, three := start(t, l.Addr(), 3, 4)
			s, err := l.Wait(context.Background())
			require.NoError(t, err)
			defer s.Close()
			for r, p := range s.Directory() {
				require.Equal(t, location(r), p)
			}
			text, err := json.Marshal(s.Directory())
			require.NoError(t, err)
			for _, out := range []*bufio.Scanner{one, three} {
				require.True(t, out.Scan())
				require.Equal(t, string(text), out.Text())
			}
			passed := make(chan string, 1)
			go func() { one.Scan(); passed <- one.Text() }()
			select {
			case text := <-passed:
				t.Fatalf("%q before all were at the fence", text)
			case <-time.After(100 * time.Millisecond):
			}
			require.NoError(t, s.Fence(context.Background()))
			require.Equal(t, "passed", <-passed)
		})
	}
}

// join joins in this process.
func join(l *Listener, c Config, rank int) (*Session, error) {
	c.Address, c.Mine = l.Addr(), map[int]world.Location{rank: location(rank)}
	return Join(context.Background(), c)
}

// wait calls Wait in the background.
func wait(l *Listener) chan error {
	done := make(chan error, 1)
	go func() {
		s, err := l.Wait(context.Background())
		if err == nil {
			s.Close()
		}
		done <- err
	}()
	return done
}

// TestWrongToken: a program with another token is refused and does not delay the others.
func TestWrongToken(t *testing.T) {
	for _, network := range networks {
		c := config(t, network, 2, 0)
		l := listen(t, c)
		all := wait(l)
		wrong := c
		wrong.Token = []byte("another token of that length.")
		_, err := join(l, wrong, 1)
		require.ErrorIs(t, err, ErrToken)
		_, err = join(l, c, 1)
		require.NoError(t, err)
		require.NoError(t, <-all)
	}
}

// TestWrongListener: a listener that does not know the token is detected; it cannot forge a
// directory.
func TestWrongListener(t *testing.T) {
	c := config(t, "tcp", 2, 0)
	c.Token = []byte("another token of that length.")
	l := listen(t, c)
	all := wait(l)
	c.Token = token
	_, err := join(l, c, 1)
	require.ErrorIs(t, err, ErrToken)
	require.NoError(t, l.Close())
	require.ErrorIs(t, <-all, drivers.ErrClosed)
}

// TestDeathInBootstrap: the death of a program during bootstrap ends it for all others, with the
// ranks of that program.
func TestDeathInBootstrap(t *testing.T) {
	for _, network := range networks {
		c := config(t, network, 4, 0)
		l := listen(t, c)
		all := wait(l)
		other := make(chan error, 1)
		go func() {
			_, err := join(l, c, 1)
			other <- err
		}()
		cmd, _ := start(t, l.Addr(), 2, 4)
		require.Never(t, func() bool { return len(all)+len(other) > 0 }, 300*time.Millisecond, 50*time.Millisecond)
		require.NoError(t, cmd.Process.Signal(syscall.SIGKILL))
		for _, got := range []error{<-all, <-other} {
			var peer *PeerError
			require.ErrorAs(t, got, &peer)
			require.Equal(t, []int{2}, peer.Ranks)
			require.ErrorIs(t, got, drivers.ErrPeerDied)
		}
	}
}

// TestDeathBeforeAFence: a death after bootstrap is reported at the next fence.
func TestDeathBeforeAFence(t *testing.T) {
	c := config(t, "unix", 3, 0)
	l := listen(t, c)
	sessions := make(chan *Session, 1)
	go func() {
		s, _ := join(l, c, 1)
		sessions <- s
	}()
	cmd, out := start(t, l.Addr(), 2, 3, "NICLOOP_TEST_SLEEP=1")
	s, err := l.Wait(context.Background())
	require.NoError(t, err)
	require.True(t, out.Scan())
	one := <-sessions
	fences := make(chan error, 2)
	go func() { fences <- one.Fence(context.Background()) }()
	go func() { fences <- s.Fence(context.Background()) }()
	require.NoError(t, cmd.Process.Signal(syscall.SIGKILL))
	for range 2 {
		var peer *PeerError
		require.ErrorAs(t, <-fences, &peer)
		require.Equal(t, []int{2}, peer.Ranks)
	}
}

// TestDeathOfTheListener: the listener may die as well.
func TestDeathOfTheListener(t *testing.T) {
	c := config(t, "tcp", 2, 0)
	l := listen(t, c)
	waited := make(chan *Session, 1)
	go func() {
		s, _ := l.Wait(context.Background())
		waited <- s
	}()
	one, err := join(l, c, 1)
	require.NoError(t, err)
	require.NoError(t, (<-waited).Close())
	require.ErrorIs(t, one.Fence(context.Background()), drivers.ErrPeerDied)
}

// TestStrangers: strangers that send nothing, or garbage, are dropped, and the world starts without
// them.
func TestStrangers(t *testing.T) {
	for _, network := range networks {
		c := config(t, network, 2, 0)
		c.Timeout = 1200 * time.Millisecond
		l := listen(t, c)
		all := wait(l)
		kind, address, _ := strings.Cut(l.Addr(), ":")
		silent, err := net.Dial(kind, address)
		require.NoError(t, err)
		defer silent.Close()
		babbler, err := net.Dial(kind, address)
		require.NoError(t, err)
		defer babbler.Close()
		_, err = babbler.Write([]byte(strings.Repeat("GET / HTTP/1.1\r\n", 10)))
		require.NoError(t, err)
		time.Sleep(400 * time.Millisecond) // longer than the handshake timeout
		require.NoError(t, silent.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
		_, err = silent.Read(make([]byte, 1000)) // the greeting
		require.NoError(t, err)
		_, err = silent.Read(make([]byte, 1))
		require.Error(t, err)
		require.False(t, errors.Is(err, os.ErrDeadlineExceeded), "the stranger is still connected")
		_, err = join(l, c, 1)
		require.NoError(t, err)
		require.NoError(t, <-all)
	}
}

// TestTwoClaims: of two programs that claim one rank, the second is refused.
func TestTwoClaims(t *testing.T) {
	c := config(t, "unix", 3, 0)
	l := listen(t, c)
	all := wait(l)
	first := make(chan error, 1)
	go func() {
		_, err := join(l, c, 1)
		first <- err
	}()
	time.Sleep(100 * time.Millisecond)
	_, err := join(l, c, 1)
	require.ErrorIs(t, err, ErrClaimed)
	require.ErrorContains(t, err, "rank 1")
	_, err = join(l, c, 0)
	require.ErrorIs(t, err, ErrClaimed, "that of who listens")
	_, err = join(l, c, 2)
	require.NoError(t, err)
	require.NoError(t, <-first)
	require.NoError(t, <-all)
}

// TestOtherWorlds: ranks at the same location, or programs of different worlds, are refused.
func TestOtherWorlds(t *testing.T) {
	c := config(t, "unix", 2, 0)
	l := listen(t, c)
	all := wait(l)
	other := c
	other.World = "another one"
	_, err := join(l, other, 1)
	require.ErrorIs(t, err, ErrDiffers)
	other = c
	other.Size = 3
	_, err = join(l, other, 1)
	require.ErrorIs(t, err, ErrDiffers)
	other = c
	other.Address, other.Mine = l.Addr(), map[int]world.Location{1: location(0)}
	_, err = Join(context.Background(), other)
	require.ErrorContains(t, err, "ranks 0 and 1 both live on node 0 as process 0")
	require.ErrorIs(t, <-all, drivers.ErrConfig)
}

// TestMissing: the error lists the ranks that did not join.
func TestMissing(t *testing.T) {
	c := config(t, "unix", 5, 0)
	c.Timeout = 300 * time.Millisecond
	l := listen(t, c)
	all := wait(l)
	_, joined := join(l, c, 3)
	for _, err := range []error{joined, <-all} {
		var missing *MissingError
		require.ErrorAs(t, err, &missing)
		require.Equal(t, []int{1, 2, 4}, missing.Ranks)
	}
	_, err := join(l, c, 1)
	require.Error(t, err, "nobody listens any more")
}

// TestForeignSockets: a file of another user, or accessible to others, is not used. A socket with a
// listener is not replaced.
func TestForeignSockets(t *testing.T) {
	c := config(t, "unix", 2, 0)
	path := strings.TrimPrefix(c.Address, "unix:")
	l := listen(t, c)
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	other := c
	other.uid = os.Geteuid() + 1 // as another user sees it
	_, err = join(l, other, 1)
	require.ErrorIs(t, err, ErrForeign)
	_, err = Listen(other)
	require.ErrorIs(t, err, ErrForeign)
	_, err = Listen(c)
	require.ErrorContains(t, err, "somebody listens at")

	require.NoError(t, os.Chmod(path, 0o666))
	_, err = join(l, c, 1)
	require.ErrorContains(t, err, "has mode 666")
	require.NoError(t, l.Close())
	require.NoFileExists(t, path)

	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err = Listen(c)
	require.ErrorContains(t, err, "is no socket")
	require.FileExists(t, path)
}

// TestForeignProgram: the listener checks the user of a connection with the kernel.
func TestForeignProgram(t *testing.T) {
	c := config(t, "unix", 2, 0)
	c.uid = os.Geteuid() + 1 // acts as another user
	l := listen(t, c)
	conn, err := net.Dial("unix", strings.TrimPrefix(l.Addr(), "unix:"))
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
	_, err = conn.Read(make([]byte, 1))
	require.Error(t, err)
	require.False(t, errors.Is(err, os.ErrDeadlineExceeded), "it is heard out")
}

// TestStaleSocket: the socket left by a dead program is replaced.
func TestStaleSocket(t *testing.T) {
	c := config(t, "unix", 1, 0)
	path := strings.TrimPrefix(c.Address, "unix:")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	stale.SetUnlinkOnClose(false)
	require.NoError(t, stale.Close())
	require.NoError(t, os.Chmod(path, 0o600))
	s, err := listen(t, c).Wait(context.Background())
	require.NoError(t, err)
	require.NoError(t, s.Fence(context.Background()))
	require.NoError(t, s.Close())
}

func TestConfigs(t *testing.T) {
	good := config(t, "tcp", 2, 0)
	for want, change := range map[string]func(*Config){
		"expected unix:PATH or tcp:HOST:PORT":        func(c *Config) { c.Address = "udp:1" },
		"is not this machine's own: Remote permits":  func(c *Config) { c.Address = "tcp:0.0.0.0:0" },
		"is not this machine's own":                  func(c *Config) { c.Address = "tcp::0" },
		"a token of 3 bytes":                         func(c *Config) { c.Token = []byte("abc") },
		"0 of 2 ranks are this program's":            func(c *Config) { c.Mine = nil },
		"rank 2 of this program: expected 0 to 1":    func(c *Config) { c.Mine = map[int]world.Location{2: {}} },
		`address "tcp:127.0.0.1": address 127.0.0.1`: func(c *Config) { c.Address = "tcp:127.0.0.1" },
	} {
		c := good
		change(&c)
		_, err := Listen(c)
		require.ErrorIs(t, err, drivers.ErrConfig, want)
		require.ErrorContains(t, err, want)
	}
}

func TestLaunchers(t *testing.T) {
	from := func(vars ...string) func(string) string {
		return func(name string) string {
			for _, v := range vars {
				if value, ok := strings.CutPrefix(v, name+"="); ok {
					return value
				}
			}
			return ""
		}
	}
	id, found, err := FromEnvironment(from("SLURM_PROCID=3", "SLURM_NTASKS=8", "SLURMD_NODENAME=n17", "PMI_RANK=1", "PMI_SIZE=2"))
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, Identity{Rank: 3, Size: 8, Host: "n17", Launcher: "Slurm"}, id)
	id, found, err = FromEnvironment(from("SLURM_NTASKS=8", "PMI_RANK=1", "PMI_SIZE=2"))
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, Identity{Rank: 1, Size: 2, Launcher: "PMI"}, id)
	_, found, err = FromEnvironment(from("SLURM_NTASKS=8"))
	require.NoError(t, err)
	require.False(t, found)
	for _, bad := range [][]string{{"PMI_RANK=1"}, {"PMI_RANK=2", "PMI_SIZE=2"}, {"SLURM_PROCID=x", "SLURM_NTASKS=2"}, {"PMI_RANK=-1", "PMI_SIZE=2"}} {
		_, _, err = FromEnvironment(from(bad...))
		require.ErrorIs(t, err, drivers.ErrConfig, bad)
	}
}
