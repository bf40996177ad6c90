package capture

import (
	"encoding/binary"
	"fmt"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

// LayerTypeRMA is the layer between header and tail of an RMA packet.
var LayerTypeRMA = gopacket.RegisterLayerType(1473, gopacket.LayerTypeMetadata{Name: "RMA", Decoder: gopacket.DecodeFunc(decodeRMA)})

// An RMA packet has the extension flit, followed by a quadword of operands or by bytes.
const (
	extBytes  = regs.FlitBytes
	wordBytes = extBytes + regs.FlitBytes // header.length of a packet with one quadword
)

// RMA is the body of an RMA packet. The packet's type determines whether Data or Word is used.
type RMA struct {
	layers.BaseLayer
	// Packet is the header of the packet; users of a DecodingLayerParser set it to their NicLoop.
	Packet *NicLoop
	Ext    regs.RMAExt
	// Data holds the bytes of a PUT, IMM_PUT or GET_RSP.
	Data []byte
	// Word is the quadword of the other types, decoded by Get, Lock, Result and Error. For a NOTI
	// it is the payload of the notification.
	Word uint64
}

// Op returns the modifiers in the header.
func (r *RMA) Op() regs.RMAOp { return regs.RMAOp(r.Packet.Header.Op()) }

// Get is the Word of a GET_REQ.
func (r *RMA) Get() regs.RMAGet { return regs.RMAGet(r.Word) }

// Lock is the Word of a LOCK_REQ.
func (r *RMA) Lock() regs.RMALock { return regs.RMALock(r.Word) }

// Result is the Word of a LOCK_RSP.
func (r *RMA) Result() regs.RMAResult { return regs.RMAResult(r.Word) }

// Error is the Word of an ERROR: the failed operation, the detecting unit and the reason.
func (r *RMA) Error() regs.RMANoti { return regs.RMANoti(r.Word) }

// LayerType is LayerTypeRMA.
func (*RMA) LayerType() gopacket.LayerType { return LayerTypeRMA }

// CanDecode is LayerTypeRMA.
func (*RMA) CanDecode() gopacket.LayerClass { return LayerTypeRMA }

// NextLayerType is LayerTypeTail.
func (*RMA) NextLayerType() gopacket.LayerType { return LayerTypeTail }

// isRMA reports whether packets of the type have an extension flit.
func isRMA(t regs.PacketType) bool {
	return t >= regs.PacketTypeRMAPut && t <= regs.PacketTypeRMAError
}

// movesBytes reports whether bytes follow the extension flit instead of a quadword.
func movesBytes(t regs.PacketType) bool {
	return t == regs.PacketTypeRMAPut || t == regs.PacketTypeRMAImmPut || t == regs.PacketTypeRMAGetRsp
}

// rmaBounds are the minimum and maximum header.length for the type.
func rmaBounds(t regs.PacketType) (low, high int) {
	switch {
	case t == regs.PacketTypeRMAImmPut:
		return extBytes + 1, wordBytes
	case movesBytes(t):
		return extBytes + 1, extBytes + regs.RMAMTU
	}
	return wordBytes, wordBytes
}

// DecodeFromBytes decodes the bytes that follow the header in Packet.
func (r *RMA) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if r.Packet == nil {
		return fmt.Errorf("RMA body without its header: set RMA.Packet")
	}
	h := r.Packet.Header
	if low, high := rmaBounds(h.Type()); int(h.Length()) < low || int(h.Length()) > high {
		return fmt.Errorf("%v body of %d bytes, expected %d to %d", h.Type(), h.Length(), low, high)
	}
	room := flit.Payload(h) * regs.FlitBytes
	if len(data) < room {
		df.SetTruncated()
		return fmt.Errorf("RMA body of %d bytes, its header announces %d", len(data), room)
	}
	r.Contents, r.Payload = data[:room], data[room:]
	r.Ext, r.Data, r.Word = regs.RMAExt(binary.LittleEndian.Uint64(data)), nil, 0
	if movesBytes(h.Type()) {
		r.Data = data[extBytes:h.Length()]
	} else {
		r.Word = binary.LittleEndian.Uint64(data[extBytes:])
	}
	return nil
}

// SerializeTo prepends the body to the contents of b.
func (r *RMA) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	if r.Packet == nil {
		return fmt.Errorf("RMA body without its header: set RMA.Packet")
	}
	h, body := r.Packet.Header, r.Data
	if !movesBytes(h.Type()) {
		body = binary.LittleEndian.AppendUint64(nil, r.Word)
	}
	if n := extBytes + len(body); n != int(h.Length()) {
		return fmt.Errorf("%v body of %d bytes, its header announces %d", h.Type(), n, h.Length())
	}
	to, err := b.PrependBytes(flit.Payload(h) * regs.FlitBytes)
	if err != nil {
		return err
	}
	clear(to)
	binary.LittleEndian.PutUint64(to, uint64(r.Ext))
	copy(to[extBytes:], body)
	return nil
}

// decodeRMA fails: a body alone does not contain its type.
func decodeRMA(data []byte, p gopacket.PacketBuilder) error { return add(&RMA{}, data, p) }
