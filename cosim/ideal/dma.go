package ideal

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/segment"
)

// dma is the placement of the NICs' memory.
type dma struct {
	base, segment uint64 // address, 0: default; segment size, 0: contiguous
}

func parseDMA(keys map[string]string) (d dma, err error) {
	for _, k := range []struct {
		name string
		to   *uint64
		most uint64
	}{{"dma_base", &d.base, 1 << 62}, {"dma_segment", &d.segment, 1 << 40}} {
		text, given := keys[k.name]
		if !given {
			continue
		}
		if *k.to, err = strconv.ParseUint(text, 0, 64); err != nil || *k.to%segment.Grain != 0 || *k.to > k.most {
			return d, fmt.Errorf("%w: ideal: %s=%q: expected a multiple of %d, at most 0x%x", drivers.ErrConfig, k.name, text, segment.Grain, k.most)
		}
	}
	return d, nil
}

func (d dma) String() (s string) {
	if d.base > 0 {
		s += fmt.Sprintf("&dma_base=0x%x", d.base)
	}
	if d.segment > 0 {
		s += fmt.Sprintf("&dma_segment=%d", d.segment)
	}
	return s
}

// lay returns the bytes per node and the segments of each node.
func (d dma) lay(bytes, nodes int) (int, [][]drivers.Segment) {
	if d == (dma{}) {
		return bytes, nil
	}
	n := uint64(bytes)
	if d.segment == 0 {
		return bytes, slices.Repeat([][]drivers.Segment{{{Addr: d.base, Bytes: n}}}, nodes)
	}
	count := (2*n+d.segment-1)/d.segment + 1
	list := make([]drivers.Segment, count)
	for i := range list {
		i := uint64(i)
		list[i] = drivers.Segment{Off: i * d.segment, Addr: d.base + 2*(count-1-i)*d.segment, Bytes: d.segment}
	}
	return int(count * d.segment), slices.Repeat([][]drivers.Segment{list}, nodes)
}
