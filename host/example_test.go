package host_test

import (
	"bytes"
	"context"
	"fmt"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/world"
	"github.com/nicloop/nicloop/velo"
)

// run runs body on two ranks, on two nodes, that may send each other up to 1 MB.
func run(body func(r *host.Rank) error) {
	c := world.Config{
		Directory: world.Even(2, 1),
		Velo:      velo.Config{Flow: velo.Dynamic, Slots: 16, CreditSlots: 2, Piggyback: true},
		Longest:   1 << 20, Buffers: 1, Rendezvous: host.RGET,
	}
	if err := world.Launch(context.Background(), "ideal:?clock=wall", drivers.Options{}, c, body); err != nil {
		fmt.Println(err)
	}
}

// A long message travels without a copy if its buffers lie in DMA memory.
func ExampleRank_Alloc() {
	run(func(r *host.Rank) error {
		buf, err := r.Alloc(1 << 20)
		if err != nil {
			return err
		}
		if r.ID() == 0 {
			copy(buf, bytes.Repeat([]byte("x"), len(buf)))
			return r.Send(1, 7, buf)
		}
		st, err := r.Recv(host.AnySource, host.AnyTag, buf)
		fmt.Printf("rank %d sent %d bytes with tag %d: %s…\n", st.Source, st.Bytes, st.Tag, buf[:3])
		return err
	})
	// Output:
	// rank 0 sent 1048576 bytes with tag 7: xxx…
}

// Requests are begun, and waited for together.
func ExampleComm_Isend() {
	run(func(r *host.Rank) error {
		in := make([]byte, 6)
		receive, err := r.Irecv(1-r.ID(), 0, in)
		if err != nil {
			return err
		}
		send, err := r.Isend(1-r.ID(), 0, fmt.Appendf(nil, "from %d", r.ID()))
		if err != nil {
			return err
		}
		if err := r.Waitall([]*host.Request{receive, send}); err != nil {
			return err
		}
		if r.ID() == 0 {
			fmt.Printf("%s\n", in)
		}
		return nil
	})
	// Output:
	// from 1
}

// Communicators keep apart what is sent in them; collectives that do not wait go on while their
// rank does something else.
func ExampleComm_Split() {
	run(func(r *host.Rank) error {
		c, err := r.Split(0, -r.ID()) // the same ranks, in reverse
		if err != nil {
			return err
		}
		data := make([]byte, 5)
		if c.ID() == 0 {
			copy(data, "bcast")
		}
		q, err := c.Ibcast(0, data)
		if err != nil {
			return err
		}
		if _, err := r.Wait(q); err != nil {
			return err
		}
		if r.ID() == 0 {
			fmt.Printf("rank %d of the world is %d: %s\n", r.ID(), c.ID(), data)
		}
		return nil
	})
	// Output:
	// rank 0 of the world is 1: bcast
}
