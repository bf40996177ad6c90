package conformance

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/rma"
)

var here, there = rma.Peer{Node: 0, VPID: 1}, rma.Peer{Node: 1, VPID: 2}

// pair opens a port on each of two nodes and registers a page on both.
func pair(r *rig) (a, b *rma.Port, l, rem rma.NLA) {
	a, b = r.open(here, 8, 64), r.open(there, 8, 64)
	l = r.region(a, dataAt, 4096, rma.ReadWrite).NLA(dataAt)
	rem = r.region(b, dataAt, 4096, rma.ReadWrite).NLA(dataAt)
	return a, b, l, rem
}

func operations(r *rig) {
	a, b, l, rem := pair(r)
	src, dst := r.mem(0)[dataAt:dataAt+4096], r.mem(1)[dataAt:dataAt+4096]
	pattern(src, 1)
	const all = rma.Requester | rma.Responder | rma.Completer
	mine := func(u rma.Unit, c rma.Command, h rma.Handle, nla rma.NLA, n int, last bool) rma.Event {
		return rma.Event{Unit: u, Command: c, Handle: h, Peer: there, NLA: nla, Bytes: n, Last: last}
	}
	its := func(u rma.Unit, c rma.Command, nla rma.NLA, n int) rma.Event {
		return rma.Event{Unit: u, Command: c, Peer: here, NLA: nla, Bytes: n, Last: true}
	}
	expect := func(p *rma.Port, what string, want ...rma.Event) {
		for _, w := range want {
			ev := r.event(p, what)
			r.check(ev == w, "%s: expected event %+v, found %+v", what, w, ev)
		}
		r.nothing(p, what)
	}
	post := func(h rma.Handle, err error) rma.Handle {
		r.must(err)
		r.quiet()
		return h
	}

	h := post(a.Put(there, l+3, rem+9, 21, all))
	r.same(src[3:24], dst[9:30], "put")
	expect(a, "put, origin", mine(rma.UnitRequester, rma.CommandPut, h, l+3, 21, true))
	expect(b, "put, target", its(rma.UnitCompleter, rma.CommandPut, rem+9, 21))

	pattern(dst[100:], 2)
	h = post(a.Get(there, l+1000, rem+100, 13, all))
	r.same(dst[100:113], src[1000:1013], "get")
	expect(a, "get, origin", mine(rma.UnitRequester, rma.CommandGet, h, l+1000, 13, false), mine(rma.UnitCompleter, rma.CommandGet, h, l+1000, 13, true))
	expect(b, "get, target", its(rma.UnitResponder, rma.CommandGet, rem+100, 13))

	for n := 1; n <= 8; n++ {
		clear(dst[:32])
		h = post(a.PutImmediate(there, rem+rma.NLA(n), src[:n], all))
		r.same(src[:n], dst[n:2*n], "immediate put")
		r.check(dst[2*n] == 0 && dst[n-1] == 0, "immediate put of %d bytes wrote beside its target", n)
		expect(a, "immediate put, origin", mine(rma.UnitRequester, rma.CommandPutImmediate, h, rem+rma.NLA(n), n, true))
		expect(b, "immediate put, target", its(rma.UnitCompleter, rma.CommandPutImmediate, rem+rma.NLA(n), n))
	}

	before := bytes.Clone(dst)
	h = post(a.Notify(there, 0xfedcba9876543210, all))
	expect(a, "notify, origin", mine(rma.UnitRequester, rma.CommandNotify, h, 0, 8, true))
	told := its(rma.UnitCompleter, rma.CommandNotify, 0, 8)
	told.Payload = 0xfedcba9876543210
	expect(b, "notify, target", told)
	r.same(before, dst, "notify touches no memory")

	for _, c := range []struct{ old, compare, add uint32 }{{5, 5, 2}, {5, 4, 2}, {7, ^uint32(0), ^uint32(0)}, {1 << 31, 1, 1}, {0, 0, 0}} {
		binary.LittleEndian.PutUint32(dst[44:], c.old)
		h = post(a.FetchCompareAdd(there, rem+44, c.compare, c.add))
		ev := r.event(a, "fetch")
		old, changed := ev.Fetched()
		r.check(ev.Handle == h && ev.Last && old == c.old && changed == (c.old <= c.compare), "fetch of %+v: found %+v", c, ev)
		want := c.old
		if changed {
			want += c.add
		}
		found := binary.LittleEndian.Uint32(dst[44:])
		r.check(found == want, "fetch of %+v: the word is %d, expected %d", c, found, want)
	}

	// Operations without notifications complete, too.
	for _, h := range []rma.Handle{post(a.Put(there, l, rem, 600, 0)), post(a.Get(there, l, rem, 600, 0))} {
		expect(a, "nothing asked")
		expect(b, "nothing asked")
		r.check(a.LocallyComplete(h), "an operation that asked for nothing did not complete")
	}
	// A put from a process to itself crosses its own router.
	h = post(a.Put(here, l, l+2048, 64, rma.Completer))
	r.same(src[:64], src[2048:2112], "put to itself")
	ev := r.event(a, "put to itself")
	r.check(ev.Handle == 0 && ev.Peer == here && ev.Unit == rma.UnitCompleter, "put to itself: found %+v", ev)
	r.nothing(a, "put to itself")
	r.check(a.LocallyComplete(h), "put to itself did not complete")
}

