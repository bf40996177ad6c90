// Package explore runs the endpoints of package rdrp, over real Portals 4 interfaces, through every
// interleaving of a small world: ranks that send, receive and cancel, a network that keeps the
// order of each pair, one or two nonces, overflow buffers and triggered operations.
//
// A naive model of MPI matching says which send a receive must get. These properties are checked:
//
//   - A receive ends with the data, size, tag and source of its send, and no byte beyond.
//   - No message has more gets outstanding than allowed.
//   - A send buffer may change when the send is done: the world overwrites it then.
//   - Every pair that MPI matches ends, every other receive does not, a cancelled one never
//     matches.
//   - An end is reachable from every state.
package explore

// Claims is what a proof shows, in one sentence.
const Claims = "receives get the data that MPI pairs them with, gets in flight stay within the limit, " +
	"send buffers are free when a send is done, every matched pair ends"
