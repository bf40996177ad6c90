package ring

import (
	"errors"

	"github.com/nicloop/nicloop/rma"
)

// A Transfer is puts and gets of one window that are in progress. Their bytes go as those of eager
// messages do. It belongs to one rank.
type Transfer struct {
	// Late keeps the bytes of gets in their intermediate buffers until CopyOut.
	Late bool

	inProgress int
	copies     []operation // gets whose bytes wait for CopyOut
}

// InProgress is how many operations have not ended, those that wait for CopyOut not counted.
func (t *Transfer) InProgress() int { return t.inProgress - len(t.copies) }

// Move begins to put b to an address of a peer, or to get it from there. While there is no
// intermediate buffer or descriptor it calls wait.
func (p *Path) Move(t *Transfer, peer int, remote rma.NLA, b []byte, put bool, wait func() error) error {
	s, ok, err := p.acquire(b)
	for ; !ok && err == nil; s, ok, err = p.acquire(b) {
		if err := wait(); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	o := operation{source: s, transfer: t}
	if put {
		p.fill(s, b)
	} else if !s.held {
		o.into = b
	}
	d := p.e.DMA
	err = retry(wait, func() (err error) {
		if put {
			o.handle, err = d.Port.Put(d.Peers[peer], s.nla, remote, len(b), rma.Requester)
		} else {
			o.handle, err = d.Port.Get(d.Peers[peer], s.nla, remote, len(b), rma.Completer)
		}
		return err
	})
	if err != nil {
		p.release(s)
		return err
	}
	p.count(s)
	p.posted(o)
	return nil
}

// Fence reads a byte behind the puts to a peer. Its answer says that they were written.
func (p *Path) Fence(t *Transfer, peer int, remote rma.NLA, wait func() error) error {
	d := p.e.DMA
	o := operation{transfer: t}
	err := retry(wait, func() error {
		at, err := d.Scratch()
		if err == nil {
			o.handle, err = d.Port.Get(d.Peers[peer], at, remote, 1, rma.Completer)
		}
		return err
	})
	if err == nil {
		p.posted(o)
	}
	return err
}

// retry posts an operation, again and again while the hardware has no room for it.
func retry(wait, post func() error) error {
	for {
		err := post()
		if !errors.Is(err, rma.ErrTryAgain) {
			return err
		}
		if err := wait(); err != nil {
			return err
		}
	}
}

func (p *Path) posted(o operation) {
	p.ops = append(p.ops, o)
	o.transfer.inProgress++
}

// Busy tells whether any operation of the path is in progress.
func (p *Path) Busy() bool { return len(p.ops) > 0 }

// CopyOut copies the bytes of gets that were kept, and tells whether there were any.
func (p *Path) CopyOut(t *Transfer) bool {
	any := len(t.copies) > 0
	for i := range t.copies {
		p.finish(&t.copies[i])
	}
	t.copies = t.copies[:0]
	return any
}
