package capture

import (
	"encoding/binary"
	"fmt"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

// The layers of a packet. The first layer of a packet is LayerTypeNicLoop.
var (
	LayerTypeNicLoop = gopacket.RegisterLayerType(1470, gopacket.LayerTypeMetadata{Name: "NicLoop", Decoder: gopacket.DecodeFunc(decodeNicLoop)})
	LayerTypeVELO    = gopacket.RegisterLayerType(1471, gopacket.LayerTypeMetadata{Name: "VELO", Decoder: gopacket.DecodeFunc(decodeVELO)})
	LayerTypeTail    = gopacket.RegisterLayerType(1472, gopacket.LayerTypeMetadata{Name: "NicLoopTail", Decoder: gopacket.DecodeFunc(decodeTail)})
)

func init() {
	layers.LinkTypeMetadata[LinkType] = layers.EnumMetadata{DecodeWith: LayerTypeNicLoop, Name: "NicLoop", LayerType: LayerTypeNicLoop}
}

// NicLoop is the header flit. Its payload is the rest of the packet.
type NicLoop struct {
	layers.BaseLayer
	Header regs.Header
	// Computed is the CRC that the packet should have.
	Computed uint32
}

// LayerType is LayerTypeNicLoop.
func (*NicLoop) LayerType() gopacket.LayerType { return LayerTypeNicLoop }

// CanDecode is LayerTypeNicLoop.
func (*NicLoop) CanDecode() gopacket.LayerClass { return LayerTypeNicLoop }

// NextLayerType depends on the packet type.
func (n *NicLoop) NextLayerType() gopacket.LayerType {
	switch t := n.Header.Type(); {
	case t == regs.PacketTypeVELO:
		return LayerTypeVELO
	case isRMA(t):
		return LayerTypeRMA
	}
	return gopacket.LayerTypePayload
}

// DecodeFromBytes decodes a whole packet.
func (n *NicLoop) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < 2*regs.FlitBytes {
		df.SetTruncated()
		return fmt.Errorf("nicloop packet of %d bytes, expected at least %d", len(data), 2*regs.FlitBytes)
	}
	h := regs.Header(binary.LittleEndian.Uint64(data))
	low, high := bounds(h)
	switch whole := flit.Total(h) * regs.FlitBytes; {
	case int(h.Length()) < low || int(h.Length()) > high:
		return fmt.Errorf("nicloop %v of length %d, expected %d to %d", h.Type(), h.Length(), low, high)
	case len(data) < whole:
		df.SetTruncated()
		return fmt.Errorf("nicloop packet of %d bytes, its header announces %d", len(data), whole)
	case len(data) > whole:
		return fmt.Errorf("nicloop packet of %d bytes, its header announces %d", len(data), whole)
	}
	n.Header = h
	n.Contents, n.Payload = data[:regs.FlitBytes], data[regs.FlitBytes:]
	end := len(n.Payload) - regs.FlitBytes
	n.Computed = flit.CRC(h, n.Payload[:end], regs.Tail(binary.LittleEndian.Uint64(n.Payload[end:])))
	return nil
}

// bounds are the minimum and maximum length for the packet's type.
func bounds(h regs.Header) (low, high int) {
	switch t := h.Type(); {
	case isRMA(t):
		return rmaBounds(t)
	case t != regs.PacketTypeVELO:
		return 0, regs.MTU
	case h.Piggyback():
		return 0, regs.VELOPayload - 2
	}
	return 0, regs.VELOPayload
}

// SerializeTo prepends the header to the contents of b, whose number of flits must match Length.
// With opts.ComputeChecksums the CRC of the tail is set.
func (n *NicLoop) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	if rest, want := len(b.Bytes()), (flit.Total(n.Header)-1)*regs.FlitBytes; rest != want {
		return fmt.Errorf("%d bytes follow the header, its length %d announces %d", rest, n.Header.Length(), want)
	}
	if opts.ComputeChecksums {
		rest := b.Bytes()
		tail := rest[len(rest)-regs.FlitBytes:]
		whole := flit.Close(n.Header, rest[:len(rest)-regs.FlitBytes], regs.Tail(binary.LittleEndian.Uint64(tail)))
		n.Computed = whole.CRC()
		binary.LittleEndian.PutUint64(tail, uint64(whole))
	}
	to, err := b.PrependBytes(regs.FlitBytes)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(to, uint64(n.Header))
	return nil
}

// VELO is the payload of a VELO packet, with its credits.
type VELO struct {
	layers.BaseLayer
	// Packet is the header of the packet; users of a DecodingLayerParser set it to their NicLoop.
	Packet *NicLoop
	// Data is the sender's payload, without the credits of a piggyback.
	Data []byte
	// Credits of a piggyback, a credit packet or a response.
	Credits    uint16
	HasCredits bool
}

