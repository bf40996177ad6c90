package bench

import "github.com/nicloop/nicloop/host"

// The exchange models of SPEC, section 4.4.1, Figure 4.15: ranks produce data, exchange them with
// one neighbour (two ranks) or two (more ranks), and consume the received data. The models differ
// in the order of calls.
var (
	exchange1 = &app{
		name: "exchange1", doc: "produce, exchange with neighbours, consume; receives are posted first (SPEC, Figure 4.15)",
		sends: alike(neighbours), buffers: func(ranks int) int { return 2 * neighbours(ranks) },
		begin: func(p *player) (func(int) error, error) { return p.exchange(p.receiveFirst) },
	}
	exchange2 = &app{
		name: "exchange2", doc: "the same, but sends are posted first, and data are consumed after them",
		sends: alike(neighbours), buffers: func(ranks int) int { return 2 * neighbours(ranks) },
		begin: func(p *player) (func(int) error, error) { return p.exchange(p.sendFirst) },
		end:   (*player).work, // consumes the last data
	}
)

func neighbours(ranks int) int { return min(2, ranks-1) }

// A partner is a rank to exchange messages with, and the buffers for them.
type partner struct {
	rank    int
	out, in []byte
}

// exchange produces the first data and returns the function of one iteration.
func (p *player) exchange(once func(list []partner, k int) error) (func(int) error, error) {
	var list []partner
	for _, further := range []int{1, -1}[:neighbours(p.r.Size())] {
		b, err := p.buffers(2)
		if err != nil {
			return nil, err
		}
		list = append(list, partner{p.ring(further), b[0], b[1]})
	}
	p.work()
	return func(k int) error { return once(list, k) }, nil
}

// receiveFirst is model 1: receives are posted first.
func (p *player) receiveFirst(list []partner, k int) error {
	recvs, err := p.post(list, k)
	if err != nil {
		return err
	}
	sends, err := p.push(list, k)
	if err != nil {
		return err
	}
	p.work() // produces the next data
	if err := p.wait(sends...); err != nil {
		return err
	}
	if err := p.take(recvs...); err != nil {
		return err
	}
	p.work() // consumes the received data
	return nil
}

// sendFirst is model 2: sends are posted first.
func (p *player) sendFirst(list []partner, k int) error {
	sends, err := p.push(list, k)
	if err != nil {
		return err
	}
	if k > 0 {
		p.work() // consumes the previous data
	}
	recvs, err := p.post(list, k)
	if err != nil {
		return err
	}
	p.work() // produces the next
	if err := p.wait(sends...); err != nil {
		return err
	}
	return p.take(recvs...)
}

func (p *player) post(list []partner, k int) (recvs []arrival, err error) {
	for _, x := range list {
		a, err := p.irecv(x.rank, tagApp, k, x.in)
		if err != nil {
			return nil, err
		}
		recvs = append(recvs, a)
	}
	return recvs, nil
}

// push packs and sends.
func (p *player) push(list []partner, k int) (sends []*host.Request, err error) {
	for _, x := range list {
		p.pack(p.n)
		q, err := p.isend(x.rank, tagApp, k, x.out)
		if err != nil {
			return nil, err
		}
		sends = append(sends, q)
	}
	return sends, nil
}
