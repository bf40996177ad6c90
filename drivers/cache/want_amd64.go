package cache

import "unsafe"

//go:noescape
func want(p unsafe.Pointer, lines int)
