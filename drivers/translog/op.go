package translog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Kind is the kind of an operation.
type Kind uint8

// Kinds. Their numbers are part of the format.
const (
	End Kind = iota
	PostReg
	PostPIO
	ReadReg
	PIOTaken
	Watch
	Arm
	ArmPIO
	ArmIRQ
	Run
	Memory // the device wrote to memory; not a call
	WriteReg
	WritePIO
	// Kinds since version 2.

	Await   // a waiter was created for Off, Len
	Wait    // a wait returned
	Store   // software wrote to memory; not a call
	Changed // memory changed, and only the replay can tell who wrote it; not a call
	kinds
)

// first2 is the first kind that version 1 lacks.
const first2 = Await

var kindNames = [kinds]string{"end", "post-reg", "post-pio", "read", "pio-taken", "watch", "arm", "arm-pio", "arm-irq",
	"run", "memory", "write", "pio", "await", "wait", "store", "changed"}

func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// An Op is one operation. Kind determines which fields are used; the others are 0.
type Op struct {
	Kind Kind
	Node int
	VPID int           // PIOTaken, ArmPIO
	At   drivers.Cycle // PostReg, PostPIO: first cycle; Run: deadline
	Off  uint64        // register, PIO or memory offset
	Len  uint64        // Watch, Await, Wait; 0 in the last two means an interrupt
	ID   drivers.WatchID
	// Value is the value read or written, or a count (PIOTaken, ArmPIO).
	Value uint64
	// Data is a line or memory; it is valid until the next operation is read.
	Data []byte
	Stop drivers.Stop  // Run; Stop.Now is the time after a ReadReg, too
	Err  *Failure      // of a call that returned an error
	Now  drivers.Cycle // cycle of the call; not stored
	// Registers is Info.Registers of the log, for names; not stored with the operation.
	Registers *regmap.Map
}

// SameCall reports whether the calls are equal, regardless of their results.
func (o *Op) SameCall(p *Op) bool {
	if o.Kind != p.Kind || o.Node != p.Node || o.VPID != p.VPID || o.At != p.At || o.Off != p.Off || o.Len != p.Len || !bytes.Equal(o.Data, p.Data) {
		return false
	}
	switch o.Kind {
	case PostReg, WriteReg, ArmPIO:
		return o.Value == p.Value
	case Arm:
		return o.ID == p.ID
	}
	return true
}

// Call formats the call, with the names of registers.
func (o *Op) Call() string {
	switch o.Kind {
	case PostReg:
		return fmt.Sprintf("node %d: %s = 0x%x, from cycle %d", o.Node, o.register(), o.Value, o.At)
	case WriteReg:
		return fmt.Sprintf("node %d: %s = 0x%x", o.Node, o.register(), o.Value)
	case PostPIO:
		return fmt.Sprintf("node %d: send %s %s, from cycle %d", o.Node, window(uint32(o.Off)), hexdump(o.Data), o.At)
	case WritePIO:
		return fmt.Sprintf("node %d: send %s %s", o.Node, window(uint32(o.Off)), hexdump(o.Data))
	case ReadReg:
		return fmt.Sprintf("node %d: read %s", o.Node, o.register())
	case PIOTaken:
		return fmt.Sprintf("node %d: lines taken from window %d?", o.Node, o.VPID)
	case Watch:
		return fmt.Sprintf("node %d: watch memory 0x%x..0x%x", o.Node, o.Off, o.Off+o.Len)
	case Arm:
		return fmt.Sprintf("arm watch %d", o.ID)
	case ArmPIO:
		return fmt.Sprintf("node %d: stop when %d lines were taken from window %d", o.Node, o.Value, o.VPID)
	case ArmIRQ:
		return fmt.Sprintf("node %d: stop while the interrupt line is up", o.Node)
	case Run:
		if o.At == drivers.Forever {
			return "run"
		}
		return fmt.Sprintf("run until cycle %d", o.At)
	case Memory:
		return fmt.Sprintf("node %d: device wrote memory 0x%x: %s", o.Node, o.Off, o.written())
	case Store:
		return fmt.Sprintf("node %d: software wrote memory 0x%x: %s", o.Node, o.Off, hexdump(o.Data))
	case Changed:
		return fmt.Sprintf("node %d: memory 0x%x became %s", o.Node, o.Off, hexdump(o.Data))
	case Await:
		return fmt.Sprintf("node %d: make a waiter for %v", o.Node, drivers.Cause{Off: o.Off, Bytes: o.Len})
	case Wait:
		return fmt.Sprintf("node %d: wait for %v", o.Node, drivers.Cause{Off: o.Off, Bytes: o.Len})
	}
	return o.Kind.String()
}

