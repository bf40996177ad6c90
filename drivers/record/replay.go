package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/translog"
)

// Config configures a replay.
type Config struct {
	// Patience is the simulated time after which a recorded result must have appeared; 0: 2^20
	// cycles.
	Patience drivers.Cycle
	Progress func(done, of int) // in operations
}

const (
	defaultPatience = 1 << 20
	// lineCycles is the time advanced after each line: a host slower than the RTL always found a
	// free entry, so a replay without delay would be refused.
	lineCycles = 32
	// waitFor bounds a wait in wall-clock time, for hardware that neither delivers the event nor
	// becomes quiescent.
	waitFor  = 10 * time.Second
	contexts = 5 // calls shown before a divergence
)

// A Report summarises a replay.
type Report struct {
	Operations int           `json:"operations"` // replayed
	Of         int           `json:"of"`
	Reads      int           `json:"reads"`             // register reads compared
	Bytes      int           `json:"memory_bytes"`      // bytes written by the NIC and compared
	Stored     int           `json:"stored_bytes"`      // bytes assumed to be stored by software
	Ahead      int           `json:"ahead"`             // results that the log has later
	Cut        string        `json:"cut_off,omitempty"` // why the log is incomplete; its operations were replayed
	EndCycle   drivers.Cycle `json:"end_cycles"`
	Divergence *Divergence   `json:"divergence,omitempty"`
}

// A Divergence is the first difference between the log and the RTL.
type Divergence struct {
	Operation int           `json:"operation"`    // its number in the log, as device log prints it
	Since     drivers.Cycle `json:"since_cycles"` // cycle of the RTL at which the call was made
	Cycle     drivers.Cycle `json:"at_cycles"`    // cycle up to which the result was awaited
	Node      int           `json:"node"`
	Where     string        `json:"where"` // register, or byte of memory
	Call      string        `json:"call"`
	Expected  string        `json:"expected"` // recorded
	Found     string        `json:"found"`    // on the RTL
	Before    []string      `json:"before"`   // preceding calls, the most recent one last
}

func (d *Divergence) Error() string {
	return fmt.Sprintf("operation %d (cycle %d of the replay), node %d: %s: recorded %s, found %s", d.Operation, d.Cycle, d.Node, d.Where, d.Expected, d.Found)
}

// A player replays a log on a system.
type player struct {
	ctx       context.Context
	sys       drivers.Timed
	cfg       Config
	meta      translog.Meta
	ops       []translog.Op
	at        int
	since     drivers.Cycle // start of the current operation
	seen      [][]byte      // memory as software and the log know it
	rings     []rings
	registers *regmap.Map
	waiters   map[waitedFor]drivers.Waiter
	refused   map[refusal]int // writes refused in the log and not yet refused by the RTL
	report    Report
	stop      drivers.Stop
}

type waitedFor struct {
	node  int
	cause drivers.Cause
}

type refusal struct {
	node int
	port string
	off  uint32
}

// Replay makes the calls of an ordered log on sys and compares the results with the recorded ones.
// The error says why it ended before the log's end without a divergence. The caller closes sys.
func Replay(ctx context.Context, data []byte, sys drivers.Timed, cfg Config) (*Report, error) {
	p, err := newPlayer(ctx, data, sys, cfg)
	if err != nil {
		return nil, err
	}
	for p.at = range p.ops {
		if ctx.Err() != nil {
			return &p.report, context.Cause(ctx)
		}
		if p.cfg.Progress != nil && p.at%64 == 0 {
			p.cfg.Progress(p.at, len(p.ops))
		}
		p.since = sys.Now()
		if err = p.play(&p.ops[p.at]); err != nil {
			break
		}
		p.report.Operations++
	}
	if err == nil && p.report.Cut == "" {
		err = p.end()
	}
	p.report.EndCycle = sys.Now()
	var d *Divergence
	if errors.As(err, &d) {
		p.report.Divergence, err = d, nil
	}
	return &p.report, err
}

// Read validates a log and returns the description of the recorded system.
func Read(data []byte) (translog.Meta, error) {
	r, err := translog.NewReader(data)
	if err != nil {
		return translog.Meta{}, err
	}
	return r.Meta, playable(&r.Meta)
}

