package libfabric

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
	"sync/atomic"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

// worldState is what the ranks of a world share. One rank runs at a time.
type worldState struct {
	ranks    []*rankState
	detached bool
	timed    hash.Hash // of the messages, without their bytes
	sum      hash.Hash // with them
	critical *criticalPath
	awaited  atomic.Int32 // 1 + the rank whose program the world waits for; 0: none
}

// A rankState is what the report and the search for hangs need of a rank.
type rankState struct {
	calls      uint64 // that reached the world
	localPolls uint64 // that the provider answered
	vain       int    // waits in a row that have ended without anything
	waitsIn    string // the MPI function of the last of them
	detached   bool
	finished   bool
	end, mpi   drivers.Time
	paths      [pathCount]PathReport
	session    *session
}

const (
	localPath = iota
	eagerPath
	longPath
	oneSidedPath
	pathCount
)

func (w *worldState) rank(id, ranks int) *rankState {
	if w.ranks == nil {
		w.ranks, w.timed, w.sum = make([]*rankState, ranks), sha256.New(), sha256.New()
		w.critical = newCriticalPath(ranks)
	}
	w.ranks[id] = &rankState{}
	return w.ranks[id]
}

// sent counts a send by the path that its length and its destination choose.
func (st *rankState) sent(s *Server, from int, op *operation) {
	at := eagerPath
	switch {
	case op.Peer == from || s.Local && s.Node[op.Peer] == s.Node[from]:
		at = localPath
	case len(op.Buf) > host.EagerMax || op.Synchronous:
		at = longPath
	}
	st.paths[at].Messages++
	st.paths[at].Bytes += uint64(len(op.Buf))
}

// oneSided counts a put or a get.
func (st *rankState) oneSided(from int, o *oneSided) {
	at := oneSidedPath
	if int(o.peer) == from {
		at = localPath
	}
	st.paths[at].Messages++
	st.paths[at].Bytes += o.length
}

// Waits of a rank are short at first, so that its program can do what it does without libfabric.
const (
	firstPatience = 20 * drivers.Microsecond
	mostVain      = 6
)

// patience is how long the next wait of a rank may last.
func (st *rankState) patience() drivers.Time { return firstPatience << min(st.vain, mostVain) }

// checkHang fails when every rank has waited several times in a row, nothing has come and no long
// message is being moved. What a program does outside of libfabric it could have done between these
// waits.
func (w *worldState) checkHang(x *session) error {
	e := &HangError{At: x.r.Now()}
	for id, st := range w.ranks {
		if st == nil || st.detached || !st.finished && (st.vain < mostVain || st.session.isMoving()) {
			return nil
		}
		if st.finished {
			continue
		}
		e.Ranks = append(e.Ranks, RankWait{Rank: id, Call: st.waitsIn})
	}
	e.describe(x.s)
	return e
}

// A HangError is the verdict on programs that all wait for ever.
type HangError struct {
	At    drivers.Time
	Ranks []RankWait
}

// A RankWait is what one of them waits for.
type RankWait struct {
	Rank  int    `json:"rank"`
	Call  string `json:"mpi_call"`
	Waits string `json:"waits_for"`
}

func (e *HangError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "hang at %v: every rank waits for a message that no rank sends", e.At)
	for _, r := range e.Ranks {
		fmt.Fprintf(&b, "\n  rank %d in %s: %s", r.Rank, r.Call, r.Waits)
	}
	return b.String()
}

// isMoving tells whether the hardware moves bytes for the rank.
func (x *session) isMoving() bool { return x.r.IsMoving() || x.r.IsOneSidedMoving() }

func (e *HangError) describe(s *Server) {
	for i := range e.Ranks {
		r := &e.Ranks[i]
		if r.Call == "" {
			r.Call = "a libfabric call"
		}
		r.Waits = s.world.ranks[r.Rank].session.waits()
	}
}

// trace adds a message that was received to the hashes of the run.
func (w *worldState) trace(x *session, st host.TaggedStatus, b []byte) {
	var head [40]byte
	binary.LittleEndian.PutUint64(head[0:], uint64(x.r.Now()))
	binary.LittleEndian.PutUint32(head[8:], uint32(st.Source))
	binary.LittleEndian.PutUint32(head[12:], uint32(x.link.rank))
	binary.LittleEndian.PutUint64(head[16:], st.Tag)
	binary.LittleEndian.PutUint64(head[24:], uint64(st.Bytes))
	binary.LittleEndian.PutUint64(head[32:], st.Data)
	w.timed.Write(head[:])
	w.sum.Write(head[:])
	w.sum.Write(b)
}

// A Report is what the programs did.
type Report struct {
	Simulated drivers.Time          `json:"simulated_ps"` // until the last rank left the world
	Slowest   int                   `json:"slowest_rank"`
	Paths     map[string]PathReport `json:"paths"`
	Ranks     []RankReport          `json:"ranks"`
	// Calls counts calls of the provider, and LocalPolls those of them that the provider answered
	// without the world, because nothing could have arrived.
	Calls      uint64 `json:"provider_calls"`
	LocalPolls uint64 `json:"local_polls"`
	// Trace is a hash of the time, ranks, tag and length of every message, TraceBytes also of its
	// bytes. One-sided messages of Open MPI contain addresses, which may differ.
	Trace      string `json:"trace_sha256"`
	TraceBytes string `json:"trace_of_bytes_sha256"`
	Detached   bool   `json:"not_repeatable"`
	// Critical is the chain of messages that decided when the slowest rank ended.
	Critical *CriticalPath `json:"critical_path"`
}

// A PathReport counts the messages of one path.
type PathReport struct {
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
}

// A RankReport is one rank.
type RankReport struct {
	End drivers.Time `json:"end_ps"`
	MPI drivers.Time `json:"mpi_ps"` // inside MPI functions
}

// Report sums up a run that has ended.
func (s *Server) Report() *Report {
	rep := &Report{Paths: map[string]PathReport{}, Detached: s.world.detached}
	names := [...]string{"local", "eager", "rendezvous", "one-sided"}
	for id, st := range s.world.ranks {
		if st == nil {
			continue
		}
		if st.end > rep.Simulated {
			rep.Simulated, rep.Slowest = st.end, id
		}
		rep.Calls += st.calls + st.localPolls
		rep.LocalPolls += st.localPolls
		rep.Ranks = append(rep.Ranks, RankReport{End: st.end, MPI: st.mpi})
		for i, p := range st.paths {
			sum := rep.Paths[names[i]]
			sum.Messages += p.Messages
			sum.Bytes += p.Bytes
			rep.Paths[names[i]] = sum
		}
	}
	if s.world.sum != nil {
		rep.Critical = s.world.critical.report(rep.Slowest, rep.Simulated)
		rep.Trace = hex.EncodeToString(s.world.timed.Sum(nil))
		rep.TraceBytes = hex.EncodeToString(s.world.sum.Sum(nil))
	}
	return rep
}
