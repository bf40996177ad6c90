package bench

import "github.com/nicloop/nicloop/host"

// LU of the NAS benchmarks relaxes a cube by SSOR. Ranks are a grid, and each has the columns of
// the cube that lie above its place (a pencil), of luPlanes planes. Three ranks in a row, two
// sweeps:
//
//	            lower: from north and west                   upper: from south and east
//	rank 0   |plane 0|plane 1|plane 2|                           |plane 2|plane 1|plane 0|
//	               \s      \s      \s                          /s      /s      /s
//	rank 1           |plane 0|plane 1|plane 2|         |plane 2|plane 1|plane 0|
//	                       \s      \s      \s         /s      /s      /s
//	rank 2                   |plane 0|plane 1|plane 2|plane 2|plane 1|plane 0|
//
// Before that, two layers of every border go to the neighbour on the other side of it, which is
// what SPEC, Figure 4.18, shows of LU.
//
// Nobody waits for good. Of the lower sweep let the message of plane k that goes south from row i,
// column j be number 2(i+j)+4k, and the one that goes east the next number. A rank receives from
// north (2 less), receives from west (1 less), sends south, sends east, and begins plane k+1 (at
// least 2 more): it takes its messages in the order of their numbers. So both ends of the least
// message under way are at it, even if a send ends only with its receive. The upper sweep is that
// read from the other corner. In the exchange of borders a rank posts its receive before a send
// that blocks, so whoever is least far waits for none but ranks that are as far.

// luPlanes are the planes of class A, of 64 without those that are given.
const luPlanes = 62

// luBorder is how many messages of a sweep a message of a border is: two layers of 64 planes.
const luBorder = 128

// lu is LU. Receives of borders take any source, so no receiver can say where a message shall go.
var lu = &app{
	name: "lu", doc: "LU of the NAS benchmarks: a wave of short messages through a grid and back, borders received from any source (SPEC, Figure 4.18)",
	sends: luSends, buffers: func(int) int { return 2 },
	begin: func(p *player) (func(int) error, error) { return p.ssor(relaxation{}) },
}

// luNamed has receivers say what LU's know, and do not say.
var luNamed = &app{
	name: "lu-named", doc: "the same with receives that name their source",
	sends: luSends, buffers: func(int) int { return 2 },
	begin: func(p *player) (func(int) error, error) { return p.ssor(relaxation{named: true}) },
}

// What a receive needs to find its message early: something that its rank computes before it waits,
// which a rank has that sends ahead as well, and a sender that is there before it. luRound and
// luLate have one each, luRoundLate both.
var (
	luRound = &app{
		name: "lu-round", doc: "LU whose grid has ends that meet for borders, so that all ranks send and receive at a time",
		sends: luRoundSends, buffers: func(int) int { return 2 },
		begin: func(p *player) (func(int) error, error) { return p.ssor(relaxation{round: true}) },
	}
	luLate = &app{
		name: "lu-late", doc: "LU in which every other rank comes two computations later to each border",
		sends: luSends, buffers: func(int) int { return 2 },
		begin: func(p *player) (func(int) error, error) { return p.ssor(relaxation{late: true}) },
	}
	luRoundLate = &app{
		name: "lu-round-late", doc: "both",
		sends: luRoundSends, buffers: func(int) int { return 2 },
		begin: func(p *player) (func(int) error, error) { return p.ssor(relaxation{round: true, late: true}) },
	}
)

// A heading is where a message goes in a grid of ranks.
type heading int

const (
	south heading = iota // to the next row
	east                 // to the next column
	north
	west
	headings
)

func (h heading) back() heading { return (h + 2) % headings }

// A pencils is a grid of ranks, row by row.
type pencils struct{ rows, columns int }

// pencilsOf is the grid of so many ranks whose sides differ least. A prime number of them is one
// row.
func pencilsOf(ranks int) (g pencils) {
	for rows := 1; rows*rows <= ranks; rows++ {
		if ranks%rows == 0 {
			g = pencils{rows, ranks / rows}
		}
	}
	return g
}

