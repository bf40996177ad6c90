package explore

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Finished checks a final state.
func (w *streams) Finished() error {
	for i, t := range w.messages {
		if !t.read {
			return violation("message %d is never received", i)
		}
	}
	for i, r := range w.receives {
		if r.revoked && !r.done {
			return violation("receive %d is never cancelled", i)
		}
	}
	for i, c := range w.cores {
		if !c.Idle() {
			return violation("the streams of rank %d are never at rest", i)
		}
	}
	return nil
}

// AppendState encodes the complete state.
func (w *streams) AppendState(b []byte) []byte {
	number := func(list ...int) {
		for _, v := range list {
			b = binary.AppendVarint(b, int64(v))
		}
	}
	for i, c := range w.cores {
		b = c.AppendState(b)
		number(w.sent[i], w.posted[i])
	}
	for pair := range w.lines {
		number(len(w.lines[pair]), len(w.tries[pair]))
		for _, p := range w.lines[pair] {
			var wire [32]byte
			p.control.Put(wire[:])
			b = append(b, wire[:]...)
			number(p.message, flag(p.ordered))
		}
		for _, t := range w.tries[pair] {
			number(int(t.stream.Tag), int(t.address), t.message, flag(t.probe), t.at, flag(t.refused))
		}
	}
	for _, t := range w.messages {
		number(t.number, flag(t.inside), flag(t.came), t.receive, flag(t.read))
	}
	for _, r := range w.receives {
		number(flag(r.posted), flag(r.done), flag(r.cancelled), flag(r.revoked), r.message, r.offered, r.parts[0], r.parts[1])
	}
	for _, g := range w.gates {
		number(g.at, g.stream.Peer, int(g.stream.Tag), g.index, int(g.number), g.open, g.stale)
	}
	for _, done := range w.lost {
		number(flag(done))
	}
	return b
}

func flag(set bool) int {
	if set {
		return 1
	}
	return 0
}

// print prints the world for a script.
func (w *streams) print(out *strings.Builder) {
	for i, r := range w.receives {
		word := map[bool]string{true: "over", false: "waits"}[r.done]
		if r.cancelled {
			word = "cancelled"
		}
		if r.posted {
			fmt.Fprintf(out, "receive %d: message %d, parts of %v, %s\n", i, r.message, r.parts, word)
		}
	}
}
