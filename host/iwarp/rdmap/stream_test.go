package rdmap

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/mpa"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

// end is one end of a connection: a stream over MPA.
type end struct {
	*Stream
	memory *ddp.Table
	tx     mpa.Sender
	rx     mpa.Receiver
	wire   []byte // bytes to the peer
	sent   int    // segments
}

const domain = 5

func newEnd(change func(*Config)) *end {
	e := &end{memory: &ddp.Table{}, tx: mpa.Sender{CRC: true}, rx: mpa.Receiver{CRC: true}}
	c := Config{Memory: e.memory, Domain: domain, Limit: 200, Sends: 16, Receives: 16, IRD: 2, ORD: 2}
	if change != nil {
		change(&c)
	}
	e.Stream = NewStream(c)
	return e
}

// transmit frames at most n segments.
func (e *end) transmit(n int) bool {
	any := false
	for range n {
		header, payload, ok := e.Next()
		if !ok {
			return any
		}
		e.wire = e.tx.Append(e.wire, header, payload...)
		e.Accepted()
		e.sent++
		any = true
	}
	return any
}

// receive passes the bytes of the peer to the stream.
func (e *end) receive(peer *end) error {
	for {
		ulpdu, used, err := e.rx.Next(peer.wire)
		if err != nil {
			e.Fail(err.(term.Code))
			return err
		}
		if used == 0 {
			return nil
		}
		err = e.Receive(ulpdu)
		peer.wire = peer.wire[:copy(peer.wire, peer.wire[used:])]
		if err != nil {
			return err
		}
	}
}

func (e *end) region(rights ddp.Rights, size int) (uint32, []byte) {
	data := make([]byte, size)
	stag, _ := e.memory.Register(domain, rights, 0x1000, data)
	return stag, data
}

// exchange runs both ends until neither has anything to send.
func exchange(a, b *end) error {
	for a.transmit(3) || b.transmit(3) || len(a.wire)+len(b.wire) > 0 {
		if err := errors.Join(b.receive(a), a.receive(b)); err != nil {
			return err
		}
	}
	return nil
}

func poll(t *testing.T, e *end) Completion {
	t.Helper()
	c, ok := e.Poll()
	if !ok {
		t.Fatal("no completion")
	}
	return c
}

func TestSendVariants(t *testing.T) {
	a, b := newEnd(nil), newEnd(nil)
	for i, o := range []Opcode{Send, SendInvalidate, SendSE, SendSEInvalidate, Immediate, ImmediateSE} {
		stag, _ := b.region(ddp.RemoteRead, 8)
		size := []int{0, 1, 700, 300, 8, 8}[i]
		data := bytes.Repeat([]byte{byte(i + 1)}, size)
		buffer := make([]byte, 700)
		if err := b.PostReceive(ddp.Buffer{ID: 100, Pieces: [][]byte{buffer[:3], buffer[3:]}}); err != nil {
			t.Fatal(err)
		}
		pieces := [][]byte{data[:size/3], data[size/3:]}
		if err := a.PostSend(Work{ID: 7, Opcode: o, Pieces: pieces, Invalidate: stag}); err != nil {
			t.Fatalf("%v: %v", o, err)
		}
		if err := exchange(a, b); err != nil {
			t.Fatalf("%v: %v", o, err)
		}
		if c := poll(t, a); c != (Completion{ID: 7, Opcode: o, Length: size}) {
			t.Errorf("%v: %+v", o, c)
		}
		c := poll(t, b)
		want := Completion{ID: 100, Receive: true, Opcode: o, Length: size}
		if o.Invalidates() {
			want.Invalidated = stag
		}
		if c != want || !bytes.Equal(buffer[:size], data) {
			t.Errorf("%v: %+v, expected %+v", o, c, want)
		}
		_, v := b.memory.Access(stag, domain, 0x1000, 1, ddp.RemoteRead)
		if o.Invalidates() != (v == ddp.InvalidSTag) {
			t.Errorf("%v: access afterwards: violation %d", o, v)
		}
	}
}

