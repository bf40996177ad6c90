// Package path holds what all ways of moving a message have in common: the [Path] interface, and
// the [Engine] of a rank that the paths share.
//
// A path moves the bytes of messages between two ranks in one particular way: through VELO packets
// (path/eager), through memory that ranks of a node share (path/local), into reused buffers
// (path/ring), by a rendezvous (path/rendezvous), and so on. Each is a package of its own. It
// implements Path, imports no other path, and can be removed by removing the line that adds it to
// the engine.
//
// # What it promises
//
//   - A send is offered to the paths in the order in which they were added; the first that takes it
//     moves it ([Engine.Send]). [Engine.Paths] lists them, and [Path].Explain says which messages a
//     path takes.
//   - Every message of another rank announces itself by one message of VELO, so that messages of a
//     pair match receives in the order in which they were sent, whatever path their bytes take.
//     The messages of a pair are numbered; a gap or a repetition is an error that names the peer.
//   - A packet that no path can have sent ends in a [drivers.PeerError], never in a panic.
//   - Nothing is allocated per packet.
//
// # What a path must do
//
//   - Report every matching event through [Engine.Arrive] and [Engine.Bind], because other paths
//     observe them.
//   - End every operation that it has taken with [Engine.Complete] or [Engine.End], exactly once.
//   - Never wait. What cannot be done now is done in Progress; [Waker] says when.
package path
