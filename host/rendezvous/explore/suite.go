package explore

import (
	"fmt"
	"slices"
)

// Claims is the meaning of "proved" in one sentence.
const Claims = "every request ends once; a receive that ends well has its message as it was sent; both ends say the same; " +
	"only what something has happened to fails; nothing touches memory that was given back; messages match in MPI's order; " +
	"no rank is blocked; no message or resource is left"

// Levels is the number of levels of Suite.
const Levels = 3

// Suite lists the explorations that together verify the core: every protocol with one, two and
// three messages between two and three ranks; overlapping buffers, wildcards, receives that are too
// short, and eager messages in between; limited names, memory and descriptors; and faults,
// shortages, refusals and cancels at every step. Level 1 takes two seconds, level 2 half a minute,
// level 3 minutes.
func Suite(level int) (all []Options) {
	for _, protocol := range []string{"rget", "rput", "chunked", "spec"} {
		list := worlds
		if protocol == "spec" {
			list = append(slices.Clone(worlds), speculations...)
		}
		for _, w := range list {
			if w.level > level || protocol == "spec" && w.large() {
				continue
			}
			o := w.Options
			o.Protocol = protocol
			if protocol == "spec" {
				o.MaxStates = 2 * DefaultMaxStates // crossing messages have 1.07 million
			}
			if protocol == "chunked" {
				o.Chunk, o.Window = 2, 2
			}
			all = append(all, o)
		}
	}
	return all
}

// Deep lists explorations beyond Suite that take minutes: two ranks put to a third, with two
// faults, two shortages, a refusal and cancels of all but one. That world has 3.39 million states
// and 13.1 million transitions, and takes 170 s of CPU time and 3.4 GB.
func Deep() []Options {
	o := world(0, 3, incast, fromAny, stepping(fails(2, 2, 1, either, first))).Options
	o.Protocol, o.MaxStates = "rput", 8<<20
	return []Options{o}
}

type leveled struct {
	level int
	Options
}

// large reports whether speculation has more than DefaultMaxStates states in this world. Smaller
// worlds of the kind are among speculations.
func (w *leveled) large() bool {
	return len(w.Messages) > 2 && w.IDs == 0 && (w.Chunk > 0 || w.Refusals > 0)
}

// Building blocks of worlds. Buffers of one rank overlap where that is legal.
var (
	one      = []Message{{From: 0, To: 1, Bytes: 4, At: 1}}
	overlap  = []Message{{From: 0, To: 1, Bytes: 4, At: 1}, {From: 0, To: 1, Bytes: 2, At: 1}}
	eager    = []Message{{From: 0, To: 1, Bytes: 3, At: 1}, {From: 0, To: 1, Bytes: 1, At: 5, Eager: true}}
	crossing = []Message{{From: 0, To: 1, Bytes: 3, At: 1}, {From: 1, To: 0, Bytes: 3, At: 1}}
	incast   = []Message{{From: 0, To: 2, Bytes: 3, At: 1}, {From: 1, To: 2, Bytes: 2, At: 1}}
	longer   = []Message{{From: 0, To: 1, Bytes: 6, At: 1}, {From: 0, To: 1, Bytes: 2, At: 1}}
	three    = []Message{{From: 0, To: 1, Bytes: 3, At: 1}, {From: 0, To: 1, Bytes: 2, At: 2}, {From: 0, To: 1, Bytes: 1, At: 1}}
	triangle = []Message{{From: 0, To: 1, Bytes: 2, At: 1}, {From: 1, To: 2, Bytes: 2, At: 1}, {From: 2, To: 0, Bytes: 2, At: 1}}

	intoOne    = []Receive{{Rank: 1, Source: 0, Room: 4, At: 8}}
	tooShort   = []Receive{{Rank: 1, Source: 0, Room: 2, At: 8}}
	nothing    = []Receive{{Rank: 1, Source: 0, Room: 0, At: 8}}
	intoTwo    = []Receive{{Rank: 1, Source: 0, Room: 4, At: 8}, {Rank: 1, Source: 0, Room: 4, At: 12}}
	intoLonger = []Receive{{Rank: 1, Source: 0, Room: 6, At: 8}, {Rank: 1, Source: 0, Room: 4, At: 14}}
	intoAny    = []Receive{{Rank: 1, Source: Any, Tag: Any, Room: 4, At: 8}, {Rank: 1, Source: 0, Room: 4, At: 12}}
	intoBoth   = []Receive{{Rank: 0, Source: 1, Room: 3, At: 8}, {Rank: 1, Source: 0, Room: 3, At: 8}}
	fromAny    = []Receive{{Rank: 2, Source: Any, Room: 3, At: 8}, {Rank: 2, Source: Any, Room: 3, At: 12}}
	intoThree  = []Receive{{Rank: 1, Source: 0, Room: 3, At: 8}, {Rank: 1, Source: 0, Room: 3, At: 12}, {Rank: 1, Source: 0, Room: 3, At: 16}}
	around     = []Receive{{Rank: 1, Source: 0, Room: 2, At: 8}, {Rank: 2, Source: 1, Room: 2, At: 8}, {Rank: 0, Source: 2, Room: 2, At: 8}}
)

