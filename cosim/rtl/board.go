package rtl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	_ "github.com/nicloop/nicloop/drivers/uart" // opens the pseudo-terminals
	hdl "github.com/nicloop/nicloop/rtl"
)

// Parameters of a simulated board.
const (
	boardBaud   = 3_000_000
	maxBoards   = 2
	chipDivisor = 8 // of ice40_top
	// driverBaud is the rate from which the driver derives its timeouts. Simulated bits take longer
	// than real ones, on a loaded machine much longer, and a pseudo-terminal does not limit the
	// rate.
	driverBaud = 4800
	boardGrace = 5 * time.Second // for a simulator to exit
	boardSaid  = 1 << 14         // bytes kept of its last output
)

// A boardRequest is a validated URI with uart=pty.
type boardRequest struct {
	request
	args   []string // of the program
	memory int
	log    string
}

// onUART reports whether a URI names a device behind serial lines.
func onUART(keys map[string]string) (bool, error) {
	switch keys["uart"] {
	case "pty":
		return true, nil
	case "":
		for _, key := range registry.KeyNames(lineKeys) {
			if _, ok := keys[key]; ok && key != "uart" {
				return false, fmt.Errorf("%w: rtl:?%s is of a serial line: expected uart=pty beside it", drivers.ErrConfig, key)
			}
		}
		return false, nil
	}
	return false, fmt.Errorf("%w: uart=%s: expected pty", drivers.ErrConfig, keys["uart"])
}

func parseBoard(path string, keys map[string]string, opt drivers.Options) (*boardRequest, error) {
	if path != "" {
		return nil, fmt.Errorf("%w: rtl:%s: expected no path; settings are keys, as in rtl:?uart=pty", drivers.ErrConfig, path)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(boardKeys, key) {
			return nil, fmt.Errorf("%w: rtl:?uart=pty has no %s: it knows %s", drivers.ErrNotSupported, key, strings.Join(boardKeys, ", "))
		}
	}
	if opt.Trace != nil || opt.Waves != nil || opt.Checkpoints != nil {
		return nil, fmt.Errorf("%w: rtl:?uart=pty shows no traces, waves and checkpoints: it is a board", drivers.ErrNotSupported)
	}
	dims, err := mesh(keys["dims"], opt.Nodes)
	if err != nil {
		return nil, err
	}
	if dims[0] > maxBoards || dims[1] != 1 || dims[2] != 1 {
		return nil, fmt.Errorf("%w: %s boards on serial lines: expected 1 or %d", drivers.ErrNotSupported, machine.FormatDims(dims), maxBoards)
	}
	r := &boardRequest{request: request{keys: maps.Clone(keys)}, memory: opt.MemoryBytes, log: opt.LogFile}
	r.cfg.Dims = dims
	r.spec = build.Spec{Include: hdl.Include, Ports: machine.PortsFor(dims), Board: true, Progress: opt.Progress, Log: opt.Log}
	if err := r.setChip(keys); err != nil {
		return nil, err
	}
	if has := r.boardMemory(); opt.MemoryBytes > has {
		return nil, fmt.Errorf("%w: %d bytes of memory: %s has %d", drivers.ErrNotSupported, opt.MemoryBytes, r.called(), has)
	}
	if err := r.setBoardSource(keys["src"]); err != nil {
		return nil, err
	}
	return r, r.setLine(keys)
}

// setChip parses whether it is the small board of an iCE40, and whether to simulate the RTL or the
// synthesised netlist.
func (r *boardRequest) setChip(keys map[string]string) error {
	if size, ok := keys["size"]; ok && size != "small" {
		return fmt.Errorf("%w: size=%s: expected small, or none for a whole NIC", drivers.ErrConfig, size)
	}
	if netlist, ok := keys["netlist"]; ok && netlist != "ice40" {
		return fmt.Errorf("%w: netlist=%s: expected ice40", drivers.ErrConfig, netlist)
	}
	r.spec.Netlist = keys["netlist"] != ""
	r.spec.Chip = r.spec.Netlist || keys["size"] != ""
	if r.spec.Chip && r.cfg.Dims[0] != 1 {
		return fmt.Errorf("%w: %d small boards: the link of one ends where it begins: expected 1", drivers.ErrNotSupported, r.cfg.Dims[0])
	}
	return nil
}

func (r *boardRequest) boardMemory() int {
	if r.spec.Chip {
		return build.ChipMemory
	}
	return build.BoardMemory
}

func (r *boardRequest) called() string {
	if r.spec.Chip {
		return "the small board"
	}
	return "a simulated board"
}

