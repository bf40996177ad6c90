package world

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/host"
)

// A Meeting is a set of programs that have exchanged their locations. Package bootstrap implements
// it.
type Meeting interface {
	Directory() Directory
	Fence(ctx context.Context) error
	Watch(ctx context.Context) error
	Close() error
}

// Joining configures how a program joins a world of several programs on a device served by a
// broker.
type Joining struct {
	Device string // shared:PATH, without claims
	World  string // name of the protection domain; the same in all programs of the world
	Config Config // Mine and the locations of those ranks are used; the Meeting sets the rest of Directory, Fence and Watch
	Meet   func(ctx context.Context) (Meeting, error)
}

// Join claims the processes of this program's ranks, meets the other programs, runs body on each of
// its ranks, and releases everything. If a program of the world dies, Join returns an error in all
// others.
func Join(ctx context.Context, j Joining, body func(r *host.Rank) error) (err error) {
	c := j.Config.withDefaults()
	bytes, err := c.LentBytes()
	if err != nil {
		return err
	}
	sys, err := registry.Open(ctx, j.uri(), drivers.Options{MemoryBytes: bytes, Needs: Needs | drivers.CanFreeRun})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sys.Close()) }()
	m, err := j.Meet(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	c.Directory, c.Fence, c.Watch = m.Directory(), m.Fence, m.Watch
	w, err := New(OnClock(sys), c)
	if err != nil {
		return err
	}
	return w.Run(ctx, body)
}

// uri returns the device URI with the claims of this program.
func (j *Joining) uri() string {
	var list []string
	domain := uint16(0)
	for _, r := range j.Config.Mine {
		if r < len(j.Config.Directory) {
			p := j.Config.Directory[r]
			list = append(list, fmt.Sprintf("%d.%d", p.Node, p.VPID))
			domain = p.Domain
		}
	}
	if domain == 0 {
		domain = process.DefaultDomain
	}
	return fmt.Sprintf("%s?claim=%s&domain=%d&world=%s", j.Device, strings.Join(list, ","), domain, j.World)
}
