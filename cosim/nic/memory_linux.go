package nic

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const largePage = 2 << 20

// newMemory is a node's DMA memory. If that is many large pages it is laid into such ones,
// where the machine has them: the rings of many peers are reached at random, and small pages
// that are polled before they are written cost two faults each.
func newMemory(bytes int) []byte {
	mem := make([]byte, bytes)
	if bytes >= 8*largePage {
		skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(mem))) & (largePage - 1))
		_ = unix.Madvise(mem[skip:][:(bytes-skip)&^(largePage-1)], unix.MADV_HUGEPAGE) // advice only
	}
	return mem
}