// setLine parses the properties of the lines.
func (r *boardRequest) setLine(keys map[string]string) error {
	const clock = 1_000_000_000_000 / regs.ClockPS // cycles per second
	baud, err := machine.Number(keys, "baud", clock/math.MaxUint16+1, clock/8, 0)
	if err != nil {
		return err
	}
	switch {
	case r.spec.Chip && baud != 0:
		return fmt.Errorf("%w: baud=%d: the small board's is fixed, at %d cycles per bit", drivers.ErrNotSupported, baud, chipDivisor)
	case r.spec.Chip:
		baud = clock / chipDivisor
	case baud == 0:
		baud = boardBaud
	}
	noise := 0.0
	if text, ok := keys["noise"]; ok {
		if noise, err = strconv.ParseFloat(text, 64); err != nil || !(noise >= 0 && noise <= 0.1) {
			return fmt.Errorf("%w: noise=%s: expected a chance per bit from 0 to 0.1, for example 1e-5", drivers.ErrConfig, text)
		}
	}
	seed := uint64(1)
	if text, ok := keys["noise_seed"]; ok {
		if seed, err = strconv.ParseUint(text, 0, 64); err != nil {
			return fmt.Errorf("%w: noise_seed=%s: expected a number of at most 64 bits", drivers.ErrConfig, text)
		}
	}
	init, err := machine.Number(keys, "random_init", 1, math.MaxInt32, 0)
	if err != nil {
		return err
	}
	r.args = []string{
		"--nodes", strconv.Itoa(r.cfg.Dims[0]), "--divisor", strconv.Itoa((clock + baud/2) / baud),
		"--noise", strconv.FormatFloat(noise, 'g', -1, 64), "--noise-seed", strconv.FormatUint(seed, 10),
	}
	if init != 0 {
		r.args = append(r.args, "+verilator+rand+reset+2", fmt.Sprintf("+verilator+seed+%d", init))
	}
	return nil
}

// openBoard starts the boards and opens them like real ones, through their serial lines.
func openBoard(ctx context.Context, path string, keys map[string]string, opt drivers.Options) (drivers.System, error) {
	r, err := parseBoard(path, keys, opt)
	if err != nil {
		return nil, err
	}
	model, err := build.Build(ctx, r.spec)
	if err != nil {
		return nil, err
	}
	p, ports, err := startBoards(ctx, model.Program, r.args, r.log, r.cfg.Dims[0])
	if err != nil {
		return nil, err
	}
	q := url.Values{"baud": {strconv.Itoa(driverBaud)}}
	if r.memory == 0 && r.spec.Chip {
		r.memory = build.ChipMemory
	}
	if r.memory > 0 {
		q.Set("memory", strconv.Itoa((r.memory+7)&^7))
	}
	under, err := registry.Open(ctx, "uart:"+strings.Join(ports, ",")+"?"+q.Encode(), drivers.Options{Nodes: len(ports), MemoryBytes: r.memory, Log: r.spec.Log})
	if err != nil {
		return nil, errors.Join(err, p.end())
	}
	info := under.Info()
	info.URI, info.Backend, info.Dims, info.ClockPS = machine.URI("rtl", r.cfg.Dims, r.keys), "rtl", r.cfg.Dims, regs.ClockPS
	info.Hash, info.Tool = model.HashText(), model.Tool+", through "+info.Tool
	return &boards{System: under, info: info, program: p}, nil
}

// boards are NICs behind the driver of serial lines, whose hardware is a simulator process.
type boards struct {
	drivers.System
	info    drivers.Info
	program *boardProgram
	once    sync.Once
	err     error
}

// Info says what was opened.
func (b *boards) Info() drivers.Info { return b.info }

// Close releases the lines and ends the simulator. Its earlier death is reported as
// drivers.ErrPeerDied, with its last output.
func (b *boards) Close() error {
	b.once.Do(func() { b.err = errors.Join(b.System.Close(), b.program.end()) })
	return b.err
}

// A boardProgram is the simulator process of boards. It exits when its stdin closes, at the latest
// with this process.
type boardProgram struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	output *tail
	done   chan struct{} // closed after the process was reaped
}

// startBoards starts the simulator and returns the names of its pseudo-terminals.
func startBoards(ctx context.Context, program string, args []string, logFile string, n int) (p *boardProgram, ports []string, err error) {
	p = &boardProgram{cmd: exec.Command(program, args...), output: &tail{}, done: make(chan struct{})}
	if logFile != "" {
		if p.output.file, err = os.Create(logFile); err != nil {
			return nil, nil, fmt.Errorf("simulator log: %w", err)
		}
	}
	p.cmd.Stderr, p.cmd.WaitDelay = p.output, time.Second
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	p.stdin = stdin
	if err := p.cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("%w: starting the simulator: %w", drivers.ErrEnvironment, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })
	defer stop()
	lines := bufio.NewScanner(stdout)
	for len(ports) < n && lines.Scan() {
		ports = append(ports, lines.Text())
	}
	go func() {
		_, _ = io.Copy(io.Discard, stdout)
		_ = p.cmd.Wait() // the result is in ProcessState
		close(p.done)
	}()
	if len(ports) < n {
		err := p.end()
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		return nil, nil, fmt.Errorf("%w: boards on %d pseudo-terminals: %w", drivers.ErrEnvironment, n, err)
	}
	return p, ports, nil
}

// end ends the program, killing it if necessary, and returns an error if it had died before.
func (p *boardProgram) end() error {
	_ = p.stdin.Close()
	timer := time.NewTimer(boardGrace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	text := p.output.close()
	if p.cmd.ProcessState.Success() {
		return nil
	}
	if text != "" {
		text = "; it said:\n" + text
	}
	return fmt.Errorf("%w: the simulator of the boards: %s%s", drivers.ErrPeerDied, p.cmd.ProcessState, text)
}

// A tail keeps the end of a program's output, and copies all of it to a file if there is one.
type tail struct {
	mu   sync.Mutex
	text []byte
	file *os.File
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-boardSaid):]
	if t.file != nil {
		_, _ = t.file.Write(b) // an incomplete log must not block the program
	}
	return len(b), nil
}

func (t *tail) close() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
	return strings.TrimSpace(string(t.text))
}
