package conformance

import (
	"bytes"

	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/rma"
)

// An attempt is an operation that must fail.
type attempt struct {
	what string
	by   *rma.Port
	want rma.FaultError
	op   func() (rma.Handle, error)
}

// refuse makes the attempts. Each must be reported exactly once, only to its own port, and must not
// change any node's memory from dataAt on.
func (r *rig) refuse(list []attempt) {
	for _, t := range list {
		before := [][]byte{bytes.Clone(r.mem(0)[dataAt:]), bytes.Clone(r.mem(1)[dataAt:])}
		h, err := t.op()
		r.check(err == nil, "%s: %v", t.what, err)
		r.quiet()
		ev := r.event(t.by, t.what)
		r.fault(ev.Err, t.want, t.what)
		r.check(ev.Handle == h && ev.Last && t.by.LocallyComplete(h), "%s: found %+v, expected the end of operation 0x%x", t.what, ev, uint64(h))
		for _, p := range r.ports {
			r.nothing(p, t.what)
		}
		for node := range before {
			r.same(before[node], r.mem(node)[dataAt:], t.what)
		}
	}
}

func faults(r *rig) {
	a, b, l, rem := pair(r)
	ro := r.region(b, dataAt+0x10000, 4096, rma.ReadOnly).NLA(dataAt + 0x10000)
	wo := r.region(b, dataAt+0x20000, 4096, rma.WriteOnly).NLA(dataAt + 0x20000)
	lro := r.region(a, dataAt+0x30000, 4096, rma.ReadOnly).NLA(dataAt + 0x30000)
	pattern(r.mem(0)[dataAt:dataAt+4096], 1)
	nowhere := rma.NLA(15) << 44
	behind := rma.NLA(1)<<44 + 1<<40
	nobody, noNode := rma.Peer{Node: 1, VPID: 9}, rma.Peer{Node: 2, VPID: 2}
	fault := func(code regs.RMAError, u rma.Unit, c rma.Command, nla rma.NLA, to rma.Peer) rma.FaultError {
		return rma.FaultError{Code: code, Unit: u, Command: c, NLA: nla, Peer: to}
	}
	const at, re, co = rma.UnitRequester, rma.UnitResponder, rma.UnitCompleter
	put := func(to rma.Peer, l, rem rma.NLA) func() (rma.Handle, error) {
		return func() (rma.Handle, error) { return a.Put(to, l, rem, 8, rma.Completer) }
	}
	get := func(to rma.Peer, l, rem rma.NLA) func() (rma.Handle, error) {
		return func() (rma.Handle, error) { return a.Get(to, l, rem, 8, rma.Completer) }
	}
	r.refuse([]attempt{
		{"put to a read-only page", a, fault(regs.RMAErrorRights, co, rma.CommandPut, ro, there), put(there, l, ro)},
		{"get from a write-only page", a, fault(regs.RMAErrorRights, re, rma.CommandGet, wo, there), get(there, l, wo)},
		{"fetch on a read-only page", a, fault(regs.RMAErrorRights, re, rma.CommandFetchCompareAdd, ro, there),
			func() (rma.Handle, error) { return a.FetchCompareAdd(there, ro, 1<<31, 1) }},
		{"fetch on a write-only page", a, fault(regs.RMAErrorRights, re, rma.CommandFetchCompareAdd, wo, there),
			func() (rma.Handle, error) { return a.FetchCompareAdd(there, wo, 1<<31, 1) }},
		{"get into a read-only page", a, fault(regs.RMAErrorRights, co, rma.CommandGet, lro, there), get(there, lro, rem)},
		{"put to no table", a, fault(regs.RMAErrorTranslation, co, rma.CommandPut, nowhere, there), put(there, l, nowhere)},
		{"get from address 0", a, fault(regs.RMAErrorTranslation, re, rma.CommandGet, 0, there), get(there, l, 0)},
		{"put from address 0", a, fault(regs.RMAErrorTranslation, at, rma.CommandPut, 0, there), put(there, 0, rem)},
		{"put behind its table", a, fault(regs.RMAErrorBounds, co, rma.CommandPut, behind, there), put(there, l, behind)},
		{"get from a page that is not mapped", a, fault(regs.RMAErrorTranslation, re, rma.CommandGet, rem+0x100000, there), get(there, l, rem+0x100000)},
		{"put to a process without a port", a, fault(regs.RMAErrorDomain, co, rma.CommandPut, rem, nobody), put(nobody, l, rem)},
		{"get from a process without a port", a, fault(regs.RMAErrorDomain, re, rma.CommandGet, rem, nobody), get(nobody, l, rem)},
		{"notify of a process without a port", a, fault(regs.RMAErrorDomain, co, rma.CommandNotify, 0, nobody),
			func() (rma.Handle, error) { return a.Notify(nobody, 1, rma.Completer) }},
		{"put to no node", a, fault(regs.RMAErrorNoSuchNode, at, rma.CommandPut, l, noNode), put(noNode, l, rem)},
	})
	// After all these faults the ports still work.
	_, err := a.Put(there, l, rem, 4096, rma.Requester|rma.Completer)
	r.must(err)
	r.quiet()
	r.must(r.event(a, "put").Err)
	r.must(r.event(b, "put").Err)
	r.same(r.mem(0)[dataAt:dataAt+4096], r.mem(1)[dataAt:dataAt+4096], "put after all")
}

func protection(r *rig) {
	thief, _, bag, secret := pair(r)
	other := rma.Peer{Node: 1, VPID: 3}
	helper := r.open(other, 8, 64)
	for i := range 4096 {
		r.mem(1)[dataAt+i] = 0x5e
	}
	owner := func(u rma.Unit, c rma.Command, to rma.Peer) rma.FaultError {
		return rma.FaultError{Code: regs.RMAErrorOwner, Unit: u, Command: c, NLA: secret, Peer: to}
	}
	before := r.reg(1, regs.ATUFaults)
	r.refuse([]attempt{
		// The victim's address with the name of another process.
		{"get", thief, owner(rma.UnitResponder, rma.CommandGet, other), func() (rma.Handle, error) { return thief.Get(other, bag, secret, 8, rma.Completer) }},
		{"put", thief, owner(rma.UnitCompleter, rma.CommandPut, other), func() (rma.Handle, error) { return thief.Put(other, bag, secret, 8, rma.Completer) }},
		{"immediate put", thief, owner(rma.UnitCompleter, rma.CommandPutImmediate, other), func() (rma.Handle, error) { return thief.PutImmediate(other, secret, []byte{1}, rma.Completer) }},
		{"fetch", thief, owner(rma.UnitResponder, rma.CommandFetchCompareAdd, other), func() (rma.Handle, error) { return thief.FetchCompareAdd(other, secret, ^uint32(0), 1) }},
		// The victim's memory as the local buffer of its neighbour.
		{"put from it", helper, owner(rma.UnitRequester, rma.CommandPut, here), func() (rma.Handle, error) { return helper.Put(here, secret, bag, 8, rma.Completer) }},
		{"get into it", helper, owner(rma.UnitCompleter, rma.CommandGet, here), func() (rma.Handle, error) { return helper.Get(here, secret, bag, 8, rma.Completer) }},
	})
	found := r.reg(1, regs.ATUFaults) - before
	r.check(found == 6, "ATU_FAULTS counted %d, expected 6", found)
	nla := regs.ATUFaultNLA.Of(r.reg(1, regs.ATUFault))
	r.check(nla == uint64(secret), "ATU_FAULT holds NLA 0x%x, expected 0x%x", nla, uint64(secret))
}
