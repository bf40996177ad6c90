// Package machine describes simulated machines, independently of what simulates them: keys of their
// URIs, dimensions of meshes, and faults of wires.
package machine

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

// Keys that several backends have.
var (
	// MeshKeys describe a mesh, of RTL or of the model.
	MeshKeys = []registry.Key{
		{Name: "dims", Value: "4x4x4", Doc: "the mesh; default: as nearly a cube as --nodes lets it be"},
		{Name: "torus", Value: "1", Doc: "rings in every dimension of more than two nodes"},
		{Name: "vc_depth", Value: "16", Doc: "flits per virtual channel of a router's input, 2 to 128"},
		{Name: "host_wr_latency", Value: "4", Doc: "cycles from a DMA burst to its acknowledgement"},
	}
	// LatencyKeys apply to a mesh whose nodes are all of one kind.
	LatencyKeys = []registry.Key{
		{Name: "wire_latency", Value: "0", Doc: "cycles that a flit between nodes takes beyond its two, up to 64; credits too"},
		{Name: "host_rd_latency", Value: "8", Doc: "cycles from the address of a DMA read to its first beat"},
	}
)

// FaultKeys are the keys of [Faults].
var FaultKeys = []registry.Key{
	{Name: "link_errors", Value: "1e-4", Doc: "chance of a word on a wire between nodes to be corrupted"},
	{Name: "link_losses", Value: "1e-5", Doc: "chance of it to be lost"},
	{Name: "link_seed", Value: "7", Doc: "where the random numbers of both start"},
}

// Number reads a key whose value is a number in low..high; without the key it returns unset.
func Number(keys map[string]string, key string, low, high, unset int) (int, error) {
	text, given := keys[key]
	if !given {
		return unset, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%w: %s=%s: expected a number %d..%d", drivers.ErrConfig, key, text, low, high)
	}
	return n, nil
}

// URI reproduces a machine: its scheme, its dimensions (unless a key names another topology) and
// the keys that were given.
func URI(scheme string, dims [3]int, keys map[string]string) string {
	q := url.Values{}
	for k, v := range keys {
		q.Set(k, v)
	}
	if _, given := keys["topology"]; !given {
		q.Set("dims", FormatDims(dims))
	} else {
		q.Del("dims")
	}
	return scheme + ":?" + q.Encode()
}