// LayerType is LayerTypeVELO.
func (*VELO) LayerType() gopacket.LayerType { return LayerTypeVELO }

// CanDecode is LayerTypeVELO.
func (*VELO) CanDecode() gopacket.LayerClass { return LayerTypeVELO }

// NextLayerType is LayerTypeTail.
func (*VELO) NextLayerType() gopacket.LayerType { return LayerTypeTail }

// DecodeFromBytes decodes the bytes that follow the header in Packet.
func (v *VELO) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if v.Packet == nil {
		return fmt.Errorf("VELO payload without its header: set VELO.Packet")
	}
	h := v.Packet.Header
	room := flit.Payload(h) * regs.FlitBytes
	if len(data) < room {
		df.SetTruncated()
		return fmt.Errorf("VELO payload of %d bytes, its header announces %d", len(data), room)
	}
	v.Contents, v.Payload = data[:room], data[room:]
	v.Data, v.Credits, v.HasCredits = data[:h.Length()], 0, false
	switch credits := h.Kind() == regs.KindCredit || h.Kind() == regs.KindCreditResponse; {
	case h.Piggyback():
		v.Credits, v.HasCredits = binary.LittleEndian.Uint16(data[h.Length():]), true
	case credits && h.Length() == 2:
		v.Credits, v.HasCredits = binary.LittleEndian.Uint16(data), true
	}
	return nil
}

// SerializeTo prepends the payload to the contents of b.
func (v *VELO) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	body := v.Data
	if v.Packet == nil {
		return fmt.Errorf("VELO payload without its header: set VELO.Packet")
	}
	if v.Packet.Header.Piggyback() {
		body = binary.LittleEndian.AppendUint16(append([]byte(nil), body...), v.Credits)
	}
	if len(body) > regs.VELOPayload {
		return fmt.Errorf("VELO payload of %d bytes, expected at most %d", len(body), regs.VELOPayload)
	}
	to, err := b.PrependBytes((len(body) + regs.FlitBytes - 1) / regs.FlitBytes * regs.FlitBytes)
	if err != nil {
		return err
	}
	clear(to)
	copy(to, body)
	return nil
}

// Tail is the last flit.
type Tail struct {
	layers.BaseLayer
	Tail regs.Tail
}

// LayerType is LayerTypeTail.
func (*Tail) LayerType() gopacket.LayerType { return LayerTypeTail }

// CanDecode is LayerTypeTail.
func (*Tail) CanDecode() gopacket.LayerClass { return LayerTypeTail }

// NextLayerType is LayerTypeZero: nothing follows.
func (*Tail) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes decodes the tail flit.
func (t *Tail) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) != regs.FlitBytes {
		if len(data) < regs.FlitBytes {
			df.SetTruncated()
		}
		return fmt.Errorf("nicloop tail of %d bytes, expected %d", len(data), regs.FlitBytes)
	}
	t.Tail = regs.Tail(binary.LittleEndian.Uint64(data))
	t.Contents = data
	return nil
}

// SerializeTo prepends the tail to the contents of b.
func (t *Tail) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	to, err := b.PrependBytes(regs.FlitBytes)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(to, uint64(t.Tail))
	return nil
}

// Valid reports whether the CRC is that of the packet.
func (t *Tail) Valid(n *NicLoop) bool { return t.Tail.CRC() == n.Computed }

func decodeNicLoop(data []byte, p gopacket.PacketBuilder) error {
	n := &NicLoop{}
	if err := n.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(n)
	var body gopacket.DecodingLayer
	switch n.NextLayerType() {
	case LayerTypeVELO:
		body = &VELO{Packet: n}
	case LayerTypeRMA:
		body = &RMA{Packet: n}
	default:
		return p.NextDecoder(gopacket.LayerTypePayload)
	}
	return p.NextDecoder(gopacket.DecodeFunc(func(data []byte, p gopacket.PacketBuilder) error { return add(body, data, p) }))
}

// decodeVELO fails: a payload alone does not contain its type.
func decodeVELO(data []byte, p gopacket.PacketBuilder) error { return add(&VELO{}, data, p) }

func decodeTail(data []byte, p gopacket.PacketBuilder) error { return add(&Tail{}, data, p) }

func add(l gopacket.DecodingLayer, data []byte, p gopacket.PacketBuilder) error {
	if err := l.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(l.(gopacket.Layer))
	if l.NextLayerType() == gopacket.LayerTypeZero {
		return nil
	}
	return p.NextDecoder(l.NextLayerType())
}
