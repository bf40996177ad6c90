package threshold

import (
	"encoding/binary"
	"fmt"
)

// A Kind is the type of a message about a channel, with its name in section 4.
type Kind uint8

// The kinds.
const (
	Request       Kind = iota + 1 // NEW_CONN_HANDSHAKE_REQ: Bytes is the requested threshold
	Reply                         // NEW_CONN_HANDSHAKE_REP: Bytes is the agreed threshold, or Refused
	NewRequest                    // NEW_CONN_REQ: the initiator's buffers; Bytes is Refused if it lacks memory
	NewReply                      // NEW_CONN_REP: the peer's buffers
	Established                   // CONN_EST: no later message names an old buffer of its receiver
	Acknowledged                  // CONN_EST_ACK: everything before CONN_EST has arrived
	Reconnect                     // RECONN_REQUEST: the initiator has stopped sending
	Reconnected                   // RECONN_REPLY: the peer has stopped, too
	OutRequest                    // OUT_OF_BAND_RECONN_REQUEST: the initiator's buffers
	OutReply                      // OUT_OF_BAND_RECONN_REPLY: the peer's buffers; both resume
	Grant                         // an additional buffer
	Empty                         // a buffer was read and may be reused
	Recall                        // the owner of a buffer requests it back
	Return                        // answer to Recall; Address 0: the buffer is in use, or was returned before
	StreamRequest                 // receiver not ready: requests a stream for this tag, for messages of up to Bytes
	StreamReply                   // its Address; 0: refused
	StreamOpened                  // subsequent messages of the tag are numbered
	Landed                        // message Count has been put
	Passed                        // message Count is finished: the next one may be put, at Address
	Close                         // the receiver wants to take back a receive that is ready
	Closed                        // nothing is put until Reopened
	Reopened                      // puts may resume
	lastKind      = Reopened
)

func (k Kind) String() string {
	if k < Request || k > lastKind {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return [...]string{
		"REQ", "REP", "NEW_REQ", "NEW_REP", "EST", "ACK", "RECONN_REQ", "RECONN_REP", "OUT_REQ", "OUT_REP", "GRANT", "EMPTY", "RECALL", "RETURN",
		"STREAM_REQ", "STREAM_REP", "STREAM_OPEN", "LANDED", "PASSED", "CLOSE", "CLOSED", "REOPEN",
	}[k-1]
}

// Refused is the threshold in a Reply that refuses a change.
const Refused = -1

// A Message is a message between two cores.
type Message struct {
	Kind       Kind
	Generation uint16 // of the channel
	Count      uint16 // number of contiguous buffers of Bytes each, starting at Address
	Bytes      int
	Address    uint64
	Tag        int32 // of a stream, with Comm
	Comm       uint16
}

// MessageBytes is the size of a message.
//
//	0  address    uint64
//	8  bytes      int32
//	12 generation uint16
//	14 count      uint16
//	16 kind       uint8
//	17 zero
//	18 comm       uint16
//	20 tag        int32
const MessageBytes = 24

// Put encodes the message in b, little endian.
func (m Message) Put(b []byte) {
	clear(b[:MessageBytes])
	binary.LittleEndian.PutUint64(b[0:], m.Address)
	binary.LittleEndian.PutUint32(b[8:], uint32(int32(m.Bytes)))
	binary.LittleEndian.PutUint16(b[12:], m.Generation)
	binary.LittleEndian.PutUint16(b[14:], m.Count)
	b[16] = uint8(m.Kind)
	binary.LittleEndian.PutUint16(b[18:], m.Comm)
	binary.LittleEndian.PutUint32(b[20:], uint32(m.Tag))
}

// Parse decodes a message encoded by Put.
func Parse(b []byte) (Message, error) {
	if len(b) != MessageBytes {
		return Message{}, fmt.Errorf("threshold: a message of %d bytes, expected %d", len(b), MessageBytes)
	}
	m := Message{
		Address: binary.LittleEndian.Uint64(b[0:]), Bytes: int(int32(binary.LittleEndian.Uint32(b[8:]))),
		Generation: binary.LittleEndian.Uint16(b[12:]), Count: binary.LittleEndian.Uint16(b[14:]), Kind: Kind(b[16]),
		Comm: binary.LittleEndian.Uint16(b[18:]), Tag: int32(binary.LittleEndian.Uint32(b[20:])),
	}
	if m.Kind < Request || m.Kind > lastKind {
		return m, fmt.Errorf("threshold: a message of kind %d, expected %d to %d", m.Kind, Request, lastKind)
	}
	return m, nil
}

func (m Message) String() string {
	s := fmt.Sprintf("%v g%d", m.Kind, m.Generation)
	if m.Kind >= StreamRequest {
		s = fmt.Sprintf("%v tag=%d", m.Kind, m.Tag)
		if m.Kind == Landed || m.Kind == Passed {
			return s + fmt.Sprintf(" message=%d", m.Count)
		}
	}
	if m.Bytes != 0 {
		s += fmt.Sprintf(" bytes=%d", m.Bytes)
	}
	if m.Count > 0 {
		s += fmt.Sprintf(" count=%d", m.Count)
	}
	if m.Address != 0 {
		s += fmt.Sprintf(" at=%d", m.Address)
	}
	return s
}
