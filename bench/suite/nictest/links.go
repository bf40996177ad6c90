package nictest

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// SetWireFaults gives the wires of all nodes a rate of faults per word.
func SetWireFaults(nics []*NIC, seed uint64, errorRate, lossRate float64) error {
	for _, n := range nics {
		for link := range uint8(4) {
			if err := n.Set(RegWrite{regs.WireSeed(link), seed}, RegWrite{regs.WireErrors(link), uint64(errorRate * (1 << 32))},
				RegWrite{regs.WireLosses(link), uint64(lossRate * (1 << 32))}); err != nil {
				return err
			}
		}
	}
	return nil
}

// kept are the keys of a device that say nothing of its shape: what it is built from, what it
// counts, and the bus that it meets its host by.
var kept = []string{"src", "coverage", "bus", "mps", "mrrs", "bus_seed", "ratio"}

// Reshape gives the device a shape; only those with a topology take one.
func Reshape(t *regress.T, keys string) error {
	scheme, rest, _ := strings.Cut(t.Device, ":")
	if scheme != "rtl" && scheme != "model" {
		return fmt.Errorf("%w: %s: has no topology, rtl: and model: have", drivers.ErrNotSupported, scheme)
	}
	_, given, _ := strings.Cut(rest, "?")
	for _, pair := range strings.Split(given, "&") {
		if key, _, _ := strings.Cut(pair, "="); key != "" && !slices.Contains(kept, key) {
			return fmt.Errorf("%w: device %s: this test sets its own shape: leave %s out", drivers.ErrNotSupported, t.Device, key)
		}
	}
	t.Device = strings.TrimSuffix(scheme+":?"+keys+"&"+given, "&")
	return nil
}

// RouteEntry is a route written by software.
func RouteEntry(at, dst, port int) (node int, w RegWrite) {
	return at, RegWrite{regs.Route(uint8(dst)), uint64(port) | regs.RouteOverride}
}

// TakeAll empties all mailboxes.
func TakeAll(nics []*NIC, vpids int, each func(to, from int, k uint32) error) (n int, err error) {
	for _, nic := range nics {
		for v := range vpids {
			for {
				s, ok := nic.Rings[v].Peek()
				if !ok {
					break
				}
				k := binary.LittleEndian.Uint32(s.Payload)
				if err := each(nic.Node*vpids+v, int(s.SrcNode)*vpids+int(s.SrcVPID), k); err != nil {
					return n, err
				}
				nic.Rings[v].Advance()
				n++
			}
			if err := nic.Free(v); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}
