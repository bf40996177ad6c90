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

// Config describes a program and the world that it joins.
type Config struct {
	Address string // unix:PATH or tcp:HOST:PORT
	// Token is a secret shared by all programs of the world: at least MinToken bytes over TCP,
	// optional for a unix socket.
	Token []byte
	// Remote permits a TCP address that is not on the loopback interface.
	Remote bool
	Size   int                    // number of ranks of the world
	Mine   map[int]world.Location // locations of this program's ranks
	World  string                 // string that must be equal in all programs, such as a hash of their configuration
	// Timeout limits the time until all programs have joined; 0: 30 seconds. A handshake may take a
	// sixth of it.
	Timeout time.Duration

	uid int // user to act as, in tests
}

// MinToken is the minimum length of a token over TCP.
const MinToken = 16

// Errors for errors.Is, besides those of package drivers.
var (
	ErrToken   = errors.New("the other end has another token")
	ErrClaimed = errors.New("another program has claimed this rank")
	ErrForeign = usersock.ErrForeign
	ErrDiffers = errors.New("another program has another configuration")
)

// A MissingError reports that some programs did not join in time.
type MissingError struct {
	Ranks []int // unclaimed ranks
	After time.Duration
}

func (e *MissingError) Error() string {
	if e.After == 0 { // reported by another program
		return fmt.Sprintf("no word from ranks %v", e.Ranks)
	}
	return fmt.Sprintf("no word from ranks %v after %v", e.Ranks, e.After)
}

// A PeerError reports that a program of the world has died.
type PeerError struct{ Ranks []int }

func (e *PeerError) Error() string { return fmt.Sprintf("the program of ranks %v died", e.Ranks) }

// Unwrap classifies the error as drivers.ErrPeerDied.
func (e *PeerError) Unwrap() error { return drivers.ErrPeerDied }

// check fills in defaults, validates the configuration and splits its address.
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

// onlyLoopback refuses an address that other machines could reach.
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
