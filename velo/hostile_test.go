package velo

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers/peererror"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/mailbox"
)

// A packet whose credits the protocol does not allow ends Poll with an error that names the peer
// and the field. It must not panic: with shared: the sender is another program.
func TestForgedPackets(t *testing.T) {
	for _, flow := range []Flow{Static, Dynamic} {
		for _, c := range []struct {
			kind      regs.Kind
			payload   []byte
			piggyback bool
			credits   uint16
			field     string
		}{
			{mailbox.Credit, []byte{0xff, 0xff}, false, 0, "credits"},
			{mailbox.Credit, []byte{0, 0}, false, 0, "credits"},
			{mailbox.Data, []byte("x"), true, 0xffff, "credits"},
			{mailbox.CreditResponse, []byte{1, 0}, false, 0, map[Flow]string{Static: "kind", Dynamic: "credits"}[flow]},
		} {
			t.Run(fmt.Sprint(flow, c.kind, c.credits, c.payload), func(t *testing.T) {
				e, f := open(t, Config{Flow: flow, Slots: 22, CreditSlots: 2, Piggyback: true})
				require.NoError(t, f.deliver(c.kind, c.payload, c.piggyback, c.credits))
				var p Packet
				_, err := e.Poll(&p)
				var peer *peererror.Error
				require.ErrorAs(t, err, &peer)
				require.Equal(t, "rank 1", peer.Peer)
				require.Contains(t, peer.Field, c.field)
			})
		}
	}
}

// A packet that names this process as its source is nobody's: no process sends to itself through
// the network while flow control is on.
func TestPacketFromSelf(t *testing.T) {
	for _, flow := range []Flow{Static, Dynamic} {
		e, f := open(t, Config{Flow: flow, Slots: 22, CreditSlots: 2})
		f.from = two[0]
		require.NoError(t, f.deliver(mailbox.Data, []byte("x"), false, 0))
		var p Packet
		_, err := e.Poll(&p)
		var peer *peererror.Error
		require.ErrorAs(t, err, &peer)
		require.Equal(t, "source", peer.Field)
	}
}

// FuzzPoll fills the mailbox with arbitrary slots, each with the next number, while the process
// sends. Poll must give packets or errors, and never panic.
func FuzzPoll(f *testing.F) {
	f.Add(uint8(1), []byte{0, 0, 0, 0})
	f.Add(uint8(2), []byte("\x02\x00\x08\x00\xff\xff\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, flow uint8, in []byte) {
		three := []Addr{{0, 0}, {1, 0}, {1, 2}}
		cfg := Config{Flow: []Flow{None, Static, Dynamic}[flow%3], Slots: 8, CreditSlots: 2, Piggyback: true}
		slots, err := cfg.MailboxSlots(len(three))
		require.NoError(t, err)
		nic := newFake(slots, three[1])
		e, err := Open(nic, 0, 0, NewDirectory(three), cfg)
		require.NoError(t, err)
		var p Packet
		for seq := uint32(1); len(in) > 0; {
			if in[0]&1 != 0 { // this process sends
				_ = e.Send(1+int(in[0]>>1&1), make([]byte, in[0]>>2%57))
				in = in[1:]
				continue
			}
			var w [8]byte
			in = in[copy(w[:], in):]
			at := nic.mem[int(seq-1)%slots*regs.SlotBytes:][:regs.SlotBytes]
			in = in[copy(at[:4], in):]
			header := regs.Slot(binary.LittleEndian.Uint64(w[:])).Fields()
			header.Seq = seq
			if w[0]&2 != 0 { // from a process of this world, as most are
				header.SrcNode, header.SrcVPID = uint16(three[1].Node), uint8(w[0]>>2&1)*2
			}
			seq++
			putHeader(at, header)
			for ok := true; ok; {
				if ok, err = e.Poll(&p); err != nil {
					return
				}
			}
		}
	})
}

// putHeader writes the header of a slot as the hardware does, whatever its fields hold.
func putHeader(slot []byte, h mailbox.Header) {
	binary.LittleEndian.PutUint64(slot[regs.SlotHdrOff:], uint64(h.Pack()))
}
