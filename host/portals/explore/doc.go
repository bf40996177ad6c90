// Package explore runs the interfaces of package portals through every interleaving of a small
// world: ranks that put, append entries and read events, a network that keeps the order of each
// pair, event queues and header limits of one or two. It uses modelcheck, the explorer of this
// module.
//
// In every state it compares the interfaces with a naive model of matching and flow control, and
// checks these properties on its own:
//
//   - Every put raises SEND once and ACK once, and its ACK is good exactly if the target took it.
//   - Messages of a pair with one tag are received in the order in which they were sent.
//   - No event is lost with flow control; a disabled entry tells once.
//   - A triggered put is started exactly once, and not below its threshold.
//   - An end is reachable from every state.
package explore

// Claims is what a proof shows, in one sentence.
const Claims = "matching equals the naive model, pairs keep their order, every operation ends once, " +
	"flow control loses no event, triggers start once"
