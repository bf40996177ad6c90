package rma

import (
	"errors"

	"github.com/nicloop/nicloop/drivers"
)

// LentATU returns the ATU of a node whose translation tables another program owns. Ports register
// memory with it as with an ATU of their own.
func LentATU(dev drivers.Tenant) *ATU { return &ATU{dev: dev, lent: dev.Tables()} }

func (a *ATU) mapLent(owner int, off, n uint64, r Rights) (NLA, error) {
	nla, err := a.lent.Map(owner, off, n, uint8(r))
	if errors.Is(err, drivers.ErrTablesBusy) {
		return 0, ErrTryAgain
	}
	return NLA(nla), err
}
