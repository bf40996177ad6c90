package libfabric

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/host"
)

// Atomics are messages. The hardware has a single one (fetch-compare-add of 32 bits); the others of
// libfabric are performed by the rank that owns the memory, while it makes progress. So they are
// atomic with respect to each other, and not with respect to puts.

// Messages of an atomic: the request has the sequence number as its tag, the answer has it with
// answerTag.
const (
	answerTag   = 1 << 63
	atomicHead  = 32
	atomicBytes = inlined - atomicHead // operands, and values to compare with
)

// An atomicCall is an atomic of the program, until its answer has arrived.
type atomicCall struct {
	host.TaggedOp // receives the answer
	oneSided
}

// An atomicService receives requests of atomics.
type atomicService struct{ host.TaggedOp }

func (x *session) startService() error {
	x.oneSided.service = &atomicService{}
	return x.awaitAtomic()
}

func (x *session) awaitAtomic() error {
	a := x.oneSided.service
	a.TaggedOp = host.TaggedOp{
		Space: host.ServiceSpace, Peer: host.AnySource, Ignore: answerTag - 1, Buf: make([]byte, inlined), User: a,
	}
	return x.q.Receive(&a.TaggedOp)
}

// stopService ends the service when the program leaves the world.
func (x *session) stopService() error {
	a := x.oneSided.service
	if a == nil {
		return nil
	}
	x.oneSided.service = nil
	return x.q.Cancel(&a.TaggedOp)
}

// atomic starts an atomic of the program.
func (x *session) atomic(r *request) error {
	if err := x.enableOneSided(); err != nil {
		return err
	}
	o := &atomicCall{oneSided: oneSided{request: *r}}
	operands := int(r.length)
	if r.compares != 0 {
		operands *= 2
	}
	if operands > atomicBytes {
		x.report(&o.oneSided, errInvalid, nil)
		return nil
	}
	text := make([]byte, atomicHead+operands)
	copy(text[atomicHead:], x.region.sent[x.region.requestTail%slots][:])
	if code := x.find(&o.oneSided); code != 0 {
		x.report(&o.oneSided, code, nil)
		return nil
	}
	x.state.oneSided(x.link.rank, &o.oneSided)
	if o.owner == x {
		if err := x.beginOwnAccess(); err != nil {
			return err
		}
		code, got, err := x.perform(r, text[atomicHead:])
		if err == nil {
			x.reportAtomic(o, code, got)
		}
		return err
	}
	binary.LittleEndian.PutUint64(text[0:], r.tag)
	binary.LittleEndian.PutUint64(text[8:], r.ignore)
	binary.LittleEndian.PutUint64(text[16:], r.length)
	binary.LittleEndian.PutUint16(text[24:], r.atomicOp)
	binary.LittleEndian.PutUint16(text[26:], r.datatype)
	binary.LittleEndian.PutUint32(text[28:], r.compares)
	x.oneSided.atomics++
	x.oneSided.inProgress++
	o.TaggedOp = host.TaggedOp{
		Space: host.ServiceSpace, Peer: int(r.peer), Tag: answerTag | x.oneSided.atomics,
		Buf: make([]byte, 4+r.length), User: o,
	}
	ask := &host.TaggedOp{Space: host.ServiceSpace, Peer: int(r.peer), Tag: x.oneSided.atomics, Buf: text}
	return errors.Join(x.q.Receive(&o.TaggedOp), x.q.Send(ask), x.collect())
}

// atomicAnswered ends an atomic of the program.
func (x *session) atomicAnswered(o *atomicCall) error {
	x.oneSided.inProgress--
	st, err := o.Status()
	if err != nil {
		return err
	}
	if st.Bytes < 4 {
		return fmt.Errorf("rank %d: the answer of an atomic has %d bytes, expected at least 4", x.link.rank, st.Bytes)
	}
	x.reportAtomic(o, int32(binary.LittleEndian.Uint32(o.Buf)), o.Buf[4:st.Bytes])
	return nil
}

func (x *session) reportAtomic(o *atomicCall, code int32, got []byte) {
	x.state.vain = 0
	c := completion{
		context: o.context, err: code, length: o.length, address: o.result, source: -1,
		flags: o.completionFlags() | o.kind(),
	}
	if o.result == 0 {
		got = nil
	}
	x.s.world.trace(x, o.status(), got)
	x.reports = append(x.reports, report{completion: c, bytes: got})
}

// serveAtomic performs an atomic for another rank and answers it.
func (x *session) serveAtomic(a *atomicService) error {
	st, err := a.Status()
	if errors.Is(err, host.ErrCancelled) {
		return nil
	}
	if err != nil {
		return err
	}
	b := a.Buf[:min(st.Bytes, len(a.Buf))]
	if len(b) < atomicHead {
		return fmt.Errorf("rank %d: an atomic of rank %d has %d bytes, expected at least %d",
			x.link.rank, st.Source, len(b), atomicHead)
	}
	r := request{
		tag: binary.LittleEndian.Uint64(b), ignore: binary.LittleEndian.Uint64(b[8:]),
		length:   binary.LittleEndian.Uint64(b[16:]),
		atomicOp: binary.LittleEndian.Uint16(b[24:]), datatype: binary.LittleEndian.Uint16(b[26:]),
		compares: binary.LittleEndian.Uint32(b[28:]),
	}
	code, got, err := x.perform(&r, b[atomicHead:])
	if err != nil {
		return err
	}
	x.memoryChanged()
	answer := binary.LittleEndian.AppendUint32(nil, uint32(code))
	send := &host.TaggedOp{
		Space: host.ServiceSpace, Peer: st.Source, Tag: st.Tag | answerTag, Buf: append(answer, got...),
	}
	return errors.Join(x.q.Send(send), x.awaitAtomic())
}

// perform performs an atomic on memory of this rank's program and returns what was there before.
func (x *session) perform(r *request, operands []byte) (code int32, old []byte, err error) {
	mr := x.oneSided.regions[r.tag]
	need := uint64(remoteWrite)
	if r.atomicOp == atomicRead {
		need = remoteRead
	}
	n := int(r.length)
	switch {
	case mr == nil:
		return errKeyRejected, nil, nil
	case mr.access&need == 0:
		return errAccess, nil, nil
	case n > mr.length || r.ignore > uint64(mr.length-n) || len(operands) < n || r.compares != 0 && len(operands) < 2*n:
		return errInvalid, nil, nil
	}
	at := mr.address + r.ignore
	old = make([]byte, n)
	if err := x.readMemory(at, old); err != nil {
		return 0, nil, err
	}
	var compare []byte
	if r.compares != 0 {
		compare = operands[n : 2*n]
	}
	changed, ok := applyAtomic(r.atomicOp, r.datatype, old, operands[:n], compare)
	if !ok {
		return errInvalid, nil, nil
	}
	if err := x.writeMemory(at, changed); err != nil {
		return 0, nil, err
	}
	return 0, old, nil
}
