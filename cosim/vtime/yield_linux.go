package vtime

import (
	"syscall"
	"time"
)

// yield lets another thread of the machine have the core, at once. The Go scheduler's own
// way looks for work of this process first, which costs more than most waits take.
//
//go:noinline
func yield() { // called, so that the collector can stop a loop of yields here
	syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
}

// used is the processor time of the program.
func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
