package velo

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/mailbox"
)

// Flow selects an end-to-end flow control.
type Flow string

// Flow controls.
const (
	None    Flow = "none"    // mailboxes must be large enough for all packets
	Static  Flow = "static"  // FC paper, section 5
	Dynamic Flow = "dynamic" // FC paper, section 6
)

// Config describes how the processes of a world receive packets. All processes of a world must use
// the same Config.
type Config struct {
	Flow        Flow             `json:"flow"`
	Slots       int              `json:"slots"`        // mailbox slots per peer, credit slots included
	CreditSlots int              `json:"credit_slots"` // of these, slots for credit packets
	Piggyback   bool             `json:"piggyback"`
	Division    mailbox.Division `json:"division"` // of data slots that cannot be split evenly among the peers
	Domain      uint16           `json:"domain"`   // protection domain of the world; 0: process.DefaultDomain
}

// An Addr is the location of a process.
type Addr struct{ Node, VPID int }

// flowConfig returns the mailbox configuration of process self in a world of procs processes.
func (c Config) flowConfig(procs, self int) mailbox.Config {
	return mailbox.Config{
		Procs: procs, Self: self, CreditSlots: c.CreditSlots,
		DataSlots: (c.Slots - c.CreditSlots) * (procs - 1),
		Piggyback: c.Piggyback, Division: c.Division,
	}
}

// MailboxSlots returns the size of each process's mailbox in a world of procs processes.
func (c Config) MailboxSlots(procs int) (int, error) {
	if c.Slots < 1 {
		return 0, fmt.Errorf("%w: %d mailbox slots per peer: expected at least 1", drivers.ErrConfig, c.Slots)
	}
	switch c.Flow {
	case None:
		return max(c.Slots*(procs-1), 1), nil
	case Static, Dynamic:
		if procs < 2 {
			return 1, nil
		}
		fc := c.flowConfig(procs, 0)
		if err := fc.Validate(); err != nil {
			return 0, fmt.Errorf("%w: %s flow control with %d slots per peer, of them %d credit slots: %w",
				drivers.ErrConfig, c.Flow, c.Slots, c.CreditSlots, err)
		}
		return fc.MailboxSlots(), nil
	}
	return 0, fmt.Errorf("%w: flow control %q: expected none, static or dynamic", drivers.ErrConfig, c.Flow)
}

func newFlow(c Config, procs, self int) (mailbox.Flow, error) {
	if c.Flow == None || procs < 2 {
		return nil, nil
	}
	fc := c.flowConfig(procs, self)
	if c.Flow == Static {
		return mailbox.NewStatic(fc)
	}
	return mailbox.NewDynamic(fc)
}
