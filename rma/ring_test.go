package rma

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers/regs"
)

// FuzzDecode: a notification means something or is an error, never both, and
// what it means is in its words.
func FuzzDecode(f *testing.F) {
	for c := CommandPut; c <= CommandFetchCompareAdd; c++ {
		for u := UnitRequester; u <= UnitCompleter; u++ {
			f.Add(^uint64(0), uint64(regs.RMANotiFields{Unit: u, Command: c, PeerNode: 5, PeerVPID: 3, Seq: 1}.Pack()))
			f.Add(uint64(c), uint64(regs.RMANotiFields{Unit: u, Command: c, Error: regs.RMAErrorRights, Last: true}.Pack()))
		}
	}
	f.Add(uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, w0, w1 uint64) {
		n, err := decode(w0, w1)
		w := regs.RMANoti(w1)
		known := w.Command() >= CommandPut && w.Command() <= CommandFetchCompareAdd
		returns := w.Command() == CommandGet || w.Command() == CommandFetchCompareAdd
		if err != nil {
			var e *NotificationError
			require.True(t, errors.As(err, &e))
			require.True(t, w.Unit() == 0 || w.Error() > regs.RMAErrorDMA || !known || w.Error() == 0 && w.Unit() == UnitResponder && !returns)
			return
		}
		require.Equal(t, w, n.RMANotiFields.Pack())
		require.True(t, known || w.Error() == regs.RMAErrorBadCommand)
		switch {
		case w.Error() != 0:
			require.True(t, n.own)
		case w.Unit() == UnitRequester:
			require.True(t, n.own)
		case w.Unit() == UnitResponder:
			require.False(t, n.own)
		default:
			require.Equal(t, returns, n.own)
		}
		if n.payload != 0 {
			require.Equal(t, w0, n.payload)
			require.Zero(t, n.nla)
		} else {
			require.True(t, n.nla == NLA(w0&nlaTop) || n.nla == 0)
		}
		if n.own {
			require.Equal(t, uint16(w0>>48), n.tag)
		}
	})
}

// Whatever stands in the ring, Poll says so or gives an event; it never panics
// and never loops.
func FuzzPoll(f *testing.F) {
	f.Add([]byte{})
	f.Add(binary.LittleEndian.AppendUint64(make([]byte, 8), uint64(regs.RMANotiFields{Unit: UnitCompleter, Command: CommandPut, Seq: 1}.Pack())))
	f.Add(binary.LittleEndian.AppendUint64(make([]byte, 8), uint64(regs.RMANotiFields{Unit: UnitRequester, Command: CommandPut, Seq: 1}.Pack())))
	f.Add(binary.LittleEndian.AppendUint64([]byte{0, 0, 0, 0, 0, 0, 9, 0}, uint64(regs.RMANotiFields{Unit: UnitRequester, Command: CommandGet, Error: 1, Seq: 1}.Pack())))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newRig(t, 1, 1<<20)
		p := r.openWith(0, 0, func(c *Config) { c.Outstanding, c.NotiSlots = 3, 7 })
		for range 3 {
			_, err := p.Get(Peer{0, 0}, 1, 1, 1, Requester)
			require.NoError(t, err)
		}
		copy(r.mem(0)[ringsAt:ringsAt+7*regs.NotiBytes], b)
		var ev Event
		for range 7 {
			ok, err := p.Poll(&ev)
			require.False(t, ok && err != nil)
			if !ok && err == nil {
				return
			}
		}
	})
}

// Numbers have 14 bits and the ring any length: a long run over several wraps.
func TestRingWraps(t *testing.T) {
	r := newRig(t, 2, 4<<20)
	a := r.open(0, 0)
	b := r.openWith(1, 0, func(c *Config) { c.Outstanding, c.NotiSlots = 1, 37 })
	for i := range uint64(40000) {
		_, err := a.Notify(Peer{1, 0}, i, Completer)
		for tries := 0; errors.Is(err, ErrTryAgain); tries++ {
			require.Less(t, tries, 3)
			r.quiet()
			r.nothing(a)
			_, err = a.Notify(Peer{1, 0}, i, Completer)
		}
		require.NoError(t, err)
		r.quiet()
		var ev Event
		ok, err := b.Poll(&ev)
		require.NoError(t, err)
		require.True(t, ok, i)
		require.Equal(t, i, ev.Payload)
		if i%3 == 0 {
			r.nothing(a)
		}
	}
	require.Zero(t, r.reg(1, regs.NotiStall(0)), "the read pointer is told in time")
}

func TestStaleNotificationsAreNotNew(t *testing.T) {
	r := newRig(t, 1, 1<<20)
	for i := ringsAt; i < ringsAt+1024; i += 16 { // left from an earlier use
		binary.LittleEndian.PutUint64(r.mem(0)[i+8:], uint64(regs.RMANotiFields{Unit: UnitCompleter, Command: CommandPut, Seq: uint16(i-ringsAt)/16 + 1}.Pack()))
	}
	p := r.open(0, 0)
	r.nothing(p)
}

// What was dropped is told as an error of its own, between notifications.
func TestOverflowIsTold(t *testing.T) {
	w1 := regs.RMANotiFields{Error: regs.RMAErrorOverflow, Last: true, Seq: 3}.Pack()
	_, err := decode(17, uint64(w1))
	var over *OverflowError
	require.ErrorAs(t, err, &over)
	require.EqualValues(t, 17, over.Dropped)
}
