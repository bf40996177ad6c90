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
//	hello    "nicloop bootstrap 2\n", 32 random bytes          each way, first
//	proof    an empty frame                                    from the joiner, then from the listener
//	frame    kind, length uint32, payload, code                code: HMAC-SHA256 with the key of its direction
//
// The key is derived from the token and both nonces. The code of a frame covers its sequence
// number, so it is invalid on another connection, in the other direction or at another position.
// Only a refusal is accepted without a valid code: a peer with another token could not compute it.

const (
	greeting    = "nicloop bootstrap 2\n"
	nonceBytes  = 32
	maxPayload  = 4 << 20
	maxUnproved = 4 << 10 // maximum payload of a refusal before the peer has proved that it knows the token
	headerBytes = 1 + 4
)

// Kinds of frames.
const (
	kindProof     byte = 'P' // its code proves that the sender knows the token
	kindClaim     byte = 'C' // ranks of a program
	kindDirectory byte = 'D' // locations of all ranks
	kindFence     byte = 'F' // the program has arrived at the fence
	kindGo        byte = 'G' // all programs have arrived
	kindRefused   byte = 'R' // why the sender gives up
)

// A link is one connection.
type link struct {
	net.Conn
	from    *bufio.Reader
	out, in direction
	proved  bool // the peer has proved that it knows the token
}

// A direction authenticates the frames of one direction of a link.
type direction struct {
	key    []byte
	number uint64
}

func (w *direction) code(frame []byte) []byte {
	h := hmac.New(sha256.New, w.key)
	_ = binary.Write(h, binary.LittleEndian, w.number) // writing to a hash does not fail
	h.Write(frame)
	return h.Sum(nil)
}

// greet exchanges the nonces and derives the keys.
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
	key := func(label string) direction {
		h := hmac.New(sha256.New, token)
		h.Write([]byte(label))
		h.Write(joiner)
		h.Write(listener)
		return direction{key: h.Sum(nil)}
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

// proveAsJoiner proves that this end knows the token and checks the proof of the listener.
func (l *link) proveAsJoiner() error {
	if err := l.send(kindProof, nil); err != nil && !isGone(err) { // a peer that hung up may have sent the reason before
		return err
	}
	return l.takeProof()
}

// proveAsListener is the listener's side of proveAsJoiner. It sends nothing to a peer that has not
// proved that it knows the token.
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

// maxPayload is the maximum payload of a frame.
func (l *link) maxPayload(kind byte) uint32 {
	switch {
	case l.proved:
		return maxPayload
	case kind == kindRefused:
		return maxUnproved
	}
	return 0
}

// receive reads a frame. A refusal is returned as an error even if its code is invalid.
func (l *link) receive() (kind byte, payload []byte, err error) {
	frame := make([]byte, headerBytes)
	if _, err := io.ReadFull(l.from, frame); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(frame[1:])
	if most := l.maxPayload(frame[0]); n > most {
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

// refuse sends the reason and closes the connection.
func (l *link) refuse(why error) {
	_ = l.SetWriteDeadline(time.Now().Add(time.Second))
	_ = l.send(kindRefused, refusalOf(why))
	_ = l.Close()
}

// A refusal is encoded as a letter for the kind of error, followed by text.
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
