// Package usersock is sockets in the file system that only one user can use.
//
// It promises that a socket has mode 0600 from the moment on at which it is there, that what is there
// already is not replaced unless it is the user's own socket at which nobody listens, and that both ends
// ask the kernel who the other is. Of several servers that start over such a stale socket one gets it
// and the others fail, and a server that ends removes its own socket only. A foreign socket or program
// is [ErrForeign]. The caller says as whom it acts: os.Geteuid(), but in tests.
package usersock
