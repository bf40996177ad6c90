package host

import (
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/path/buffered"
	"github.com/nicloop/nicloop/host/path/eager"
	"github.com/nicloop/nicloop/host/path/local"
	"github.com/nicloop/nicloop/host/path/rendezvous"
	"github.com/nicloop/nicloop/host/path/ring"
)

// What programs need of the packages below: they import host alone.
type (
	// A Proc is what the machine gives a rank: time, and sleep until a packet comes.
	Proc = path.Proc
	// A Worker is what a Proc attends to.
	Worker = path.Worker
	// Cost is the host cost model.
	Cost = path.Cost
	// Stats count a rank's messages.
	Stats = path.Stats
	// Waiting says what a rank waits for: one link of a wait-for chain.
	Waiting = path.Waiting

	// Local carries messages between ranks of one node through memory that they share.
	Local = local.Memory
	// Contents can write messages again from a name for their bytes.
	Contents = eager.Contents
	// Rendezvous names how the bytes of a long message move.
	Rendezvous = rendezvous.Protocol
	// Reuse says how eager messages go by RMA into reused buffers.
	Reuse = ring.Config
	// ReuseMode says from where their bytes are put.
	ReuseMode = ring.Mode
	// ReuseStats count them.
	ReuseStats = ring.Stats
	// Eager says how long messages may be eager.
	Eager = buffered.Config
)

// Sizes of messages.
const (
	HeaderBytes = path.HeaderBytes // of the header in front of every message
	EagerMax    = path.EagerMax    // of the longest message that travels over VELO
)

// Wildcards of a receive.
const (
	AnySource = match.Any
	AnyTag    = match.Any
)

// The rendezvous protocols.
const (
	RGET    = rendezvous.RGET
	RPUT    = rendezvous.RPUT
	Chunked = rendezvous.Chunked
	Spec    = rendezvous.Spec
)

// The modes of [Reuse].
const (
	ReuseOff   = ring.Off
	ReuseCopy  = ring.Copy
	ReuseAdapt = ring.Adapt
)

// The lengths of messages that [Reuse] moves by default.
const (
	ReuseFrom    = ring.DefaultFrom
	ReuseLongest = ring.DefaultLongest
)

// ErrCancelled: a request was cancelled before it matched.
var ErrCancelled = path.ErrCancelled

// DefaultCost is the cost model in use.
func DefaultCost() Cost { return path.DefaultCost() }

// Packets is the number of VELO packets of a message of n bytes.
func Packets(n int) int { return path.Packets(n) }

// NewLocal makes the shared memory of a world whose rank i lives on node[i]; ranks of another
// program, which do not share it, on one below 0.
func NewLocal(node []int) *Local { return local.NewMemory(node) }

// Protocols are all rendezvous protocols.
func Protocols() []Rendezvous { return rendezvous.Protocols() }

// ReuseModes are all modes of [Reuse].
func ReuseModes() []ReuseMode { return ring.Modes() }