// TestRandomWork mixes Sends, Writes and Reads in both directions, and checks contents and the
// order of completions.
func TestRandomWork(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 4))
		ends := [2]*end{newEnd(nil), newEnd(nil)}
		var stags [2]uint32
		var memory [2][]byte
		for i, e := range ends {
			stags[i], memory[i] = e.region(ddp.LocalWrite|ddp.RemoteRead|ddp.RemoteWrite, 1<<20)
			for j := range memory[i] {
				memory[i][j] = byte(r.Uint32())
			}
		}
		const each = 60
		type expectation struct{ check func() bool }
		var posted, done [2]int
		var checks [2][]expectation
		var got, sent [2][][]byte
		var written []func() bool
		for rounds := 0; done[0] < each || done[1] < each; rounds++ {
			if rounds > 100000 {
				t.Fatalf("seed %d: no progress: %v of %v", seed, done, posted)
			}
			for i, e := range ends {
				peer := ends[1-i]
				if sends, _ := e.Outstanding(); sends < 16 && posted[i] < each && r.IntN(2) == 0 {
					// Every operation has 8 KB of its own in both memories.
					size, at := r.IntN(4)*r.IntN(700), posted[i]*8192+i*(1<<19)
					w := Work{ID: uint64(posted[i]), RemoteSTag: stags[1-i], RemoteTO: 0x1000 + uint64(at)}
					var x expectation
					local, remote := memory[i][at:at+size], memory[1-i][at:at+size]
					switch r.IntN(3) {
					case 0:
						w.Opcode, w.Pieces = Write, [][]byte{local[:size/2], local[size/2:]}
						x.check = func() bool { return true }
						written = append(written, func() bool { return bytes.Equal(local, remote) })
					case 1:
						want := bytes.Clone(remote)
						w.Opcode, w.LocalSTag, w.LocalTO, w.Length = ReadRequest, stags[i], 0x1000+uint64(at), size
						x.check = func() bool { return bytes.Equal(local, want) }
					default:
						w.Opcode, w.Pieces = Send, [][]byte{local}
						buffer := make([]byte, size)
						if peer.PostReceive(ddp.Buffer{ID: uint64(len(got[1-i])), Pieces: [][]byte{buffer}}) != nil {
							continue
						}
						got[1-i], sent[i] = append(got[1-i], buffer), append(sent[i], local)
						x.check = func() bool { return true }
					}
					if err := e.PostSend(w); err != nil {
						t.Fatal(err)
					}
					posted[i]++
					checks[i] = append(checks[i], x)
				}
				e.transmit(r.IntN(3))
				if err := peer.receive(e); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				for {
					c, ok := e.Poll()
					if !ok {
						break
					}
					if c.Status != StatusSuccess {
						t.Fatalf("seed %d: %+v", seed, c)
					}
					if c.Receive {
						continue
					}
					if c.ID != uint64(done[i]) || !checks[i][done[i]].check() {
						t.Fatalf("seed %d: end %d: completion %+v, expected ID %d", seed, i, c, done[i])
					}
					done[i]++
				}
			}
		}
		if err := exchange(ends[0], ends[1]); err != nil {
			t.Fatal(err)
		}
		for i, same := range written {
			if !same() {
				t.Fatalf("seed %d: the data of Write %d differ", seed, i)
			}
		}
		for i := range ends {
			for j := range sent[i] {
				if !bytes.Equal(sent[i][j], got[1-i][j]) {
					t.Fatalf("seed %d: message %d of end %d differs", seed, j, i)
				}
			}
		}
	}
}

// TestWrite: a Write is placed before a later Send is delivered; empty Writes need no valid STag.
func TestWrite(t *testing.T) {
	a, b := newEnd(nil), newEnd(nil)
	stag, data := b.region(ddp.RemoteWrite, 1000)
	_ = b.PostReceive(ddp.Buffer{})
	source := bytes.Repeat([]byte("abc"), 300)
	for _, w := range []Work{
		{Opcode: Write, RemoteSTag: stag, RemoteTO: 0x1000 + 100, Pieces: [][]byte{source}},
		{Opcode: Write, RemoteSTag: 12345},
		{Opcode: Send},
	} {
		if err := a.PostSend(w); err != nil {
			t.Fatal(err)
		}
	}
	if err := exchange(a, b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data[100:], source) || poll(t, b).Opcode != Send {
		t.Error("the data of the Write differ")
	}
}

// TestORD: no more Reads are outstanding than ORD, and later work waits behind them.
func TestORD(t *testing.T) {
	a, b := newEnd(nil), newEnd(nil)
	sink, _ := a.region(ddp.LocalWrite, 100)
	source, _ := b.region(ddp.RemoteRead, 100)
	_ = b.PostReceive(ddp.Buffer{})
	for range 3 {
		_ = a.PostSend(Work{Opcode: ReadRequest,
			LocalSTag: sink, LocalTO: 0x1000, RemoteSTag: source, RemoteTO: 0x1000, Length: 100,
		})
	}
	_ = a.PostSend(Work{Opcode: Send})
	a.transmit(10)
	if a.sent != 2 {
		t.Errorf("%d segments were sent with ORD 2", a.sent)
	}
	if err := exchange(a, b); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if c := poll(t, a); c.Status != StatusSuccess || (i < 3) != (c.Opcode == ReadRequest) {
			t.Errorf("completion %d: %+v", i, c)
		}
	}
}

