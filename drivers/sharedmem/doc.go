// Package sharedmem provides memory that processes can share piecewise: one address range, any
// pages of which can be backed by a file that other processes map.
//
// Remapping takes effect for all threads at once. Ranges and files that would leave a hole are
// refused. A [File] is sealed against truncation, which would kill every process that touches the
// missing pages; for other files the caller must ensure this.
package sharedmem
