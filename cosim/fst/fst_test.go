package fst

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// vcd parses a VCD file: the changes of each signal, by its full name.
func vcd(t testing.TB, r io.Reader) map[string][]Change {
	names, values := map[string][]string{}, map[string][]Change{}
	widths := map[string]int{}
	var scopes []string
	now := uint64(0)
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		w := strings.Fields(in.Text())
		switch {
		case len(w) == 0:
		case w[0] == "$scope":
			scopes = append(scopes, w[2])
		case w[0] == "$upscope":
			scopes = scopes[:len(scopes)-1]
		case w[0] == "$var":
			name := strings.Join(scopes, ".") + "." + strings.Join(w[4:len(w)-1], "")
			names[w[3]] = append(names[w[3]], name)
			width, err := strconv.Atoi(w[2])
			require.NoError(t, err)
			widths[w[3]] = width
		case w[0][0] == '#':
			at, err := strconv.ParseUint(w[0][1:], 10, 64)
			require.NoError(t, err)
			now = at
		case w[0][0] == 'b':
			v := w[0][1:]
			pad := "0"
			if v[0] == 'x' || v[0] == 'z' {
				pad = v[:1]
			}
			v = strings.Repeat(pad, widths[w[1]]-len(v)) + v
			values[w[1]] = add(values[w[1]], Change{now, v}, 0)
		case strings.IndexByte("01xz", w[0][0]) >= 0:
			values[w[0][1:]] = add(values[w[0][1:]], Change{now, w[0][:1]}, 0)
		}
	}
	require.NoError(t, in.Err())
	all := map[string][]Change{}
	for id, list := range names {
		for _, name := range list {
			all[name] = values[id]
		}
	}
	return all
}

// within returns the changes in a range, beginning with the value at its begin.
func within(list []Change, from, to uint64) (some []Change) {
	for _, c := range list {
		if c.Time <= to {
			some = add(some, c, from)
		}
	}
	return some
}

// distinct removes changes that repeat the value.
func distinct(list []Change) []Change {
	return slices.CompactFunc(slices.Clone(list), func(a, b Change) bool { return a.Value == b.Value })
}

// check compares a waveform file with the same waveforms as VCD.
func check(t *testing.T, file []byte, text io.Reader, from, to uint64) {
	f, err := Open(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	var handles []int
	for _, s := range f.Signals {
		handles = append(handles, s.Handle)
	}
	slices.Sort(handles)
	handles = slices.Compact(handles)
	got, err := f.Changes(handles, from, to)
	require.NoError(t, err)
	want := vcd(t, text)
	compared := 0
	for _, s := range f.Signals {
		if s.Width == 0 {
			continue
		}
		require.Contains(t, want, s.Name)
		require.Equal(t, distinct(within(want[s.Name], from, to)), distinct(got[s.Handle]), s.Name)
		compared += len(got[s.Handle])
	}
	require.NotZero(t, compared)
	t.Logf("%d signals, %d changes", len(f.Signals), compared)
}

// TestSmall: testdata/small.fst is testdata/small.vcd, converted by vcd2fst.
func TestSmall(t *testing.T) {
	for _, pack := range []string{"lz4", "zlib"} {
		file, err := os.ReadFile("testdata/small." + pack + ".fst")
		require.NoError(t, err)
		for _, to := range []uint64{0, 39, 40, 1000} {
			for _, from := range []uint64{0, 5, 30, 40} {
				if from > to {
					continue
				}
				text, err := os.Open("testdata/small.vcd")
				require.NoError(t, err)
				check(t, file, text, from, to)
				text.Close()
			}
		}
	}
}

// changeBlocks returns the blocks of value changes of a file.
func changeBlocks(file []byte) (blocks []byte) {
	for len(file) > 9 {
		size := 1 + binary.BigEndian.Uint64(file[1:])
		if file[0] == blockChanges {
			blocks = append(blocks, file[:size]...)
		}
		file = file[size:]
	}
	return blocks
}

// TestBlocks: a file with two blocks of value changes has those of both. testdata/later.fst goes on
// where testdata/small.vcd ends, with the same signals.
func TestBlocks(t *testing.T) {
	first, err := os.ReadFile("testdata/small.lz4.fst")
	require.NoError(t, err)
	second, err := os.ReadFile("testdata/later.fst")
	require.NoError(t, err)
	changes := func(file []byte, from, to uint64) []Change {
		f, err := Open(bytes.NewReader(file), int64(len(file)))
		require.NoError(t, err)
		all, err := f.Changes([]int{1}, from, to)
		require.NoError(t, err)
		return all[1]
	}
	joined := append(slices.Clone(first), changeBlocks(second)...)
	a, b := changes(first, 0, 1000), changes(second, 0, 1000)
	require.Len(t, a, 29)
	require.Equal(t, append(a, b...), changes(joined, 0, 1000))
	require.Equal(t, b[3:], changes(joined, b[3].Time, 1000))
	require.Equal(t, a[len(a)-3:], changes(joined, a[len(a)-3].Time, 399))
}

// TestOfSimulator compares a file that a simulator has written with what fst2vcd makes of it.
func TestOfSimulator(t *testing.T) {
	name := os.Getenv("NICLOOP_FST")
	if name == "" {
		t.Skip("set NICLOOP_FST to a waveform file")
	}
	file, err := os.ReadFile(name)
	require.NoError(t, err)
	text, err := exec.Command("fst2vcd", name).Output()
	require.NoError(t, err)
	for _, window := range [][2]uint64{{0, 1 << 62}, {2214400 - 256000, 2214400 + 256000}} {
		check(t, file, bytes.NewReader(text), window[0], window[1])
	}
}

func TestDamaged(t *testing.T) {
	file, err := os.ReadFile("testdata/small.lz4.fst")
	require.NoError(t, err)
	for n := range len(file) {
		f, err := Open(bytes.NewReader(file[:n]), int64(n))
		if err == nil {
			_, err = f.Changes([]int{0, 1, 2, 3}, 0, 1000)
		}
		require.Error(t, err, "%d of %d bytes", n, len(file))
	}
}

// TestMutated: a file with a few wrong bytes is read or refused; nothing panics.
func TestMutated(t *testing.T) {
	file, err := os.ReadFile("testdata/small.lz4.fst")
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 2000 {
		b := bytes.Clone(file)
		for range 1 + rng.IntN(4) {
			b[rng.IntN(len(b))] ^= byte(1 << rng.IntN(8))
		}
		f, err := Open(bytes.NewReader(b), int64(len(b)))
		if err == nil {
			_, err = f.Changes([]int{0, 1, 2, 3, 4, 5, 6, 7, 8}, 10, 35)
		}
		if err != nil {
			refused++
		}
	}
	require.Greater(t, refused, 100)
}

// TestNamesClaimTooMuch: a short file that claims large contents is refused before memory is
// allocated.
func TestNamesClaimTooMuch(t *testing.T) {
	_, err := unpackNames(blockNamesLZ4, append([]byte{0, 0, 0, 0, 0x30, 0x30, 0x30, 0x30}, make([]byte, 130)...))
	require.ErrorContains(t, err, "138 bytes claim to contain 808464432")
}

// FuzzFile: any waveform file is read or refused.
func FuzzFile(f *testing.F) {
	for _, pack := range []string{"lz4", "zlib"} {
		file, err := os.ReadFile("testdata/small." + pack + ".fst")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if f, err := Open(bytes.NewReader(b), int64(len(b))); err == nil {
			_, _ = f.Changes([]int{0, 1, 2, 3, 4}, 10, 35)
		}
	})
}
