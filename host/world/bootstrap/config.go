package bootstrap

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/usersock"
	"github.com/nicloop/nicloop/host/world"
)

// Config is what a program brings.
type Config struct {
	Address string // unix:PATH or tcp:HOST:PORT
	// Token is known to all programs of a world: at least MinToken bytes over TCP, and none is needed
	// for a unix socket.
	Token []byte
	// Remote permits a TCP address that is not this machine's own.
	Remote bool
	Size   int                    // ranks of the world
	Mine   map[int]world.Location // those of this program, and where they live
	World  string                 // what all programs must say alike, such as a hash of their configuration
	// Timeout is how long all programs may take to come; 0: 30 seconds. A handshake may take a sixth
	// of it.
	Timeout time.Duration

	uid int // as whom to act, in tests
}

// MinToken is the length of the shortest token that is taken over TCP.
const MinToken = 16

// Errors that callers tell apart with errors.Is, besides those of package drivers.
var (
	ErrToken   = errors.New("the other end has another token")
	ErrClaimed = errors.New("another program has claimed this rank")
	ErrForeign = usersock.ErrForeign
	ErrDiffers = errors.New("another program has another configuration")
)

// A MissingError: not all programs came in time.
type MissingError struct {
	Ranks []int // that nobody has claimed
	After time.Duration
}

func (e *MissingError) Error() string {
	if e.After == 0 { // somebody else has waited
		return fmt.Sprintf("no word from ranks %v", e.Ranks)
	}
	return fmt.Sprintf("no word from ranks %v after %v", e.Ranks, e.After)
}

// A PeerError: a program of the world has died.
type PeerError struct{ Ranks []int }

func (e *PeerError) Error() string { return fmt.Sprintf("the program of ranks %v died", e.Ranks) }

// Unwrap makes it a death of the other end.
func (e *PeerError) Unwrap() error { return drivers.ErrPeerDied }

// check completes a configuration and splits its address.
func (c *Config) check() (network, address string, err error) {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: bootstrap: %s", drivers.ErrConfig, fmt.Sprintf(format, args...))
	}
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	if c.uid == 0 {
		c.uid = os.Geteuid()
	}
	for r := range c.Mine {
		if r < 0 || r >= c.Size {
			return "", "", bad("rank %d of this program: expected 0 to %d", r, c.Size-1)
		}
	}
	network, address, _ = strings.Cut(c.Address, ":")
	switch {
	case c.Size < 1 || len(c.Mine) == 0:
		return "", "", bad("%d of %d ranks are this program's: expected at least one", len(c.Mine), c.Size)
	case network == "unix" && address != "":
		return network, address, nil
	case network != "tcp":
		return "", "", bad("address %q: expected unix:PATH or tcp:HOST:PORT", c.Address)
	case len(c.Token) < MinToken:
		return "", "", bad("a token of %d bytes for a TCP address: expected at least %d", len(c.Token), MinToken)
	case !c.Remote:
		return network, address, c.onlyLoopback(address)
	}
	return network, address, nil
}

// onlyLoopback refuses what others than this machine could reach.
func (c *Config) onlyLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%w: bootstrap: address %q: %w", drivers.ErrConfig, c.Address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%w: bootstrap: address %q is not this machine's own: Remote permits that", drivers.ErrConfig, c.Address)
	}
	return nil
}
