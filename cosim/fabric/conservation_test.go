package fabric

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCheckCredits: a credit that was lost or duplicated anywhere is reported with its place; a
// link without session, which has not given its credits yet, is not an error.
func TestCheckCredits(t *testing.T) {
	open := func() *Fabric {
		f, err := New(Config{Topology: Torus(3, 3), VCDepth: 4})
		require.NoError(t, err)
		require.NoError(t, f.CheckCredits())
		return f
	}
	f := open()
	f.outputVC(4, 2, 1).sent++
	require.EqualError(t, f.CheckCredits(), "fabric: credits are not conserved: router 4, port 2, VC 1: 3 credits for 4 free entries")
	f = open()
	f.credit0(f.outputVC(3, 0, 2))
	require.EqualError(t, f.CheckCredits(), "fabric: credits are not conserved: router 3, port 0, VC 2: 5 credits for 4 free entries")
	f = open()
	f.where[8].wire[0].sent++
	require.EqualError(t, f.CheckCredits(), "fabric: credits are not conserved: node 8, VC 0 of its NIC: 3 credits for 4 free entries")

	f = open()
	require.NoError(t, f.Expose(0, 1, [2]LinkSettings{}))
	f.parts[0].Order(0, 1, LinkCtrl, LinkReset, 2)
	for range 8 {
		f.parts[0].Step()
	}
	require.False(t, f.parts[0].LinkState(0, 1).Agreed)
	require.Zero(t, f.outputVC(0, 1, 0).credits(Forever))
	require.NoError(t, f.CheckCredits())
	for range 100 {
		f.parts[0].Step()
	}
	require.True(t, f.parts[0].LinkState(0, 1).Agreed)
	require.NoError(t, f.CheckCredits())
	f.outputVC(0, 1, 0).sent++
	require.ErrorIs(t, f.CheckCredits(), ErrCredits)
}

// credit0 duplicates a credit.
func (f *Fabric) credit0(l *outputVC) {
	*l.from(l.known) = 0
	l.known++
}
