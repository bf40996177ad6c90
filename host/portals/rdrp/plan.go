package rdrp

// A plan describes the gets of one message. Sender and receiver compute the same number of gets
// from it, because both know total, first and chunk; only the receiver knows its buffer.
type plan struct {
	total, first, chunk uint64 // bytes of the message, of its first chunk, of each further one
	buffer              uint64 // bytes of the receive buffer
	inFlight            uint64 // gets that may be outstanding
}

// A chunkGet is one get of a message.
type chunkGet struct {
	offset, length uint64
	threshold      uint64 // completed gets of the message that release it
}

// count returns the number of gets.
func (p *plan) count() uint64 {
	if p.total <= p.first {
		return 0
	}
	return (p.total-p.first-1)/p.chunk + 1
}

// size returns the bytes of chunk i at the sender.
func (p *plan) size(i uint64) uint64 { return min(p.chunk, p.total-p.offset(i)) }

func (p *plan) offset(i uint64) uint64 { return p.first + i*p.chunk }

// get returns get i. Chunks beyond the receive buffer have length 0.
func (p *plan) get(i uint64) chunkGet {
	g := chunkGet{offset: p.offset(i)}
	if g.offset < p.buffer {
		g.length = min(p.size(i), p.buffer-g.offset)
	}
	if i >= p.inFlight {
		g.threshold = i - p.inFlight + 1
	}
	return g
}
