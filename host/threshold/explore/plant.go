package explore

import (
	"slices"

	"github.com/nicloop/nicloop/host/threshold"
)

// Plants lists the deliberate mistakes.
func Plants() []string {
	return []string{
		"est-overtakes",      // CONN_EST overtakes messages that name old buffers
		"read-before-landed", // a message can be read before its bytes have landed
		"lost-empty",         // Empty is lost
		"twice-empty",        // Empty is delivered twice
		"any-generation",     // messages about an old buffer are applied to a new one
		"deaf-to-refusal",    // a refusal is treated as agreement
		"own-threshold",      // the initiator uses the threshold that it requested instead of the agreed one
		"forgotten-ack",      // CONN_EST_ACK is not sent
		"return-in-use",      // a buffer is returned although a message is on its way to it
		"boasted-buffer",     // a buffer is offered with more than its length
		"hasty-passed",       // not ready: PASSED is sent while the hardware still caches the last buffer
		"half-put",           // not ready: a put that was refused in part counts as complete
		"behind-any",         // not ready: a receive is readied behind a wildcard receive that may get its message
		"short-room",         // not ready: a receive is readied regardless of its room
		"open-overtakes",     // not ready: STREAM_OPEN overtakes messages without a number
		"landed-overtakes",   // not ready: LANDED overtakes the announcement of its message
		"hasty-closed",       // not ready: a receive is taken back while its message is being put
		"lost-passed",        // not ready: PASSED is lost
		"not-resumed",        // partial: the channel is not resumed
		"reconn-overtakes",   // partial: RECONN_REQUEST overtakes messages that name old buffers
	}
}

// tamper applies a planted mistake to a message; false: the message is lost.
func (w *World) tamper(from, to int, m *threshold.Message) bool {
	switch {
	case w.o.Plant == "lost-empty" && m.Kind == threshold.Empty:
		return false
	case w.o.Plant == "twice-empty" && m.Kind == threshold.Empty:
		w.cores[to].Hear(from, *m)
	case w.o.Plant == "any-generation" && m.Kind == threshold.Empty:
		// The receiver ignores the generation; any other value will do.
		again := *m
		again.Generation++
		w.cores[to].Hear(from, again)
	case w.o.Plant == "boasted-buffer" && m.Kind == threshold.Grant:
		m.Bytes = w.cores[to].Threshold(from)
	case w.o.Plant == "deaf-to-refusal" && m.Kind == threshold.Reply && m.Bytes == threshold.Refused:
		m.Bytes = w.o.Losses[0].Bytes
	case w.o.Plant == "own-threshold" && m.Kind == threshold.Reply && m.Bytes > 0:
		i := slices.IndexFunc(w.o.Losses, func(l Loss) bool { return l.Rank == to && l.Peer == from })
		m.Bytes = w.o.Losses[i].Bytes
	case w.o.Plant == "forgotten-ack" && m.Kind == threshold.Acknowledged:
		return false
	case w.o.Plant == "return-in-use" && m.Kind == threshold.Recall:
		w.lines[w.pair(to, from)] = append(w.lines[w.pair(to, from)], packet{message: -1, control: threshold.Message{Kind: threshold.Return, Address: m.Address}})
		return false
	}
	return true
}
