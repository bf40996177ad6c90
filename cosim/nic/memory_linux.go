package nic

import (
	"golang.org/x/sys/unix"
)

const (
	largePage = 2 << 20
	// ownPages is from how many bytes on a node's memory has pages of its own.
	ownPages = 64 << 10
	// mostLarge is up to how many bytes of all nodes large pages are asked for: of more, few may be
	// used.
	mostLarge = 2 << 30
)

// newMemory is a node's DMA memory, and what frees it, or nil. It is not in the heap of the
// program, which would clear all of it where another machine had its own before, and let as much
// garbage gather as there is of it. If it is many large pages it is laid into such ones, where the
// machine has them: the rings of many peers are reached at random, and small pages that are polled
// before they are written cost two faults each.
func newMemory(bytes, nodes int) (mem []byte, free func([]byte)) {
	if bytes < ownPages {
		return make([]byte, bytes), nil
	}
	mem, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return make([]byte, bytes), nil
	}
	if bytes >= 8*largePage && bytes*nodes <= mostLarge {
		_ = unix.Madvise(mem, unix.MADV_HUGEPAGE) // advice only
	}
	return mem, func(mem []byte) { _ = unix.Munmap(mem) }
}
