//go:build !linux

package vtime

import (
	"runtime"
	"time"
)

func yield() { runtime.Gosched() }

var started = time.Now()

// used stands for the processor time of the program, as if there were a core for it at all times.
func used() time.Duration { return time.Since(started) }
