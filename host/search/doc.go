// Package search visits every state that a small world can reach, breadth first, and finds a shortest way to one that is wrong.
//
// # What it promises
//
//   - Each state is visited once, told apart by its [Key]. What is found does not depend on anything but the world.
//   - A violation is an error of Apply, an error of Finished where nothing can happen any more, or a state from which such an end cannot be
//     reached, whatever happens. Its path is a shortest one.
//
// # What the caller must do
//
//   - Keys differ where worlds differ in anything that matters later. [Sum] makes one of bytes.
//   - A world does not change but by Apply; Clone shares nothing that Apply changes.
//
// A world in which a counter may go from 0 to 3, and 2 is wrong:
//
//	0 -inc-> 1 -inc-> 2: violation, path inc, inc
//
// Worlds of millions of states have searches of their own, which keep less per state: host/rendezvous/explore, mailbox/explore.
package search
