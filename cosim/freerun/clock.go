package freerun

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// Clock reads the key clock of a backend's URI: is time to pass by itself? Nothing can be shown of
// such a machine, for its cycles mean nothing.
func Clock(scheme string, keys map[string]string, opt drivers.Options) (wall bool, err error) {
	switch keys["clock"] {
	case "", "simulated":
		return false, nil
	case "wall":
		if opt.Trace != nil || opt.Waves != nil || opt.Checkpoints != nil {
			return false, fmt.Errorf("%w: %s:?clock=wall shows no traces and waves: its cycles mean nothing", drivers.ErrNotSupported, scheme)
		}
		return true, nil
	}
	return false, fmt.Errorf("%w: %s: clock=%q: expected simulated or wall", drivers.ErrConfig, scheme, keys["clock"])
}
