package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/capture"
	"github.com/nicloop/nicloop/cosim/capture/tsharktest"
	_ "github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/rma/conformance"
)

// bodies are the machines whose captures are looked at.
func bodies(t *testing.T, nodes int, f func(t *testing.T, uri string)) {
	t.Run("ideal", func(t *testing.T) { f(t, "ideal:") })
	t.Run("rtl", func(t *testing.T) {
		if testing.Short() {
			t.Skip("builds a simulator")
		}
		sys, err := registry.Open(context.Background(), "rtl:", drivers.Options{Nodes: nodes})
		if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
			t.Skipf("no simulator here: %v", err)
		}
		require.NoError(t, err)
		require.NoError(t, sys.Close())
		f(t, "rtl:")
	})
}

// Every packet of every conformance case reads the same in tshark and in the
// layers, and neither finds anything wrong.
func TestCapturesOfConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("tshark reads every packet of every case")
	}
	bodies(t, 2, func(t *testing.T, uri string) {
		for _, c := range conformance.Cases() {
			if c.Slow || c.Nodes > 2 && uri != "ideal:" {
				continue
			}
			t.Run(c.Name, func(t *testing.T) {
				var file bytes.Buffer
				w, err := capture.NewWriter(&file)
				require.NoError(t, err)
				sys, err := registry.Open(context.Background(), uri, drivers.Options{Nodes: c.Nodes, MemoryBytes: c.Memory, Trace: w})
				require.NoError(t, err)
				require.NoError(t, c.Run(sys.(drivers.Timed), 1))
				require.NoError(t, sys.Close())
				require.NoError(t, w.Close())
				checkCapture(t, file.Bytes())
			})
		}
	})
}

// The same of messages over RMA.
func TestCapturesOfRendezvous(t *testing.T) {
	bodies(t, 2, func(t *testing.T, uri string) {
		for _, r := range []host.Rendezvous{host.RGET, host.RPUT, host.Chunked} {
			if testing.Short() && r == host.Chunked {
				continue // has the packets of RGET
			}
			t.Run(string(r), func(t *testing.T) {
				file := captureRun(t, uri, 2, r)
				checkCapture(t, file)
				used := "RMA_GET_REQ"
				if r == host.RPUT {
					used = "RMA_PUT"
				}
				info := tsharktest.Fields(t, capture.Dissector(), file, "nicloop.rma_ext.nla", "_ws.col.Info")
				require.Contains(t, strings.Join(info, "\n"), strings.Replace(used, "_", " ", 1)+" ")
			})
		}
	})
}

// In a mesh there is one interface per link that carried a packet.
func TestCapturesOfMesh(t *testing.T) {
	bodies(t, 4, func(t *testing.T, uri string) {
		seen := checkCapture(t, captureRun(t, uri, 4, host.RGET))
		want := []string{"inject", "eject"}
		if uri == "rtl:" {
			want = append(want, "x", "y")
		}
		for node := range 4 {
			for _, point := range want {
				name := fmt.Sprintf("node%d.%s", node, point)
				if len(point) == 1 { // 2 x 2: one neighbour in each dimension
					name += map[bool]string{true: "+", false: "-"}[node>>(point[0]-'x')&1 == 0]
				}
				require.NotZero(t, seen[name], name)
				delete(seen, name)
			}
		}
		require.Empty(t, seen, "packets on links that the mesh does not have")
	})
}

// captureRun captures an alltoall of messages that need RMA.
func captureRun(t *testing.T, uri string, nodes int, r host.Rendezvous) []byte {
	var file bytes.Buffer
	c := Default("alltoall")
	c.Device, c.Nodes, c.Rendezvous, c.Sizes, c.Iterations, c.Pcap = uri, nodes, r, []int{5000}, 2, &file
	c.Chunk, c.Outstanding = 2048, 2
	_, err := Run(context.Background(), c)
	require.NoError(t, err)
	return file.Bytes()
}

// checkCapture counts a capture's packets by interface after both readers agreed on them.
func checkCapture(t *testing.T, file []byte) map[string]int {
	names := []string{"frame.interface_name", "nicloop.type", "nicloop.src_node", "nicloop.src_vpid", "nicloop.dst_node", "nicloop.dst_vpid",
		"nicloop.length", "nicloop.rma_op.last", "nicloop.rma_ext.nla", "nicloop.rma_ext.tag", "nicloop.rma_get.nla", "nicloop.rma_get.bytes_minus_1",
		"nicloop.rma_lock.compare", "nicloop.rma_lock.add", "nicloop.rma_result.old", "nicloop.rma.notification", "nicloop.rma_noti.error",
		"nicloop.payload", "nicloop.crc.status"}
	seen := map[string]int{}
	want := layersOf(t, file, seen)
	require.NotEmpty(t, want)
	require.Equal(t, want, tsharktest.Fields(t, capture.Dissector(), file, "frame", names...))
	require.Empty(t, tsharktest.Fields(t, capture.Dissector(), file, "_ws.malformed || _ws.expert || _ws.lua.error || !nicloop", "frame.number"))
	return seen
}

// layersOf is what tshark must print of each packet.
func layersOf(t *testing.T, file []byte, seen map[string]int) (lines []string) {
	r, err := pcapgo.NewNgReader(bytes.NewReader(file), pcapgo.NgReaderOptions{})
	require.NoError(t, err)
	for {
		data, ci, err := r.ReadPacketData()
		if err == io.EOF {
			return lines
		}
		require.NoError(t, err)
		at, err := r.Interface(ci.InterfaceIndex)
		require.NoError(t, err)
		seen[at.Name]++
		p := gopacket.NewPacket(data, capture.LayerTypeNicLoop, gopacket.Default)
		require.Nil(t, p.ErrorLayer())
		lines = append(lines, at.Name+"|"+layerLine(t, p))
	}
}

func layerLine(t *testing.T, p gopacket.Packet) string {
	head := p.Layer(capture.LayerTypeNicLoop).(*capture.NicLoop)
	require.True(t, p.Layer(capture.LayerTypeTail).(*capture.Tail).Valid(head))
	h := head.Header
	line := fmt.Sprintf("%d|%d|%d|%d|%d|%d|", h.Type(), h.SrcNode(), h.SrcVPID(), h.DstNode(), h.DstVPID(), h.Length())
	if v, ok := p.Layer(capture.LayerTypeVELO).(*capture.VELO); ok {
		return line + fmt.Sprintf("||||||||||%x|good", v.Data)
	}
	r := p.Layer(capture.LayerTypeRMA).(*capture.RMA)
	last := map[bool]int{true: 1}[r.Op().Last()]
	return line + fmt.Sprintf("%d|0x%016x|%d|%s|%x|good", last, r.Ext.NLA(), r.Ext.Tag(), operands(h.Type(), r), r.Data)
}

func operands(t regs.PacketType, r *capture.RMA) string {
	switch t {
	case regs.PacketTypeRMAGetReq:
		return fmt.Sprintf("0x%016x|%d|||||", r.Get().NLA(), r.Get().BytesMinus1())
	case regs.PacketTypeRMALockReq:
		return fmt.Sprintf("||%d|%d|||", r.Lock().Compare(), r.Lock().Add())
	case regs.PacketTypeRMALockRsp:
		return fmt.Sprintf("||||%d||", r.Result().Old())
	case regs.PacketTypeRMANoti:
		return fmt.Sprintf("|||||0x%016x|", r.Word)
	case regs.PacketTypeRMAError:
		return fmt.Sprintf("||||||%d", r.Error().Error())
	}
	return "||||||"
}
