package rtl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers"
)

const (
	defaultRatio = "8/5" // 250 MHz with a core of 156.25 MHz
	maxRatio     = 64    // of either side of a ratio, as in cosim/dpi/src/wiring.h
	maxQuotient  = 8
)

// setAXI parses the keys for a host with a clock of its own.
func (r *request) setAXI(keys map[string]string) error {
	text, ok := keys["ratio"]
	if !ok {
		text = defaultRatio
	}
	above, below, _ := strings.Cut(text, "/")
	host, e1 := strconv.Atoi(above)
	core, e2 := strconv.Atoi(below)
	if e1 != nil || e2 != nil || min(host, core) < 1 || max(host, core) > maxRatio || host > maxQuotient*core || core > maxQuotient*host {
		return fmt.Errorf("%w: ratio=%s: expected cycles of the host's clock / cycles of the core's, numbers 1..%d, no side more than %d times the other, for example %s",
			drivers.ErrConfig, text, maxRatio, maxQuotient, defaultRatio)
	}
	r.cfg.Args = append(r.cfg.Args, "--ratio", text)
	return r.setBusSeed(keys)
}
