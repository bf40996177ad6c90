package libfabric

import (
	"errors"
	"slices"

	"github.com/nicloop/nicloop/host"
)

// collect makes completions of operations that are done.
func (x *session) collect() error {
	if x.failed != nil {
		return x.failed
	}
	for t := x.q.Next(); t != nil; t = x.q.Next() {
		x.state.vain = 0
		if err := x.operationDone(t); err != nil {
			return err
		}
	}
	return nil
}

func (x *session) operationDone(t *host.TaggedOp) error {
	switch op := t.User.(type) {
	case *operation:
		if op.op == opSend {
			return x.sendDone(op)
		}
		return x.receiveDone(op)
	case *atomicCall:
		return x.atomicAnswered(op)
	case *atomicService:
		return x.serveAtomic(op)
	}
	return nil // a message of an atomic has left
}

func (x *session) sendDone(op *operation) error {
	x.sending--
	c := completion{context: op.context, flags: wasSend | op.completionFlags(), length: op.length, tag: op.tag}
	if _, err := op.Status(); err != nil {
		c.err = errCancelled
	}
	x.reports = append(x.reports, report{completion: c})
	return x.release(op)
}

func (x *session) receiveDone(op *operation) error {
	if x.ops[op.context] == op {
		delete(x.ops, op.context)
	}
	c := completion{
		context: op.context, flags: wasRecv | op.completionFlags(), address: op.address, tag: op.tag, source: -1,
	}
	st, err := op.Status()
	if errors.Is(err, host.ErrCancelled) {
		c.err = errCancelled
		x.reports = append(x.reports, report{completion: c})
		return x.release(op)
	}
	if err != nil {
		return err
	}
	n := min(st.Bytes, len(op.Buf))
	c.length, c.tag, c.data, c.source, c.flags = uint64(n), st.Tag, st.Data, int32(st.Source), c.flags|withData
	if st.Bytes > n {
		c.err, c.overflow = errTruncated, uint64(st.Bytes-n)
	}
	x.s.world.trace(x, st, op.Buf[:n])
	x.noteReceived(op, st)
	rep := report{completion: c}
	if n <= inlined {
		rep.bytes = slices.Clone(op.Buf[:n])
	} else if err := x.writeMemory(op.address, op.Buf[:n]); err != nil {
		return err
	}
	if err := x.release(op); err != nil {
		return err
	}
	if op.multi == nil {
		x.reports = append(x.reports, rep)
		return nil
	}
	return x.continueMulti(op, rep, n)
}

// noteReceived tells the critical path of a message that the program has received.
func (x *session) noteReceived(op *operation, st host.TaggedStatus) {
	x.s.world.critical.receive(st.Source, x.link.rank, op.Space == host.TaggedSpace, st.Tag, x.r.Now())
}

// continueMulti posts the rest of a multi-receive buffer, if enough of it is left.
func (x *session) continueMulti(op *operation, rep report, n int) error {
	m := op.multi
	m.filled += uint64(n)
	left := m.length - m.filled
	if left < uint64(m.minMulti) {
		rep.flags |= bufferDone
		x.reports = append(x.reports, rep)
		return nil
	}
	x.reports = append(x.reports, rep)
	next := &operation{request: m.request, multi: m}
	next.address, next.length = m.address+m.filled, left
	return x.post(next)
}

// writeReports hands completions to the program, as many as there is room for.
func (x *session) writeReports() {
	n := 0
	for n < len(x.reports) && x.region.complete(&x.reports[n].completion, x.reports[n].bytes) {
		n++
	}
	x.reports = slices.Delete(x.reports, 0, n)
}
