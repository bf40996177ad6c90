package iwarpperf

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/capture/tsharktest"
	"github.com/nicloop/nicloop/cosim/ethernet"
	"github.com/nicloop/nicloop/drivers"
)

func simulated(t *testing.T, kind string, config ethernet.Config) (*Client, *ethernet.Network) {
	t.Helper()
	n, err := ethernet.New(config)
	require.NoError(t, err)
	c, err := Open(t.Context(), ClientOptions{QP: kind, Network: n})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c, n
}

// TestSimulated: all types measure the same in every run, and lose nothing without faults.
func TestSimulated(t *testing.T) {
	for _, kind := range Kinds() {
		var first []Row
		for range 2 {
			c, n := simulated(t, kind, ethernet.Config{})
			var rows []Row
			for _, size := range []int{0, 1, 1500, MaxBytes} {
				row, err := c.Ping(t.Context(), size, 10, 1)
				require.NoError(t, err, "%s, %d bytes", kind, size)
				require.Zero(t, row.Lost)
				rows = append(rows, row)
			}
			for _, both := range []bool{false, true} {
				row, err := c.Bandwidth(t.Context(), 2048, 300, 64, both)
				require.NoError(t, err, kind)
				require.Zero(t, row.Lost)
				require.Positive(t, row.Bandwidth)
				rows = append(rows, row)
			}
			require.Zero(t, n.Counters().QueueFull)
			if first != nil {
				require.Equal(t, first, rows)
			}
			first = rows
		}
	}
}

// TestSimulatedFaults: rd delivers everything over a bad network; ud counts lost messages.
// Without UDP checksums, the CRC32c of iWARP finds the corruption.
func TestSimulatedFaults(t *testing.T) {
	for seed := range uint64(4) {
		config := ethernet.Config{
			Seed: seed, Loss: 0.02, Duplicate: 0.02, Reorder: 0.05, Corrupt: 0.02, NoChecksum: seed%2 == 1,
		}
		c, n := simulated(t, "rd", config)
		row, err := c.Ping(t.Context(), 5000, 200, 0)
		require.NoError(t, err)
		require.Zero(t, row.Lost)
		require.NotZero(t, c.qp.Counters().Reliable.Retransmitted+c.local.qp.Counters().Reliable.Retransmitted)
		require.NotZero(t, n.Counters().Lost)
		corrupt := c.qp.Counters().Corrupt + c.local.qp.Counters().Corrupt
		require.Equal(t, config.NoChecksum, corrupt > 0, "seed %d: %d datagrams with a wrong CRC32c", seed, corrupt)

		config.Duplicate = 0 // a late copy of a reply would count as the reply of the next message
		config.Reorder = 0
		c, _ = simulated(t, "ud", config)
		row, err = c.Ping(t.Context(), 1000, 200, 0)
		require.NoError(t, err)
		require.NotZero(t, row.Lost)
	}
}

// TestSimulatedCapture: tshark finds no fault in the frames of a run.
func TestSimulatedCapture(t *testing.T) {
	var file bytes.Buffer
	c, n := simulated(t, "ud", ethernet.Config{Sent: &file})
	_, err := c.Ping(t.Context(), 9000, 3, 0)
	require.NoError(t, err)
	require.NoError(t, n.Close())
	args := []string{"-V", "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"}
	text := strings.Join(tsharktest.Run(t, "", file.Bytes(), args...), "\n")
	for _, bad := range []string{"Malformed", "incorrect", "Bad checksum"} {
		require.NotContains(t, text, bad)
	}
	require.Len(t, tsharktest.Fields(t, "", file.Bytes(), "udp.length == 9030", "frame.number"), 6)
}

// TestSimulatedLoss: rd delivers datagrams of 46 frames of which one third are lost.
func TestSimulatedLoss(t *testing.T) {
	c, _ := simulated(t, "rd", ethernet.Config{Loss: 0.01, Seed: 7})
	row, err := c.Ping(t.Context(), MaxBytes, 50, 0)
	require.NoError(t, err)
	require.Zero(t, row.Lost)
}

// TestSimulatedBackpressure: a window larger than the send buffer must not make rd wait for its
// timeouts. Nothing is lost, so nothing is repeated.
func TestSimulatedBackpressure(t *testing.T) {
	c, n := simulated(t, "rd", ethernet.Config{ReceiveBuffer: 8 << 20})
	row, err := c.Bandwidth(t.Context(), MaxBytes, 200, 60, false)
	require.NoError(t, err)
	require.Zero(t, c.qp.Counters().Reliable.Retransmitted)
	require.Zero(t, n.Counters().SocketFull)
	require.Greater(t, row.Bandwidth, 1000.0, "of 1,250 MB/s")
}

// TestSimulatedStream: rc delivers everything over a bad network. A stream costs more time than
// datagrams for a short message.
func TestSimulatedStream(t *testing.T) {
	config := ethernet.Config{Seed: 3, Loss: 0.01, Duplicate: 0.01, Reorder: 0.02, Corrupt: 0.01, RetransmitTime: drivers.Millisecond}
	c, n := simulated(t, "rc", config)
	row, err := c.Ping(t.Context(), 20_000, 100, 0)
	require.NoError(t, err)
	require.Zero(t, row.Lost)
	require.NotZero(t, n.Counters().Retransmitted)

	var trips []float64
	for _, kind := range []string{"rc", "ud"} {
		c, _ := simulated(t, kind, ethernet.Config{})
		row, err := c.Ping(t.Context(), 8, 20, 1)
		require.NoError(t, err)
		trips = append(trips, row.HalfTrip)
	}
	require.Greater(t, trips[0], trips[1])
}
