//go:build !linux

package vtime

import (
	"runtime"
	"time"
)

func yield() { runtime.Gosched() }

var started = time.Now()

// used substitutes elapsed time for CPU time, as if a core were always available.
func used() time.Duration { return time.Since(started) }
