package limits

import (
	"io/fs"
	"math"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// The tightest of machine and control groups counts.
func TestMemory(t *testing.T) {
	limitOfAddressSpace = func(fs fs.FS) (limit, used float64, ok bool) { return 0, 0, false }
	machine := fstest.MapFS{"proc/meminfo": file("MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 600 kB\n")}
	total, free := memory(machine)
	require.Equal(t, []float64{1000 << 10, 600 << 10}, []float64{total, free})

	machine["proc/self/cgroup"] = file("0::/a/b\n")
	machine["sys/fs/cgroup/a/memory.max"] = file("500000\n")
	machine["sys/fs/cgroup/a/memory.current"] = file("400000\n")
	machine["sys/fs/cgroup/a/b/memory.max"] = file("max\n")
	machine["sys/fs/cgroup/a/b/memory.current"] = file("7\n")
	total, free = memory(machine)
	require.Equal(t, []float64{500000, 100000}, []float64{total, free})

	total, free = memory(fstest.MapFS{})
	require.Equal(t, []float64{math.Inf(1), math.Inf(1)}, []float64{total, free})
}

func TestCheckMemory(t *testing.T) {
	require.NoError(t, CheckMemory("a run", 1<<10, "--sizes"))
	var too *MemoryError
	require.ErrorAs(t, CheckMemory("a run of 2 nodes", 1<<60, "--sizes or --nodes"), &too)
	require.True(t, too.Total)
	require.ErrorContains(t, too, "a run of 2 nodes needs about 1 EiB of memory")
	require.ErrorContains(t, too, "lower --sizes or --nodes")
	require.Equal(t, "1.5 KiB", FormatBytes(1536))
}
