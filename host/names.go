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

// Names of the packages below that programs need, so that they import host alone.
type (
	// A Proc is the machine as a rank sees it: time, and sleep until a packet arrives.
	Proc = path.Proc
	// A Worker is called by a Proc whenever it may have work.
	Worker = path.Worker
	// Cost is the host cost model.
	Cost = path.Cost
	// Stats counts the messages of a rank.
	Stats = path.Stats
	// Waiting describes what a rank waits for: one link of a wait-for chain.
	Waiting = path.Waiting

	// Local carries messages between ranks of one node through shared memory.
	Local = local.Memory
	// Contents regenerates the bytes of messages from a name.
	Contents = eager.Contents
	// Rendezvous is a protocol that moves long messages.
	Rendezvous = rendezvous.Protocol
	// Reuse configures eager messages that RMA puts into reused buffers.
	Reuse = ring.Config
	// ReuseMode selects the memory from which these messages are put.
	ReuseMode = ring.Mode
	// ReuseStats counts these messages.
	ReuseStats = ring.Stats
	// Eager configures eager messages longer than EagerMax.
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

// ErrCancelled is the error of a request that was cancelled before it matched.
var ErrCancelled = path.ErrCancelled

// DefaultCost returns the default cost model.
func DefaultCost() Cost { return path.DefaultCost() }

// Packets returns the number of VELO packets of a message of n bytes.
func Packets(n int) int { return path.Packets(n) }

// NewLocal makes the shared memory of a world whose rank i runs on node[i]. Ranks of other
// programs, which do not share it, have a node below 0.
func NewLocal(node []int) *Local { return local.NewMemory(node) }

// Protocols returns all rendezvous protocols.
func Protocols() []Rendezvous { return rendezvous.Protocols() }
