package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
	hdl "github.com/nicloop/nicloop/rtl"
	"github.com/nicloop/nicloop/velo"
)

// forged is a system of which one node's TX_LEVEL shows fewer credits than there are, as if some
// had been lost.
type forged struct {
	drivers.Timed
	node int
	lost uint64
}

func (f forged) Device(node int) drivers.Device {
	if node == f.node {
		return forgedDevice{f.Timed.Device(node), f.lost}
	}
	return f.Timed.Device(node)
}

type forgedDevice struct {
	drivers.Device
	lost uint64
}

func (d forgedDevice) ReadReg(off uint32) (uint64, error) {
	v, err := d.Device.ReadReg(off)
	if off == regs.TXLevel {
		v -= d.lost << regs.TXLevelCredits1.LSB()
	}
	return v, err
}

// verdictOf is how a program hangs.
func verdictOf(t *testing.T, c Config, body func(*host.Rank) error) *Verdict {
	t.Helper()
	err := Launch(context.Background(), c, 4, body)
	var v *Verdict
	require.ErrorAs(t, err, &v)
	return v
}

// TestVerdictNamesQueues: full mailboxes hold packets, from the completer back to the line buffers,
// and the verdict names each queue and why it stands.
func TestVerdictNamesQueues(t *testing.T) {
	c := Default("alltoall")
	c.Device, c.Nodes, c.Procs = "model:", 2, 2
	c.Velo = velo.Config{Flow: velo.None, Slots: 1}
	_, err := Run(context.Background(), c)
	var v *Verdict
	require.ErrorAs(t, err, &v)
	require.Equal(t, RTLStall, v.Class)
	require.Empty(t, v.Lost)
	queues := map[string]string{}
	for _, n := range v.Nodes {
		for _, h := range n.Held {
			queues[h.Queue] = h.Why
		}
	}
	require.Contains(t, queues["u_nic.u_eject"], "the mailbox of vpid")
	require.Equal(t, "no credit of VC 0 into the network", queues["u_nic.u_requester.u_lines"])
	require.Contains(t, queues, "u_nic.u_router.g_in[0].u_input")
	require.ErrorContains(t, v, "u_nic.u_requester.u_lines: 30 lines; no credit of VC 0")
}

// TestVerdictLostCredits: the hardware is empty, and yet credits are missing.
func TestVerdictLostCredits(t *testing.T) {
	c := Default("")
	c.Device, c.Nodes, c.Sizes = "model:", 2, []int{8}
	waits := func(r *host.Rank) error {
		_, err := r.Recv(1-r.ID(), 7, make([]byte, 8))
		return err
	}
	require.Empty(t, verdictOf(t, c, waits).Lost)
	c.Open = func(ctx context.Context, uri string, opt drivers.Options) (drivers.System, error) {
		sys, err := registry.Open(ctx, uri, opt)
		if err != nil {
			return nil, err
		}
		return forged{sys.(drivers.Timed), 1, 3}, nil
	}
	v := verdictOf(t, c, waits)
	require.Equal(t, []LostCredits{{Node: 1, Port: 0, VC: 1, Peer: 1, Have: 13, Depth: 16}}, v.Lost)
	require.ErrorContains(t, v, "credits lost: router of node 1, port 0 (from the NIC), VC 1: the sender has 13 of 16")
}

// shortOf is a system of which one link shows fewer credits than there are.
type shortOf struct {
	drivers.Timed
	node int
	off  uint32
	lost uint64
}

type shortDevice struct {
	drivers.Device
	of *shortOf
}

func (s shortOf) Device(node int) drivers.Device {
	if node == s.node {
		return shortDevice{s.Timed.Device(node), &s}
	}
	return s.Timed.Device(node)
}

func (d shortDevice) ReadReg(off uint32) (uint64, error) {
	v, err := d.Device.ReadReg(off)
	if off == d.of.off {
		v -= d.of.lost
	}
	return v, err
}