// Answer formats the result, or returns "" for a call without one.
func (o *Op) Answer() string {
	text := ""
	switch o.Kind {
	case ReadReg:
		text = fmt.Sprintf("0x%x", o.Value)
	case PIOTaken:
		text = fmt.Sprint(o.Value)
	case Watch:
		if o.Err == nil {
			text = fmt.Sprintf("watch %d", o.ID)
		}
	case Run:
		text = stopText(&o.Stop)
	}
	if o.Err != nil {
		return strings.TrimPrefix(text+"; error: "+strings.ReplaceAll(o.Err.Text, "\n", "; "), "; ")
	}
	return text
}

func stopText(s *drivers.Stop) string {
	parts := []string{fmt.Sprintf("cycle %d", s.Now)}
	for _, f := range s.Fired {
		switch f.Kind {
		case drivers.FiredWatch:
			parts = append(parts, fmt.Sprintf("node %d watch %d", f.Node, f.Watch))
		case drivers.FiredPIO:
			parts = append(parts, fmt.Sprintf("node %d window %d taken", f.Node, f.VPID))
		case drivers.FiredIRQ:
			parts = append(parts, fmt.Sprintf("node %d interrupt", f.Node))
		}
	}
	if s.Quiet {
		parts = append(parts, "quiet")
	}
	if s.Idle {
		parts = append(parts, "idle")
	}
	return strings.Join(parts, ", ")
}

// Register formats a register address of this project's NIC; one outside the map by its distance
// from the nearest register.
func Register(off uint32) string { return regs.Map().Near(off) }

// register formats the address of the operation.
func (o *Op) register() string {
	if o.Registers != nil {
		return o.Registers.Near(uint32(o.Off))
	}
	return Register(uint32(o.Off))
}

func window(off uint32) string {
	p, node := regs.Sent(off)
	credits := ""
	if p.Piggyback() {
		credits = " and credits"
	}
	return fmt.Sprintf("window %d to %d.%d, %v, %d bytes%s:", p.SrcVPID(), node, p.DstVPID(), p.Kind(), p.Length(), credits)
}

// written formats what a device wrote. Only this project's NIC writes slots.
func (o *Op) written() string {
	if o.Registers != nil {
		return hexdump(o.Data)
	}
	return memory(o.Data)
}

// memory formats bytes, and the header if they are a slot.
func memory(data []byte) string {
	if len(data) != regs.SlotBytes {
		return hexdump(data)
	}
	h := regs.Slot(le64(data[regs.SlotHdrOff:]))
	credits := ""
	if h.Piggyback() {
		credits = " and credits"
	}
	n := min(int(h.Length()), regs.SlotHdrOff)
	return fmt.Sprintf("slot %d from %d.%d, %v, %d bytes%s: %s", h.Seq(), h.SrcNode(), h.SrcVPID(), h.Kind(), h.Length(), credits, hexdump(data[:n]))
}

func hexdump(data []byte) string {
	const most = 24
	if len(data) <= most {
		return fmt.Sprintf("[%x]", data)
	}
	return fmt.Sprintf("[%x… %d bytes]", data[:most], len(data))
}

// Clone copies an operation so that it stays valid after the reader's next one.
func (o *Op) Clone() Op {
	c := *o
	c.Data, c.Stop.Fired = slices.Clone(o.Data), slices.Clone(o.Stop.Fired)
	return c
}
