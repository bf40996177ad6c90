package routing

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/suggest"
)

// An Algorithm is one way of routing on one topology.
type Algorithm interface {
	// VCs that it needs on every wire.
	VCs() int
	// Route gives the output port, and the VC on its wire, of a packet that came to a router by input
	// port in. At a node's port the VC is 0.
	Route(router, in int, h *Header, s *Sight) (port, vc int)
}

// A Header is what a packet carries for its routes.
type Header struct {
	Dst   int32 // node
	Via   int16 // group or router that it goes to first; None
	Stage uint8 // the algorithm's own
	Hops  uint8 // routers passed, counted by the network
}

// None is the Via of a packet that goes straight.
const None = -1

// To is the header of a new packet.
func To(dst int) Header { return Header{Dst: int32(dst), Via: None} }

// Sight is what a router sees when it decides: itself.
type Sight struct {
	Used []int32 // flits, by output port: entries of the buffer behind it that are taken, or spoken for
	Rand rand.Source
}

// Intn is a random number below n.
func (s *Sight) Intn(n int) int {
	hi, _ := bits.Mul64(s.Rand.Uint64(), uint64(n))
	return int(hi)
}

// A Kind names an algorithm on any topology.
type Kind string

// The kinds. On a fat tree Valiant goes up by random ports, UGAL by the emptiest ones.
const (
	Minimal Kind = "minimal"
	Table   Kind = "table" // shortest ways, found by search
	Valiant Kind = "valiant"
	UGAL    Kind = "ugal" // with local knowledge: UGAL-L
	PAR     Kind = "par"
)

// Kinds lists them.
func Kinds() []Kind { return []Kind{Minimal, Table, Valiant, UGAL, PAR} }

// A Bias is when an adaptive algorithm prefers the longer way: when the minimal output has more
// flits than Factor times the other one and Threshold.
type Bias struct{ Factor, Threshold int }

// DefaultBias is that of the RDRP paper.
var DefaultBias = Bias{Factor: 2, Threshold: 30}

func (b Bias) longer(s *Sight, minimal, other int) bool {
	return int(s.Used[minimal]) > b.Factor*int(s.Used[other])+b.Threshold
}

// New gives a kind of routing for a topology.
func New(k Kind, t topology.Topology, b Bias) (Algorithm, error) {
	if !slices.Contains(Kinds(), k) {
		return nil, fmt.Errorf("%w: routing %q: expected one of %s%s", drivers.ErrConfig, k, names(), suggest.Nearest(string(k), strings.Split(names(), ", ")))
	}
	if k == Table {
		return newTable(t)
	}
	switch t := t.(type) {
	case topology.Dragonfly:
		return newDragonfly(t, k, b), nil
	case topology.Grid:
		if k != PAR {
			return newGrid(t, k, b), nil
		}
	case topology.FatTree:
		if k != PAR {
			return newFatTree(t, k), nil
		}
	}
	return nil, refuse("%s has no routing %q", t, k)
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{drivers.ErrConfig}, args...)...)
}

func names() string {
	var list []string
	for _, k := range Kinds() {
		list = append(list, string(k))
	}
	return strings.Join(list, ", ")
}
