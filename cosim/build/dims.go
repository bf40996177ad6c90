package build

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers"
)

// MaxNodes is the largest mesh that one model may hold.
const MaxNodes = 64

// DimsFor gives the mesh for a number of nodes: the most square rectangle, which
// for a prime is a single row.
func DimsFor(nodes int) [3]int {
	y := 1
	for d := 2; d*d <= nodes; d++ {
		if nodes%d == 0 {
			y = d
		}
	}
	return [3]int{nodes / y, y, 1}
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
	if len(parts) < 2 {
		return dims, fmt.Errorf("%w: dims=%s: expected XxYxZ, each at least 1, for example 4x2x1", drivers.ErrConfig, s)
	}
	return dims, nil
}

// FormatDims is the inverse of ParseDims.
func FormatDims(d [3]int) string { return fmt.Sprintf("%dx%dx%d", d[0], d[1], d[2]) }
