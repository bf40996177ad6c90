package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/usersock"
)

// Version is the version of the frames and texts.
const Version = 1

// A Process is the location of a process.
type Process struct {
	Node int `json:"node"`
	VPID int `json:"vpid"`
}

func (p Process) String() string { return fmt.Sprintf("process %d of node %d", p.VPID, p.Node) }

// A ClaimText is a client's request for processes and memory.
type ClaimText struct {
	Version   int       `json:"version"`
	DescHash  uint64    `json:"desc_hash,string"`
	Processes []Process `json:"processes"`
	Domain    uint16    `json:"domain"` // of all of them
	World     string    `json:"world"`  // programs with the same world share the domain
	Memory    uint64    `json:"memory"` // bytes on each node with a claimed process
}

// A Piece is a client's memory on one node, backed by the file at the same index.
type Piece struct {
	Node     int               `json:"node"`
	Bytes    uint64            `json:"bytes"`
	Segments []drivers.Segment `json:"segments"` // as in drivers.Device
}

// A WelcomeText describes what the client has been given.
type WelcomeText struct {
	Info   drivers.Info `json:"info"`
	Pieces []Piece      `json:"pieces"`
}

// Errors that a broker returns in addition to those of package drivers.
var (
	ErrClaimed   = errors.New("another program has this process")
	ErrDomain    = errors.New("the protection domain is another world's")
	ErrForbidden = errors.New("not this program's to use")
)

// An ErrorText is an encoded error: its kind, its text, and the refused access of a BusError.
type ErrorText struct {
	Code string            `json:"code,omitempty"`
	Text string            `json:"text"`
	Bus  *drivers.BusError `json:"bus,omitempty"`
}

var codes = []struct {
	code string
	err  error
}{
	{"died", drivers.ErrPeerDied}, // first: takes precedence over the cause of death
	{"config", drivers.ErrConfig}, {"not-supported", drivers.ErrNotSupported}, {"closed", drivers.ErrClosed}, {"protocol", drivers.ErrProtocol}, {"environment", drivers.ErrEnvironment},
	{"assertion", drivers.ErrAssertion}, {"starved", drivers.ErrStarved}, {"full", drivers.ErrTablesFull}, {"busy", drivers.ErrTablesBusy},
	{"held", process.ErrNotDrained}, {"claimed", ErrClaimed}, {"domain", ErrDomain}, {"forbidden", ErrForbidden}, {"foreign", usersock.ErrForeign},
}

// TextOf encodes an error as Data of a frame.
func TextOf(err error) []byte {
	t := ErrorText{Text: err.Error()}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			t.Code = c.code
			break
		}
	}
	_ = errors.As(err, &t.Bus)
	const longest = maxText / 8 // JSON escapes may make it longer
	t.Text = t.Text[:min(len(t.Text), longest)]
	b, err := json.Marshal(t)
	if err != nil {
		return []byte(`{}`)
	}
	return b
}

// A remoteError is an error received from the broker.
type remoteError struct {
	text  string
	cause error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.cause }

// ErrorOf decodes Data of a frame to an error.
func ErrorOf(data []byte) error {
	var t ErrorText
	if err := json.Unmarshal(data, &t); err != nil {
		return fmt.Errorf("%w: an error that cannot be read: %w", drivers.ErrProtocol, err)
	}
	e := &remoteError{text: t.Text}
	for _, c := range codes {
		if c.code == t.Code {
			e.cause = c.err
		}
	}
	if t.Bus != nil {
		e.cause = t.Bus
	}
	return e
}
