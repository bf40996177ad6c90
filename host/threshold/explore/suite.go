package explore

import "github.com/nicloop/nicloop/host/threshold"

// Claims is the meaning of "proved" in one line.
const Claims = "no byte lost, doubled or overwritten by a change or by a receiver that is not ready, the full in-band handshake never stops a channel, memory is bounded and comes home, an end can be reached from everywhere"

// Levels is the number of levels of Suite.
const Levels = 2

func forward(n, bytes int) (list []Message) {
	for range n {
		list = append(list, Message{From: 0, To: 1, Bytes: bytes})
	}
	return list
}

func both(bytes ...int) (list []Message) {
	for i, n := range bytes {
		list = append(list, Message{From: i % 2, To: 1 - i%2, Bytes: n})
	}
	return list
}

// lengths are messages of which the last is too long for the buffers of the others.
var lengths = []Message{{0, 1, 3, 0}, {0, 1, 3, 0}, {0, 1, 5, 0}}

// Suite lists the worlds to prove, for both handshakes.
func Suite(level int) (list []Options) {
	worlds := []Options{
		{Ranks: 2, Units: []int{2, 2}, Messages: forward(3, 3), Losses: []Loss{{0, 1, 3}}},
		{Ranks: 2, Units: []int{2, 2}, Messages: both(3, 3, 3, 3), Losses: []Loss{{0, 1, 3}}},
		{Ranks: 2, Units: []int{2, 2}, Messages: forward(2, 3), Losses: []Loss{{0, 1, 3}, {1, 0, 3}}},            // both start a change
		{Ranks: 2, Units: []int{4, 4}, Messages: forward(2, 3), Losses: []Loss{{0, 1, 3}, {0, 1, 9}}},            // consecutive changes
		{Ranks: 2, Units: []int{4, 1}, Messages: forward(2, 3), Losses: []Loss{{0, 1, 3}, {1, 0, 70}}},           // too large for one of them
		{Ranks: 2, Units: []int{0, 4}, Messages: forward(2, 3), Losses: []Loss{{1, 0, 3}}},                       // refused
		{Ranks: 2, Units: []int{2, 4}, Messages: forward(2, 3), Losses: []Loss{{0, 1, 3}, {1, 0, 130}}},          // refused in part
		{Ranks: 2, Units: []int{2, 2}, Messages: forward(3, 3), Losses: []Loss{{0, 1, 3}}, Ticks: 1},             // and recalled
		{Ranks: 2, Units: []int{4, 4}, Stocks: 1, Messages: forward(1, 3), Losses: []Loss{{0, 1, 3}, {0, 1, 9}}}, // one length
		{Ranks: 2, Units: []int{2, 2}, Messages: lengths, Losses: []Loss{{0, 1, 3}}},                             // buffers of two lengths
	}
	if level > 1 {
		worlds = append(worlds,
			Options{Ranks: 2, Units: []int{4, 4}, First: 2, Messages: forward(4, 3), Losses: []Loss{{0, 1, 3}, {1, 0, 9}}},
			Options{Ranks: 2, Units: []int{4, 4}, Messages: both(3, 3, 9, 3), Losses: []Loss{{0, 1, 3}, {1, 0, 9}}},
			Options{Ranks: 2, Units: []int{4, 4}, Messages: forward(3, 3), Losses: []Loss{{0, 1, 3}, {0, 1, 9}}, Ticks: 1},
			Options{Ranks: 2, Units: []int{3, 2}, Messages: forward(4, 3), Losses: []Loss{{0, 1, 3}}, Ticks: 2},
			Options{Ranks: 3, Units: []int{1, 2, 1}, Messages: []Message{{0, 1, 3, 0}, {2, 1, 3, 0}, {0, 1, 3, 0}}, Losses: []Loss{{0, 1, 3}, {2, 1, 3}}},
			Options{Ranks: 3, Units: []int{2, 1, 2}, Messages: []Message{{0, 1, 3, 0}, {2, 1, 3, 0}}, Losses: []Loss{{0, 1, 3}, {1, 2, 3}}},
		)
	}
	worlds = append(worlds, published(level)...)
	list = append(list, notReady(level)...)
	for _, o := range worlds {
		list = append(list, o)
		o.Handshake = threshold.Partial
		list = append(list, o)
	}
	return list
}

// published lists worlds of section 3.3 as it is written: a pool for all peers, and no buffers for
// a peer that sends nothing. Two senders compete for one buffer of their receiver.
func published(level int) []Options {
	list := []Options{
		{Ranks: 2, Units: []int{2, 2}, OneWay: true, Messages: forward(3, 3), Losses: []Loss{{0, 1, 3}}},
		{Ranks: 2, Units: []int{2, 2}, OneWay: true, Messages: both(3, 3, 3, 3), Losses: []Loss{{0, 1, 3}}},
		{Ranks: 2, Units: []int{4, 4}, Pool: 1, Messages: forward(2, 3), Losses: []Loss{{0, 1, 3}, {0, 1, 9}}},
		{Ranks: 3, Units: []int{1, 2, 1}, Pool: 1, Messages: []Message{{0, 1, 3, 0}, {2, 1, 3, 0}}, Losses: []Loss{{0, 1, 3}, {2, 1, 3}}},
	}
	if level > 1 {
		list = append(list,
			Options{Ranks: 2, Units: []int{2, 2}, Pool: 1, OneWay: true, Messages: both(3, 3, 3), Losses: []Loss{{0, 1, 3}, {1, 0, 3}}, Ticks: 1},
		)
	}
	return list
}

