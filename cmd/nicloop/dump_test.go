package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers/regs"
)

// A file is refused as a dump, or it can be compared.
func FuzzDump(f *testing.F) {
	f.Add([]byte(`{"registers":[{"name":"MAGIC","offset":0,"value":1},{"name":"X","offset":4294967295,"value":2}]}`))
	f.Add([]byte(`{"registers":[]}`))
	f.Add([]byte(`{`))
	name := filepath.Join(f.TempDir(), "dump.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.WriteFile(name, text, 0o600))
		d, err := readDump(name)
		if err != nil {
			return
		}
		other := *d
		other.Registers = append([]registerValue{}, d.Registers...)
		for i := range other.Registers {
			other.Registers[i].Value ^= 0x5555555555555555
		}
		_, err = printDiff(io.Discard, regs.Map(), [2]*deviceInfo{d, &other})
		require.NoError(t, err)
	})
}
