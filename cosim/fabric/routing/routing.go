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

// An Algorithm is a routing algorithm on a topology.
type Algorithm interface {
	// VCs is the number of VCs needed on every wire.
	VCs() int
	// Route returns the output port of a packet that arrived at a router by input port in, and the
	// VC on its wire. At a node's port the VC is 0.
	Route(router, in int, h *Header, s *Sight) (port, vc int)
}

// A Header is the routing state carried by a packet.
type Header struct {
	Dst   int32 // node
	Via   int16 // intermediate group or router; None
	Stage uint8 // private to the algorithm
	Hops  uint8 // routers passed, counted by the network
}

// None is the Via of a packet on a direct route.
const None = -1

// To returns the header of a new packet.
func To(dst int) Header { return Header{Dst: int32(dst), Via: None} }

// Sight is the local information of a router for its decisions.
type Sight struct {
	Used []int32 // flits, by output port: occupied or reserved entries of the buffer behind it
	Rand rand.Source
}

// Intn returns a random number below n.
func (s *Sight) Intn(n int) int {
	hi, _ := bits.Mul64(s.Rand.Uint64(), uint64(n))
	return int(hi)
}

// A Kind is the name of an algorithm.
type Kind string

// The kinds. On a fat tree Valiant uses random ports upwards, UGAL the emptiest ones.
const (
	Minimal Kind = "minimal"
	Table   Kind = "table" // shortest paths, found by search
	Valiant Kind = "valiant"
	UGAL    Kind = "ugal" // with local information: UGAL-L
	PAR     Kind = "par"
)

// Kinds lists them.
func Kinds() []Kind { return []Kind{Minimal, Table, Valiant, UGAL, PAR} }

// A Bias determines when an adaptive algorithm prefers the non-minimal route: when the minimal
// output has more flits than Factor times those of the other one plus Threshold.
type Bias struct{ Factor, Threshold int }

// DefaultBias is that of the RDRP paper.
var DefaultBias = Bias{Factor: 2, Threshold: 30}

func (b Bias) longer(s *Sight, minimal, other int) bool {
	return int(s.Used[minimal]) > b.Factor*int(s.Used[other])+b.Threshold
}

// New returns an algorithm for a topology.
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
