package vtime

import (
	"syscall"
	"time"
)

// yield lets another thread of the machine use the core immediately. The Go scheduler's Gosched
// looks for work of this process first, which costs more than most waits take.
//
//go:noinline
func yield() { // a call, so that the garbage collector can stop a loop of yields here
	syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
}

// used is the CPU time of the program.
func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
