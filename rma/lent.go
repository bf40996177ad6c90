package rma

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// LentATU is the ATU of a node whose translation tables somebody else owns: ports register memory with them as with their own.
func LentATU(dev drivers.Tenant) *ATU { return &ATU{dev: dev, lent: dev.Tables()} }

func (a *ATU) mapLent(owner int, off, n uint64, r Rights) (NLA, error) {
	nla, err := a.lent.Map(owner, off, n, uint8(r))
	switch {
	case errors.Is(err, drivers.ErrTablesBusy):
		return 0, ErrTryAgain
	case errors.Is(err, drivers.ErrTablesFull):
		return 0, fmt.Errorf("%w: %w", ErrTablesFull, err)
	}
	return NLA(nla), err
}
