package libfabric

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/rma"
)

// Error numbers of libfabric for one-sided operations.
const (
	errIO          = 5
	errNoMemory    = 12
	errAccess      = 13
	errInvalid     = 22
	errKeyRejected = 129
	errKeyInUse    = 266
)

// Access rights of a memory region, as in fi_mr_reg.
const (
	remoteRead  = 1 << 12
	remoteWrite = 1 << 13
)

// A memoryRegion is memory that a program has registered for its peers. The NIC cannot reach the
// memory of the program: it accesses shadow, DMA memory of the same length. A put is copied from
// the shadow to the program when the program may know of it: when it is notified, or when the put
// is done at its origin. A get is preceded by a copy from the program to the shadow.
//
// The NIC cuts accesses at pages of 4 KB, and where the memory of a program lies in its page may
// differ between runs. So that runs repeat, the first access to a region starts at a page of the
// shadow, and the others lie relative to it.
type memoryRegion struct {
	address uint64
	length  int
	access  uint64
	shadow  []byte
	exposed *host.Exposed
	closed  bool
	number  uint64 // of the registration; keys may be addresses, which differ between runs
	first   int    // offset of the first access; -1: none
	bias    int    // position of the region in shadow
}

// A oneSided is a put or a get that a program has started.
type oneSided struct {
	request
	owner   *session // of the region
	mr      *memoryRegion
	bytes   []byte // of a put, until it starts
	local   []byte // DMA memory
	pieces  []host.OneSidedOp
	left    int // pieces that are not done
	copied  bool
	failure error
}

func (o *oneSided) offset() int { return int(o.ignore) }

const (
	pageBytes = 4096
	// shadowUnit rounds shadows up, because also the number of pages of a buffer may differ between
	// runs, and with it the place of later allocations.
	shadowUnit = 64 << 10
)

// place fixes the position of the region in its shadow at the first access.
func (m *memoryRegion) place(offset int) {
	if m.first < 0 {
		m.first, m.bias = offset, (pageBytes-offset%pageBytes)%pageBytes
	}
}

// bytes returns n bytes of the shadow that stand for those at an offset of the region.
func (m *memoryRegion) bytes(offset, n int) []byte { return m.shadow[m.bias+offset : m.bias+offset+n] }

// oneSidedState is what a session has for one-sided operations.
type oneSidedState struct {
	enabled    bool
	regions    map[uint64]*memoryRegion // by key
	registered uint64                   // registrations so far
	inProgress int
	deferred   []*oneSided         // no memory for them yet
	incoming   map[int][]*oneSided // puts of other ranks, by rank, in the order in which they started
	service    *atomicService
	atomics    uint64 // atomics that were started
}

func (x *session) enableOneSided() error {
	if x.oneSided.enabled {
		return nil
	}
	x.oneSided.enabled = true
	x.oneSided.regions, x.oneSided.incoming = map[uint64]*memoryRegion{}, map[int][]*oneSided{}
	return errors.Join(x.r.UseOneSided(x.notified), x.startService())
}

// ---- registration ----

// register exposes memory of the program. The program gets the error number.
func (x *session) register(r *request) error {
	if err := x.enableOneSided(); err != nil {
		return err
	}
	x.region.result = 0
	if x.oneSided.regions[r.tag] != nil {
		x.region.result = -errKeyInUse
		return nil
	}
	mr := &memoryRegion{address: r.address, length: int(r.length), access: r.data, first: -1}
	if r.data&(remoteRead|remoteWrite) != 0 && r.length > 0 {
		if err := x.expose(mr); err != nil {
			x.region.result = -errNoMemory
			x.s.Warn(fmt.Sprintf("rank %d cannot register %d bytes for its peers: %v; raise --heap",
				x.link.rank, r.length, err))
			return nil
		}
	}
	x.oneSided.registered++
	mr.number = x.oneSided.registered
	x.oneSided.regions[r.tag] = mr
	return nil
}

// exposePatience limits how long a registration waits for entries of the translation tables.
const exposePatience = 10 * drivers.Millisecond

func (x *session) expose(mr *memoryRegion) (err error) {
	if mr.shadow, err = x.r.Alloc((mr.length/shadowUnit+1)*shadowUnit + pageBytes); err != nil {
		return err
	}
	err = x.whileFull(x.r.Now()+exposePatience, func() (err error) {
		mr.exposed, err = x.r.Expose(mr.shadow)
		return err
	})
	if err != nil {
		return errors.Join(err, x.r.Free(mr.shadow))
	}
	return nil
}

// whileFull repeats f while the translation tables have no room for it, until a time.
func (x *session) whileFull(until drivers.Time, f func() error) error {
	for {
		err := f()
		if !errors.Is(err, path.ErrAgain) || x.r.Now() > until {
			return err
		}
		if err := x.r.ProgressUntil(x.r.Now()+drivers.Microsecond, func() bool { return false }); err != nil {
			return err
		}
	}
}

