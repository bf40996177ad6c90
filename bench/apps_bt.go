package bench

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

// BT of the NAS benchmarks solves block tridiagonal systems along x, y and z. The cube is divided
// into q³ boxes for q² ranks. Each rank has q boxes on a diagonal, one in every slice of every
// direction, so that all ranks have work in all stages of a sweep. The stages of a sweep on one
// rank, for q = 3:
//
//	forward      stage 0          stage 1                              stage 2
//	             work, solve      Irecv, work, Wait send, Wait, solve  Irecv, work, Wait send, Wait, solve
//	  sends              Isend to the successor               Isend
//	back         stage 2          stage 1                              stage 0
//	             put in           Irecv, Wait send, Wait, put in       Irecv, Wait send, Wait, put in
//	  sends              Isend to the predecessor             Isend
//
// There is no deadlock: sends do not block. A rank in a stage waits for the message that its
// neighbour sends at the end of the previous stage, and for its own message of that stage, whose
// receive the neighbour posts when it begins this stage. So the rank that is furthest behind can
// always continue.

// bt is BT. A point sends its successor a block of 5 by 5 words and 5 more, on the way back 5
// words, and each neighbour of the q boxes two layers of 5.
var bt = &app{
	name: "bt", doc: "BT of the NAS benchmarks: sweeps along x, y and z through boxes on a square of ranks; data are computed during the receive (SPEC, Figure 4.18)",
	sends: btSends, check: square, buffers: btBuffers,
	begin: func(p *player) (func(int) error, error) { return p.multipartition(&faces{sideBySide, btFaces, false}) },
}

// btSweeps omits the faces, which are the only messages without overlapping computation.
var btSweeps = &app{
	name: "bt-sweeps", doc: "the same without the exchange of faces",
	sends: func(ranks, n int) []lot { return btSends(ranks, n)[1:] }, check: square, buffers: btBuffers,
	begin: func(p *player) (func(int) error, error) { return p.multipartition(nil) },
}

// btSend avoids that puts of faces wait for a get of the same pair: a blocking send does not use
// its RTR then.
var btSend = &app{
	name: "bt-send", doc: "the same with blocking sends of faces",
	sends: btSends, check: square, buffers: btBuffers,
	begin: func(p *player) (func(int) error, error) { return p.multipartition(&faces{sideBySide, 1, true}) },
}

// btPairs and btCrossed have the same number of faces in flight. On four ranks those of btPairs are
// for one neighbour, those of btCrossed for two.
var (
	btPairs = &app{
		name: "bt-pairs", doc: "the same with two faces in flight at a time, of the same direction",
		sends: btSends, check: square, buffers: btBuffers,
		begin: func(p *player) (func(int) error, error) { return p.multipartition(&faces{sideBySide, 2, false}) },
	}
	btCrossed = &app{
		name: "bt-crossed", doc: "the same with two faces in flight at a time, of different directions",
		sends: btSends, check: square, buffers: btBuffers,
		begin: func(p *player) (func(int) error, error) {
			return p.multipartition(&faces{[btFaces]int{0, 2, 4, 1, 3, 5}, 2, false})
		},
	}
)

const (
	btFaces  = 6
	btBack   = 6 // ratio of a forward message (30 words) to one back (5 words)
	btLayers = 3 // ratio of a forward message to the face of a box (10 words)
)

// rootOf returns the largest q with q² <= ranks.
func rootOf(ranks int) (q int) {
	for (q+1)*(q+1) <= ranks {
		q++
	}
	return q
}

// square returns an error if the number of ranks is not a square.
func square(c *Config) error {
	n := c.Ranks()
	q := rootOf(n)
	if q*q == n && q > 1 {
		return nil
	}
	return fmt.Errorf("%w: %s among %d ranks: expected a square number, so that each rank has a box in every slice; the nearest are %d and %d",
		drivers.ErrConfig, c.Workload, n, max(q, 2)*max(q, 2), max(q+1, 3)*max(q+1, 3))
}

func btSends(ranks, n int) []lot {
	q := rootOf(ranks)
	sweeps := 3 * ranks * (q - 1)
	return []lot{{btFaces * ranks, btFace(q, n)}, {sweeps, n}, {sweeps, btReturn(n)}}
}

func btBuffers(ranks int) int { return 2 + (2*btFaces*rootOf(ranks)+btLayers-1)/btLayers }

func btFace(q, n int) int { return max(n*q/btLayers, 1) }
func btReturn(n int) int  { return max(n/btBack, 1) }

// A line holds the neighbours of a rank in one direction of the cube.
type line struct{ successor, predecessor int }

