package explore

import (
	"flag"
	"math/rand"
	"testing"

	"github.com/nicloop/nicloop/mailbox/modelcheck"
	"github.com/stretchr/testify/require"
)

var seed = flag.Int64("seed", 1, "seed of random walks")

// TestRandomWalks walks at random through worlds too large to explore, with more messages and more
// simultaneous failures.
func TestRandomWalks(t *testing.T) {
	for s := *seed; s < *seed+400; s++ {
		rnd := rand.New(rand.NewSource(s))
		o := drawWorld(rnd)
		w, err := NewWorld(&o)
		require.NoError(t, err, "%s", o.String())
		for vain := 0; vain < 50; { // retries of refused requests may continue forever
			list := w.Enabled()
			if len(list) == 0 {
				break
			}
			e := list[rnd.Intn(len(list))]
			if bad, ok := w.faulted(e); ok && rnd.Intn(8) == 0 {
				e = bad
			} else if rnd.Intn(6) == 0 {
				e.nth = uint8(1 + rnd.Intn(3))
				if e.trouble = shortage; rnd.Intn(4) == 0 {
					e.trouble = refused
				}
				if e.trouble == shortage && w.shortages == 0 || e.trouble == refused && w.refusals == 0 {
					e.nth, e.trouble = 0, none
				}
			}
			before := modelcheck.Sum(w.AppendState(nil))
			require.NoError(t, w.Apply(e), "reproduce with: go test ./host/rendezvous/explore -run RandomWalks -seed %d\n%s", s, o.String())
			if vain++; modelcheck.Sum(w.AppendState(nil)) != before {
				vain = 0
			}
		}
		require.NoError(t, w.Finished(), "reproduce with: go test ./host/rendezvous/explore -run RandomWalks -seed %d\n%s", s, o.String())
	}
}

// drawWorld draws messages between three ranks, with one receive for each. When names are short,
// receives follow the order of the sends of a pair: with fewer names than sends, another order may
// deadlock.
func drawWorld(rnd *rand.Rand) Options {
	o := Options{
		Ranks: 3, Protocol: []string{"rget", "rput", "chunked", "spec"}[rnd.Intn(4)], Chunk: 1 + rnd.Intn(3), Window: 1 + rnd.Intn(3),
		IDs: 1 + rnd.Intn(4), Descriptors: rnd.Intn(4), Faults: rnd.Intn(4), Shortages: rnd.Intn(5), Refusals: rnd.Intn(3),
	}
	if o.Protocol == "spec" {
		o.Counters, o.Hopeless = 1+rnd.Intn(2), rnd.Intn(3) == 0
	}
	for i := range o.Registrations {
		o.Registrations[i] = rnd.Intn(3)
	}
	next := [3]int{9, 9, 9}
	for range 4 + rnd.Intn(4) {
		from := rnd.Intn(3)
		to := (from + 1 + rnd.Intn(2)) % 3
		m := Message{From: from, To: to, Tag: rnd.Intn(2), Bytes: rnd.Intn(5), At: 1 + rnd.Intn(4), Eager: rnd.Intn(5) == 0}
		room := max(0, m.Bytes+rnd.Intn(3)-1)
		if next[to]+room > memoryBytes {
			continue
		}
		o.Messages = append(o.Messages, m)
		o.Receives = append(o.Receives, Receive{Rank: to, Source: from, Tag: m.Tag, Room: room, At: next[to]})
		next[to] += room
		if k := len(o.Messages) - 1; rnd.Intn(6) == 0 && !m.Eager {
			o.Cancel = append(o.Cancel, k)
		} else if rnd.Intn(6) == 0 {
			o.CancelAt = append(o.CancelAt, k)
		}
	}
	return o
}

// TestEventsChangeOneCore: an event changes only the core of its actor, so worlds may share the
// other cores.
func TestEventsChangeOneCore(t *testing.T) {
	for s := *seed; s < *seed+100; s++ {
		rnd := rand.New(rand.NewSource(s))
		o := drawWorld(rnd)
		w, err := NewWorld(&o)
		require.NoError(t, err)
		for range 200 {
			list := w.Enabled()
			if len(list) == 0 {
				break
			}
			e := list[rnd.Intn(len(list))]
			if bad, ok := w.faulted(e); ok && rnd.Intn(4) == 0 {
				e = bad
			}
			whole, before := w.clone(), string(w.AppendState(nil))
			shared := w.cloneFor(w.actor(e))
			require.NoError(t, shared.Apply(e))
			require.NoError(t, whole.Apply(e))
			require.Equal(t, string(whole.AppendState(nil)), string(shared.AppendState(nil)), "%v: go test ./host/rendezvous/explore -run OneCore -seed %d", e, s)
			require.Equal(t, before, string(w.AppendState(nil)), "%v changes the world that it was made of: go test ./host/rendezvous/explore -run OneCore -seed %d", e, s)
			w = whole
		}
	}
}
