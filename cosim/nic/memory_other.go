//go:build !linux

package nic

// newMemory is a node's DMA memory.
func newMemory(bytes int) []byte { return make([]byte, bytes) }