func sizes(r *rig, largest int) {
	a, b := r.open(here, 8, 64), r.open(there, 8, 64)
	all := uint64(largest + 1<<16)
	local, remote := r.region(a, dataAt, all, rma.ReadWrite), r.region(b, dataAt, all, rma.ReadWrite)
	for i, n := range []int{1, 2, 7, 8, 9, 63, 64, 65, 255, 256, 257, 511, 512, 4095, 4096, 4097, 1 << 16, 1<<20 + 3, rma.MaxBytes} {
		if n > largest || largest == rma.MaxBytes && n < 1<<20 {
			continue
		}
		for _, get := range []bool{false, true} {
			move(r, a, b, local, remote, i, n, get)
		}
	}
}

// move puts or gets n bytes and checks them and the bytes around them.
func move(r *rig, a, b *rma.Port, local, remote *rma.Region, salt, n int, get bool) {
	what := fmt.Sprintf("%d bytes, get %v", n, get)
	from, into := uint64(dataAt+salt*5), uint64(dataAt+4096-salt*3)
	src, dst := r.mem(0), r.mem(1)
	if get {
		src, dst = dst, src
	}
	pattern(src[from:from+uint64(n)], salt)
	clear(dst[into-8 : into+uint64(n)+8])
	var err error
	end := local.NLA(from + uint64(n))
	if get {
		end = local.NLA(into + uint64(n))
		_, err = a.Get(there, local.NLA(into), remote.NLA(from), n, rma.Completer)
	} else {
		_, err = a.Put(there, local.NLA(from), remote.NLA(into), n, rma.Requester|rma.Completer)
	}
	r.must(err)
	r.quiet()
	r.same(src[from:from+uint64(n)], dst[into:into+uint64(n)], what)
	r.same(make([]byte, 8), dst[into-8:into], what+", in front")
	r.same(make([]byte, 8), dst[into+uint64(n):into+uint64(n)+8], what+", behind")
	ev := r.event(a, what)
	r.check(ev.Err == nil, "%s: %v", what, ev.Err)
	r.check(ev.Last && a.LocallyComplete(ev.Handle), "%s: not done", what)
	r.check(ev.NLA+rma.NLA(ev.Bytes) == end && ev.Bytes <= min(n, regs.RMAMTU), "%s: its last fragment is %+v, expected to end at 0x%x", what, ev, uint64(end))
	if !get {
		ev = r.event(b, what)
		end = remote.NLA(into + uint64(n))
		r.check(ev.NLA+rma.NLA(ev.Bytes) == end && ev.Last, "%s: its last fragment at the target is %+v, expected to end at 0x%x", what, ev, uint64(end))
	}
	r.nothing(a, what)
	r.nothing(b, what)
}