// Planted lists, for every deliberate mistake, a world in which it is found.
func Planted() (list []Options) {
	one := Options{Ranks: 2, Units: []int{2, 2}, Messages: forward(3, 3), Losses: []Loss{{0, 1, 3}}}
	twice := Options{Ranks: 2, Units: []int{4, 4}, Messages: forward(4, 3), Losses: []Loss{{0, 1, 3}, {0, 1, 9}}}
	unlike := Options{Ranks: 2, Units: []int{4, 4}, Messages: forward(1, 3), Losses: []Loss{{0, 1, 3}, {1, 0, 9}}}
	refused := Options{Ranks: 2, Units: []int{0, 4}, Messages: forward(1, 3), Losses: []Loss{{1, 0, 3}}}
	idle := Options{Ranks: 2, Units: []int{2, 2}, Messages: forward(2, 3), Losses: []Loss{{0, 1, 3}}, Ticks: 1}
	long := Options{Ranks: 2, Units: []int{2, 2}, Messages: lengths, Losses: []Loss{{0, 1, 3}}}
	soil := map[string]Options{
		"est-overtakes": twice, "any-generation": twice, "deaf-to-refusal": refused, "own-threshold": unlike, "return-in-use": idle,
		"boasted-buffer": long, "not-resumed": one, "reconn-overtakes": twice,
	}
	streams := stream(forward(2, 3), Receive{1, 0, 0, 3}, Receive{1, 0, 0, 3})
	any := stream(forward(2, 3), Receive{1, -1, 0, 3}, Receive{1, 0, 0, 3})
	short := stream([]Message{{0, 1, 3, 0}}, Receive{1, 0, 0, 2})
	cancelled := stream(forward(1, 3), Receive{1, 0, 0, 3}, Receive{1, 0, 0, 3})
	cancelled.Cancels = []int{0}
	for name, o := range map[string]Options{
		"hasty-passed": streams, "half-put": streams, "open-overtakes": streams, "landed-overtakes": streams, "lost-passed": streams,
		"behind-any": any, "short-room": short, "hasty-closed": cancelled,
	} {
		soil[name] = o
	}
	for _, name := range Plants() {
		o, known := soil[name]
		if !known {
			o = one
		}
		if name == "not-resumed" || name == "reconn-overtakes" {
			o.Handshake = threshold.Partial
		}
		o.Plant = name
		list = append(list, o)
	}
	return list
}

// stream is a world of two ranks in which the first message of rank 0 has lost overlap.
func stream(messages []Message, receives ...Receive) Options {
	return Options{Ranks: 2, Units: []int{0, 0}, Handshake: threshold.NotReady, Messages: messages, Receives: receives, Losses: []Loss{{0, 1, 3}}}
}

// notReady lists the worlds of the handshake NotReady: early and late receives, wildcards, cancels,
// receives that are too short; messages too long or too short for their stream; two streams.
func notReady(level int) []Options {
	in := func(n int) (list []Receive) {
		for range n {
			list = append(list, Receive{1, 0, 0, 3})
		}
		return list
	}
	cancelled := stream(forward(1, 3), in(2)...)
	cancelled.Cancels = []int{0}
	three := stream([]Message{{0, 1, 3, 0}, {2, 1, 3, 0}}, Receive{1, 0, 0, 3}, Receive{1, 2, 0, 3})
	three.Ranks, three.Units, three.Losses = 3, []int{0, 0, 0}, []Loss{{0, 1, 3}, {2, 1, 3}}
	refused := three
	refused.Stocks = 1
	list := []Options{
		stream(forward(2, 3), in(2)...),
		stream(forward(2, 3), Receive{1, -1, 0, 3}, Receive{1, 0, 0, 3}),
		stream(forward(2, 3), Receive{1, 0, 0, 3}, Receive{1, 0, -1, 3}),
		stream([]Message{{0, 1, 9, 0}, {0, 1, 3, 0}}, Receive{1, 0, 0, 9}, Receive{1, 0, 0, 9}),
		stream([]Message{{0, 1, 1, 0}, {0, 1, 3, 0}}, in(2)...),
		stream([]Message{{0, 1, 3, 0}}, Receive{1, 0, 0, 2}),
		stream([]Message{{0, 1, 3, 0}, {0, 1, 3, 1}}, Receive{1, 0, 1, 3}, Receive{1, 0, 0, 3}),
		cancelled, refused,
	}
	if level > 1 {
		twice := stream(forward(2, 3), in(3)...)
		twice.Cancels = []int{1}
		either := stream(forward(2, 3), Receive{1, 0, 0, 3}, Receive{1, -1, 0, 3}, Receive{1, 0, 0, 3})
		either.Cancels = []int{0}
		list = append(list, twice, either, three, stream(forward(3, 3), in(3)...),
			stream([]Message{{0, 1, 3, 0}, {0, 1, 9, 0}, {0, 1, 3, 0}}, Receive{1, 0, 0, 9}, Receive{1, 0, 0, 9}, Receive{1, 0, 0, 3}))
	}
	for _, o := range list {
		o.Gates = 2
		list = append(list, o)
	}
	return list
}
