package record

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/translog"
)

// read compares a register with the recorded value, which may take simulated time to appear.
func (p *player) read(o *translog.Op) error {
	off := uint32(o.Off)
	var got uint64
	var refused bool
	same, err := p.until(o, func() (bool, error) {
		var err error
		got, refused, err = p.readOnce(o)
		return refused || o.Err != nil || p.answers(off, o.Value, got), err
	})
	if err != nil {
		return err
	}
	if was := readRefused(o.Err, o); was || refused {
		if was == refused {
			return nil
		}
		return p.differs(o, o.Node, p.registers.Describe(off), refusedText(was, o.Value), refusedText(refused, got))
	}
	mask := comparedIn(p.registers, off)
	if o.Err != nil || mask == 0 {
		return nil
	}
	p.report.Reads++
	if same {
		return nil
	}
	if p.ahead(o, got, mask) {
		p.report.Ahead++
		return nil
	}
	return p.differs(o, o.Node, p.registers.Describe(off), p.valueText(off, o.Value, got&mask|o.Value&^mask), p.valueText(off, got, o.Value&mask|got&^mask))
}

// readOnce reads a register. If the result also reports earlier writes as refused, it removes those
// and reads again.
func (p *player) readOnce(o *translog.Op) (v uint64, refused bool, err error) {
	for range 2 {
		v, err = p.sys.Device(o.Node).ReadReg(uint32(o.Off))
		if err == nil || readRefused(translog.NewFailure(err), o) {
			return v, err != nil, nil
		}
		if err = p.refusals(o, err); err != nil {
			return 0, false, err
		}
	}
	return v, false, nil
}

// answers reports whether the RTL's value matches the recorded one. Lines that the RTL has already
// accepted do not count as a difference.
func (p *player) answers(off uint32, recorded, got uint64) bool {
	mask := comparedIn(p.registers, off)
	if r, _, ok := regs.ByAddress(off); ok && p.registers == regs.Map() && (r.Name == "VELO_WINDOW" || r.Name == "RMA_WINDOW") {
		if early := uint16(regs.VELOWindowTaken.Of(got)) - uint16(regs.VELOWindowTaken.Of(recorded)); early > 1<<15 {
			return false
		}
	}
	return (recorded^got)&mask == 0
}

// readRefused reports whether an error says that the read itself was refused.
func readRefused(f *translog.Failure, o *translog.Op) bool {
	if f == nil {
		return false
	}
	for _, b := range f.Bus {
		if !b.Write && uint64(b.Off) == o.Off {
			return true
		}
	}
	return false
}

func refusedText(refused bool, v uint64) string {
	if refused {
		return "a refusal"
	}
	return fmt.Sprintf("0x%x", v)
}

// ahead reports whether the log has a register's value later: at a read before software writes the
// register, or between two values of a counter.
func (p *player) ahead(o *translog.Op, got, mask uint64) bool {
	r, _, ok := p.registers.ByAddress(uint32(o.Off))
	counts := ok && r.Access == regs.RO && len(r.Fields) == 0
	for i := p.at + 1; i < len(p.ops); i++ {
		n := &p.ops[i]
		if n.Node != o.Node || n.Off != o.Off || n.Kind != translog.ReadReg && n.Kind != translog.WriteReg {
			continue
		}
		switch {
		case n.Kind == translog.WriteReg:
			return false
		case n.Err != nil:
		case (n.Value^got)&mask == 0, counts && o.Value < got && got <= n.Value:
			return true
		}
	}
	return false
}

// valueText formats a value with the fields that differ from other.
func (p *player) valueText(off uint32, v, other uint64) string {
	text := fmt.Sprintf("0x%x", v)
	r, _, ok := p.registers.ByAddress(off)
	if !ok {
		return text
	}
	var list []string
	for _, f := range r.Fields {
		if f.Bits.Of(v) != f.Bits.Of(other) {
			list = append(list, fmt.Sprintf("%s 0x%x", f.Name, f.Bits.Of(v)))
		}
	}
	if list == nil {
		return text
	}
	return text + " (" + strings.Join(list, ", ") + ")"
}

// memory compares changed memory with the recording, or applies the change as a store of software:
// see the package comment.
func (p *player) memory(o *translog.Op) error {
	mem := p.sys.Device(o.Node).Memory()[o.Off:][:len(o.Data)]
	seen := p.seen[o.Node][o.Off:][:len(o.Data)]
	same, err := p.until(o, func() (bool, error) { return bytes.Equal(mem, o.Data), nil })
	if err != nil {
		return err
	}
	if same {
		if !bytes.Equal(mem, seen) {
			p.report.Bytes += len(mem)
		}
		copy(seen, mem)
		return nil
	}
	const word = 8
	for at := 0; at < len(mem); at += word {
		end := min(at+word, len(mem))
		switch {
		case bytes.Equal(mem[at:end], o.Data[at:end]):
			copy(seen[at:end], mem[at:end])
		case o.Kind == translog.Changed && bytes.Equal(mem[at:end], seen[at:end]):
			p.store(o, at, end)
		case p.writtenLater(o, at, mem[at:end]):
			p.report.Ahead++
			copy(seen[at:end], mem[at:end])
		default:
			return p.byteDiffers(o, at, mem)
		}
	}
	return nil
}

func (p *player) byteDiffers(o *translog.Op, at int, mem []byte) error {
	for mem[at] == o.Data[at] {
		at++
	}
	end := min(at&^7+8, len(mem))
	where := p.rings[o.Node].name(o.Off + uint64(at))
	return p.differs(o, o.Node, where, fmt.Sprintf("%02x (word %x)", o.Data[at], o.Data[at&^7:end]), fmt.Sprintf("%02x (word %x)", mem[at], mem[at&^7:end]))
}

// soon is the number of operations that the RTL may be ahead of the log with its memory writes.
const soon = 256

// writtenLater reports whether the log has these bytes at this address soon, because the RTL is
// ahead, as with a completion word. This never applies to rings, whose entries are not overwritten
// before software has consumed them.
func (p *player) writtenLater(o *translog.Op, at int, got []byte) bool {
	from := o.Off + uint64(at)
	if p.rings[o.Node].at(from) != nil {
		return false
	}
	for i := p.at + 1; i < min(p.at+soon, len(p.ops)); i++ {
		n := &p.ops[i]
		if n.Node != o.Node || n.Kind != translog.Memory && n.Kind != translog.Changed || from < n.Off || from+uint64(len(got)) > n.Off+uint64(len(n.Data)) {
			continue
		}
		if bytes.Equal(n.Data[from-n.Off:][:len(got)], got) {
			return true
		}
	}
	return false
}

// store applies a recorded store of software.
func (p *player) store(o *translog.Op, from, past int) {
	copy(p.sys.Device(o.Node).Memory()[o.Off+uint64(from):], o.Data[from:past])
	copy(p.seen[o.Node][o.Off+uint64(from):], o.Data[from:past])
	p.report.Stored += past - from
}
