// Package wire is what crosses the socket between a broker (host/broker), which owns a device, and its clients (drivers/shared): frames, texts and
// errors. It knows no device.
//
// It promises that whatever bytes come, decoding gives a frame or a typed error (drivers.ErrProtocol), takes no more memory than the
// longest frame, and waits for no more than what the frame's header announces. Whether what a frame asks for may be is its receiver's affair.
package wire
