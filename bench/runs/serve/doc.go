// Package serve serves a store of runs over HTTP.
//
// # Guarantees
//
//   - Access is read-only: runs, their tests, files named by these, and figures of sweeps. A
//     request never contains the path of a file to open; paths come from the store.
//   - Pages use no external resources, and are sent completely or not at all.
//   - Without a token, only requests for names of this machine are answered; with a token, only
//     requests that contain it.
//
// # Requirements for the caller
//
//   - Listen on loopback, or use a token. The connection is not encrypted.
package serve
