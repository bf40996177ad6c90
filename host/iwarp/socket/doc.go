// Package socket connects queue pairs to sockets of Linux: RC to TCP connections, with the start-up
// phase of MPA, and UD and RD to UDP sockets. The ports never block; their owner polls them.
package socket
