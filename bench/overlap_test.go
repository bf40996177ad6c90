package bench

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/drivers"
)

func TestTryOverlap(t *testing.T) {
	for _, wl := range []string{"overlap", "progress"} {
		c := Default(wl)
		c.Device = os.Getenv("DEV")
		b := time.Now()
		res, err := MeasureOverlap(context.Background(), c, protocols)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Rows {
			fmt.Printf("%-8s %8d %-8s %-6s %10.3f us %5.1f %% %d\n", r.Protocol, r.Bytes, r.Side, r.Sender, float64(r.Latency)/float64(drivers.Microsecond), 100*r.Share, len(r.Samples))
		}
		fmt.Println(wl, res.End, res.Cycles, time.Since(b))
	}
}