func outstanding(r *rig) {
	r.open(there, 1, 8)
	remote := r.region(r.ports[0], dataAt, 4096, rma.ReadWrite)
	for vpid, limit := range []int{1, 3, 4, 5, 16} {
		a := r.open(rma.Peer{Node: 0, VPID: vpid}, limit, 2*limit)
		mine := r.region(a, dataAt+uint64(vpid)<<12, 4096, rma.ReadWrite)
		posted, ended, most := 0, 0, 0
		for begin := r.Now(); ended < 40; {
			r.check(r.Now() < begin+100_000, "%d gets of 40 completed in %d cycles", ended, r.Now()-begin)
			for posted < 40 {
				_, err := a.Get(there, mine.NLA(dataAt+uint64(vpid)<<12), remote.NLA(dataAt), 700, rma.Completer)
				if errors.Is(err, rma.ErrTryAgain) {
					break
				}
				r.must(err)
				posted++
			}
			most = max(most, a.InFlight())
			r.must(r.Run(r.Now()+50, &r.stop))
			window := r.reg(0, regs.RMAWindow(uint8(vpid)))
			r.check(regs.RMAWindowTaken.Of(window) == a.Stats().Operations && regs.RMAWindowRefused.Of(window) == 0,
				"%d descriptors: RMA_WINDOW is 0x%x", a.Stats().Operations, window)
			var ev rma.Event
			for ok, err := a.Poll(&ev); ok || err != nil; ok, err = a.Poll(&ev) {
				r.must(err)
				r.must(ev.Err)
				ended++
			}
		}
		r.check(a.InFlight() == 0, "%d operations did not complete", a.InFlight())
		least := min(limit, regs.RMADepth+1) // a get leaves the NIC's descriptor queue before it is done
		r.check(least <= most && most <= limit, "at most %d operations were outstanding, expected %d..%d", most, least, limit)
		r.check(r.reg(0, regs.NotiStall(uint8(vpid))) == 0, "own operations filled the ring of VPID %d", vpid)
	}
}

func fullRing(r *rig) {
	b := r.open(rma.Peer{Node: 0, VPID: 3}, 1, 5)
	senders := []*rma.Port{r.open(rma.Peer{Node: 1}, 4, 16), r.open(rma.Peer{Node: 2}, 4, 16)}
	const each = 30
	var sent [2]int
	var seen [3]int
	held := false
	for seen[1]+seen[2] < 2*each {
		for i, p := range senders {
			for sent[i] < each {
				_, err := p.Notify(rma.Peer{Node: 0, VPID: 3}, uint64(sent[i]), rma.Completer)
				if errors.Is(err, rma.ErrTryAgain) {
					break
				}
				r.must(err)
				sent[i]++
			}
		}
		r.quiet()
		held = held || !r.stop.Idle
		ev := r.event(b, "full ring")
		r.check(ev.Handle == 0 && ev.Payload == uint64(seen[ev.Peer.Node]), "full ring: found %+v, expected number %d of its peer", ev, seen[ev.Peer.Node])
		seen[ev.Peer.Node]++
		for _, p := range senders {
			r.nothing(p, "full ring")
		}
	}
	r.quiet()
	r.check(held && r.reg(0, regs.NotiStall(3)) > 0, "the ring was never full")
	r.check(r.stop.Idle, "packets are still stalled although the ring is empty")
	r.check(r.reg(0, regs.RMANotiOff) == 0, "notifications were discarded")
}

// unmap uses the page before unmapping it, so that the TLB holds its translation.
func unmap(r *rig) {
	a, _, l, _ := pair(r)
	atu := r.atus[1]
	get := func(remote rma.NLA) error {
		_, err := a.Get(there, l, remote, 1, rma.Completer)
		r.must(err)
		r.quiet()
		return r.event(a, "get").Err
	}
	for i := range 10 {
		at := uint64(dataAt + (i+1)<<12)
		r.mem(1)[at] = byte(i + 1)
		nla, err := atu.Map(there.VPID, at, 4096, rma.ReadOnly)
		r.must(err)
		r.must(get(nla))
		r.check(r.mem(0)[dataAt] == byte(i+1), "page %d: the get found 0x%x", i, r.mem(0)[dataAt])
		r.must(atu.Unmap(nla))
		for pending := 1; pending > 0; {
			r.quiet()
			pending, err = atu.Poll()
			r.must(err)
		}
		r.fault(get(nla), rma.FaultError{Code: regs.RMAErrorTranslation, Unit: rma.UnitResponder, Command: rma.CommandGet, NLA: nla, Peer: there}, "get from an unmapped page")
	}
}