func playable(m *translog.Meta) error {
	switch {
	case !m.Ordered:
		return fmt.Errorf("%w: a log that record: has not written: expected one of record:FILE!DEVICE", drivers.ErrConfig)
	case m.Registers == nil && m.Info.DescHash != regs.DescHashValue:
		return fmt.Errorf("%w: recorded with registers of description %016x, this program has %016x: replay it with the release that recorded it",
			drivers.ErrConfig, m.Info.DescHash, regs.DescHashValue)
	}
	return nil
}

func newPlayer(ctx context.Context, data []byte, sys drivers.Timed, cfg Config) (*player, error) {
	meta, err := Read(data)
	if err != nil {
		return nil, err
	}
	if cfg.Patience == 0 {
		cfg.Patience = defaultPatience
	}
	p := &player{ctx: ctx, sys: sys, cfg: cfg, meta: meta, waiters: map[waitedFor]drivers.Waiter{}, refused: map[refusal]int{}}
	if err := fits(sys, &meta); err != nil {
		return nil, err
	}
	for _, size := range meta.Memory {
		p.seen = append(p.seen, make([]byte, size))
	}
	p.registers = registersOf(sys.Info())
	p.rings = make([]rings, len(p.seen))
	for i := range p.rings {
		p.rings[i].none = meta.Registers != nil
	}
	return p, p.load(data)
}

// load decodes all operations up to the point where the log may be truncated, as after the death of
// a board.
func (p *player) load(data []byte) error {
	r, err := translog.NewReader(data)
	if err != nil {
		return err
	}
	var o translog.Op
	for err = r.Next(&o); err == nil; err = r.Next(&o) {
		p.ops = append(p.ops, o.Clone())
		if o.Err == nil {
			continue
		}
		for _, b := range o.Err.Bus {
			if b.Write {
				p.refused[refusal{b.Node, b.Port, b.Off}]++
			}
		}
	}
	p.report.Of = len(p.ops)
	switch {
	case err == io.EOF:
	case len(p.ops) == 0:
		return err
	default:
		p.report.Cut = err.Error()
	}
	return nil
}

func (p *player) play(o *translog.Op) error {
	dev := p.sys.Device(o.Node)
	switch o.Kind {
	case translog.WriteReg:
		p.rings[o.Node].follow(dev, uint32(o.Off), o.Value)
		return p.refusals(o, dev.WriteReg(uint32(o.Off), o.Value))
	case translog.WritePIO:
		if err := p.refusals(o, dev.WritePIO(uint32(o.Off), o.Data)); err != nil {
			return err
		}
		_, err := p.pass(o, lineCycles)
		return err
	case translog.ReadReg:
		return p.read(o)
	case translog.Await:
		if o.Err != nil {
			return nil
		}
		w, err := dev.Await(drivers.Cause{Off: o.Off, Bytes: o.Len})
		p.waiters[waitedFor{o.Node, drivers.Cause{Off: o.Off, Bytes: o.Len}}] = w
		return err
	case translog.Wait:
		return p.wait(o)
	case translog.Store:
		p.store(o, 0, len(o.Data))
	case translog.Memory, translog.Changed:
		return p.memory(o)
	}
	return nil
}

// refusals removes recorded refusals of writes from an error. Any other refusal or error is a
// divergence.
func (p *player) refusals(o *translog.Op, err error) error {
	f := translog.NewFailure(err)
	if f == nil {
		return nil
	}
	for _, b := range f.Bus {
		r := refusal{b.Node, b.Port, b.Off}
		if p.meta.Info.Backend == "pcie" { // PCIe does not report refused posted writes
			continue
		}
		if !b.Write || p.refused[r] == 0 {
			return p.differs(o, b.Node, p.registers.Describe(b.Off), "an access that is accepted", b.Error())
		}
		p.refused[r]--
	}
	if len(f.Bus) == 0 || len(f.DMA) > 0 {
		if len(f.DMA) > 0 || errors.Is(err, drivers.ErrAssertion) {
			return p.differs(o, o.Node, "the NIC", "no failure", f.Text)
		}
		return err
	}
	return nil
}

