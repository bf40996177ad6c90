package rendezvous

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzControl(f *testing.F) {
	f.Add(make([]byte, ControlBytes))
	b := make([]byte, ControlBytes)
	Control{Kind: FIN, Code: Fault, Detail: 3, From: makeID(7, 9, true), To: makeID(1, 1, false), Address: 1 << 44, Bytes: 1 << 31}.Put(b)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Parse(b)
		if err != nil {
			return
		}
		out := make([]byte, ControlBytes)
		c.Put(out)
		require.Equal(t, b, out)
	})
}
