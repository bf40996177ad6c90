package explore

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/mailbox"
	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

// What reduction and symmetry leave out changes no verdict, neither of the real flow controls nor
// of a mistake, and no state with nothing under way.
func TestReducedFindsTheSame(t *testing.T) {
	bound, quotas := 2, 4
	if testing.Short() {
		bound, quotas = 1, 3
	}
	all := append(Suite(bound), Planted()...)
	oneWay := [][2]int{{0, 1}}
	for quota := 1; quota <= quotas; quota++ {
		for slots := 1; slots <= min(quota, 2); slots++ {
			o := Options{Procs: 2, Quota: quota, CreditSlots: slots, Senders: oneWay}
			all = append(all, o.with(mailbox.Eq1, EarlyThreshold), o.with(mailbox.FormulaA, NoFault), o.with(mailbox.FormulaB, NoFault))
			o.Flow = Dynamic
			all = append(all, o.with(mailbox.Eq1, KeepThreshold))
			o = Options{Procs: 3, Quota: quota, CreditSlots: slots, Messages: 3, Senders: incast}
			all = append(all, o.with(mailbox.FormulaA, NoFault), o.with(mailbox.FormulaB, NoFault))
		}
	}
	all = slices.DeleteFunc(all, func(o Options) bool { // takes long
		return o.Procs == 3 && o.Fault == NoFault && o.Flow == Dynamic && (o.Quota > 1 || testing.Short())
	})
	all = append(all, Options{Procs: 3, Quota: 2, CreditSlots: 1, Flow: Dynamic, Messages: 5, Senders: incast},
		Options{Procs: 3, Quota: 2, CreditSlots: 1, Flow: Dynamic, Piggyback: true, Messages: 4, Senders: answered})
	saved, refuted := 0, 0
	for _, o := range all {
		o.Promises = false
		reduced, quiet := verdict(t, o)
		o.Full = true
		full, quietFull := verdict(t, o)
		require.Equal(t, full.Verdict, reduced.Verdict, "%v %v: %v\n%v", o, o.Senders, full, reduced)
		if full.Verdict == Refuted {
			refuted++
			continue
		}
		require.Equal(t, quietFull, quiet, "%v %v", o, o.Senders)
		saved += full.Transitions - reduced.Transitions
	}
	require.Positive(t, saved)
	require.Greater(t, refuted, 15+3)
}

func (o Options) with(f mailbox.Formula, fault Fault) Options {
	o.Formula, o.Fault = f, fault
	return o
}

// verdict is run without the second exploration for a shortest counterexample. It returns the
// states with nothing under way, too.
func verdict(t *testing.T, o Options) (r Result, quiet map[string]bool) {
	x, err := newExplorer(o)
	require.NoError(t, err)
	found, err := x.search(context.Background())
	require.NoError(t, err)
	r = Result{
		Verdict: found.Outcome.Verdict, States: found.Len(), Transitions: found.Transitions, Depth: found.Outcome.Depth,
	}
	sym := newSymmetry(o, x.c, modelcheck.Permutations(o.Procs))
	quiet = map[string]bool{}
	for id := range found.Len() {
		if x.c.load(found.State(uint32(id)), x.w); !x.w.Quiet() {
			continue
		}
		enc := x.c.append(nil, x.w)
		if sym != nil {
			enc = sym.smallest(x.w, enc)
		}
		quiet[string(enc)] = true
	}
	return r, quiet
}

// Every renaming of a state has the same smallest encoding, which is one of them: so is what the
// flow controls themselves write when processes are exchanged.
func TestSmallestOfRenamings(t *testing.T) {
	for _, flow := range []Protocol{Static, Dynamic} {
		o := Options{Procs: 3, Quota: 2, CreditSlots: 1, Flow: flow, Piggyback: true, Messages: 3}
		var smallest []byte
		for _, order := range modelcheck.Permutations(3) {
			x, err := newExplorer(o)
			require.NoError(t, err)
			// The lists begin in the order of ranks, so all peers are moved by traffic first.
			for _, e := range [][2]int{{0, 1}, {1, 2}, {2, 0}, {0, 2}, {2, 1}, {1, 0}} {
				from, to := order[e[0]], order[e[1]]
				for range 2 {
					x.w.Send(from, to, false)
					x.w.Settle()
				}
			}
			x.w.Send(order[0], order[1], false)
			x.w.Send(order[0], order[1], true)
			enc := append([]byte(nil), x.encode()...)
			if smallest == nil {
				smallest = enc
			}
			require.Equal(t, smallest, enc, "%v %v", flow, order)
		}
	}
}
