package bootstrap

import (
	"bufio"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// On the wire:
//
//	hello    "nicloop bootstrap 2\n", 32 random bytes          each way, at first
//	proof    an empty frame                                    of who joins, then of who listens
//	frame    kind, length uint32, payload, code                code: HMAC-SHA256 with the key of its direction
//
// A key is made of the token and both random parts, and a code covers the number of the frame, so
// none is good for another connection, direction or position. Only a refusal comes without a good
// one: who has another token could not make it.

const (
	greeting    = "nicloop bootstrap 2\n"
	nonceBytes  = 32
	maxPayload  = 4 << 20
	maxUnproved = 4 << 10 // payload of a refusal before the other end has proved that it knows the token
	headerBytes = 1 + 4
)

// The kinds of frames.
const (
	kindProof     byte = 'P' // its code shows that the sender knows the token
	kindClaim     byte = 'C' // a program's ranks
	kindDirectory byte = 'D' // all ranks
	kindFence     byte = 'F' // the program is there
	kindGo        byte = 'G' // all are
	kindRefused   byte = 'R' // why the other end gives up
)

// A link is one connection.
type link struct {
	net.Conn
	from    *bufio.Reader
	out, in way
	proved  bool // the other end knows the token
}

// A way is a direction of a link.
type way struct {
	key    []byte
	number uint64
}

func (w *way) code(frame []byte) []byte {
	h := hmac.New(sha256.New, w.key)
	_ = binary.Write(h, binary.LittleEndian, w.number) // a hash takes everything
	h.Write(frame)
	return h.Sum(nil)
}

// greet exchanges what keys are made of.
func greet(c net.Conn, token []byte, listens bool) (*link, error) {
	mine := append([]byte(greeting), make([]byte, nonceBytes)...)
	if _, err := rand.Read(mine[len(greeting):]); err != nil {
		return nil, err
	}
	theirs := make([]byte, len(mine))
	if _, err := c.Write(mine); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(c, theirs); err != nil {
		return nil, err
	}
	if string(theirs[:len(greeting)]) != greeting {
		return nil, fmt.Errorf("bootstrap: the other end says %q, expected %q", theirs[:len(greeting)], greeting)
	}
	joiner, listener := mine, theirs
	if listens {
		joiner, listener = theirs, mine
	}
	key := func(direction string) way {
		h := hmac.New(sha256.New, token)
		h.Write([]byte(direction))
		h.Write(joiner)
		h.Write(listener)
		return way{key: h.Sum(nil)}
	}
	from := bufio.NewReader(c)
	if listens {
		return &link{Conn: c, from: from, out: key("from listener"), in: key("from joiner")}, nil
	}
	return &link{Conn: c, from: from, out: key("from joiner"), in: key("from listener")}, nil
}

func (l *link) send(kind byte, payload []byte) error {
	frame := append(binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(payload))), payload...)
	frame = append(frame, l.out.code(frame)...)
	l.out.number++
	_, err := l.Write(frame)
	return err
}

// proveAsJoiner proves that this end knows the token, and has the other one prove it.
func (l *link) proveAsJoiner() error {
	if err := l.send(kindProof, nil); err != nil && !isGone(err) { // who has hung up may have said why
		return err
	}
	return l.takeProof()
}

// proveAsListener is proveAsJoiner of the other end, which says nothing to somebody without the
// token.
func (l *link) proveAsListener() error {
	if err := l.takeProof(); err != nil {
		return err
	}
	return l.send(kindProof, nil)
}

func (l *link) takeProof() error {
	kind, payload, err := l.receive()
	switch {
	case err != nil:
		return err
	case kind != kindProof || len(payload) > 0:
		return fmt.Errorf("bootstrap: a frame of kind %q with %d bytes, expected an empty proof of the token", kind, len(payload))
	}
	l.proved = true
	return nil
}

// most is how long the payload of a frame may be.
func (l *link) most(kind byte) uint32 {
	switch {
	case l.proved:
		return maxPayload
	case kind == kindRefused:
		return maxUnproved
	}
	return 0
}

// receive takes a frame. A refusal is an error whatever its code.
func (l *link) receive() (kind byte, payload []byte, err error) {
	frame := make([]byte, headerBytes)
	if _, err := io.ReadFull(l.from, frame); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(frame[1:])
	if most := l.most(frame[0]); n > most {
		return 0, nil, fmt.Errorf("bootstrap: a frame of kind %q with %d bytes: expected at most %d", frame[0], n, most)
	}
	frame = append(frame, make([]byte, n+sha256.Size)...)
	if _, err := io.ReadFull(l.from, frame[headerBytes:]); err != nil {
		return 0, nil, err
	}
	frame, code := frame[:headerBytes+n], frame[headerBytes+n:]
	kind, payload = frame[0], frame[headerBytes:]
	good := hmac.Equal(code, l.in.code(frame))
	l.in.number++
	switch {
	case kind == kindRefused:
		return 0, nil, refusal(payload)
	case !good:
		return 0, nil, ErrToken
	}
	return kind, payload, nil
}

// refuse says why, if the other end still listens, and hangs up.
func (l *link) refuse(why error) {
	_ = l.SetWriteDeadline(time.Now().Add(time.Second))
	_ = l.send(kindRefused, refusalOf(why))
	_ = l.Close()
}

// Refusals are a letter, which says what kind of error it is, and a text.
var refusals = []struct {
	letter byte
	err    error
}{{'t', ErrToken}, {'c', ErrClaimed}, {'d', ErrDiffers}}

func refusalOf(err error) []byte {
	letter := byte('o')
	for _, r := range refusals {
		if errors.Is(err, r.err) {
			letter = r.letter
		}
	}
	var peer *PeerError
	var missing *MissingError
	switch {
	case errors.As(err, &peer):
		return append([]byte{'p'}, ranksText(peer.Ranks)...)
	case errors.As(err, &missing):
		return append([]byte{'m'}, ranksText(missing.Ranks)...)
	}
	return append([]byte{letter}, err.Error()...)
}

func ranksText(ranks []int) (b []byte) {
	for _, r := range ranks {
		b = binary.LittleEndian.AppendUint32(b, uint32(r))
	}
	return b
}

func refusal(payload []byte) error {
	if len(payload) == 0 {
		return errors.New("bootstrap: refused without a reason")
	}
	letter, text := payload[0], payload[1:]
	for _, r := range refusals {
		if letter == r.letter {
			return fmt.Errorf("bootstrap: refused: %w (%s)", r.err, text)
		}
	}
	if letter != 'p' && letter != 'm' {
		return fmt.Errorf("bootstrap: refused: %s", text)
	}
	var ranks []int
	for ; len(text) >= 4; text = text[4:] {
		ranks = append(ranks, int(binary.LittleEndian.Uint32(text)))
	}
	if letter == 'p' {
		return &PeerError{ranks}
	}
	return &MissingError{Ranks: ranks}
}
