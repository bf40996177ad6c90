package rma

// Poll takes the next event, if there is one. Notifications that the caller did not request only
// complete their operations. It returns an error if the device is simulated and its clock has
// stopped, so that a loop of polls ends.
func (p *Port) Poll(ev *Event) (bool, error) {
	for {
		w0, w1, ok := p.ring.take()
		if !ok {
			return false, p.stall.Empty()
		}
		p.stats.Notifications++
		if err := p.writeReadPointer(); err != nil {
			return false, err
		}
		n, err := decode(w0, w1)
		if err != nil {
			return false, err
		}
		*ev = Event{
			Unit: n.Unit, Command: n.Command, Peer: Peer{int(n.PeerNode), int(n.PeerVPID)},
			NLA: n.nla, Bytes: int(n.BytesMinus1) + 1, Payload: n.payload, Last: n.Last,
		}
		show := true
		if n.own {
			if show, err = p.own(&n, ev); err != nil {
				return false, err
			}
		}
		if show {
			return true, nil
		}
	}
}

// writeReadPointer writes the read pointer to the NIC. The ring has room for the notifications of
// all own operations plus those consumed since the last write; see Open.
func (p *Port) writeReadPointer() error {
	if p.ring.consumed-p.rpDone < p.lazy {
		return nil
	}
	p.rpDone = p.ring.consumed
	return p.dev.WriteReg(p.rpReg, uint64(p.rpDone))
}

// own assigns a notification to its operation and reports whether the caller must see the event.
func (p *Port) own(n *notification, ev *Event) (bool, error) {
	op, h, err := p.ops.lookup(n.tag)
	if err != nil {
		return false, err
	}
	ev.Handle = h
	if n.Error != 0 {
		return p.failed(n, op, ev), nil
	}
	if op == nil || op.awaits == 0 {
		return false, &NotificationError{uint64(n.tag)<<48 | uint64(n.nla), uint64(n.Pack()), "its operation has ended already"}
	}
	which := bit(n.Unit)
	asked := op.shows&which != 0
	ev.Last = p.ops.complete(op, which)
	if ev.Last && op.faulted {
		fault := op.fault
		ev.Err = &fault
	}
	return asked || ev.Err != nil, nil
}

// failed handles the notification of a failed fragment. It records the first fault until the
// operation is done; a fault of a completed operation is an event of its own.
func (p *Port) failed(n *notification, op *operation, ev *Event) bool {
	p.stats.Faults++
	told := p.late == ev.Handle // already reported for a silent put, by its target
	fault := FaultError{Code: n.Error, Unit: n.Unit, Command: n.Command, NLA: n.nla, Peer: ev.Peer}
	if op == nil || op.awaits == 0 || op.silent && n.Unit == UnitCompleter {
		known := told || op != nil && op.faulted
		p.late = ev.Handle
		ev.Last, ev.Err = true, &fault
		return !known
	}
	if !op.faulted {
		op.faulted, op.fault = true, fault
	}
	ends := Notify(0)
	switch {
	case n.Unit == UnitRequester:
		ends = op.awaits
	case n.Last:
		ends = Completer
	}
	ev.Last = p.ops.complete(op, ends)
	if ev.Last {
		fault = op.fault
		ev.Err = &fault
	}
	return ev.Last && !told
}

func bit(u Unit) Notify { return 1 << (u - 1) }
