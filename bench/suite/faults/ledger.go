package faults

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/messages"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

// A ledger counts what went through a world while something was broken.
type ledger struct {
	ranks           []*host.Rank
	sent, delivered uint64
	injected        uint64 // faults of the wires
	repaired        uint64 // words sent again
	failures        uint64 // links lost or found dead
	stalls          uint64 // cycles behind a full mailbox
	hangs           int
}

// lost and doubled: both have to be 0 whatever is broken.
func (l *ledger) lost() uint64    { return l.sent - min(l.sent, l.delivered) }
func (l *ledger) doubled() uint64 { return l.delivered - min(l.sent, l.delivered) }

func (l *ledger) String() string {
	return fmt.Sprintf("%d messages sent, %d delivered, %d lost, %d duplicated; %d faults injected, %d words retransmitted, %d link failures, %d cycles stalled by full mailboxes, %d hangs",
		l.sent, l.delivered, l.lost(), l.doubled(), l.injected, l.repaired, l.failures, l.stalls, l.hangs)
}

// read takes the counters of all nodes.
func (l *ledger) read(sys drivers.Timed) error {
	for n := range sys.Info().Nodes {
		dev := sys.Device(n)
		if err := add(dev, regs.RXStall, &l.stalls); err != nil {
			return err
		}
		for link := range uint8(wireLinks) {
			for _, c := range []struct {
				off uint32
				to  *uint64
			}{{regs.WireFaults(link), &l.injected}, {regs.LinkRetransmissions(link), &l.repaired}, {regs.LinkFailures(link), &l.failures}} {
				if err := add(dev, c.off, c.to); err != nil {
					return err
				}
			}
		}
	}
	for _, r := range l.ranks {
		s := r.Stats()
		l.sent += s.MessagesSent
		l.delivered += s.MessagesReceived
	}
	return nil
}

// wireLinks is how many links the flat meshes of the fault tests have per node.
const wireLinks = 4

// add reads a counter that a device may not have.
func add(dev drivers.Device, off uint32, to *uint64) error {
	v, err := dev.ReadReg(off)
	var bus *drivers.BusError
	if errors.As(err, &bus) {
		return nil
	}
	*to += v
	return err
}

// broken runs traffic over four nodes on which breakIt has been at work, and counts.
func broken(t *regress.T, c bench.Config, breakIt func(drivers.Timed) error, body func(*regress.T, *host.Rank) error) (*ledger, error) {
	c.Nodes, c.Procs, c.Sizes = 4, 1, []int{4 * messages.CollectiveSizes()[len(messages.CollectiveSizes())-1]}
	l := &ledger{ranks: make([]*host.Rank, c.Ranks())}
	c.Opened, c.Finished = breakIt, l.read
	err := t.Launch(c, 120, func(r *host.Rank) error {
		l.ranks[r.ID()] = r
		return body(t, r)
	})
	var v *bench.Verdict
	if errors.As(err, &v) {
		l.hangs++
	}
	if err == nil && (l.lost() != 0 || l.doubled() != 0 || l.sent == 0) {
		err = fmt.Errorf("%v: expected every message once", l)
	}
	return l, err
}

// mixed is one rank's part of random messages and collectives, eager and by rendezvous.
func mixed(t *regress.T, r *host.Rank) error {
	for k := range 4 {
		if err := messages.NewTraffic(t.Seed*100+int64(k), r, 6000).Run(); err != nil {
			return fmt.Errorf("messages, round %d: %w", k, err)
		}
		r.FreeAll()
		d := messages.NewDraw(t.Seed, k, r.Size())
		c, err := r.Group(d.Order)
		if err != nil {
			return err
		}
		if err := d.SetAlgorithms(c); err != nil {
			return err
		}
		if err := messages.EachCollective(r, c, d); err != nil {
			return fmt.Errorf("collectives, round %d: %w", k, err)
		}
		r.FreeAll()
	}
	return r.Barrier()
}

// intoOne sends messages of all kinds from every rank to rank 0, which answers none.
func intoOne(t *regress.T, r *host.Rank) error {
	const perRank = 30
	content := func(from, k int) []byte {
		rnd := rand.New(rand.NewSource(t.Seed<<20 + int64(from)<<10 + int64(k)))
		b := make([]byte, messages.CollectiveSizes()[rnd.Intn(len(messages.CollectiveSizes()))])
		rnd.Read(b)
		return b
	}
	if r.ID() != 0 {
		for k := range perRank {
			if err := r.Send(0, 1, content(r.ID(), k)); err != nil {
				return err
			}
		}
		return nil
	}
	next, buf := make([]int, r.Size()), make([]byte, 6000)
	for range perRank * (r.Size() - 1) {
		st, err := r.Recv(host.AnySource, 1, buf)
		if err != nil {
			return err
		}
		if !bytes.Equal(buf[:st.Bytes], content(st.Source, next[st.Source])) {
			return fmt.Errorf("message %d from rank %d is not what was sent: lost, duplicated or damaged", next[st.Source], st.Source)
		}
		next[st.Source]++
	}
	return nil
}

// messageConfig is the configuration of the fault tests.
func messageConfig(p host.Rendezvous) bench.Config {
	c := bench.Default("")
	c.Rendezvous, c.Chunk, c.Outstanding = p, 1500, 2
	c.Velo = velo.Config{Flow: velo.Dynamic, Slots: 8, CreditSlots: 2, Piggyback: true}
	return c
}
