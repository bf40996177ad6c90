package uart

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// feed returns the frames among bytes.
func feed(d *Decoder, line []byte) (list []Frame) {
	for _, b := range line {
		if f, ok := d.Feed(b); ok {
			f.Data = slices.Clone(f.Data)
			list = append(list, f)
		}
	}
	return list
}

// The bytes of the package's text, and a frame with both bytes that must be stuffed. The CRCs are
// zlib's.
func TestFrameOnTheLine(t *testing.T) {
	for _, c := range []struct {
		frame Frame
		hex   string
	}{
		{Frame{Seq: 7, Op: ReadReg, Count: 1, Address: 0x18, Data: []byte{}}, "7e0710011800000000" + "5845f593" + "7e"},
		{Frame{Seq: 0x7e, Op: WriteMemory, Count: 1, Address: 0x7d, Data: []byte{0x7e, 1, 2, 3, 4, 5, 6, 0x7d}}, "7e7d5e22017d5d00000000" + "7d5e0102030405067d5d" + "12d049b7" + "7e"},
	} {
		line := AppendFrame(nil, &c.frame)
		require.Equal(t, c.hex, hex.EncodeToString(line))
		var d Decoder
		require.Equal(t, []Frame{c.frame}, feed(&d, line))
		require.Zero(t, d.Dropped)
	}
}

// Whatever stands between frames, they are found, and what is damaged is none.
func TestGarbageEndsWithTheNextFrame(t *testing.T) {
	const seed = 1
	rnd := rand.New(rand.NewPCG(seed, 0))
	var d Decoder
	for i := range 3000 {
		want := Frame{Seq: uint8(i), Op: WriteMemory, Count: uint8(rnd.IntN(MaxWords + 1)), Address: rnd.Uint64N(MaxAddress)}
		want.Data = make([]byte, 8*want.Count)
		for j := range want.Data {
			want.Data[j] = []byte{flag, escape, byte(rnd.Uint32())}[rnd.IntN(3)]
		}
		good := AppendFrame(nil, &want)
		line := slices.Clone(good)
		at := 1 + rnd.IntN(len(line)-2)
		switch rnd.IntN(3) {
		case 0:
			line[at] ^= 1 << rnd.IntN(8)
		case 1:
			line = slices.Delete(line, at, at+1)
		case 2:
			line = line[:at]
		}
		if rnd.IntN(2) == 0 {
			for range rnd.IntN(300) {
				line = append(line, byte(rnd.Uint32()))
			}
		}
		require.Empty(t, feed(&d, line), "seed %d, frame %d: go test -run %s ./drivers/uart", seed, i, t.Name())
		require.Equal(t, []Frame{want}, feed(&d, good), "seed %d, frame %d", seed, i)
	}
	require.Positive(t, d.Dropped)
	require.Error(t, d.Why)
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte{flag, flag, escape, flag})
	f.Add(AppendFrame(nil, &Frame{Seq: 1, Op: WriteReg, Count: 1, Address: 8, Data: make([]byte, 8)}))
	f.Fuzz(func(t *testing.T, line []byte) {
		var d Decoder
		for _, got := range feed(&d, line) {
			require.LessOrEqual(t, len(got.Data), 8*MaxWords)
			var again Decoder
			require.Equal(t, []Frame{got}, feed(&again, AppendFrame(nil, &got)), "what was read can be sent")
		}
		require.False(t, d.n > maxFrame)
		if bytes.Count(line, []byte{flag}) == 0 {
			require.Zero(t, d.Dropped)
		}
	})
}
