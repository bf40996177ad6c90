package mailbox_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/mailbox"
)

// naive is a flow control written for the reader alone: the paper's nouns as maps and slices,
// everything allocated anew. It says what the real ones must do.
type naive interface {
	send(peer int, room bool) (mailbox.Grant, []mailbox.Control)
	retrieve(r mailbox.Retrieved) []mailbox.Control
	describe(peer int) string
}

type naiveStatic struct {
	c                  mailbox.Config
	credits, retrieved map[int]int
}

func newNaiveStatic(c mailbox.Config) naive {
	n := &naiveStatic{c, map[int]int{}, map[int]int{}}
	for peer := range c.Procs {
		if peer != c.Self {
			n.credits[peer] = naiveQuota(c, peer, c.Self)
		}
	}
	return n
}

// naiveQuota deals the slots of a receiver out one by one.
func naiveQuota(c mailbox.Config, receiver, sender int) int {
	quota := map[int]int{}
	for slots := c.DataSlots; slots > 0; {
		if c.Division == mailbox.RoundDown && slots < c.Procs-1 {
			break
		}
		for peer := range c.Procs {
			if peer != receiver && (slots > 0 || c.Division == mailbox.RoundUp) {
				quota[peer]++
				slots--
			}
		}
	}
	return quota[sender]
}

func (n *naiveStatic) threshold(peer int) int {
	return naiveQuota(n.c, n.c.Self, peer)/(n.c.CreditSlots+1) + 1
}

func (n *naiveStatic) send(peer int, room bool) (g mailbox.Grant, none []mailbox.Control) {
	if n.credits[peer] > 0 {
		n.credits[peer]--
		g.OK = true
		if n.c.Piggyback && room && n.retrieved[peer] > 0 {
			g.Piggyback, g.Credits = true, uint16(n.retrieved[peer])
			n.retrieved[peer] = 0
		}
	}
	return g, nil
}

func (n *naiveStatic) retrieve(r mailbox.Retrieved) (out []mailbox.Control) {
	if r.Kind == mailbox.Data {
		n.retrieved[r.From]++
	}
	if n.retrieved[r.From] == n.threshold(r.From) {
		out = append(out, mailbox.Control{To: r.From, Kind: mailbox.Credit, Credits: uint16(n.retrieved[r.From])})
		n.retrieved[r.From] = 0
	}
	n.credits[r.From] += int(r.Credits)
	return out
}

func (n *naiveStatic) describe(peer int) string {
	return fmt.Sprintf("rank %d peer %d: credits=%d retrieved=%d threshold=%d",
		n.c.Self, peer, n.credits[peer], n.retrieved[peer], n.threshold(peer))
}

type naivePeer struct {
	credits, intended, current, retrieved, piggybacked int
	thresholds                                         []int
	crossings                                          int
	blocked, request, response                         bool
}

type naiveDynamic struct {
	c         mailbox.Config
	peers     map[int]*naivePeer
	available int
	lists     map[string][]int
	out       []mailbox.Control
}

func newNaiveDynamic(c mailbox.Config) naive {
	n := &naiveDynamic{c: c, peers: map[int]*naivePeer{}, lists: map[string][]int{}}
	n.available = c.DataSlots - c.CreditSlots*(c.Procs-1)
	for peer := range c.Procs {
		if peer == c.Self {
			continue
		}
		n.peers[peer] = &naivePeer{credits: c.CreditSlots, current: c.CreditSlots, intended: naiveQuota(c, c.Self, peer),
			thresholds: slices.Repeat([]int{1}, c.CreditSlots+1)}
		n.lists["low"] = append(n.lists["low"], peer)
	}
	return n
}

func (n *naiveDynamic) listOf(peer int) string {
	for name, l := range n.lists {
		if slices.Contains(l, peer) {
			return name
		}
	}
	return "?"
}

func (n *naiveDynamic) toFront(peer int, list string) {
	old := n.listOf(peer)
	n.lists[old] = slices.DeleteFunc(slices.Clone(n.lists[old]), func(p int) bool { return p == peer })
	n.lists[list] = slices.Concat([]int{peer}, n.lists[list])
}

func (n *naiveDynamic) emit(c mailbox.Control) { n.out = append(n.out, c) }

// cross is one reached threshold: done credits were returned since the last one. It returns those
// to return now.
func (n *naiveDynamic) cross(peer, done int) int {
	p := n.peers[peer]
	p.crossings++
	if p.crossings%(n.c.CreditSlots+1) == 0 {
		n.monitor(peer)
	}
	amount := min(p.intended/(n.c.CreditSlots+1)+1, n.available+done)
	p.retrieved = p.retrieved + done - p.thresholds[0]
	p.thresholds = append(slices.Clone(p.thresholds[1:]), amount)
	p.piggybacked = 0
	now := max(amount-done, 0)
	p.thresholds[0] += max(done-amount, 0)
	p.current += now
	n.available -= now
	return now
}

