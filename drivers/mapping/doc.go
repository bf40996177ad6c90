// Package mapping is memory that processes can share piece by piece: one range of addresses, of which any whole pages can be laid into
// a file that others map.
//
// It promises that what is laid changes at once for all threads, and refuses ranges and files that would leave a hole. Nobody can
// make a [File] shorter, which would kill whoever touches what is gone; of other files the caller must see to that.
package mapping
