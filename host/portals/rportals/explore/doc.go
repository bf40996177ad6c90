// Package explore runs Rportals layers over real Portals interfaces through every interleaving of a
// small world: processes that put and get, a network that keeps the order of each pair, target
// event queues, buffers and origin event queues of one to four. It uses modelcheck.
//
// It checks these properties in every state:
//
//   - Every message is received exactly once, and the messages of a process to one portal table
//     entry are received in the order in which they were issued.
//   - The program gets SEND once, after the target has accepted the message, and ACK or REPLY once,
//     if it asked for it, with success.
//   - No event queue overflows and no control message is unexpected.
//   - An end is reachable from every state; in an end all operations are done and every layer is
//     idle.
package explore

// Claims is what a proof shows, in one sentence.
const Claims = "nothing is lost, duplicated or reordered, no event queue overflows, every recovery ends"
