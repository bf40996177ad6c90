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

// A Meeting is programs that have come together; package bootstrap has one.
type Meeting interface {
	Directory() Directory
	Fence(ctx context.Context) error
	Watch(ctx context.Context) error
	Close() error
}

// Joining says how a program takes part in a world of several, on a device that somebody serves.
type Joining struct {
	Device string // shared:PATH, without claims
	World  string // which programs share the protection domain
	Config Config // Mine are its ranks; of the Directory theirs count, the rest is the Meeting's, as are Fence and Watch
	Meet   func(ctx context.Context) (Meeting, error)
}

// Join opens the processes of a program's ranks, meets the others, runs body on its ranks, and
// gives all back. When a program of the world dies, all others end with an error that says so.
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

// uri claims the processes.
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