var (
	tagged = []Message{{From: 0, To: 1, Bytes: 4, At: 1}, {From: 0, To: 1, Tag: 1, Bytes: 2, At: 1}}
	// behind: a message waits for a name, followed by a short message.
	behind = []Message{{From: 0, To: 1, Bytes: 2, At: 1}, {From: 0, To: 1, Bytes: 2, At: 3}, {From: 0, To: 1, Bytes: 1, At: 5, Eager: true}}

	// Worlds that speculation could get wrong: a short message in place of the expected long one, a
	// wildcard receive before others.
	short1st = []Message{{From: 0, To: 1, Bytes: 1, At: 5, Eager: true}, {From: 0, To: 1, Bytes: 3, At: 1}}
	then2    = []Message{{From: 0, To: 1, Bytes: 1, At: 5, Eager: true}, {From: 0, To: 1, Bytes: 3, At: 1}, {From: 0, To: 1, Bytes: 2, At: 1}}
	mixed    = []Message{{From: 0, To: 1, Bytes: 3, At: 1}, {From: 0, To: 1, Bytes: 1, At: 5, Eager: true}, {From: 0, To: 1, Bytes: 2, At: 1}}
	// The third message waits for a name and may be cancelled before it has one.
	nameless  = []Message{{From: 0, To: 1, Bytes: 2, At: 1}, {From: 0, To: 1, Bytes: 1, At: 3}, {From: 0, To: 1, Bytes: 2, At: 1}, {From: 0, To: 1, Bytes: 1, At: 5, Eager: true}}
	otherTag  = []Message{{From: 0, To: 1, Tag: 1, Bytes: 2, At: 1}, {From: 0, To: 1, Bytes: 3, At: 1}, {From: 0, To: 1, Tag: 1, Bytes: 1, At: 1}}
	tagsApart = []Receive{{Rank: 1, Source: 0, Room: 3, At: 8}, {Rank: 1, Source: 0, Tag: 1, Room: 3, At: 12}, {Rank: 1, Source: 0, Tag: 1, Room: 3, At: 16}}
	// The first message has another tag than two receives that are posted before its own.
	between    = []Message{{From: 0, To: 1, Bytes: 2, At: 1}, {From: 0, To: 1, Tag: 1, Bytes: 3, At: 1}, {From: 0, To: 1, Tag: 1, Bytes: 1, At: 1}}
	tagsBefore = []Receive{{Rank: 1, Source: 0, Tag: 1, Room: 3, At: 8}, {Rank: 1, Source: 0, Tag: 1, Room: 3, At: 12}, {Rank: 1, Source: 0, Room: 3, At: 16}}
	fromBoth   = []Receive{{Rank: 2, Source: 0, Room: 3, At: 8}, {Rank: 2, Source: 1, Room: 3, At: 12}}
	behindAny  = []Receive{{Rank: 1, Source: Any, Tag: Any, Room: 3, At: 8}, {Rank: 1, Source: 0, Room: 3, At: 12}, {Rank: 1, Source: 0, Room: 3, At: 16}}

	byTag  = []Receive{{Rank: 1, Source: 0, Tag: 1, Room: 4, At: 8}, {Rank: 1, Source: Any, Tag: Any, Room: 4, At: 12}}
	tight  = [3]int{1, 1, 1}
	no     []int
	first  = []int{0}
	second = []int{1}
	either = []int{0, 1}
)

func world(level, ranks int, m []Message, r []Receive, set func(*Options)) leveled {
	o := Options{Ranks: ranks, Messages: m, Receives: r}
	set(&o)
	return leveled{level, o}
}

func fails(faults, shortages, refusals int, sends, receives []int) func(*Options) {
	return func(o *Options) {
		o.Faults, o.Shortages, o.Refusals, o.Cancel, o.CancelAt = faults, shortages, refusals, sends, receives
	}
}

func short(ids, descriptors int, registrations [3]int, f func(*Options)) func(*Options) {
	return func(o *Options) {
		f(o)
		o.IDs, o.Descriptors, o.Registrations = ids, descriptors, registrations
	}
}