// neighbours of a rank by heading; -1: the grid ends there.
func (g pencils) neighbours(rank int) [headings]int {
	row, column := rank/g.columns, rank%g.columns
	at := func(there bool, peer int) int {
		if !there {
			return -1
		}
		return peer
	}
	return [headings]int{
		south: at(row+1 < g.rows, rank+g.columns), east: at(column+1 < g.columns, rank+1),
		north: at(row > 0, rank-g.columns), west: at(column > 0, rank-1),
	}
}

// around are the neighbours on a grid whose ends meet; -1: the rank itself would be.
func (g pencils) around(rank int) (list [headings]int) {
	row, column := rank/g.columns, rank%g.columns
	for h, by := range [headings][2]int{south: {1, 0}, east: {0, 1}, north: {-1, 0}, west: {0, -1}} {
		list[h] = (row+by[0]+g.rows)%g.rows*g.columns + (column+by[1]+g.columns)%g.columns
		if list[h] == rank {
			list[h] = -1
		}
	}
	return list
}

// sides are the borders between two ranks.
func (g pencils) sides() int { return (g.rows-1)*g.columns + g.rows*(g.columns-1) }

func luSends(ranks, n int) []lot {
	sides := pencilsOf(ranks).sides()
	return []lot{{2 * sides, n}, {2 * luPlanes * sides, luLine(n)}}
}

func luRoundSends(ranks, n int) []lot {
	g := pencilsOf(ranks)
	borders := 0
	for rank := range ranks {
		for _, peer := range g.around(rank) {
			if peer >= 0 {
				borders++
			}
		}
	}
	return []lot{{borders, n}, luSends(ranks, n)[1]}
}

// luLine is a message of a sweep: what is at the edge of one plane.
func luLine(n int) int { return max(n/luBorder, 1) }

// A relaxation is what differs from LU: receives of borders name their source, the grid has ends
// that meet, every other rank is late.
type relaxation struct{ named, round, late bool }

// An ssor is a rank of LU.
type ssor struct {
	*player
	relaxation
	peers   [headings]int // of sweeps
	beside  [headings]int // of borders
	odd     bool
	out, in []byte
}

func (p *player) ssor(x relaxation) (func(int) error, error) {
	b, err := p.buffers(2)
	if err != nil {
		return nil, err
	}
	g, rank := pencilsOf(p.r.Size()), p.r.ID()
	s := &ssor{player: p, relaxation: x, peers: g.neighbours(rank), beside: g.neighbours(rank), odd: (rank/g.columns+rank%g.columns)%2 == 1, out: b[0], in: b[1]}
	if x.round {
		s.beside = g.around(rank)
	}
	return func(k int) error {
		for h := range headings {
			if s.late && s.odd {
				s.work()
				s.work()
			}
			if err := s.border(h, k); err != nil {
				return err
			}
		}
		if err := s.sweep([]heading{south, east}, 2*k*luPlanes); err != nil {
			return err
		}
		return s.sweep([]heading{north, west}, (2*k+1)*luPlanes)
	}, nil
}

// source is what a receive of a border says.
func (s *ssor) source(from int) int {
	if s.named {
		return from
	}
	return host.AnySource
}

// border gives a border to the neighbour ahead, and takes one of that behind.
func (s *ssor) border(h heading, k int) error {
	tag, ahead, behind := tagApp+int(headings+h), s.beside[h], s.beside[h.back()]
	var in arrival
	if behind >= 0 {
		var err error
		if in, err = s.irecv(s.source(behind), tag, k, s.in); err != nil {
			return err
		}
		in.from = behind
	}
	if ahead >= 0 {
		s.work()
		if err := s.send(ahead, tag, k, s.out); err != nil {
			return err
		}
	}
	if behind < 0 {
		return nil
	}
	if err := s.take(in); err != nil {
		return err
	}
	s.work()
	return nil
}

// sweep goes through all planes, whose messages go on through the grid. Together the planes are as
// much work as a border.
func (s *ssor) sweep(forth []heading, first int) error {
	line := luLine(s.n)
	for k := first; k < first+luPlanes; k++ {
		for _, h := range forth {
			if behind := s.peers[h.back()]; behind >= 0 {
				if err := s.recv(behind, tagApp+int(h), k, s.in[:line]); err != nil {
					return err
				}
			}
		}
		s.workPart(luPlanes)
		for _, h := range forth {
			if ahead := s.peers[h]; ahead >= 0 {
				if err := s.send(ahead, tagApp+int(h), k, s.out[:line]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
