// Package inside loads a Verilated model into this process (package build makes it a shared object,
// Spec.Shared) and hands it messages by a call. It knows nothing of what they mean: package bridge
// speaks.
//
// It promises that every [Model] is alone: its object is a copy of its own in memory, with its own
// variables, so several live side by side, and [Model.Close] leaves neither mapping nor descriptor.
// What a model prints goes to the file it was opened with, never to this process's standard output.
// $fatal and failing assertions end a session, not the process.
//
// The caller must call Exchange from one goroutine at a time, and neither it nor Stop after Close.
// A crash of the model, which is foreign code, is one of this process: that is the price of a call.
//
// It takes cgo. A program that was built without it gets drivers.ErrNotSupported.
package inside