// linesOf returns the lines of a rank along x, y and z. Its boxes are (i, j, 0), (i+1, j-1, 1) and
// so on, with wrap-around.
func linesOf(rank, q int) [3]line {
	at := func(i, j int) int { return (rank/q+j+q)%q*q + (rank%q+i+q)%q }
	return [3]line{{at(1, 0), at(-1, 0)}, {at(0, 1), at(0, -1)}, {at(-1, 1), at(1, -1)}}
}

// faces describes how faces are sent: their order (twice the direction, plus the side), how many at
// a time, and whether sends block.
type faces struct {
	order  [btFaces]int
	atOnce int
	blocks bool
}

var sideBySide = [btFaces]int{0, 1, 2, 3, 4, 5}

// A diagonal is a rank of BT.
type diagonal struct {
	*player
	q              int
	lines          [3]line
	out, in        []byte
	facesOut, face [][]byte
}

func (p *player) multipartition(f *faces) (func(int) error, error) {
	q := rootOf(p.r.Size())
	b, err := p.buffers(2)
	if err != nil {
		return nil, err
	}
	list, err := p.buffersOf(2*btFaces, btFace(q, p.n))
	if err != nil {
		return nil, err
	}
	d := &diagonal{p, q, linesOf(p.r.ID(), q), b[0], b[1], list[:btFaces], list[btFaces:]}
	return func(k int) error {
		if f != nil {
			if err := d.copyFaces(f, k); err != nil {
				return err
			}
		}
		d.work() // the right-hand side
		for i, l := range d.lines {
			if err := d.forward(l, tagApp+btFaces+2*i, k); err != nil {
				return err
			}
			if err := d.back(l, tagApp+btFaces+2*i+1, k); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// copyFaces sends the faces of all boxes to the neighbours on all six sides, without computation.
// All receives are posted first, so sends may block.
func (d *diagonal) copyFaces(f *faces, k int) error {
	var in []arrival
	for range d.facesOut {
		d.pack(len(d.facesOut[0]))
	}
	for i, l := range d.lines {
		for side, from := range []int{l.predecessor, l.successor} {
			a, err := d.irecv(from, tagApp+2*i+side, k, d.face[2*i+side])
			if err != nil {
				return err
			}
			in = append(in, a)
		}
	}
	if err := d.giveFaces(f, k); err != nil {
		return err
	}
	return d.take(in...)
}

func (d *diagonal) giveFaces(f *faces, k int) error {
	var out []*host.Request
	for _, face := range f.order {
		l := d.lines[face/2]
		to := []int{l.successor, l.predecessor}[face%2]
		if f.blocks {
			if err := d.send(to, tagApp+face, k, d.facesOut[face]); err != nil {
				return err
			}
			continue
		}
		q, err := d.isend(to, tagApp+face, k, d.facesOut[face])
		if err != nil {
			return err
		}
		if out = append(out, q); len(out) == f.atOnce {
			if err := d.wait(out...); err != nil {
				return err
			}
			out = out[:0]
		}
	}
	return nil
}

// forward eliminates, box by box. A rank sets up its equations while it receives those of its
// predecessor.
func (d *diagonal) forward(l line, tag, k int) error {
	var sent *host.Request
	for stage := range d.q {
		if stage == 0 {
			d.work()
		} else if err := d.receive(l.predecessor, tag, k*d.q+stage, d.in, sent, d.work); err != nil {
			return err
		}
		d.work()
		if stage+1 < d.q {
			var err error
			if sent, err = d.isend(l.successor, tag, k*d.q+stage+1, d.out); err != nil {
				return err
			}
		}
	}
	return nil
}

// back substitutes the solution, from the last box to the first. Its computation is shorter in
// proportion to its messages.
func (d *diagonal) back(l line, tag, k int) error {
	var sent *host.Request
	n := btReturn(d.n)
	for stage := d.q - 1; stage >= 0; stage-- {
		if stage+1 < d.q {
			if err := d.receive(l.successor, tag, k*d.q+stage, d.in[:n], sent, func() {}); err != nil {
				return err
			}
		}
		d.workPart(btBack)
		if stage > 0 {
			var err error
			if sent, err = d.isend(l.predecessor, tag, k*d.q+stage-1, d.out[:n]); err != nil {
				return err
			}
		}
	}
	return nil
}

// receive receives a message, with optional computation meanwhile, and waits for the rank's
// previous send.
func (d *diagonal) receive(from, tag, k int, buf []byte, sent *host.Request, beside func()) error {
	in, err := d.irecv(from, tag, k, buf)
	if err != nil {
		return err
	}
	beside()
	if err := d.wait(sent); err != nil {
		return err
	}
	return d.take(in)
}
