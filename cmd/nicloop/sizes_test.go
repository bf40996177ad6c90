package main

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// Every flag that counts bytes takes units.
func TestSizeFlags(t *testing.T) {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	var size, memory int
	var sizes []int
	sizeVar(fs, &size, "size", 7, "")
	sizesVar(fs, &sizes, "sizes", []int{1, 2}, "")
	mebibytesVar(fs, &memory, "memory", 64, "")
	require.Equal(t, "[1,2]", fs.Lookup("sizes").DefValue)
	require.NoError(t, fs.Parse([]string{"--size", "64KiB", "--sizes", "8,2k", "--sizes", "1M", "--memory", "2G"}))
	require.Equal(t, 64<<10, size)
	require.Equal(t, []int{8, 2 << 10, 1 << 20}, sizes)
	require.Equal(t, 2048, memory)
	require.NoError(t, fs.Parse([]string{"--memory", "96"}))
	require.Equal(t, 96, memory)
	require.ErrorContains(t, fs.Parse([]string{"--sizes", "8,x"}), "expected a number of bytes, such as 512")

	for verb, flags := range map[string][]string{
		"run":   {"sizes", "size", "chunk", "reuse-from", "nvm-depth", "eager-buffers"},
		"ranks": {"sizes", "chunk"}, "imb": {"msglen"}, "budget": {"size"},
	} {
		cmd, _, err := newRoot().Find([]string{verb})
		require.NoError(t, err)
		for _, name := range flags {
			require.NoError(t, cmd.Flags().Set(name, "8k"), "%s --%s", verb, name)
		}
	}
}
