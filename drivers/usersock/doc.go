// Package usersock provides Unix sockets in the file system that only one user can use.
//
// A socket has mode 0600 from the moment it exists. Listen replaces nothing except a stale socket
// of the same user, and both ends verify the peer's user with the kernel. If several servers start
// over one stale socket, exactly one succeeds; a server that ends removes only its own socket. A
// socket or peer of another user gives [ErrForeign]. The caller passes its user id: os.Geteuid()
// except in tests.
package usersock
