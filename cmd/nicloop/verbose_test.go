package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"
)

// What -v says, and nothing of it without: a line is a message, and fields that can be looked for.
func TestVerbose(t *testing.T) {
	t.Chdir(t.TempDir())
	self, err := os.Executable()
	require.NoError(t, err)
	nicloop := filepath.Join(t.TempDir(), "nicloop") // TestMain goes by the name
	require.NoError(t, os.Symlink(self, nicloop))
	was := executable
	executable = func() (string, error) { return nicloop, nil }
	defer func() { executable = was }()
	defer logrus.SetLevel(logrus.WarnLevel)
	require.NoError(t, os.WriteFile("s.yaml", []byte("{schema: 1, name: s, verb: version, values: {number: description_version}}"), 0o644))
	type verb struct {
		line string
		said []string // parts of lines
	}
	verbs := []verb{
		{"run alltoall --nodes 4 --device model:", []string{`"device opened" device="model:" layer=drivers .*nodes=4`, `"world opened" device="model:" .*layer=world .*ranks=4`, `"size measured" bytes=2048 .*workload=alltoall`, `"world closed" cycle=[1-9]`}},
		{"regress velo/lengths --device model:", []string{`"device opened" device="model:"`, `"test ended" cycles=[1-9].*layer=regress .*run=1 .*status=PASS test=velo/lengths`}},
		{"conform collectives/barrier --device ideal:", []string{`"world opened" device="ideal:"`, "layer=regress .*test=collectives/barrier"}},
		{"imb PingPong --device model: --msglog 3:4 --iter 2", []string{`"table measured" benchmark=PingPong iterations=2 layer=imb lengths=3 procs=2`}},
		{"check rendezvous --bound 1", []string{`"world explored" .*expected=proved layer=check .*states=[1-9].*verdict=proved`, "expected=refuted .*verdict=refuted"}},
		{"fabric mesh:3x3 --rate 0.2", []string{`"load measured" accepted=0.[12][0-9]* layer=load rate=0.2 seed=1 state=ok`}},
		{"reproduce fc-table3 --out rows", []string{`"experiment measured" experiment=fc-table3 layer=reproduce`}},
		{"sweep s.yaml", []string{`"task ended" exit=0 layer=batch .*task="?version`}},
		{"calibrate --device model:", []string{`"parameters measured" device="model:" experiment="round trip" layer=calibrate`}},
		{"ranks alltoall --device ideal:", []string{`"client has connected" domain=1 layer=broker processes=1`, `"client has disconnected" .*layer=broker`}},
		{"device info --device model: --nodes 2 --node 1", []string{`"device opened" device="model:" layer=drivers`}},
	}
	if !testing.Short() { // builds a simulator
		verbs = append(verbs, verb{"run pingpong --device rtl: --sizes 8", []string{
			`"simulator found or built" built=.*hash=[0-9a-f]{12} layer=build`, `"simulator started" .*layer=bridge .*pid=[1-9]`, `"simulator ended" .*orderly=true`,
		}})
	}
	for _, c := range verbs {
		var out, errOut bytes.Buffer
		code := run(context.Background(), append(strings.Fields(c.line), "-v"), strings.NewReader(""), &out, &errOut)
		require.Equal(t, exitOK, code, "%s: %s", c.line, errOut.String())
		for _, want := range c.said {
			require.Regexp(t, regexp.MustCompile(`(?m)^time="[0-9:.]+" level=debug msg=.*`+want), errOut.String(), "%s -v", c.line)
		}
	}
	require.NoError(t, os.RemoveAll("rows"))
	var out, errOut bytes.Buffer
	require.Equal(t, exitOK, run(context.Background(), strings.Fields("run alltoall --nodes 4 --device model:"), strings.NewReader(""), &out, &errOut))
	require.NotContains(t, errOut.String(), "level=")
}
