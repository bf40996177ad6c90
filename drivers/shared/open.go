package shared

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/segment"
	"github.com/nicloop/nicloop/drivers/shared/wire"
	"github.com/nicloop/nicloop/drivers/usersock"
)

func init() {
	registry.Register(registry.Backend{Scheme: "shared", Doc: "a device that another program owns: nicloop device serve", Keys: []registry.Key{
		{Name: "claim", Value: "0.0,0.1", Doc: "NODE.PROCESS of each process that is wanted"},
		{Name: "domain", Value: "1", Doc: "the protection domain of these processes"},
		{Name: "world", Value: "NAME", Doc: "programs that name the same world may reach each other"},
	}, Open: open, DiscoversNodes: true})
}

// greetWithin is the time that a broker may take to answer a claim; retryFor bounds the retries
// when it closes connections without an answer.
const (
	greetWithin = 10 * time.Second
	retryFor    = 2 * time.Second
)

func open(ctx context.Context, path string, keys map[string]string, opt drivers.Options) (drivers.System, error) {
	claim, err := parse(path, keys, opt)
	if err != nil {
		return nil, err
	}
	s, err := connect(ctx, path, claim)
	// A broker under a flood of connections may close one before it has read the claim.
	for began := time.Now(); errors.Is(err, errUnanswered) && time.Since(began) < retryFor && ctx.Err() == nil; {
		select {
		case <-time.After(20 * time.Millisecond):
			s, err = connect(ctx, path, claim)
		case <-ctx.Done():
		}
	}
	if err == nil && opt.Nodes > s.info.Nodes {
		err = errors.Join(fmt.Errorf("%w: shared: %d nodes, but %s has %d", drivers.ErrConfig, opt.Nodes, s.info.URI, s.info.Nodes), s.Close())
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	s.info.URI = "shared:" + path
	go s.listen()
	return s, nil
}

// connect makes one attempt to connect and claim.
func connect(ctx context.Context, path string, claim wire.ClaimText) (*System, error) {
	c, err := usersock.Dial(ctx, path, os.Geteuid())
	if err != nil {
		return nil, fmt.Errorf("shared: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	s, err := greet(wire.New(c, 0), claim)
	if err != nil {
		c.Close()
	}
	return s, err
}

// errUnanswered: the broker closed the connection without answering the claim.
var errUnanswered = errors.New("shared: the broker hung up without an answer to the claim")

func parse(path string, keys map[string]string, opt drivers.Options) (c wire.ClaimText, err error) {
	bad := func(format string, args ...any) (wire.ClaimText, error) {
		return c, fmt.Errorf("%w: shared: %s", drivers.ErrConfig, fmt.Sprintf(format, args...))
	}
	switch {
	case path == "":
		return bad("no path: expected shared:PATH of the socket of nicloop device serve")
	case opt.Trace != nil || opt.Waves != nil || opt.Checkpoints != nil:
		return c, fmt.Errorf("%w: shared: no traces and waves: other programs' would be in them", drivers.ErrNotSupported)
	}
	c = wire.ClaimText{Version: wire.Version, DescHash: regs.DescHashValue, Domain: process.DefaultDomain, World: keys["world"], Memory: uint64(max(opt.MemoryBytes, segment.Grain))}
	c.Memory = (c.Memory + segment.Grain - 1) &^ (segment.Grain - 1)
	if text, given := keys["domain"]; given {
		d, err := strconv.ParseUint(text, 0, 16)
		if err != nil || d == 0 {
			return bad("domain=%q: expected 1 to 65535", text)
		}
		c.Domain = uint16(d)
	}
	for _, text := range strings.FieldsFunc(keys["claim"], func(r rune) bool { return r == ',' }) {
		node, vpid, both := strings.Cut(text, ".")
		n, err1 := strconv.Atoi(node)
		v, err2 := strconv.Atoi(vpid)
		if !both || err1 != nil || err2 != nil || n < 0 || n >= regs.NodeMax || v < 0 || v >= regs.VPIDs {
			return bad("claim=%q: expected NODE.PROCESS, as in claim=0.0,0.1", keys["claim"])
		}
		c.Processes = append(c.Processes, wire.Process{Node: n, VPID: v})
	}
	return c, nil
}

// greet claims the processes and receives the memory.
func greet(c *wire.Conn, claim wire.ClaimText) (*System, error) {
	data, err := json.Marshal(claim)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.SetReadDeadline(time.Now().Add(greetWithin)), c.Send(&wire.Frame{Kind: wire.Claim, Data: data})); err != nil {
		return nil, unanswered(err)
	}
	f, files, err := c.ReceiveFiles()
	defer func() {
		for _, f := range files {
			f.Close() // the mappings remain valid
		}
	}()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("%w: shared: who listens has not answered for %v", drivers.ErrProtocol, greetWithin)
	case err != nil:
		return nil, unanswered(err)
	case f.Kind == wire.Failed || f.Kind == wire.Over:
		return nil, fmt.Errorf("shared: refused: %w", wire.ErrorOf(f.Data))
	case f.Kind != wire.Welcome:
		return nil, fmt.Errorf("%w: shared: a frame of kind %q in answer to a claim", drivers.ErrProtocol, byte(f.Kind))
	}
	var w wire.WelcomeText
	if err := json.Unmarshal(f.Data, &w); err != nil {
		return nil, fmt.Errorf("%w: shared: welcome: %w", drivers.ErrProtocol, err)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	return newSystem(c, w, files)
}

// unanswered converts an error of a connection whose claim has not been answered.
func unanswered(err error) error {
	if wire.Gone(err) {
		return fmt.Errorf("%w: %w", drivers.ErrPeerDied, errUnanswered)
	}
	return lost(err)
}

// lost converts a socket error to an error of the device.
func lost(err error) error {
	if wire.Gone(err) {
		return fmt.Errorf("%w: shared: the broker has exited", drivers.ErrPeerDied)
	}
	return fmt.Errorf("shared: %w", err)
}
