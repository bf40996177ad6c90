package ethernet

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/capture/tsharktest"
)

// record sends datagrams of several lengths and returns the capture of their sender.
func record(t *testing.T, noChecksum bool) []byte {
	t.Helper()
	var file bytes.Buffer
	n := open(t, Config{Sent: &file, SendBuffer: 1 << 20, NoChecksum: noChecksum})
	a, b := bind(t, n, 0), bind(t, n, 1)
	for _, size := range []int{0, 1, 64, 1472, 1473, 8000, 65507} {
		send(t, a, b.Address(), pattern(size, uint64(size)))
		send(t, b, a.Address(), pattern(size, uint64(size)))
		settle(n)
	}
	require.NoError(t, n.Close())
	return file.Bytes()
}

// TestTshark lets tshark, which shares no code with this package, check lengths, fragments and
// checksums.
func TestTshark(t *testing.T) {
	for _, off := range []bool{false, true} {
		file := record(t, off)
		checks := []string{"-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-d", "udp.port==40000,data"}
		text := strings.Join(tsharktest.Run(t, "", file, append(checks, "-V")...), "\n")
		for _, bad := range []string{"Malformed", "incorrect", "Bad checksum", "overlap: True", "too long", "Defragmentation error: True"} {
			require.NotContains(t, text, bad)
		}
		status := "[Checksum Status: Good]"
		if off {
			status = "Checksum: 0x0000 [zero-value ignored]"
		}
		require.GreaterOrEqual(t, strings.Count(text, status), 14)
		lengths := tsharktest.Fields(t, "", file, "udp", "ip.src", "udp.length")
		require.Equal(t, "10.0.0.1|8 10.0.0.2|8 10.0.0.1|9 10.0.0.2|9 10.0.0.1|72 10.0.0.2|72 "+
			"10.0.0.1|1480 10.0.0.2|1480 10.0.0.1|1481 10.0.0.2|1481 10.0.0.1|8008 10.0.0.2|8008 "+
			"10.0.0.1|65515 10.0.0.2|65515", strings.Join(lengths, " "))
	}
}

// TestGopacket decodes every frame with a second implementation and compares its checksums.
func TestGopacket(t *testing.T) {
	r, err := pcapgo.NewNgReader(bytes.NewReader(record(t, false)), pcapgo.DefaultNgReaderOptions)
	require.NoError(t, err)
	frames := 0
	for {
		data, _, err := r.ReadPacketData()
		if err != nil {
			break
		}
		frames++
		p := gopacket.NewPacket(data, layers.LayerTypeEthernet, gopacket.Default)
		require.Nil(t, p.ErrorLayer())
		ip := p.Layer(layers.LayerTypeIPv4).(*layers.IPv4)
		b := gopacket.NewSerializeBuffer()
		again := *ip
		o := gopacket.SerializeOptions{ComputeChecksums: true, FixLengths: true}
		require.NoError(t, gopacket.SerializeLayers(b, o, &again, gopacket.Payload(ip.Payload)))
		require.Equal(t, ip.Checksum, again.Checksum)
		require.Equal(t, ip.Length, again.Length)
	}
	require.Equal(t, 2, r.NInterfaces())
	require.Equal(t, 2*(1+1+1+1+2+6+45), frames)
}

// TestTsharkStream lets tshark follow a stream: it finds neither wrong lengths and checksums nor
// segments that a lossless network does not explain. A full window is one of its warnings.
func TestTsharkStream(t *testing.T) {
	var file bytes.Buffer
	n := open(t, Config{Sent: &file})
	a, b := connect(t, n)
	exchange(t, n, &transfer{from: a, to: b, want: pattern(300_000, 1), step: 10_000, chunk: 20_000},
		&transfer{from: b, to: a, want: pattern(1000, 2), step: 10, chunk: 1000})
	settle(n)
	require.NoError(t, n.Close())
	preferences := []string{"-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"}
	const warning = "0x600000"
	bad := "_ws.malformed or tcp.analysis.retransmission or _ws.expert.severity >= " + warning +
		" and not tcp.analysis.window_full"
	require.Empty(t, tsharktest.Run(t, "", file.Bytes(), append(preferences, "-Y", bad)...))
	require.Len(t, tsharktest.Fields(t, "", file.Bytes(), "tcp.flags.fin == 1", "frame.number"), 2)
}
