package selftest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	links     = 6
	linkBatch = 8 // outstanding packets
)

var linkNames = [links]string{"+X", "-X", "+Y", "-Y", "+Z", "-Z"}

// linkCounters count words that did not arrive as they were sent.
var linkCounters = []string{"LINK_CRC_ERRORS", "LINK_RETRANSMISSIONS", "LINK_TIMEOUTS", "LINK_FAILURES", "LINK_CUT", "LINK_RESETS", "LINK_LOST"}

func linksCheck(t *tester, n *node) (string, error) {
	if err := n.can(drivers.CanPIO|drivers.CanAwait, "traffic on links"); err != nil {
		return "", err
	}
	var done, left []string
	for l := range links {
		status, err := n.dev.ReadReg(regs.LinkStatus(uint8(l)))
		var bus *drivers.BusError
		if errors.As(err, &bus) {
			n.caused[regs.BadAccess]++
			return "", skip("this device has no links")
		}
		if err != nil {
			return "", err
		}
		if status&regs.LinkStatusConnected == 0 {
			continue
		}
		if err := working(l, status); err != nil {
			return "", err
		}
		peer, err := n.neighbour(l)
		if err != nil {
			return "", err
		}
		if peer == nil {
			left = append(left, linkNames[l])
			continue
		}
		if err := n.overLink(l, peer); err != nil {
			return "", err
		}
		done = append(done, linkNames[l])
	}
	switch {
	case len(done) == 0 && len(left) > 0:
		return "", skip("the other ends of %s are not in this system: name both boards, as in uart:/dev/ttyUSB0,/dev/ttyUSB1", strings.Join(left, ", "))
	case len(done) == 0:
		return "", skip("no link is connected")
	}
	did := fmt.Sprintf("%d packets over each of %s", t.cfg.Samples, strings.Join(done, ", "))
	if len(left) > 0 {
		did += "; not " + strings.Join(left, ", ") + ", whose other ends are not in this system"
	}
	return did, nil
}

func working(l int, status uint64) error {
	where := fmt.Sprintf("link %s: %s", linkNames[l], regs.Describe(regs.LinkStatus(uint8(l))))
	switch {
	case status&regs.LinkStatusCarrier == 0:
		return &Fault{where, "carrier", hex(status), "nothing comes from the other end: cable, transceiver, or a board that is off"}
	case status&regs.LinkStatusDead != 0:
		return &Fault{where, "a link that answers", hex(status) + " (dead)", "words come, but no answer to ours: look at the sending direction"}
	case status&regs.LinkStatusAgreed == 0:
		return &Fault{where, "a session", hex(status), "the ends do not agree: words are damaged all the time, or the other end is in reset (device reset --links)"}
	}
	return nil
}

// neighbour returns the node at the other end of a link, or nil if it is not in the system.
func (n *node) neighbour(l int) (*node, error) {
	p, err := n.dev.ReadReg(regs.Params)
	if err != nil {
		return nil, err
	}
	dims := [3]int{int(regs.ParamsDimX.Of(p)), int(regs.ParamsDimY.Of(p)), int(regs.ParamsDimZ.Of(p))}
	at := [3]int{n.number % max(1, dims[0]), n.number / max(1, dims[0]) % max(1, dims[1]), n.number / max(1, dims[0]*dims[1])}
	axis := l / 2
	at[axis] += 1 - 2*(l%2)
	if size := dims[axis]; at[axis] < 0 || at[axis] >= size { // a wrap-around link
		at[axis] = (at[axis] + size) % max(1, size)
	}
	number := at[0] + dims[0]*(at[1]+dims[1]*at[2])
	if number >= len(n.t.all) || number == n.number {
		return nil, nil
	}
	return n.t.all[number], nil
}

// overLink sends a PRBS to the other end of a link. All data must arrive unchanged, and without
// retransmissions.
func (n *node) overLink(l int, peer *node) error {
	before, err := n.linkCounts(l, peer)
	if err != nil {
		return err
	}
	from, err := n.openBox(2, boxSlots, 0)
	if err != nil {
		return err
	}
	to, err := peer.openBox(2, boxSlots, 0)
	if err != nil {
		return err
	}
	defer to.close()
	bits := newPRBS(n.t.cfg.Seed + uint64(n.number*links+l) + 1)
	for sent := 0; sent < n.t.cfg.Samples; sent += linkBatch {
		var payloads [linkBatch][regs.VELOPayload]byte
		for i := range payloads {
			bits.read(payloads[i][:])
			if err := from.send(to, regs.KindData, payloads[i][:]); err != nil {
				return err
			}
		}
		for i := range payloads {
			slot, err := to.next()
			if err != nil {
				return err
			}
			if err := to.compare(slot, from, regs.KindData, payloads[i][:]); err != nil {
				return fmt.Errorf("link %s: packet %d: %w", linkNames[l], sent+i, err)
			}
		}
		if err := to.acknowledge(); err != nil {
			return err
		}
	}
	after, err := n.linkCounts(l, peer)
	if err != nil {
		return err
	}
	var moved []string
	for i, was := range before {
		if d := after[i].value - was.value; d != 0 {
			moved = append(moved, fmt.Sprintf("%s +%d", was.name, d))
		}
	}
	if moved != nil {
		return &Fault{fmt.Sprintf("link %s to node %d", linkNames[l], peer.number), "no word to repair", strings.Join(moved, ", ") + "; all data came",
			"the wire is bad: cable, connector, equalizer or reference clock; CRC errors at one end are of what the other sends"}
	}
	return errors.Join(from.whole(), to.whole())
}

type linkCount struct {
	name  string
	value uint64
}

// linkCounts reads the counters of both ends.
func (n *node) linkCounts(l int, peer *node) (list []linkCount, err error) {
	for _, end := range []struct {
		n *node
		l int
	}{{n, l}, {peer, l ^ 1}} {
		for _, name := range linkCounters {
			r, _ := regs.ByName(name)
			v, err := end.n.dev.ReadReg(r.Address(end.l))
			if err != nil {
				return nil, err
			}
			list = append(list, linkCount{fmt.Sprintf("node %d %s[%d]", end.n.number, name, end.l), v})
		}
	}
	return list, nil
}
