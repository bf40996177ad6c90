package imb

// class says how many processes take part and what is reported, as IMB has it.
type class int

const (
	single     class = iota // two processes; a time and a rate
	parallel                // all of them; times over the ranks and a rate
	collective              // all of them; times over the ranks
	barrier                 // the same without a length
)

type benchmark struct {
	name  string
	class class
	// transfers is how many messages of the given length a rank moves in one
	// iteration, for the rate; half: the time is half of an iteration.
	transfers int
	half      bool
	// reduction: lengths are whole numbers of elements.
	reduction bool
	// blocks is how many buffers of the given length a rank of p needs, longest
	// how many of them one message may hold.
	blocks, longest func(p int) int
	// prepare makes what a rank does in one iteration.
	prepare func(x *rank, n int) (func(k int) error, error)
}

const elementBytes = 8

func (b *benchmark) unit() int {
	if b.reduction {
		return elementBytes
	}
	return 1
}

func one(int) int    { return 1 }
func two(int) int    { return 2 }
func four(int) int   { return 4 }
func each(p int) int { return p }

// all is in IMB's order.
var all = []*benchmark{
	{name: "PingPong", class: single, transfers: 1, half: true, blocks: one, longest: one, prepare: (*rank).pingPong},
	{name: "PingPing", class: single, transfers: 1, blocks: two, longest: one, prepare: (*rank).pingPing},
	{name: "Sendrecv", class: parallel, transfers: 2, blocks: two, longest: one, prepare: (*rank).sendrecv},
	{name: "Exchange", class: parallel, transfers: 4, blocks: four, longest: one, prepare: (*rank).exchange},
	{name: "Allreduce", class: collective, reduction: true, blocks: one, longest: one, prepare: (*rank).allreduce},
	{name: "Reduce", class: collective, reduction: true, blocks: one, longest: one, prepare: (*rank).reduce},
	{name: "Reduce_scatter", class: collective, reduction: true, blocks: two, longest: one, prepare: (*rank).reduceScatter},
	{name: "Allgather", class: collective, blocks: plusOne, longest: one, prepare: (*rank).allgather},
	{name: "Allgatherv", class: collective, blocks: plusOne, longest: one, prepare: (*rank).allgatherv},
	{name: "Gather", class: collective, blocks: plusOne, longest: each, prepare: (*rank).gather},
	{name: "Gatherv", class: collective, blocks: plusOne, longest: one, prepare: (*rank).gatherv},
	{name: "Scatter", class: collective, blocks: plusOne, longest: each, prepare: (*rank).scatter},
	{name: "Scatterv", class: collective, blocks: plusOne, longest: one, prepare: (*rank).scatterv},
	{name: "Alltoall", class: collective, blocks: twice, longest: one, prepare: (*rank).alltoall},
	{name: "Alltoallv", class: collective, blocks: twice, longest: one, prepare: (*rank).alltoallv},
	{name: "Bcast", class: collective, blocks: one, longest: one, prepare: (*rank).bcast},
	{name: "Barrier", class: barrier, blocks: one, longest: one, prepare: (*rank).barrier},
}

func plusOne(p int) int { return p + 1 }
func twice(p int) int   { return 2 * p }
