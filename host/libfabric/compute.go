package libfabric

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers"
)

// A ComputeLog holds the processor time that every rank used between its calls. It is recorded in
// one run and replayed in others, which then repeat to the picosecond.
//
// A call that starts an operation (a send, a receive, a cancellation) is the same call in every
// run of a deterministic program. Calls that look (polls, peeks, clock readings) are not: how often
// a program looks depends on the network. So looks are numbered from the operation before them.
// If a replay on a slower network looks more often than the recorded run did, the additional looks
// are free.
type ComputeLog struct {
	ranks [][]computeEntry
}

// A computeEntry is an operation and the looks after it. The first entry of a rank has no
// operation.
type computeEntry struct {
	op     opcode
	before uint64   // ns before the operation
	looks  []uint64 // ns before each look
}

// NewComputeLog returns an empty log for a number of ranks.
func NewComputeLog(ranks int) *ComputeLog {
	l := &ComputeLog{ranks: make([][]computeEntry, ranks)}
	for r := range l.ranks {
		l.ranks[r] = []computeEntry{{}}
	}
	return l
}

// Ranks returns the number of ranks of the log.
func (l *ComputeLog) Ranks() int { return len(l.ranks) }

// isLook tells calls that only observe from those that start an operation.
func isLook(op opcode) bool { return op == opPoll || op == opPeek || op == opClock }

func (l *ComputeLog) record(rank int, op opcode, ns uint64) {
	list := &l.ranks[rank]
	if isLook(op) {
		last := &(*list)[len(*list)-1]
		last.looks = append(last.looks, ns)
		return
	}
	*list = append(*list, computeEntry{op: op, before: ns})
}

// A computeCursor is the position of a rank in a log that is replayed.
type computeCursor struct{ entry, look int }

// next returns the recorded time before a call of a rank. It fails if the recorded program called
// something else at this point.
func (l *ComputeLog) next(rank int, c *computeCursor, op opcode) (ns uint64, err error) {
	list := l.ranks[rank]
	if isLook(op) {
		if looks := list[c.entry].looks; c.look < len(looks) {
			ns = looks[c.look]
		}
		c.look++
		return ns, nil
	}
	c.entry, c.look = c.entry+1, 0
	if c.entry >= len(list) {
		c.entry = len(list) - 1
		return 0, fmt.Errorf("%w: replaying the recorded computing of rank %d: operation %d is a %v, "+
			"the recorded program had %d; record the same program with the same arguments",
			drivers.ErrConfig, rank, len(list), op, len(list)-1)
	}
	if e := list[c.entry]; e.op != op {
		return 0, fmt.Errorf("%w: replaying the recorded computing of rank %d: operation %d is a %v, "+
			"recorded was a %v; record the same program with the same arguments", drivers.ErrConfig, rank, c.entry, op, e.op)
	}
	return list[c.entry].before, nil
}

const computeHeader = "nicloop-compute 1"

// WriteTo writes the log as text: a header, then for each rank a line with its number of entries,
// and a line per entry with the operation, the time before it, and the time before each look.
// Repeated zeros of looks are written as zN.
func (l *ComputeLog) WriteTo(out io.Writer) (int64, error) {
	counted := &countingWriter{w: out}
	w := bufio.NewWriter(counted)
	fmt.Fprintf(w, "%s %d\n", computeHeader, len(l.ranks))
	for rank, list := range l.ranks {
		fmt.Fprintf(w, "rank %d %d\n", rank, len(list))
		for _, e := range list {
			fmt.Fprintf(w, "%d %d%s\n", uint32(e.op), e.before, looksText(e.looks))
		}
	}
	err := w.Flush() // also returns errors of earlier writes
	return counted.n, err
}

func looksText(looks []uint64) string {
	var b strings.Builder
	for i := 0; i < len(looks); {
		zeros := 0
		for i+zeros < len(looks) && looks[i+zeros] == 0 {
			zeros++
		}
		if zeros > 1 {
			fmt.Fprintf(&b, " z%d", zeros)
			i += zeros
			continue
		}
		fmt.Fprintf(&b, " %d", looks[i])
		i++
	}
	return b.String()
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// Bounds of what ReadComputeLog accepts.
const (
	mostRanks = 1 << 16
	mostLooks = 1 << 26 // times of the whole log; zN stands for N of them
)

// ReadComputeLog reads what WriteTo has written.
func ReadComputeLog(in io.Reader) (*ComputeLog, error) {
	s := bufio.NewScanner(in)
	s.Buffer(nil, 1<<30)
	line := 0
	next := func() bool {
		line++
		return s.Scan()
	}
	bad := func(expected string) error {
		if err := s.Err(); err != nil {
			return fmt.Errorf("%w: line %d: %w", drivers.ErrConfig, line, err)
		}
		return fmt.Errorf("%w: line %d: %.40q: expected %s", drivers.ErrConfig, line, s.Text(), expected)
	}
	var ranks int
	if !next() {
		return nil, bad(computeHeader)
	}
	if _, err := fmt.Sscanf(s.Text(), computeHeader+" %d", &ranks); err != nil || ranks < 1 || ranks > mostRanks {
		return nil, bad(computeHeader + " and a number of ranks")
	}
	l, looks := &ComputeLog{ranks: make([][]computeEntry, ranks)}, 0
	for rank := range ranks {
		var is, entries int
		if !next() {
			return nil, bad("a rank")
		}
		if _, err := fmt.Sscanf(s.Text(), "rank %d %d", &is, &entries); err != nil || is != rank || entries < 1 {
			return nil, bad(fmt.Sprintf("rank %d and its number of entries", rank))
		}
		for range entries {
			if !next() {
				return nil, bad("an entry")
			}
			e, ok := parseEntry(s.Text(), mostLooks-looks)
			if !ok {
				return nil, bad(fmt.Sprintf("an operation and times in ns, at most %d times in all", mostLooks))
			}
			looks += len(e.looks)
			l.ranks[rank] = append(l.ranks[rank], e)
		}
	}
	return l, nil
}

// parseEntry refuses an entry of more than most looks before it allocates them.
func parseEntry(text string, most int) (e computeEntry, ok bool) {
	f := strings.Fields(text)
	if len(f) < 2 {
		return e, false
	}
	op, err := strconv.ParseUint(f[0], 10, 32)
	if err != nil {
		return e, false
	}
	e.op = opcode(op)
	if e.before, err = strconv.ParseUint(f[1], 10, 64); err != nil {
		return e, false
	}
	for _, word := range f[2:] {
		if zeros, isRun := strings.CutPrefix(word, "z"); isRun {
			n, err := strconv.ParseUint(zeros, 10, 64)
			if err != nil || n > uint64(most-len(e.looks)) {
				return e, false
			}
			e.looks = append(e.looks, slices.Repeat([]uint64{0}, int(n))...)
			continue
		}
		ns, err := strconv.ParseUint(word, 10, 64)
		if err != nil || len(e.looks) == most {
			return e, false
		}
		e.looks = append(e.looks, ns)
	}
	return e, true
}
