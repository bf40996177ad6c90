// Package wire defines the protocol between a broker (host/broker), which owns a device, and its
// clients (drivers/shared): frames, texts and errors. It does not depend on a device.
//
// Decoding arbitrary bytes gives a frame or a typed error (drivers.ErrProtocol), allocates at most
// the size of the longest frame, and reads no more than the frame's header announces. Authorisation
// of requests is up to the receiver.
package wire
