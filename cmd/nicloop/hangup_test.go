package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/bench/runs"
)

// A writer is a command line that would write files for minutes.
type writer struct {
	line  string
	grows string // the signal is sent when this file has content
	code  int
	check map[string]func(t *testing.T, file string) // what its files must be after the signal
}

var writers = []writer{
	{
		"run pingpong --device model: --iterations 100000000 --pcap a.pcapng --record a.log", "a.pcapng", exitStopped,
		map[string]func(*testing.T, string){"a.pcapng": readsAsCapture, "a.log": readsAsLog},
	},
	{
		"imb PingPong --device model: --msglen 64 --iter 10000000 --pcap a.pcapng", "a.pcapng", exitStopped,
		map[string]func(*testing.T, string){"a.pcapng": readsAsCapture},
	},
	{
		"iwarp bandwidth --network ethernet: --qp rd --iterations 100000000 --pcap a.pcapng", "a.pcapng", exitStopped,
		map[string]func(*testing.T, string){"a.pcapng": readsAsCapture},
	},
	{
		"device monitor --device record:a.log!model: --interval 1us", "a.log", exitOK,
		map[string]func(*testing.T, string){"a.log": readsAsLog},
	},
	{
		"regress velo/* --device model: --seeds 1000 --db r.db -x r.xml -o out", "r.db", exitStopped,
		map[string]func(*testing.T, string){"r.xml": readsAsXML, "out/results.xml": readsAsXML, "r.db": readsAsRuns},
	},
	{
		"fabric mesh:32x32x8 --csv a.csv --plot a", "", exitStopped,
		map[string]func(*testing.T, string){"a.csv": isMissing, "a-latency.png": isMissing},
	},
}

// A command that a closed terminal interrupts leaves files that can be read to their end.
func TestHangupClosesFiles(t *testing.T) {
	for _, w := range writers {
		t.Run(w.line, func(t *testing.T) {
			t.Parallel()
			cmd, out, tmp := startLong(t, w.line)
			hasBegun := func() bool {
				info, err := os.Stat(filepath.Join(cmd.Dir, w.grows))
				return err == nil && info.Size() > 0
			}
			require.Eventually(t, hasBegun, 20*time.Second, 10*time.Millisecond, "%s", out)
			time.Sleep(300 * time.Millisecond)
			require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
			endsSoon(t, cmd, out, tmp, w.code)
			for file, check := range w.check {
				check(t, filepath.Join(cmd.Dir, file))
			}
			parts, err := filepath.Glob(filepath.Join(cmd.Dir, "*.part*"))
			require.NoError(t, err)
			require.Empty(t, parts)
		})
	}
}

func isMissing(t *testing.T, file string) { require.NoFileExists(t, file) }

func readsAsCapture(t *testing.T, file string) {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	r, err := pcapgo.NewNgReader(f, pcapgo.DefaultNgReaderOptions)
	require.NoError(t, err)
	packets := 0
	for {
		_, _, err := r.ReadPacketData()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, "packet %d", packets)
		packets++
	}
	require.Positive(t, packets)
}

func readsAsLog(t *testing.T, file string) {
	var text strings.Builder
	require.Zero(t, run(t.Context(), []string{"device", "log", file}, nil, &text, io.Discard))
	require.Contains(t, text.String(), "complete: ")
}

func readsAsXML(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var results struct {
		XMLName xml.Name
		Suites  []struct{} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(text, &results))
}

func readsAsRuns(t *testing.T, file string) {
	list, err := runs.At(file).List()
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.False(t, list[0].Ended.IsZero(), "the run has not ended")
}
