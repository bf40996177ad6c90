package explore

import (
	"slices"

	"github.com/nicloop/nicloop/host/threshold"
)

// Plants lists the deliberate mistakes.
func Plants() []string {
	return []string{
		"est-overtakes",      // CONN_EST passes messages that name old buffers
		"read-before-landed", // a message counts as there when it has come, without its bytes
		"lost-empty",         // nobody hears that a buffer was read
		"twice-empty",        // it is heard twice
		"any-generation",     // what is said of an old buffer counts for a new one
		"deaf-to-refusal",    // a refusal is taken for a yes
		"own-threshold",      // the initiator takes what it wanted, not what was agreed
		"forgotten-ack",      // CONN_EST_ACK is not sent
		"return-in-use",      // a buffer is given back that a message is on its way to
		"boasted-buffer",     // a buffer is said to be longer than it is
		"hasty-passed",       // not ready: the next message may be put before the hardware has forgotten the last buffer
		"half-put",           // not ready: a put that was refused in part counts
		"behind-any",         // not ready: a receive is readied though one from anybody in front of it may get its message
		"short-room",         // not ready: a receive is readied whatever room it has
		"open-overtakes",     // not ready: the first number passes messages that have none
		"landed-overtakes",   // not ready: a message is there before it was told of
		"hasty-closed",       // not ready: a receive is given back while its message is being put
		"lost-passed",        // not ready: nobody hears that a message is over
		"not-resumed",        // partial: the channel stays stopped
		"reconn-overtakes",   // partial: what stops the channel passes messages that name old buffers
	}
}

// tamper plants a mistake in what is heard; false: it is not heard at all.
func (w *World) tamper(from, to int, m *threshold.Message) bool {
	switch {
	case w.o.Plant == "lost-empty" && m.Kind == threshold.Empty:
		return false
	case w.o.Plant == "twice-empty" && m.Kind == threshold.Empty:
		w.cores[to].Hear(from, *m)
	case w.o.Plant == "any-generation" && m.Kind == threshold.Empty:
		// Its receiver does not look at the generation: whatever it uses will do.
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
		w.lines[w.pair(to, from)] = append(w.lines[w.pair(to, from)], packet{message: -1, said: threshold.Message{Kind: threshold.Return, Address: m.Address}})
		return false
	}
	return true
}
