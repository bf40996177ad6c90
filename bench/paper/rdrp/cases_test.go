package rdrp

import (
	"testing"

	"github.com/nicloop/nicloop/bench/paper/papertest"
	_ "github.com/nicloop/nicloop/cosim/ideal"
	_ "github.com/nicloop/nicloop/cosim/model"
)

// cases are filled by the files that have the tables.
var cases = map[string]papertest.Case{}

// TestPlantedResultsDiffer: every claim holds on a table as the paper describes it, and differs as
// soon as the result that contradicts it is planted.
func TestPlantedResultsDiffer(t *testing.T) { papertest.PlantAll(t, Experiments(), cases) }

// TestMutations: claims about a subject differ when it is disabled.
func TestMutations(t *testing.T) { papertest.KillAll(t, Experiments()) }
