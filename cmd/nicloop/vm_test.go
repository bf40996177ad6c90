package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nicloop/nicloop/cosim/vm"
	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// What the command in the guest prints and ends with is what this one does.
func TestVM(t *testing.T) {
	if testing.Short() {
		t.Skip("boots a virtual machine")
	}
	dir, err := vm.ImageDir()
	require.NoError(t, err)
	if _, missing := exec.LookPath(vm.QEMU); missing != nil || vm.CheckImage(dir) != nil {
		t.Skip("no QEMU or no image here: scripts/setup-debian.sh --vm")
	}
	var out, said bytes.Buffer
	code := run(t.Context(), []string{"vm", "--device", "ideal:", "--", "sh", "-c", "echo $" + deviceVariable + "; echo oh >&2; exit 9"}, nil, &out, &said)
	require.Equal(t, 9, code, said.String())
	require.Equal(t, "pcie:"+vm.Slot+"?dma=hugepage\n", out.String())
	require.Equal(t, "oh\n", said.String())
}

func TestVMMisused(t *testing.T) {
	for _, args := range [][]string{{"vm"}, {"vm", "--driver", "e1000", "--", "true"}, {"vm", "--nodes", "0", "--", "true"}} {
		var said bytes.Buffer
		require.Equal(t, exitUsage, run(t.Context(), args, nil, &said, &said), "%v: %s", args, &said)
	}
}

func TestLinesOfGuests(t *testing.T) {
	var out bytes.Buffer
	l := &linesOf{to: &out, node: 3}
	for _, s := range []string{"one\ntw", "o\n", "three"} {
		_, err := l.Write([]byte(s))
		require.NoError(t, err)
	}
	require.Equal(t, "node 3: one\nnode 3: two\n", out.String())
	died := &vm.GuestError{Err: vm.ErrPanic}
	require.Equal(t, exitEnvironment, exitCode(worst([]error{coded{9, errFailed}, nil, died})))
	require.NotErrorIs(t, worst([]error{coded{9, errFailed}, died}), errFailed, "else nobody would hear of it")
	require.Equal(t, 9, exitCode(worst([]error{nil, coded{9, errFailed}})))
	require.NoError(t, worst([]error{nil, nil}))
}

// Two guests with the Linux driver of the example Ethernet NIC ping each other through its RTL, and
// what one sends over TCP arrives unchanged.
func TestVMDesign(t *testing.T) {
	if testing.Short() {
		t.Skip("boots virtual machines, and builds a simulator")
	}
	dir, err := vm.ImageDir()
	require.NoError(t, err)
	headers, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "vm-headers-*-amd64"))
	require.NoError(t, err)
	if _, missing := exec.LookPath(vm.QEMU); missing != nil || vm.CheckImage(dir) != nil || headers == nil {
		t.Skip("no QEMU, image or kernel headers here: scripts/setup-debian.sh --vm")
	}
	const example = "../../rtl/examples/eth/"
	var module, out, said bytes.Buffer
	code := run(t.Context(), []string{"vm", "build-module", example + "driver"}, nil, &module, &said)
	require.Zero(t, code, said.String())
	code = run(t.Context(), []string{
		"vm", "--device", "design:" + example + "eth.yaml", "--nodes", "2", "--module", strings.TrimSpace(module.String()),
		"--file", example + "two-guests.sh", "--", "sh", "/files/two-guests.sh",
	}, nil, &out, &said)
	require.Zero(t, code, said.String())
	require.Contains(t, out.String(), "3 packets received")
	sums := regexp.MustCompile(`(?m)^node (\d): ([0-9a-f]{32})  (sent|received)$`).FindAllStringSubmatch(out.String(), -1)
	require.Len(t, sums, 2, out.String())
	require.Equal(t, sums[0][2], sums[1][2], out.String())
	require.NotEqual(t, sums[0][1], sums[1][1])
}

// A description without the key pci is reported before anything is built.
func TestVMDesignWithoutPCI(t *testing.T) {
	var said bytes.Buffer
	args := []string{"vm", "--device", "design:../../cosim/harness/testdata/prober.yaml", "--", "true"}
	_, err := vmFunction(args[2])
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, "has no key pci")
	require.Equal(t, exitUsage, run(t.Context(), []string{"vm", "build-module"}, nil, &said, &said))
}

func TestFreeRunning(t *testing.T) {
	for device, want := range map[string]string{
		"rtl:":                     "rtl:?clock=wall",
		"rtl:?vc_depth=8":          "rtl:?vc_depth=8&clock=wall",
		"rtl:?clock=step":          "rtl:?clock=step",
		"uart:/dev/x":              "uart:/dev/x",
		"design:x.yaml":            "design:x.yaml?clock=wall&inside=1",
		"design:x.yaml?inside=1":   "design:x.yaml?inside=1&clock=wall",
		"design:x.yaml?clock=wall": "design:x.yaml?clock=wall&inside=1",
	} {
		require.Equal(t, want, freeRunning(device))
	}
}