func (x *session) unregister(key uint64) error {
	mr := x.oneSided.regions[key]
	if mr == nil {
		return nil
	}
	mr.closed = true
	delete(x.oneSided.regions, key)
	if mr.exposed == nil {
		return nil
	}
	x.r.Withdraw(mr.exposed)
	return x.r.Free(mr.shadow)
}

// ---- puts and gets ----

// access begins a put or a get of the program.
func (x *session) access(r *request) error {
	if err := x.enableOneSided(); err != nil {
		return err
	}
	o := &oneSided{request: *r}
	if r.op == opWrite {
		o.bytes = make([]byte, r.length)
		if err := x.fetch(r, o.bytes); err != nil {
			return err
		}
	}
	if code := x.find(o); code != 0 {
		x.report(o, code, nil)
		return nil
	}
	x.state.oneSided(x.link.rank, o)
	if o.owner == x {
		if err := x.beginOwnAccess(); err != nil {
			return err
		}
	}
	if len(x.oneSided.deferred) == 0 {
		started, err := x.start(o)
		if started || err != nil {
			return err
		}
	}
	x.oneSided.deferred = append(x.oneSided.deferred, o)
	return nil
}

// find finds the region that an operation accesses, or returns an error number.
func (x *session) find(o *oneSided) int32 {
	if st := x.s.world.ranks[o.peer]; st != nil {
		o.owner = st.session
	}
	if o.owner == nil || o.owner.oneSided.regions[o.tag] == nil {
		return errKeyRejected
	}
	o.mr = o.owner.oneSided.regions[o.tag]
	need := uint64(remoteRead)
	if o.op == opWrite {
		need = remoteWrite
	}
	switch n := uint64(o.mr.length); {
	case o.op != opAtomic && o.mr.access&need == 0:
		return errAccess
	case o.mr.exposed == nil && o.owner != x && (o.length > 0 || o.flags&flagHasData != 0):
		return errAccess
	case o.length > n || o.ignore > n-o.length:
		return errInvalid
	}
	o.mr.place(o.offset())
	return 0
}

// start hands an operation to the hardware. Not started: there is no memory for it now.
func (x *session) start(o *oneSided) (started bool, err error) {
	switch {
	case o.mr.closed: // while the operation was deferred: the shadow may be memory of others by now
		x.report(o, errKeyRejected, nil)
		return true, nil
	case o.length == 0 && o.flags&flagHasData == 0:
		x.report(o, 0, nil)
		return true, nil
	case o.owner == x:
		return true, x.accessOwn(o)
	}
	n := max(int(o.length), 1) // a put without bytes but with data writes the byte that is there
	if o.local, err = x.r.Alloc(n); err != nil {
		if x.oneSided.inProgress > 0 {
			return false, nil
		}
		x.report(o, errNoMemory, nil)
		return true, nil
	}
	if o.op == opRead || o.length == 0 {
		if err := o.owner.refresh(o.mr, o.offset(), n); err != nil {
			return true, err
		}
	}
	if o.op == opWrite {
		copy(o.local, o.mr.bytes(min(o.offset(), o.mr.length-n), n))
		copy(o.local, o.bytes)
		o.bytes = nil
		o.owner.oneSided.incoming[x.link.rank] = append(o.owner.oneSided.incoming[x.link.rank], o)
	}
	x.oneSided.inProgress++
	return true, x.startPieces(o)
}

func (x *session) startPieces(o *oneSided) error {
	n := len(o.local)
	at := o.mr.bias + min(o.offset(), o.mr.length-n)
	for from := 0; from < n; from += rma.MaxBytes {
		to := min(from+rma.MaxBytes, n)
		o.pieces = append(o.pieces, host.OneSidedOp{
			Put: o.op == opWrite, Local: o.local[from:to:to], Target: o.mr.exposed, Offset: at + from,
			Notify: o.flags&flagHasData != 0 && to == n, Data: o.data,
			Done: func(err error) {
				o.failure = errors.Join(o.failure, err)
				if o.left--; o.left == 0 {
					x.failed = errors.Join(x.failed, x.finish(o))
				}
			},
		})
	}
	o.left = len(o.pieces)
	for i := range o.pieces {
		start := func() error { return x.r.StartOneSided(&o.pieces[i]) }
		if err := x.whileFull(drivers.Never, start); err != nil {
			return err
		}
	}
	return nil
}

// ownAccessTime is the simulated time of an access of a rank to its own memory.
const ownAccessTime = 20 * drivers.Nanosecond

// beginOwnAccess lets time pass and makes progress before an access of a rank to its own memory. A
// program may repeat such accesses until another rank has changed the memory; each of them
// completes immediately, so the program never waits.
func (x *session) beginOwnAccess() error {
	x.r.Compute(ownAccessTime)
	err := x.r.ProgressUntil(x.r.Now(), func() bool { return false })
	return errors.Join(err, x.collect())
}

