package rma_test

import (
	"context"
	"fmt"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/rma"
)

const (
	ringAt, ringSlots    = 0x0000, 64
	tablesAt, tablesSize = 0x1000, 0x4000
	bufferAt, bufferSize = 0x10000, 0x1000
)

// A process writes into memory that another one, on another node, has registered.
func Example() {
	if err := putOne(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Put is done: true
	// at the target: written without its processor
}

func putOne(ctx context.Context) error {
	sys, err := registry.Open(ctx, "ideal:", drivers.Options{Nodes: 2, MemoryBytes: 1 << 20})
	if err != nil {
		return err
	}
	defer sys.Close()
	var ports [2]*rma.Port
	var buffers [2]*rma.Region
	for node := range ports {
		dev := sys.Device(node)
		atu, err := rma.NewATU(dev, tablesAt, tablesSize) // one for each node
		if err != nil {
			return err
		}
		if ports[node], err = rma.Open(dev, 0, node, rma.Config{NotiBase: ringAt, NotiSlots: ringSlots, Outstanding: 8, ATU: atu}); err != nil {
			return err
		}
		if buffers[node], err = ports[node].Register(bufferAt, bufferSize, rma.ReadWrite); err != nil {
			return err
		}
	}
	told, err := sys.Device(1).Await(drivers.Cause{Off: ringAt, Bytes: ringSlots * 16})
	if err != nil {
		return err
	}
	text := "written without its processor"
	copy(sys.Device(0).Memory()[bufferAt:], text)
	// Completer: the target is told when it is written. The origin learns that its buffer is its own
	// again.
	target := buffers[1].NLA(bufferAt)
	h, err := ports[0].Put(rma.Peer{Node: 1, VPID: 0}, buffers[0].NLA(bufferAt), target, len(text), rma.Completer)
	if err != nil {
		return err
	}
	var ev rma.Event
	for got := false; !got; {
		if err := told.Wait(ctx); err != nil {
			return err
		}
		if got, err = ports[1].Poll(&ev); err != nil {
			return err
		}
	}
	if _, err := ports[0].Poll(&ev); err != nil {
		return err
	}
	fmt.Println("Put is done:", ports[0].LocallyComplete(h))
	fmt.Printf("at the target: %s\n", sys.Device(1).Memory()[bufferAt:][:ev.Bytes])
	return nil
}