func (n *naiveDynamic) monitor(peer int) {
	switch n.listOf(peer) {
	case "low":
		n.toFront(peer, "medium")
		return
	case "medium":
		n.toFront(peer, "high")
		return
	}
	if len(n.lists["low"]) == 0 {
		n.lists["low"], n.lists["medium"], n.lists["high"] = n.lists["medium"], n.lists["high"], nil
	}
	n.toFront(peer, "high")
	low := n.lists["low"]
	if len(low) == 0 {
		return
	}
	v := low[len(low)-1]
	p, victim := n.peers[peer], n.peers[v]
	diff := p.intended - victim.intended
	if diff < 0 {
		diff = -diff
	}
	stolen := min(max(n.c.CreditSlots+1, diff/2), victim.intended-n.c.CreditSlots)
	p.intended += stolen
	victim.intended -= stolen
	if victim.intended > n.c.CreditSlots {
		n.toFront(v, "medium")
		return
	}
	n.toFront(v, "null")
	if victim.current > victim.intended {
		victim.blocked = true
		victim.request = true
		n.flush(v)
	}
}

// flush sends the control packets that wait, as far as there are credits.
func (n *naiveDynamic) flush(peer int) {
	p := n.peers[peer]
	if p.request && p.credits > 0 {
		p.request = false
		p.credits--
		n.emit(mailbox.Control{To: peer, Kind: mailbox.CreditRequest})
	}
	if p.response && p.credits > 0 {
		p.response = false
		excess := max(p.credits-n.c.CreditSlots, 0)
		p.credits -= excess + 1
		n.emit(mailbox.Control{To: peer, Kind: mailbox.CreditResponse, Credits: uint16(excess)})
	}
}

func (n *naiveDynamic) regular(peer int) {
	p := n.peers[peer]
	switch {
	case p.retrieved < p.thresholds[0] || n.available == 0:
	case !p.blocked:
		p.piggybacked = 0
		n.emit(mailbox.Control{To: peer, Kind: mailbox.Credit, Credits: uint16(n.cross(peer, 0))})
	case p.current < n.c.CreditSlots:
		p.crossings++
		p.retrieved -= p.thresholds[0]
		p.piggybacked = 0
		p.thresholds = append(slices.Clone(p.thresholds[1:]), 1)
		p.current++
		n.available--
		n.emit(mailbox.Control{To: peer, Kind: mailbox.Credit, Credits: 1})
	}
}

func (n *naiveDynamic) send(peer int, room bool) (g mailbox.Grant, out []mailbox.Control) {
	p := n.peers[peer]
	n.out = nil
	if p.credits == 0 {
		return g, nil
	}
	p.credits--
	g.OK = true
	if !room || !n.c.Piggyback || p.blocked {
		return g, nil
	}
	var now int
	if p.retrieved+p.piggybacked < p.thresholds[0] {
		now = min(p.retrieved, n.available)
		p.retrieved -= now
		p.piggybacked += now
		p.current += now
		n.available -= now
	} else if p.piggybacked+n.available > 0 {
		now = n.cross(peer, p.piggybacked)
	}
	if now > 0 {
		g.Piggyback, g.Credits = true, uint16(now)
	}
	return g, n.out
}

func (n *naiveDynamic) retrieve(r mailbox.Retrieved) []mailbox.Control {
	p := n.peers[r.From]
	n.out = nil
	if r.Kind != mailbox.Credit {
		p.current--
		p.retrieved++
		n.available++
		n.regular(r.From)
	}
	switch r.Kind {
	case mailbox.Data, mailbox.Credit:
		p.credits += int(r.Credits)
		n.flush(r.From)
	case mailbox.CreditRequest:
		p.response = true
		n.flush(r.From)
	case mailbox.CreditResponse:
		p.blocked = false
		p.current -= int(r.Credits)
		n.available += int(r.Credits)
		for i, left := 0, int(r.Credits); left > 0; {
			if p.thresholds[i] == 1 {
				i++
				continue
			}
			p.thresholds[i]--
			left--
		}
		n.regular(r.From)
	}
	return n.out
}

func (n *naiveDynamic) describe(peer int) string {
	p := n.peers[peer]
	s := fmt.Sprintf("rank %d peer %d: credits=%d thresholds=%v intended=%d retrieved=%d piggybacked=%d current=%d available=%d crossings=%d %s",
		n.c.Self, peer, p.credits, p.thresholds, p.intended, p.retrieved, p.piggybacked, p.current, n.available,
		p.crossings%(n.c.CreditSlots+1), n.listOf(peer))
	for i, flag := range []bool{p.blocked, p.request, p.response} {
		if flag {
			s += " " + strings.Fields("blocked request-waits response-waits")[i]
		}
	}
	return s
}