// accessOwn accesses memory of the program itself, without the NIC.
func (x *session) accessOwn(o *oneSided) (err error) {
	at := o.mr.address + o.ignore
	var got []byte
	if o.op == opWrite {
		err = x.writeMemory(at, o.bytes)
	} else {
		got = make([]byte, o.length)
		err = x.readMemory(at, got)
	}
	if err != nil {
		return err
	}
	if o.op == opWrite && o.flags&flagHasData != 0 {
		x.reports = append(x.reports, remoteWriteReport(x.link.rank, o))
	}
	return x.deliver(o, got)
}

// finish ends an operation whose bytes have arrived, and starts those that waited for its memory.
func (x *session) finish(o *oneSided) (err error) {
	x.oneSided.inProgress--
	x.state.vain = 0
	var got []byte
	if o.op == opWrite {
		err = o.owner.copyPut(o)
		x.r.Wake(int(o.peer))
		incoming, rank := o.owner.oneSided.incoming, x.link.rank
		incoming[rank] = slices.DeleteFunc(incoming[rank], func(other *oneSided) bool { return other == o })
	} else {
		got = slices.Clone(o.local)
	}
	err = errors.Join(err, x.r.Free(o.local))
	x.s.world.trace(x, o.status(), got)
	if o.failure != nil {
		x.report(o, errIO, nil)
	} else {
		err = errors.Join(err, x.deliver(o, got))
	}
	for err == nil && len(x.oneSided.deferred) > 0 {
		started := false
		if started, err = x.start(x.oneSided.deferred[0]); !started {
			break
		}
		x.oneSided.deferred = x.oneSided.deferred[1:]
	}
	return err
}

// deliver reports an operation, with the bytes that it got.
func (x *session) deliver(o *oneSided, got []byte) error {
	if len(got) > inlined {
		if err := x.writeMemory(o.address, got); err != nil {
			return err
		}
		got = nil
	}
	x.report(o, 0, got)
	return nil
}

func (x *session) report(o *oneSided, code int32, got []byte) {
	c := completion{
		context: o.context, err: code, flags: o.completionFlags() | o.kind(), length: o.length, address: o.address, source: -1,
	}
	x.reports = append(x.reports, report{completion: c, bytes: got})
}

// status describes the operation in the trace.
func (o *oneSided) status() host.TaggedStatus {
	return host.TaggedStatus{Source: int(o.peer), Tag: o.mr.number, Data: uint64(o.offset() - o.mr.first), Bytes: int(o.length)}
}

// kind is the kind of a completion. An atomic that returns no old value is a write.
func (o *oneSided) kind() uint32 {
	switch {
	case o.op == opWrite:
		return wasWrite
	case o.op == opRead:
		return wasRead
	case o.result != 0:
		return wasAtomic | wasRead
	default:
		return wasAtomic | wasWrite
	}
}

// ---- the program whose memory is accessed ----

// refresh copies memory of the program into the shadow, except where a put has written, or will
// write, what the program does not have yet.
func (x *session) refresh(mr *memoryRegion, at, n int) error {
	at = min(at, mr.length-n)
	now := make([]byte, n)
	if err := x.readMemory(mr.address+uint64(at), now); err != nil {
		return err
	}
	for _, list := range x.oneSided.incoming {
		for _, o := range list {
			low, high := max(o.offset(), at), min(o.offset()+int(o.length), at+n)
			if o.mr == mr && !o.copied && low < high {
				copy(now[low-at:high-at], mr.bytes(low, high-low))
			}
		}
	}
	copy(mr.bytes(at, n), now)
	return nil
}

// copyPut copies what a put wrote into the memory of the program.
func (x *session) copyPut(o *oneSided) error {
	if o.copied || o.mr.closed || o.failure != nil || x.link.left.Load() {
		return nil
	}
	o.copied = true
	x.memoryChanged()
	return x.writeMemory(o.mr.address+o.ignore, o.mr.bytes(o.offset(), int(o.length)))
}

// memoryChanged ends the current wait of the rank: its program may be waiting for the memory that
// another rank has changed, which is not reported by a completion.
func (x *session) memoryChanged() {
	x.memoryChanges++
	x.state.vain = 0
}

// notified handles the notification of a put with data: it and the puts before it were written.
func (x *session) notified(from int, _ uint64) error {
	for {
		list := x.oneSided.incoming[from]
		if len(list) == 0 {
			return fmt.Errorf("rank %d: a put of rank %d was notified that was not started", x.link.rank, from)
		}
		o := list[0]
		x.oneSided.incoming[from] = list[1:]
		if err := x.copyPut(o); err != nil {
			return err
		}
		if o.flags&flagHasData != 0 {
			x.state.vain = 0
			x.reports = append(x.reports, remoteWriteReport(from, o))
			return nil
		}
	}
}

func remoteWriteReport(from int, o *oneSided) report {
	return report{completion: completion{
		flags: wasRemoteWrite | withData, length: o.length, data: o.data, source: int32(from),
	}}
}
