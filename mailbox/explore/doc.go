// Package explore runs the real flow controls of package mailbox through every interleaving of
// sends, arrivals and retrievals of a small world, and reports whether any of them breaks a promise
// of package mailbox. [Result] lists the properties, [Options] what can be left out and how,
// [Suite] the explorations that are run routinely.
//
// Nothing is modelled but the network (packets of an ordered pair stay in order) and the mailboxes;
// the flow controls are stopped, encoded, restored and asked to go on. A counterexample is a
// scenario in the language of [Script], so that it replays as a test.
//
// Mistakes can be planted around the flow controls ([Fault]), to see that they are found
// ([Planted]).
//
// Retrieving is always possible in these worlds. A process that stops retrieving blocks its
// senders, which is what flow control is for, and is not explored.
package explore
