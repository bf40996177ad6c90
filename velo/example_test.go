package velo_test

import (
	"context"
	"fmt"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/velo"
)

// Two processes on two nodes: one sends a packet, the other waits until the NIC has written it.
func Example() {
	if err := sendOne(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// credits before: 6
	// from rank 0: hello
}

func sendOne(ctx context.Context) error {
	sys, err := registry.Open(ctx, "ideal:", drivers.Options{Nodes: 2, Needs: drivers.CanPIO | drivers.CanDMA | drivers.CanAwait})
	if err != nil {
		return err
	}
	defer sys.Close()
	cfg := velo.Config{Flow: velo.Static, Slots: 8, CreditSlots: 2}
	dir := velo.NewDirectory([]velo.Addr{{Node: 0, VPID: 0}, {Node: 1, VPID: 0}})
	var ends [2]*velo.Endpoint
	for rank := range ends { // all are open before any sends
		if ends[rank], err = velo.Open(sys.Device(rank), 0, rank, dir, cfg); err != nil {
			return err
		}
	}
	slots, err := cfg.MailboxSlots(len(ends))
	if err != nil {
		return err
	}
	arrival, err := sys.Device(1).Await(drivers.Cause{Off: 0, Bytes: uint64(slots) * 64})
	if err != nil {
		return err
	}
	fmt.Println("credits before:", ends[0].Credits(1))
	if err := ends[0].Send(1, []byte("hello")); err != nil { // velo.ErrTryAgain: poll, then again
		return err
	}
	var p velo.Packet
	for {
		got, err := ends[1].Poll(&p)
		if err != nil {
			return err
		}
		if got {
			break
		}
		if err := arrival.Wait(ctx); err != nil {
			return err
		}
	}
	fmt.Printf("from rank %d: %s\n", p.From, p.Payload)
	return nil
}
