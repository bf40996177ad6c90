package bench

import "github.com/nicloop/nicloop/host"

// LU of the NAS benchmarks relaxes a cube by SSOR. Ranks form a grid, and each has the columns of
// the cube above its position (a pencil), of luPlanes planes. Three ranks in a row, two sweeps:
//
//	            lower: from north and west                   upper: from south and east
//	rank 0   |plane 0|plane 1|plane 2|                           |plane 2|plane 1|plane 0|
//	               \s      \s      \s                          /s      /s      /s
//	rank 1           |plane 0|plane 1|plane 2|         |plane 2|plane 1|plane 0|
//	                       \s      \s      \s         /s      /s      /s
//	rank 2                   |plane 0|plane 1|plane 2|plane 2|plane 1|plane 0|
//
// Before the sweeps, two layers of every border are sent to the neighbour on the other side of it,
// the part of LU that SPEC, Figure 4.18, shows.
//
// There is no deadlock. In the lower sweep give the message of plane k that travels south from row
// i, column j the number 2(i+j)+4k, and the one that travels east the next number. A rank receives
// from north (2 less), receives from west (1 less), sends south, sends east, and begins plane k+1
// (at least 2 more): it handles its messages in the order of their numbers. So both ends of the
// message with the least number are handling it, even if a send ends only with its receive. The
// upper sweep is the same from the opposite corner. In the exchange of borders a rank posts its
// receive before a blocking send, so the rank that is furthest behind waits only for ranks that are
// equally far.

// luPlanes is the number of planes of class A: 64 without the two boundary planes.
const luPlanes = 62

// luBorder is the ratio of a border message (two layers of 64 planes) to a sweep message.
const luBorder = 128

// lu is LU. Receives of borders accept any source, so the receiver cannot announce a buffer (RTR).
var lu = &app{
	name: "lu", doc: "LU of the NAS benchmarks: a wave of short messages through a grid and back, borders received from any source (SPEC, Figure 4.18)",
	sends: luSends, buffers: func(int) int { return 2 },
	begin: func(p *player) (func(int) error, error) { return p.ssor(relaxation{}) },
}

// luNamed names the sources of border receives, which LU knows but does not specify.
var luNamed = &app{
	name: "lu-named", doc: "the same with receives that name their source",
	sends: luSends, buffers: func(int) int { return 2 },
	begin: func(p *player) (func(int) error, error) { return p.ssor(relaxation{named: true}) },
}

// An RTR is useful if its rank computes before it waits, although it sends first like its partner,
// and if the sender is not early. luRound provides the first condition, luLate the second,
// luRoundLate both.
var (
	luRound = &app{
		name: "lu-round", doc: "LU with a grid that wraps around for borders, so that all ranks send and receive at the same time",
		sends: luRoundSends, buffers: func(int) int { return 2 },
		begin: func(p *player) (func(int) error, error) { return p.ssor(relaxation{round: true}) },
	}
	luLate = &app{
		name: "lu-late", doc: "LU in which every other rank reaches each border two computations later",
		sends: luSends, buffers: func(int) int { return 2 },
		begin: func(p *player) (func(int) error, error) { return p.ssor(relaxation{late: true}) },
	}
	luRoundLate = &app{
		name: "lu-round-late", doc: "LU with the changes of lu-round and lu-late",
		sends: luRoundSends, buffers: func(int) int { return 2 },
		begin: func(p *player) (func(int) error, error) { return p.ssor(relaxation{round: true, late: true}) },
	}
)

// A heading is the direction of a message in a grid of ranks.
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

// pencilsOf returns the grid whose sides differ least. A prime number of ranks is one row.
func pencilsOf(ranks int) (g pencils) {
	for rows := 1; rows*rows <= ranks; rows++ {
		if ranks%rows == 0 {
			g = pencils{rows, ranks / rows}
		}
	}
	return g
}

// neighbours returns the neighbours of a rank by heading; -1: the grid ends there.
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

// around returns the neighbours on a grid that wraps around; -1: the neighbour would be the rank
// itself.
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

// sides returns the number of borders between two ranks.
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

// luLine returns the length of a sweep message: the edge of one plane.
func luLine(n int) int { return max(n/luBorder, 1) }

// A relaxation lists the differences from LU: border receives name their source, the grid wraps
// around, every other rank is late.
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

// source returns the source argument of a border receive.
func (s *ssor) source(from int) int {
	if s.named {
		return from
	}
	return host.AnySource
}

// border sends a border to the neighbour ahead and receives one from the neighbour behind.
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

// sweep processes all planes, whose messages pass through the grid. All planes together take the
// computation of one border.
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
