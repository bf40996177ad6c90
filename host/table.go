package host

// A choice is a row of the table of a collective: up to so many ranks and bytes (0: any) it takes that
// algorithm. The first row that covers a call and whose algorithm fits decides.
type choice struct {
	ranks, bytes int
	algorithm    string
}

// choices were measured on model: with a process per node, 2 to 64 of them: nicloop bench collectives --table. What ranks
// cannot agree on, for they do not know the others' lengths, is linear.
var choices = [collectives][]choice{
	Barrier:   {{0, 0, "dissemination"}},
	Gatherv:   {{0, 0, Linear}},
	Scatterv:  {{0, 0, Linear}},
	Alltoallv: {{0, 0, Linear}},
	Bcast: {
		{2, 0, Linear},
		{3, 4096, Linear},
		{3, 0, "scatter-allgather"},
		{4, 8, Linear},
		{4, 16384, "binomial"},
		{4, 0, "scatter-allgather"},
		{7, 1024, "binomial"},
		{7, 0, "scatter-allgather"},
		{11, 8, Linear},
		{11, 1024, "binomial"},
		{11, 2048, "scatter-allgather"},
		{11, 16384, "binomial"},
		{11, 0, "scatter-allgather"},
		{15, 1024, "binomial"},
		{15, 0, "scatter-allgather"},
		{31, 2048, "binomial"},
		{31, 0, "scatter-allgather"},
		{0, 4096, "binomial"},
		{0, 0, "scatter-allgather"},
	},
	Gather: {
		{3, 0, Linear},
		{4, 8, "binomial"},
		{4, 0, Linear},
		{7, 0, Linear},
		{0, 64, "binomial"},
		{0, 0, Linear},
	},
	Scatter: {
		{4, 0, Linear},
		{7, 64, "binomial"},
		{7, 0, Linear},
		{11, 0, Linear},
		{15, 64, "binomial"},
		{15, 0, Linear},
		{31, 0, Linear},
		{63, 8, "binomial"},
		{63, 0, Linear},
		{0, 64, "binomial"},
		{0, 0, Linear},
	},
	Allgather: {
		{2, 0, Linear},
		{3, 2048, Linear},
		{3, 0, "ring"},
		{4, 64, Linear},
		{4, 1024, "recursive-doubling"},
		{4, 0, "ring"},
		{7, 256, Linear},
		{7, 0, "ring"},
		{11, 64, "recursive-doubling"},
		{11, 64, "bruck"},
		{11, 256, "recursive-doubling"},
		{11, 256, Linear},
		{11, 0, "ring"},
		{15, 256, "bruck"},
		{15, 0, "ring"},
		{31, 256, "recursive-doubling"},
		{31, 256, "bruck"},
		{31, 0, "ring"},
		{0, 64, "recursive-doubling"},
		{0, 64, "bruck"},
		{0, 0, "ring"},
	},
	Allgatherv: {
		{2, 0, Linear},
		{3, 2048, Linear},
		{3, 0, "ring"},
		{4, 64, Linear},
		{4, 1024, "recursive-doubling"},
		{4, 0, "ring"},
		{7, 256, Linear},
		{7, 0, "ring"},
		{11, 256, "recursive-doubling"},
		{11, 256, Linear},
		{11, 0, "ring"},
		{15, 256, Linear},
		{15, 0, "ring"},
		{31, 64, "recursive-doubling"},
		{31, 64, Linear},
		{31, 256, "recursive-doubling"},
		{31, 256, "ring"},
		{31, 0, "ring"},
		{0, 64, "recursive-doubling"},
		{0, 64, Linear},
		{0, 0, "ring"},
	},
	Alltoall: {
		{2, 0, Linear},
		{4, 2048, Linear},
		{4, 0, "pairwise"},
		{7, 256, Linear},
		{7, 0, "pairwise"},
		{31, 8, "bruck"},
		{31, 256, Linear},
		{31, 0, "pairwise"},
		{0, 8, "bruck"},
		{0, 64, Linear},
		{0, 0, "pairwise"},
	},
	Reduce: {
		{3, 0, Linear},
		{4, 8, "binomial"},
		{4, 64, Linear},
		{4, 0, "binomial"},
		{7, 8, Linear},
		{7, 0, "binomial"},
		{0, 0, "binomial"},
	},
	Allreduce: {
		{2, 4096, "recursive-doubling"},
		{2, 0, "ring"},
		{3, 256, Linear},
		{3, 0, "ring"},
		{4, 256, "recursive-doubling"},
		{4, 2048, "ring"},
		{4, 4096, "recursive-doubling"},
		{4, 0, "ring"},
		{7, 256, "recursive-doubling"},
		{7, 0, "ring"},
		{31, 1024, "recursive-doubling"},
		{31, 0, "ring"},
		{63, 2048, "recursive-doubling"},
		{63, 0, "ring"},
		{0, 4096, "recursive-doubling"},
		{0, 0, "ring"},
	},
	ReduceScatter: {
		{4, 0, "pairwise"},
		{7, 8, Linear},
		{7, 0, "pairwise"},
		{0, 64, Linear},
		{0, 0, "pairwise"},
	},
}

// Choice is the algorithm that the table has for a collective of so many ranks and bytes: of the whole message
// (bcast, reduce, allreduce, reduce-scatter), or of one block.
func (k Collective) Choice(ranks, bytes int) string { return k.choose(ranks, bytes).name }

func (k Collective) choose(ranks, bytes int) *algorithm {
	for _, row := range choices[k] {
		if (row.ranks > 0 && ranks > row.ranks) || (row.bytes > 0 && bytes > row.bytes) {
			continue
		}
		if k.Fits(row.algorithm, ranks, bytes) {
			return k.named(row.algorithm)
		}
	}
	return &algorithms[k][0]
}

// named finds an algorithm by its name.
func (k Collective) named(name string) *algorithm {
	for i := range algorithms[k] {
		if a := &algorithms[k][i]; a.name == name {
			return a
		}
	}
	return nil
}
