package bootstrap

import (
	"fmt"
	"strconv"

	"github.com/nicloop/nicloop/drivers"
)

// An Identity is what a launcher says of a program.
type Identity struct {
	Rank, Size int
	Host       string // empty: it does not say
	Launcher   string
}

// launchers are the variables that they set.
var launchers = []struct{ name, rank, size, host string }{
	{"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURMD_NODENAME"},
	{"PMI", "PMI_RANK", "PMI_SIZE", ""},
}

// FromEnvironment is what the variables of a launcher say, by get, which is os.Getenv elsewhere
// than in tests. Without any there is no identity; one without the other is an error.
func FromEnvironment(get func(string) string) (id Identity, found bool, err error) {
	for _, l := range launchers {
		rank, size := get(l.rank), get(l.size)
		if rank == "" { // in an allocation, but not a task of it
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
