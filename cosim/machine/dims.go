package machine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/limits"
)

// MaxNodes is the size of the largest mesh of RTL: the field dst_node of a PIO address (the FC
// paper's send window) addresses no more.
const MaxNodes = 64

// VPIDs is the number of processes per node of every simulated machine.
const VPIDs = 16

// DimsFor chooses the mesh with the smallest diameter for a number of nodes, in two dimensions, or
// in three if each has at least four nodes. So 16 nodes are 4x4 and 64 are 4x4x4, as in the FC
// paper (section 5.3); a prime is a single row.
func DimsFor(nodes int) [3]int {
	best := [3]int{nodes, 1, 1}
	for z := 1; z*z*z <= nodes; z++ {
		if nodes%z != 0 || z > 1 && z < 4 {
			continue
		}
		for y := z; y*y <= nodes/z; y++ {
			if x := nodes / z / y; x*y*z == nodes && x+y+z < best[0]+best[1]+best[2] {
				best = [3]int{x, y, z}
			}
		}
	}
	return best
}

// ParseDims reads "4x4x1", or "4x4".
func ParseDims(s string) ([3]int, error) {
	dims := [3]int{1, 1, 1}
	parts := strings.Split(s, "x")
	if len(parts) > 3 {
		parts = nil
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 {
			parts = nil
			break
		}
		dims[i] = n
	}
	if _, ok := limits.Product(limits.Nodes, dims[:]...); !ok {
		return dims, fmt.Errorf("%w: dims=%s: more than %d nodes", drivers.ErrConfig, s, limits.Nodes)
	}
	if len(parts) < 2 {
		return dims, fmt.Errorf("%w: dims=%s: expected XxYxZ, each at least 1, for example 4x2x1", drivers.ErrConfig, s)
	}
	return dims, nil
}

// FormatDims is the inverse of ParseDims.
func FormatDims(d [3]int) string { return fmt.Sprintf("%dx%dx%d", d[0], d[1], d[2]) }

// PortsFor is the number of ports that a router has in a mesh: one of the NIC, and the links.
func PortsFor(dims [3]int) int {
	switch {
	case dims[2] > 1:
		return 7
	case dims[1] > 1:
		return 5
	}
	return 3
}

// LinksOf is the number of links that every node of a mesh is built with.
func LinksOf(dims [3]int) uint8 { return uint8(PortsFor(dims) - 1) }
