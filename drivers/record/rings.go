package record

import (
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A ring is memory into which the NIC writes entries, the last word of each last.
type ring struct {
	base, entries, entry uint64
	on                   bool
}

func (r *ring) has(off uint64) bool { return r.on && off >= r.base && off < r.base+r.entries*r.entry }

// rings are the mailboxes and the notification rings of a node's processes, as configured by
// software.
type rings struct {
	list [2 * regs.VPIDs]ring
	used [regs.VPIDs]bool // processes that have had a domain
	none bool             // a design that is not this project's NIC: it has no rings
}

// follow updates the rings after a register write.
func (g *rings) follow(dev drivers.Device, off uint32, v uint64) {
	if g.none {
		return
	}
	r, i, ok := regs.ByAddress(off)
	if !ok || i >= regs.VPIDs {
		return
	}
	if r.Name == "PDID" {
		g.list[i].on, g.list[regs.VPIDs+i].on, g.used[i] = false, false, true
		return
	}
	what, mailbox := strings.CutPrefix(r.Name, "MBOX_")
	this := &g.list[i]
	if !mailbox {
		if what, ok = strings.CutPrefix(r.Name, "NOTI_"); !ok {
			return
		}
		this = &g.list[regs.VPIDs+i]
	}
	switch what {
	case "BASE":
		this.base, _ = drivers.Offset(dev, v)
	case "SLOTS":
		this.entries, this.entry = v&(1<<24-1), regs.SlotBytes
		if !mailbox {
			this.entries, this.entry = v&(1<<13-1), regs.NotiBytes
		}
	case "CTRL":
		this.on = v&1 != 0
	}
}

// at returns the ring that contains an offset, or nil.
func (g *rings) at(off uint64) *ring {
	for i := range g.list {
		if g.list[i].has(off) {
			return &g.list[i]
		}
	}
	return nil
}

// name describes an offset of memory.
func (g *rings) name(off uint64) string {
	for i := range g.list {
		r := &g.list[i]
		if !r.has(off) {
			continue
		}
		what, entry := "mailbox", "slot"
		if i >= regs.VPIDs {
			what, entry = "notification ring", "notification"
		}
		at := off - r.base
		return fmt.Sprintf("memory 0x%x: %s of process %d, %s %d, byte %d", off, what, i%regs.VPIDs, entry, at/r.entry, at%r.entry)
	}
	return fmt.Sprintf("memory 0x%x", off)
}
