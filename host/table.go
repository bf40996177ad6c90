package host

// A choice is a row of the selection table of a collective: the algorithm for up to this number of
// ranks and bytes (0: any). The first row that covers a call and whose algorithm fits is used.
type choice struct {
	ranks, bytes int
	algorithm    string
}

// choices were measured on model: with one process per node and 2 to 64 nodes (nicloop bench
// collectives --table). Short bcast, gather and scatter among few ranks stay linear although a tree
// is faster for some numbers of ranks: it is slower for others. The v variants are linear, because
// ranks do not know the others' lengths and so could not agree on a choice.
var choices = [collectives][]choice{
	Barrier:   {{0, 0, "dissemination"}},
	Gatherv:   {{0, 0, Linear}},
	Scatterv:  {{0, 0, Linear}},
	Alltoallv: {{0, 0, Linear}},
	Bcast: {
		{2, 0, Linear},
		{3, 4096, Linear},
		{3, 0, "scatter-allgather"},
		{4, 256, Linear},
		{4, 4096, "binomial"},
		{4, 0, "scatter-allgather"},
		{5, 8, Linear},
		{5, 256, "binomial"},
		{5, 0, "scatter-allgather"},
		{6, 1024, "binomial"},
		{6, 0, "scatter-allgather"},
		{7, 112, Linear},
		{7, 1024, "binomial"},
		{7, 0, "scatter-allgather"},
		{8, 40, Linear},
		{8, 1024, "binomial"},
		{8, 2048, "scatter-allgather"},
		{8, 16384, "binomial"},
		{8, 0, "scatter-allgather"},
		{11, 40, Linear},
		{11, 1024, "binomial"},
		{11, 0, "scatter-allgather"},
		{15, 1024, "binomial"},
		{15, 0, "scatter-allgather"},
		{23, 40, Linear},
		{23, 2048, "binomial"},
		{23, 0, "scatter-allgather"},
		{31, 2048, "binomial"},
		{31, 0, "scatter-allgather"},
		{0, 4096, "binomial"},
		{0, 0, "scatter-allgather"},
	},
	Gather: {
		{15, 0, Linear},
		{31, 8, "binomial"},
		{31, 0, Linear},
		{0, 48, "binomial"},
		{0, 0, Linear},
	},
	Scatter: {
		{31, 0, Linear},
		{63, 8, "binomial"},
		{63, 0, Linear},
		{0, 48, "binomial"},
		{0, 0, Linear},
	},
	Allgather: {
		{2, 0, Linear},
		{3, 2048, Linear},
		{3, 0, "ring"},
		{4, 4096, Linear},
		{4, 0, "ring"},
		{5, 1024, Linear},
		{5, 0, "ring"},
		{6, 2048, Linear},
		{6, 0, "ring"},
		{7, 256, Linear},
		{7, 0, "ring"},
		{8, 256, "recursive-doubling"},
		{8, 1024, Linear},
		{8, 0, "ring"},
		{11, 2048, Linear},
		{11, 0, "ring"},
		{15, 112, "bruck"},
		{15, 1024, Linear},
		{15, 0, "ring"},
		{23, 256, "recursive-doubling"},
		{23, 256, "bruck"},
		{23, 0, "ring"},
		{31, 48, "bruck"},
		{31, 112, Linear},
		{31, 0, "ring"},
		{63, 112, "recursive-doubling"},
		{63, 112, "bruck"},
		{63, 0, "ring"},
		{0, 48, "recursive-doubling"},
		{0, 48, "bruck"},
		{0, 112, Linear},
		{0, 0, "ring"},
	},
	Allgatherv: {
		{2, 0, Linear},
		{3, 2048, Linear},
		{3, 0, "ring"},
		{4, 4096, Linear},
		{4, 0, "ring"},
		{5, 1024, Linear},
		{5, 0, "ring"},
		{6, 2048, Linear},
		{6, 0, "ring"},
		{7, 256, Linear},
		{7, 0, "ring"},
		{8, 256, "recursive-doubling"},
		{8, 1024, Linear},
		{8, 0, "ring"},
		{11, 2048, Linear},
		{11, 0, "ring"},
		{15, 1024, Linear},
		{15, 0, "ring"},
		{23, 112, "recursive-doubling"},
		{23, 112, Linear},
		{23, 256, "recursive-doubling"},
		{23, 256, "ring"},
		{23, 0, "ring"},
		{31, 112, Linear},
		{31, 0, "ring"},
		{63, 112, "recursive-doubling"},
		{63, 112, Linear},
		{63, 0, "ring"},
		{0, 48, "recursive-doubling"},
		{0, 48, Linear},
		{0, 112, Linear},
		{0, 0, "ring"},
	},
	Alltoall: {
		{2, 0, Linear},
		{3, 2048, Linear},
		{3, 0, "pairwise"},
		{4, 4096, Linear},
		{4, 0, "pairwise"},
		{5, 1024, Linear},
		{5, 0, "pairwise"},
		{6, 2048, Linear},
		{6, 0, "pairwise"},
		{7, 256, Linear},
		{7, 0, "pairwise"},
		{8, 8, "bruck"},
		{8, 4096, Linear},
		{8, 0, "pairwise"},
		{11, 2048, Linear},
		{11, 0, "pairwise"},
		{15, 8, "bruck"},
		{15, 1024, Linear},
		{15, 0, "pairwise"},
		{31, 8, "bruck"},
		{31, 256, Linear},
		{31, 0, "pairwise"},
		{0, 8, "bruck"},
		{0, 112, Linear},
		{0, 0, "pairwise"},
	},
	Reduce: {
		{3, 0, Linear},
		{4, 8, "binomial"},
		{4, 112, Linear},
		{4, 0, "binomial"},
		{5, 48, Linear},
		{5, 0, "binomial"},
		{6, 8, "binomial"},
		{6, 48, Linear},
		{6, 0, "binomial"},
		{7, 48, Linear},
		{7, 0, "binomial"},
		{11, 8, Linear},
		{11, 0, "binomial"},
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
		{5, 256, "recursive-doubling"},
		{5, 0, "ring"},
		{6, 8, Linear},
		{6, 256, "recursive-doubling"},
		{6, 0, "ring"},
		{7, 48, Linear},
		{7, 256, "recursive-doubling"},
		{7, 0, "ring"},
		{8, 1024, "recursive-doubling"},
		{8, 0, "ring"},
		{11, 256, "recursive-doubling"},
		{11, 0, "ring"},
		{31, 1024, "recursive-doubling"},
		{31, 0, "ring"},
		{63, 2048, "recursive-doubling"},
		{63, 0, "ring"},
		{0, 4096, "recursive-doubling"},
		{0, 0, "ring"},
	},
	ReduceScatter: {
		{2, 0, "pairwise"},
		{4, 8, Linear},
		{4, 0, "pairwise"},
		{6, 48, Linear},
		{6, 0, "pairwise"},
		{0, 112, Linear},
		{0, 0, "pairwise"},
	},
}

// Choice returns the algorithm that the table selects for a number of ranks and bytes: of the whole
// message (bcast, reduce, allreduce, reduce-scatter), or of one block.
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

// named returns the algorithm with the given name, or nil.
func (k Collective) named(name string) *algorithm {
	for i := range algorithms[k] {
		if a := &algorithms[k][i]; a.name == name {
			return a
		}
	}
	return nil
}
