// Package serve shows a memory of runs over HTTP.
//
// # What it promises
//
//   - It only reads: runs, their tests, the files that these name, and the figures of sweeps. No
//     path of a request is opened, but one that the memory has.
//   - Pages use nothing of the network, and are sent whole or not at all.
//   - Without a token it answers to names of this machine alone, with one to who has it.
//
// # What the caller must do
//
//   - Listen: on loopback, or with a token. Nothing is encrypted.
package serve
