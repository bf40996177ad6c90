package explore

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/mailbox"
	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

var (
	muteSeed   = flag.Uint64("mute-seed", 1, "seed of the worlds that TestReducedInManyWorlds draws")
	muteWorlds = flag.Int("mute-worlds", 30, "how many worlds it draws")
)

// What mute says is so: as long as p does nothing, whatever all others do, in any order, from sends
// p nothing. Asked in every state of small worlds of the real flow controls.
func TestMuteSendsNothing(t *testing.T) {
	var worlds []Options
	for _, flow := range []Protocol{Static, Dynamic} {
		for quota := 1; quota <= 2; quota++ {
			worlds = append(worlds, Options{Procs: 2, Quota: quota, CreditSlots: 1, Flow: flow, Piggyback: quota == 1},
				Options{Procs: 3, Quota: quota, CreditSlots: 1, Flow: flow, Messages: 3, Senders: incast},
				Options{Procs: 3, Quota: quota, CreditSlots: 1, Flow: flow, Messages: 2, Senders: answered, Piggyback: quota == 1})
		}
	}
	worlds = append(worlds, Options{Procs: 3, Quota: 1, CreditSlots: 1, Flow: Dynamic, Messages: 1},
		Options{Procs: 3, Quota: 2, CreditSlots: 1, Flow: Dynamic, Messages: 6, Senders: incast}) // in which credits are asked back
	asked, held := 0, 0
	for _, o := range worlds {
		o.Full, o.MaxStates = true, 20000 // beyond them it may be undecided: these states are asked
		x, err := newExplorer(o)
		require.NoError(t, err)
		found, err := x.search(t.Context())
		require.NoError(t, err)
		every := 1 + found.Len()/1500
		for id := 0; id < found.Len(); id += every {
			x.c.load(found.State(uint32(id)), x.w)
			for from := range o.Procs {
				for p := range o.Procs {
					if from == p || len(x.w.network[x.w.pair(from, p)]) > 0 {
						continue
					}
					x.c.load(found.State(uint32(id)), x.w)
					asked++
					if !x.mute(from, p) {
						continue
					}
					held++
					require.True(t, sendsNothing(t, o, found.State(uint32(id)), from, p), "%v %v, state %d: %d is mute towards %d, and sends", o, o.Senders, id, from, p)
				}
			}
		}
	}
	require.Greater(t, held, 1000)
	require.Greater(t, asked-held, 1000, "who may send is not mute")
	t.Logf("asked %d times, mute %d times", asked, held)
}

// sendsNothing explores what all but p can do from a state on.
func sendsNothing(t *testing.T, o Options, state []byte, from, p int) bool {
	y, err := newExplorer(o)
	require.NoError(t, err)
	y.sym = nil
	seen, waiting := map[string]bool{string(state): true}, [][]byte{state}
	for ; len(waiting) > 0; waiting = waiting[1:] {
		require.Less(t, len(seen), 100000, "%v: what the others can do without %d does not end", o, p)
		y.c.load(waiting[0], y.w)
		y.enabled()
		events := append([]event(nil), y.events...)
		for _, e := range events {
			if e.actor() == p {
				continue
			}
			y.c.load(waiting[0], y.w)
			require.NoError(t, y.w.apply(e))
			if len(y.w.network[y.w.pair(from, p)]) > 0 {
				return false
			}
			if enc := y.encode(); !seen[string(enc)] {
				seen[string(enc)] = true
				waiting = append(waiting, bytes.Clone(enc))
			}
		}
	}
	return true
}

// Reduced or in full, worlds of all shapes have the same verdict, with each mistake and without.
func TestReducedInManyWorlds(t *testing.T) {
	if testing.Short() {
		t.Skip("explores many worlds twice")
	}
	r := rand.New(rand.NewPCG(*muteSeed, 1))
	verdicts, saved := map[modelcheck.Verdict]int{}, 0
	for range *muteWorlds {
		o := drawOptions(r)
		for _, fault := range append(Faults(), NoFault, NoFault) {
			o.Fault = fault
			o.Full, o.MaxStates = true, 3000
			full, quietFull := verdict(t, o)
			if full.Verdict == Undecided {
				continue
			}
			o.Full = false
			reduced, quiet := verdict(t, o)
			const again = "reproduce with: go test ./mailbox/explore -run ReducedInManyWorlds -mute-seed %d\n%v %v %v: in full %v, reduced %v"
			require.Equal(t, full.Verdict, reduced.Verdict, again, *muteSeed, o, o.Senders, o.Bound(), full, reduced)
			verdicts[full.Verdict]++
			if full.Verdict == Proved {
				require.Equal(t, quietFull, quiet, again, *muteSeed, o, o.Senders, o.Bound(), full, reduced)
				saved += full.Transitions - reduced.Transitions
			}
		}
	}
	t.Logf("%d proofs, %d refutations; %d transitions left out", verdicts[Proved], verdicts[Refuted], saved)
	require.Greater(t, verdicts[Proved], 50)
	require.Greater(t, verdicts[Refuted], 50)
	require.Positive(t, saved)
}

// drawOptions draws a small world.
func drawOptions(r *rand.Rand) Options {
	o := Options{Procs: 2 + r.IntN(2), Quota: 1 + r.IntN(3), CreditSlots: 1 + r.IntN(2), Flow: Protocol(r.IntN(2)), Piggyback: r.IntN(2) == 0, Messages: 1 + r.IntN(4)}
	o.CreditSlots = min(o.CreditSlots, o.Quota)
	o.Formula = []mailbox.Formula{mailbox.Eq1, mailbox.Eq1, mailbox.FormulaA, mailbox.FormulaB}[r.IntN(4)]
	if o.Flow == Dynamic {
		o.Formula = mailbox.Eq1
	}
	for from := range o.Procs {
		for to := range o.Procs {
			if from != to && r.IntN(2) == 0 {
				o.Senders = append(o.Senders, [2]int{from, to})
			}
		}
	}
	if o.Senders == nil {
		o.Senders = [][2]int{{0, 1}}
	}
	return o
}
