package world_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/world"
	"github.com/nicloop/nicloop/velo"
)

// Four ranks on two nodes, each in its own goroutine, sum their numbers.
func Example() {
	c := world.Config{
		Directory: world.Even(2, 2),
		Velo:      velo.Config{Flow: velo.Dynamic, Slots: 16, CreditSlots: 2, Piggyback: true},
	}
	err := world.Launch(context.Background(), "ideal:?clock=wall", drivers.Options{}, c, func(r *host.Rank) error {
		number := binary.LittleEndian.AppendUint64(nil, uint64(r.ID()+1))
		if err := r.Allreduce(number, host.SumInt64); err != nil {
			return err
		}
		if r.ID() == 0 {
			fmt.Println("the sum is", binary.LittleEndian.Uint64(number))
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// the sum is 10
}

// A device with simulated time is refused when it is opened, because it has no free-running clock.
func ExampleLaunch() {
	c := world.Config{Directory: world.Even(2, 1), Velo: velo.Config{Flow: velo.None, Slots: 4}}
	err := world.Launch(context.Background(), "ideal:", drivers.Options{}, c, func(*host.Rank) error { return nil })
	lacks, _, _ := strings.Cut(err.Error(), ";")
	fmt.Println(lacks)
	// Output:
	// not supported by this backend: ideal lacks: free-running clock
}