// TestTurns: responses and work requests take turns, whichever of the two never ends.
func TestTurns(t *testing.T) {
	a, b := newEnd(nil), newEnd(nil)
	sink, _ := a.region(ddp.LocalWrite, 8)
	source, _ := b.region(ddp.RemoteRead, 8)
	for range 2 {
		_ = a.PostSend(Work{Opcode: ReadRequest,
			LocalSTag: sink, LocalTO: 0x1000, RemoteSTag: source, RemoteTO: 0x1000, Length: 8,
		})
		_ = b.PostSend(Work{Opcode: Write})
	}
	a.transmit(2)
	if err := b.receive(a); err != nil {
		t.Fatal(err)
	}
	var order []Opcode
	for {
		header, _, ok := b.Next()
		if !ok {
			break
		}
		order = append(order, Opcode(header[1]&opcodeMask))
		b.Accepted()
	}
	if want := []Opcode{ReadResponse, Write, ReadResponse, Write}; !slices.Equal(order, want) {
		t.Errorf("%v, expected %v", order, want)
	}
}

func TestNoAllocations(t *testing.T) {
	a, b := newEnd(nil), newEnd(nil)
	sink, _ := a.region(ddp.LocalWrite, 1000)
	both, _ := b.region(ddp.RemoteRead|ddp.RemoteWrite, 1000)
	pieces := [][]byte{make([]byte, 900)}
	buffer := ddp.Buffer{Pieces: [][]byte{make([]byte, 1000)}}
	a.wire, b.wire = make([]byte, 0, 1<<16), make([]byte, 0, 1<<16)
	if n := testing.AllocsPerRun(100, func() {
		_ = b.PostReceive(buffer)
		_ = a.PostSend(Work{Opcode: Send, Pieces: pieces})
		_ = a.PostSend(Work{Opcode: Write, RemoteSTag: both, RemoteTO: 0x1000, Pieces: pieces})
		_ = a.PostSend(Work{Opcode: ReadRequest,
			LocalSTag: sink, LocalTO: 0x1000, RemoteSTag: both, RemoteTO: 0x1000, Length: 1000,
		})
		if err := exchange(a, b); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if c, ok := a.Poll(); !ok || c.Status != StatusSuccess {
				t.Fatal(c)
			}
		}
		if _, ok := b.Poll(); !ok {
			t.Fatal("no receive")
		}
	}); n != 0 {
		t.Errorf("%v allocations per round", n)
	}
}

// FuzzStream passes arbitrary ULPDUs. Whatever arrives, the stream must not panic, must end after
// an error with exactly one Terminate message, and must complete everything that was posted.
func FuzzStream(f *testing.F) {
	h := ddp.Header{Last: true, Control: Control(Send), MSN: 1}
	f.Add(append(h.Append(nil), "hello"...), []byte{})
	h = ddp.Header{Last: true, Control: Control(ReadRequest), QN: 1, MSN: 1}
	f.Add((&Read{SourceSTag: 0x101, SourceTO: 0x1000, Length: 20}).Append(h.Append(nil)),
		[]byte("\xc1\x40\x00\x00\x01\x01\x00\x00\x00\x00\x00\x00\x10\x00x"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		e := newEnd(nil)
		e.region(ddp.RemoteRead|ddp.RemoteWrite|ddp.LocalWrite, 64)
		_ = e.PostReceive(ddp.Buffer{Pieces: [][]byte{make([]byte, 30)}})
		_ = e.PostSend(Work{Opcode: ReadRequest, LocalSTag: 0x101, LocalTO: 0x1000, Length: 16})
		e.transmit(1)
		before := e.sent
		failed := e.Receive(first) != nil
		failed = e.Receive(second) != nil || failed
		e.transmit(20)
		if failed && (e.sent != before+1 || e.State() != Closed) {
			t.Fatalf("%d segments after an error, state %d", e.sent-before, e.State())
		}
		e.Close()
		for n := 0; ; n++ {
			if _, ok := e.Poll(); !ok {
				if n != 2 {
					t.Fatalf("%d completions, expected 2", n)
				}
				return
			}
		}
	})
}