func stepping(f func(*Options)) func(*Options) {
	return func(o *Options) {
		f(o)
		o.Chunk = 2
	}
}

func impatient(o *Options) { o.Shortages, o.Impatient = 2, true }

var worlds = []leveled{
	world(1, 2, one, intoOne, fails(2, 2, 0, no, no)),
	world(1, 2, one, intoOne, fails(0, 2, 2, no, no)),
	world(1, 2, one, intoOne, stepping(fails(2, 1, 1, first, first))),
	world(1, 2, one, tooShort, fails(2, 1, 1, first, first)),
	world(1, 2, one, nothing, fails(0, 1, 1, first, first)),
	world(1, 2, one, intoOne, impatient),
	world(1, 2, overlap, intoTwo, stepping(fails(1, 0, 0, no, no))),
	world(1, 2, tagged, byTag, short(2, 1, tight, fails(1, 0, 0, no, no))),
	world(1, 2, eager, intoTwo, short(1, 0, tight, fails(0, 1, 0, first, no))),
	world(1, 2, behind, intoThree, short(1, 1, tight, fails(0, 0, 0, second, no))),
	world(1, 2, overlap, intoTwo, short(1, 0, tight, fails(1, 1, 0, no, first))),
	world(1, 2, crossing, intoBoth, short(1, 1, tight, fails(0, 0, 0, no, no))),

	world(2, 2, overlap, intoTwo, stepping(fails(2, 1, 0, first, no))),
	world(2, 2, overlap, intoAny, fails(1, 0, 1, either, first)),
	world(2, 2, overlap, intoTwo, short(1, 1, tight, fails(1, 1, 1, no, either))),
	world(2, 2, tagged, byTag, stepping(fails(1, 1, 0, no, first))),
	world(2, 2, behind, intoThree, short(1, 1, tight, fails(1, 0, 0, either, no))),
	world(2, 2, crossing, intoBoth, fails(1, 0, 0, no, first)),
	world(2, 2, crossing, intoBoth, short(1, 1, tight, fails(0, 1, 1, no, no))),
	world(2, 3, incast, fromAny, short(1, 1, tight, fails(1, 0, 0, first, no))),
	world(2, 2, three, intoThree, short(2, 0, [3]int{2, 1, 2}, fails(1, 0, 0, no, no))),
	world(2, 3, triangle, around, short(1, 0, tight, fails(0, 0, 0, no, no))),

	world(3, 2, crossing, intoBoth, stepping(fails(1, 1, 0, first, first))),
	world(3, 2, three, intoThree, stepping(fails(1, 1, 0, first, first))),
	world(3, 2, three, intoThree, short(1, 1, tight, fails(1, 1, 1, no, first))),
	world(3, 3, incast, fromAny, stepping(fails(2, 1, 0, either, first))),
	world(3, 3, triangle, around, short(1, 1, tight, fails(1, 0, 0, no, no))),
	world(3, 3, triangle, around, short(0, 0, tight, fails(0, 0, 1, no, first))),
}

func counters(n int, f func(*Options)) func(*Options) {
	return func(o *Options) {
		f(o)
		o.Counters = n
	}
}

func hopeless(f func(*Options)) func(*Options) {
	return func(o *Options) {
		f(o)
		o.Hopeless = true
	}
}

// speculations are worlds with mistakes that only RTRs can cause.
var speculations = []leveled{
	world(1, 2, short1st, intoTwo, fails(0, 0, 1, no, first)),
	world(1, 2, tagged, byTag, counters(1, fails(0, 0, 0, no, first))),
	world(1, 2, between, tagsBefore, counters(1, fails(0, 0, 0, no, no))),
	world(1, 2, overlap, intoTwo, fails(0, 0, 0, no, either)),
	world(1, 2, three, behindAny, fails(0, 0, 0, no, no)),
	world(1, 2, overlap, intoTwo, hopeless(fails(0, 0, 0, no, no))),

	world(2, 2, mixed, intoThree, fails(0, 0, 0, first, second)),
	world(2, 2, nameless[:3], intoThree, short(2, 0, [3]int{2, 1, 2}, fails(0, 0, 0, []int{2}, no))),
	world(2, 2, otherTag, tagsApart, counters(1, fails(0, 0, 0, no, second))),
	world(2, 3, incast, fromBoth, fails(1, 0, 0, no, first)),
	world(2, 2, three, intoThree, hopeless(fails(0, 0, 0, no, first))),
	world(3, 2, mixed, intoThree, fails(0, 0, 0, either, either)),
	world(3, 2, nameless, intoThree, short(2, 0, [3]int{2, 1, 2}, fails(0, 0, 0, []int{2}, no))),
	world(3, 2, otherTag, tagsApart, counters(1, short(2, 1, tight, fails(1, 0, 0, no, second)))),
	world(3, 2, three, intoThree, fails(1, 0, 0, no, first)),
	world(3, 3, triangle, around, short(0, 0, tight, fails(0, 0, 0, no, first))),
	world(3, 3, incast, fromBoth, fails(1, 1, 0, first, first)),
	world(3, 2, mixed, intoThree, short(2, 1, [3]int{2, 1, 1}, fails(1, 1, 0, either, either))),
}

