package rdrp

import "math"

// AnyTag is the tag of a receive that accepts every tag.
const AnyTag = int32(-1)

// inOrder is the reserved nonce: messages with it are fetched in the order in which they matched.
const inOrder = 0

const (
	commShift  = 48
	nonceShift = 32
	nonceMask  = uint64(math.MaxUint16) << nonceShift
	tagMask    = uint64(math.MaxUint32)
)

// matchBits packs communicator, nonce and tag.
func matchBits(comm, nonce uint16, tag int32) uint64 {
	return uint64(comm)<<commShift | uint64(nonce)<<nonceShift | uint64(uint32(tag))
}

func nonceOf(bits uint64) uint16 { return uint16(bits >> nonceShift) }
func tagOf(bits uint64) int32    { return int32(uint32(bits)) }

// receiveBits returns the bits of the entry of a receive.
func receiveBits(comm uint16, tag int32) (match, ignore uint64) {
	if tag == AnyTag {
		return matchBits(comm, 0, 0), nonceMask | tagMask
	}
	return matchBits(comm, 0, tag), nonceMask
}