// pass advances simulated time and reports whether the hardware is quiescent.
func (p *player) pass(o *translog.Op, cycles drivers.Cycle) (quiet bool, err error) {
	end := p.sys.Now() + cycles
	for p.sys.Now() < end {
		err := p.sys.Run(end, &p.stop)
		if err := p.refusals(o, err); err != nil {
			return false, err
		}
	}
	return p.stop.Quiet, nil
}

// until advances simulated time in growing steps until so returns true, the hardware is quiescent,
// or patience is exhausted.
func (p *player) until(o *translog.Op, so func() (bool, error)) (bool, error) {
	begin, step, still := p.sys.Now(), drivers.Cycle(16), 0
	for {
		if ok, err := so(); ok || err != nil {
			return ok, err
		}
		if still > 1 || p.sys.Now()-begin > p.cfg.Patience {
			return false, nil
		}
		quiet, err := p.pass(o, step)
		if err != nil {
			return false, err
		}
		if quiet {
			still++
		}
		step = min(2*step, 1<<14)
	}
}

func (p *player) differs(o *translog.Op, node int, where, expected, found string) error {
	d := &Divergence{Operation: p.at, Since: p.since, Cycle: p.sys.Now(), Node: node, Where: where, Call: o.Call(), Expected: expected, Found: found}
	for i := max(0, p.at-contexts); i < p.at; i++ {
		text := fmt.Sprintf("%d %s %s", i, p.ops[i].Kind, p.ops[i].Call())
		if a := p.ops[i].Answer(); a != "" {
			text += " -> " + a
		}
		d.Before = append(d.Before, text)
	}
	return d
}

// wait replays a wait. A recorded wait may have been spurious, so a wait that does not end is not
// an error by itself: the following operations decide. A pending interrupt must be there.
func (p *player) wait(o *translog.Op) error {
	c := drivers.Cause{Off: o.Off, Bytes: o.Len}
	w := p.waiters[waitedFor{o.Node, c}]
	if o.Err != nil || w == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(p.ctx, waitFor)
	defer cancel()
	err := w.Wait(ctx)
	if err == nil || p.ctx.Err() != nil {
		return err
	}
	if !errors.Is(err, drivers.ErrQuiescent) && !errors.Is(err, context.DeadlineExceeded) {
		return p.refusals(o, err)
	}
	if c != drivers.Interrupt {
		return nil
	}
	dev := p.sys.Device(o.Node)
	if p.meta.Registers != nil {
		return p.differs(o, o.Node, "interrupt outputs", "an interrupt", "none")
	}
	status, err := dev.ReadReg(regs.IRQStatus)
	if err != nil {
		return p.refusals(o, err)
	}
	mask, err := dev.ReadReg(regs.IRQMask)
	if err != nil {
		return p.refusals(o, err)
	}
	if status&mask == 0 {
		return nil
	}
	return p.differs(o, o.Node, "interrupt line", "an interrupt", fmt.Sprintf("none, while IRQ_STATUS is 0x%x and IRQ_MASK 0x%x", status, mask))
}

// end checks what the RTL did beyond the log.
func (p *player) end() error {
	o := &translog.Op{Kind: translog.End}
	p.at = len(p.ops)
	if _, err := p.until(o, func() (bool, error) { return false, nil }); err != nil {
		return err
	}
	for r, n := range p.refused {
		if n > 0 {
			return p.differs(o, r.node, p.registers.Describe(r.off), fmt.Sprintf("%d accesses refused", n), "all accepted")
		}
	}
	if p.meta.Partial {
		return nil
	}
	for node, seen := range p.seen {
		mem := p.sys.Device(node).Memory()[:len(seen)]
		for i := range seen {
			if mem[i] != seen[i] {
				return p.differs(o, node, p.rings[node].name(uint64(i)), fmt.Sprintf("%02x, as it was", seen[i]), fmt.Sprintf("%02x, which the NIC has written", mem[i]))
			}
		}
	}
	return nil
}
