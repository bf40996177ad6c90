// Package admission accepts connections from programs that have not yet proved who they are, some
// of which may be hostile.
//
// It promises that an error of accept does not end the service: it is retried with growing pauses,
// and each failure first closes the connection that has been silent for longest, which frees a
// descriptor. Only an error that persists for [Config.Patience] is returned. It promises also that
// connections in the controller are bounded, in total and by address: when there are too many, the
// oldest is closed and not the newest, so a program that proves itself quickly gets in however many
// others say nothing.
//
// The caller reads only small, bounded frames from a [PendingConn] until it has called
// [PendingConn.Admit].
package admission
