package explore

import (
	"encoding/binary"
	"maps"
	"slices"
)

// sameEpoch is the mistake of an endpoint that starts again without a larger epoch.
const sameEpoch = "same-epoch"

// Offsets in the header of the reliable transport, which plants change.
const (
	kindData       = 0xd1
	offsetFlags    = 1
	offsetDistance = 2
	offsetSequence = 8
	offsetExpected = 16
	offsetStored   = 20
	headerBytes    = 24
)

// plants are mistakes in the datagrams that an endpoint sends.
var plants = map[string]func(b []byte){
	"early-ack": func(b []byte) { // acknowledges the message after the last one that it received
		if b[offsetFlags] == 1 {
			binary.BigEndian.PutUint32(b[offsetExpected:], binary.BigEndian.Uint32(b[offsetExpected:])+1)
		}
	},
	"no-ack": func(b []byte) { // acknowledges nothing
		b[offsetFlags] = 0
	},
	"all-stored": func(b []byte) { // acknowledges selectively what it has not stored
		binary.BigEndian.PutUint32(b[offsetStored:], 1<<31-1)
		if b[offsetFlags] == 1 {
			binary.BigEndian.PutUint32(b[offsetExpected:], binary.BigEndian.Uint32(b[offsetExpected:])+8)
		}
	},
	"no-distance": func(b []byte) { // names every message the oldest one in flight
		b[offsetDistance] = 0
	},
	"one-number": func(b []byte) { // gives all messages one sequence number
		if b[0] == kindData {
			binary.BigEndian.PutUint32(b[offsetSequence:], 0)
			b[offsetDistance] = 0
		}
	},
	"swapped-data": func(b []byte) { // sends the data of the other message
		if b[0] == kindData {
			b[headerBytes+1] ^= 1
		}
	},
	sameEpoch: nil, // restart acts on it
}

// Plants returns the names of planted mistakes.
func Plants() []string { return slices.Sorted(maps.Keys(plants)) }
