package bootstrap

import (
	"fmt"
	"strconv"

	"github.com/nicloop/nicloop/drivers"
)

// An Identity is a program's rank, as set by a launcher.
type Identity struct {
	Rank, Size int
	Host       string // empty: not set by the launcher
	Launcher   string
}

// launchers lists the environment variables of each launcher.
var launchers = []struct{ name, rank, size, host string }{
	{"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURMD_NODENAME"},
	{"PMI", "PMI_RANK", "PMI_SIZE", ""},
}

// FromEnvironment reads the variables of a launcher with get (os.Getenv outside tests). found is
// false if none is set; an incomplete or invalid set is an error.
func FromEnvironment(get func(string) string) (id Identity, found bool, err error) {
	for _, l := range launchers {
		rank, size := get(l.rank), get(l.size)
		if rank == "" { // inside an allocation, but not a task of it
			continue
		}
		id = Identity{Launcher: l.name}
		if l.host != "" {
			id.Host = get(l.host)
		}
		var badRank, badSize error
		id.Rank, badRank = strconv.Atoi(rank)
		id.Size, badSize = strconv.Atoi(size)
		if badRank != nil || badSize != nil || id.Size < 1 || id.Rank < 0 || id.Rank >= id.Size {
			return Identity{}, false, fmt.Errorf("%w: %s=%q and %s=%q: expected a rank below the number of ranks", drivers.ErrConfig, l.rank, rank, l.size, size)
		}
		return id, true, nil
	}
	return Identity{}, false, nil
}
