package main

import (
	"bytes"
	"os/exec"
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

// A design is a PCI function with the IDs and registers of its description.
func TestVMDesign(t *testing.T) {
	if testing.Short() {
		t.Skip("boots a virtual machine, and builds a simulator")
	}
	dir, err := vm.ImageDir()
	require.NoError(t, err)
	if _, missing := exec.LookPath(vm.QEMU); missing != nil || vm.CheckImage(dir) != nil {
		t.Skip("no QEMU or no image here: scripts/setup-debian.sh --vm")
	}
	const script = `cd /sys/bus/pci/devices/` + vm.Slot + `; cat device class; echo 1 >enable
a=$(head -n 1 resource); a=${a%% *}; devmem $a 32; devmem $((a+4)) 32 2; devmem $((a+4)) 32; ls /files`
	var out, said bytes.Buffer
	code := run(t.Context(), []string{
		"vm", "--device", "design:../../rtl/examples/dma/dma.yaml", "--file", "vm_test.go", "--", "sh", "-c", script,
	}, nil, &out, &said)
	require.Zero(t, code, said.String())
	require.Equal(t, "0xd3a0\n0x088000\n0x444D4131\n0x00000002\nvm_test.go\n", out.String())
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