// TestVerdictLinksStand: in meshes and rings that stand, full or empty, every credit of every link
// is somewhere; one that is not is named with router, port, channel and counts.
func TestVerdictLinksStand(t *testing.T) {
	for _, c := range []struct {
		device string
		nodes  int
	}{{"model:", 3}, {"model:", 8}, {"model:?torus=1&dims=4x1x1&vc_depth=2", 4}, {"model:?torus=1", 9}, {"model:?link_errors=1e-3", 4}} {
		full := Default("alltoall")
		full.Device, full.Nodes, full.Procs = c.device, c.nodes, 2
		full.Velo = velo.Config{Flow: velo.None, Slots: 1}
		_, err := Run(context.Background(), full)
		var v *Verdict
		require.ErrorAs(t, err, &v, c.device)
		require.Equal(t, RTLStall, v.Class)
		require.Empty(t, v.Lost, c.device)

		full.Open = func(ctx context.Context, uri string, opt drivers.Options) (drivers.System, error) {
			sys, err := registry.Open(ctx, uri, opt)
			if err != nil {
				return nil, err
			}
			return shortOf{sys.(drivers.Timed), 1, regs.WireCredits(1), 1 << regs.WireCreditsCredits1.LSB()}, nil
		}
		_, err = Run(context.Background(), full)
		require.ErrorAs(t, err, &v, c.device)
		require.Len(t, v.Lost, 1)
		l := v.Lost[0]
		require.Equal(t, LostCredits{Node: 1, Port: 2, VC: 1, Peer: 0, Have: l.Depth - 1, Depth: l.Depth}, l)
	}
}

// leaking is the RTL with a router of node 1 that loses the credits of VC 0 that come over link +X,
// from the fifth on. The assertion of sim_node on the credits of idle hardware, which would find
// that at once, is switched off.
func leaking(t *testing.T) (dir string) {
	dir = t.TempDir()
	require.NoError(t, os.CopyFS(dir, hdl.Sources))
	file := filepath.Join(dir, "core", "router.sv")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	const credits, from = ".tx_credit(tx_credit[o*VCS+:VCS])", "  // ---- crossbar ----\n"
	require.Equal(t, 1, strings.Count(string(text), credits))
	require.Equal(t, 1, strings.Count(string(text), from))
	edited := strings.Replace(string(text), credits, ".tx_credit(tx_credit[o*VCS+:VCS] & ~VCS'(o == 1 && here == 12'd1 && leaks == 3'd4))", 1)
	edited = strings.Replace(edited, from, from+"  logic [2:0] leaks;\n"+
		"  always_ff @(posedge clk) if (rst) leaks <= '0; else if (tx_credit[VCS] && leaks != 3'd4) leaks <= leaks + 1'b1;\n", 1)
	require.NoError(t, os.Chmod(file, 0o644))
	require.NoError(t, os.WriteFile(file, []byte(edited), 0o644))

	node := filepath.Join(dir, "sim", "sim_node.sv")
	text, err = os.ReadFile(node)
	require.NoError(t, err)
	const applies = "applies = expect_credits"
	require.Equal(t, 2, strings.Count(string(text), applies))
	require.NoError(t, os.Chmod(node, 0o644))
	require.NoError(t, os.WriteFile(node, []byte(strings.ReplaceAll(string(text), applies, "applies = 1'b0 && expect_credits")), 0o644))
	return dir
}

// TestVerdictLeakingRouter: a router in the middle of a line loses credits of a link until
// everything stands, and the verdict says which.
func TestVerdictLeakingRouter(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	c := Default("")
	c.Device, c.Nodes, c.Sizes = "rtl:?src="+leaking(t), 3, []int{1024}
	err := Launch(context.Background(), c, 4, func(r *host.Rank) error {
		for range 50 {
			switch r.ID() {
			case 0:
				if err := r.Send(2, 7, make([]byte, 1024)); err != nil {
					return err
				}
			case 2:
				if _, err := r.Recv(0, 7, make([]byte, 1024)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	var v *Verdict
	require.ErrorAs(t, err, &v)
	require.Equal(t, RTLStall, v.Class)
	require.Equal(t, []LostCredits{{Node: 1, Port: 1, VC: 0, Peer: 2, Have: 0, Buffered: 0, Depth: 16}}, v.Lost)
	require.ErrorContains(t, v, "credits lost: router of node 1, port 1 (+X, to node 2), VC 0: the sender has 0 of 16, 0 flits are buffered at the receiver, 16 credits are missing")
}

// TestVerdictRendezvous: a rank that waits for a long message says how far that is.
func TestVerdictRendezvous(t *testing.T) {
	c := Default("")
	c.Device, c.Nodes, c.Sizes, c.Rendezvous = "model:", 2, []int{8192}, host.RGET
	v := verdictOf(t, c, func(r *host.Rank) error {
		if r.ID() == 0 {
			return r.Send(1, 7, make([]byte, 8192))
		}
		_, err := r.Recv(0, 8, make([]byte, 8192)) // another tag
		return err
	})
	require.Len(t, v.Ranks, 2)
	require.Regexp(t, `^send to 1 .*: 0 of 8192 bytes`, v.Ranks[0].Long)
	require.False(t, errors.Is(v, context.Canceled))
}
