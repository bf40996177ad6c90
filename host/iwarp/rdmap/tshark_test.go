package rdmap

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/capture/tsharktest"
	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/mpa"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

// tcpCapture writes the bytes that two ends exchange as TCP segments, one per call of send.
type tcpCapture struct {
	t    *testing.T
	file bytes.Buffer
	w    *pcapgo.Writer
	seq  [2]uint32
	time time.Time
}

func newTCPCapture(t *testing.T) *tcpCapture {
	c := &tcpCapture{t: t, time: time.Unix(0, 0), seq: [2]uint32{1000, 5000}}
	c.w = pcapgo.NewWriter(&c.file)
	require.NoError(t, c.w.WriteFileHeader(65536, layers.LinkTypeEthernet))
	c.segment(0, func(s *layers.TCP) { s.SYN, s.ACK = true, false }, nil)
	c.segment(1, func(s *layers.TCP) { s.SYN = true }, nil)
	c.seq[0]++
	c.seq[1]++
	c.send(0, nil)
	return c
}

func (c *tcpCapture) send(from int, data []byte) {
	c.segment(from, func(s *layers.TCP) { s.PSH = len(data) > 0 }, data)
	c.seq[from] += uint32(len(data))
}

func (c *tcpCapture) segment(from int, change func(*layers.TCP), data []byte) {
	c.t.Helper()
	mac := [2]net.HardwareAddr{{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}}
	ip := [2]net.IP{{10, 0, 0, 1}, {10, 0, 0, 2}}
	port := [2]layers.TCPPort{40000, 7174}
	eth := &layers.Ethernet{SrcMAC: mac[from], DstMAC: mac[1-from], EthernetType: layers.EthernetTypeIPv4}
	ip4 := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolTCP, SrcIP: ip[from], DstIP: ip[1-from]}
	tcp := &layers.TCP{
		SrcPort: port[from], DstPort: port[1-from], Seq: c.seq[from], Ack: c.seq[1-from], ACK: true, Window: 60000,
	}
	change(tcp)
	require.NoError(c.t, tcp.SetNetworkLayerForChecksum(ip4))
	b := gopacket.NewSerializeBuffer()
	o := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	require.NoError(c.t, gopacket.SerializeLayers(b, o, eth, ip4, tcp, gopacket.Payload(data)))
	c.time = c.time.Add(time.Microsecond)
	info := gopacket.CaptureInfo{Timestamp: c.time, CaptureLength: len(b.Bytes()), Length: len(b.Bytes())}
	require.NoError(c.t, c.w.WritePacket(info, b.Bytes()))
}

// TestDissector lets the iWARP dissectors of tshark, which do not share code with this package,
// read a connection: start-up frames, Sends, a Write, a Read with its response, and a Terminate
// message, with markers in both directions and without.
func TestDissector(t *testing.T) {
	for _, markers := range []bool{false, true} {
		t.Run(fmt.Sprintf("markers=%t", markers), func(t *testing.T) { dissect(t, markers) })
	}
}

func dissect(t *testing.T, markers bool) {
	c := newTCPCapture(t)
	a, b := newEnd(nil), newEnd(nil)
	o := mpa.Options{Revision: 1, CRC: true, Markers: markers}
	request := mpa.Request(o)
	frame, err := request.Append(nil)
	require.NoError(t, err)
	c.send(0, frame)
	reply, _, err := mpa.Respond(request, o)
	require.NoError(t, err)
	frame, err = reply.Append(nil)
	require.NoError(t, err)
	c.send(1, frame)
	for _, e := range []*end{a, b} {
		e.tx.Markers, e.rx.Markers = markers, markers
	}
	sink, _ := a.region(ddp.LocalWrite, 400)
	both, _ := b.region(ddp.RemoteRead|ddp.RemoteWrite, 400)
	other, _ := b.region(ddp.RemoteRead, 1)
	require.NoError(t, b.PostReceive(ddp.Buffer{Pieces: [][]byte{make([]byte, 300)}}))
	require.NoError(t, b.PostReceive(ddp.Buffer{Pieces: [][]byte{make([]byte, 300)}}))
	for _, w := range []Work{
		{Opcode: Send, Pieces: [][]byte{bytes.Repeat([]byte("x"), 301-2)}},
		{Opcode: SendInvalidate, Invalidate: other, Pieces: [][]byte{{1, 2, 3}}},
		{Opcode: Write, RemoteSTag: both, RemoteTO: 0x1000 + 7, Pieces: [][]byte{make([]byte, 393)}},
		{Opcode: ReadRequest, RemoteSTag: both, RemoteTO: 0x1000, LocalSTag: sink, LocalTO: 0x1000, Length: 400},
		{Opcode: Write, RemoteSTag: both, RemoteTO: 0x1000 + 8, Pieces: [][]byte{make([]byte, 393)}},
	} {
		require.NoError(t, a.PostSend(w))
	}
	segments := 0
	ends := [2]*end{a, b}
	for more := true; more; {
		more = false
		for i, e := range ends {
			if e.transmit(1) {
				c.send(i, e.wire)
				segments++
				more = true
			}
			if err := ends[1-i].receive(e); err != nil {
				require.ErrorIs(t, err, term.TaggedBaseBounds)
			}
		}
	}
	require.Equal(t, term.TaggedBaseBounds, a.Remote().Code)

	// The heuristic of RPC over RDMA would take the short Send for one of its own.
	lines := tsharktest.Run(t, "", c.file.Bytes(), "--disable-protocol", "rpcordma", "-V", "-Y", "iwarp_mpa.fpdu")
	text := strings.Join(lines, "\n")
	require.Equal(t, segments, strings.Count(text, "(Good CRC32)"), "CRCs that the dissector accepts")
	for _, bad := range []string{"Bad CRC", "Malformed", "does not contain the expected length"} {
		if _, after, found := strings.Cut(text, bad); found {
			t.Errorf("%s%.300s", bad, after)
		}
	}
	fields := tsharktest.Fields(t, "", c.file.Bytes(), "iwarp_ddp_rdmap", "iwarp_rdma.opcode")
	require.Equal(t, "0x03|0x03|0x04|0x00|0x00|0x00|0x01|0x02|0x00|0x02|0x00|0x02|0x00|0x07",
		strings.Join(fields, "|"))
	report := tsharktest.Fields(t, "", c.file.Bytes(), "iwarp_rdma.term_layer", "iwarp_rdma.term_layer",
		"iwarp_rdma.term_etype_ddp", "iwarp_rdma.term_errcode_ddp_tagged", "iwarp_rdma.term_ddp_seg_len",
		"iwarp_rdma.term_ddp_h")
	require.Equal(t, []string{"0x01|0x01|0x01|0023|c14000000101000000000000117c"}, report)
}