// Planted lists, for every deliberate mistake, a world in which it is found.
func Planted() (all []Options) {
	for _, name := range Plants() {
		o, ok := soil[name]
		if !ok {
			panic(fmt.Sprintf("explore: no world is known to show %s", name))
		}
		o.Plant = name
		all = append(all, o)
	}
	return all
}

func on(protocol string, o Options) Options {
	o.Ranks, o.Protocol = 2, protocol
	if protocol == "chunked" {
		o.Chunk, o.Window = 2, 1
	}
	return o
}

var soil = map[string]Options{
	"forgotten-fin":       on("rget", Options{Messages: one, Receives: intoOne}),
	"good-fin":            on("rget", Options{Messages: one, Receives: intoOne, Faults: 1}),
	"by-address":          on("chunked", Options{Messages: longer, Receives: intoLonger}),
	"any-generation":      on("rput", Options{Messages: overlap, Receives: intoTwo, IDs: 1, CancelAt: []int{0}}),
	"done-when-read":      on("chunked", Options{Messages: one, Receives: intoOne, Faults: 1}),
	"done-when-written":   on("rput", Options{Messages: one, Receives: intoOne, Faults: 1}),
	"no-fence":            on("rput", Options{Messages: one, Receives: intoOne}),
	"deaf-to-late-faults": on("rput", Options{Messages: one, Receives: intoOne, Faults: 1}),
	"deaf-to-faults":      on("rget", Options{Messages: one, Receives: intoOne, Faults: 1}),
	"leak-on-failure":     on("rget", Options{Messages: one, Receives: intoOne, Faults: 1}),
	"no-drain":            {Ranks: 2, Protocol: "chunked", Chunk: 2, Window: 2, Messages: one, Receives: intoOne, Faults: 1},
	"lost-operation":      on("rget", Options{Messages: one, Receives: intoOne, Shortages: 1}),
	"fatal-shortage":      on("rget", Options{Messages: one, Receives: intoOne, Shortages: 1}),
	"no-retry":            on("rput", Options{Messages: one, Receives: intoOne, Shortages: 1}),
	"queued-control":      on("rget", Options{Messages: overlap, Receives: intoTwo, IDs: 1, Shortages: 1}),
	"rts-overtaken":       on("rget", Options{Messages: behind, Receives: intoThree, IDs: 1}),
	"cancel-of-received":  on("rget", Options{Messages: one, Receives: intoOne, Cancel: []int{0}}),
	"silent-cancel":       on("rget", Options{Messages: one, Receives: intoOne, Cancel: []int{0}}),
	"abrupt-receiver":     on("rput", Options{Messages: one, Receives: intoOne, CancelAt: []int{0}}),
	"no-late-memory":      on("rget", Options{Messages: one, Receives: intoOne, Shortages: 1}),
	"not-shortened":       on("rput", Options{Messages: one, Receives: tooShort}),
	"no-window":           on("chunked", Options{Messages: one, Receives: intoOne}),
	"same-chunk":          on("chunked", Options{Messages: one, Receives: intoOne}),
	"fin-when-posted":     on("rget", Options{Messages: one, Receives: intoOne}),

	"uncounted-eager":       on("spec", Options{Messages: short1st, Receives: intoTwo}),
	"unseen-eager":          on("spec", Options{Messages: then2, Receives: intoThree}),
	"offer-behind-wildcard": on("spec", Options{Messages: three, Receives: behindAny}),
	"cancel-without-revoke": on("spec", Options{Messages: one, Receives: intoOne, CancelAt: []int{0}}),
	"claim-overtakes":       on("spec", Options{Messages: short1st, Receives: intoTwo}),
	"rtr-for-the-next":      on("spec", Options{Messages: overlap, Receives: intoTwo}),
	"rtr-without-length":    on("spec", Options{Messages: one, Receives: tooShort}),
	"leak-of-overtaken":     on("spec", Options{Messages: short1st, Receives: intoTwo}),
}
