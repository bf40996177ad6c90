package vtime

import "syscall"

// yield lets another thread of the machine have the core, at once. The Go scheduler's own
// way looks for work of this process first, which costs more than most waits take.
//
//go:noinline
func yield() { // called, so that the collector can stop a loop of yields here
	syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
}
