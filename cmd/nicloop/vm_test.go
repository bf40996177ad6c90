package main

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/nicloop/nicloop/cosim/vm"
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
