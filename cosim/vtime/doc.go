// Package vtime runs ranks as coroutines over the simulated time of a drivers.Timed system.
//
// # Guarantees
//
//   - One kernel owns time. A process has a local time, which may be ahead of the hardware as long
//     as it only posts writes (they carry their time). It synchronises when it must observe that
//     something is absent.
//   - Work in a waiting loop ([Proc.Attend]) is done without resuming the process, at the same
//     times as in the process itself.
//   - Ties are broken by (time, order of scheduling). The same programs make the same calls to the
//     system, so runs are identical on every machine.
//   - A system in parts (drivers.Partitioned) is run by one thread per part, each with the
//     processes of its nodes, or by one thread part by part, whichever is faster (see below).
//     Processes of different parts interact only through the hardware, so results are the same as
//     on one thread. This includes the end of a run: hangs and limits are detected at the same
//     cycle. If several parts fail within a window of Lookahead cycles, the earliest error is
//     returned. A panic on any thread propagates to the caller of Run.
//   - A run ends in one of three ways: every process has returned, a process or the device has
//     failed, or no process can ever run again. The latter is a [HangError] with the state of every
//     process, not a timeout.
//
// # Worked example: virtual time
//
// Two nodes on ideal: with a clock of 6.4 ns; a store costs the core 40 ns, waking up 60 ns. Rank 0
// stores a packet for rank 1. In the order of execution by the kernel:
//
//	rank  its time  hardware in
//	   0      0 ns  cycle  0     begins, works for 100 ns (Spend)
//	   0    100 ns  cycle  0     stores a line: it carries the time 140 ns
//	   0    160 ns  cycle  0     has worked on; must know what has come (Sync)
//	   1      0 ns  cycle  0     begins, sees nothing, parks (WaitArrival)
//	   0    160 ns  cycle 25     looks: nothing is there, and that is certain
//	   1    444 ns  cycle 70     finds the packet, 60 ns (Wake) after it was written
//
// Rank 0 gets 160 ns ahead of the hardware before any other rank runs, because nothing that it did
// needed an answer. Sync queues it behind processes with an earlier time, so rank 1 runs. Then the
// hardware simulates 25 cycles (160 ns), in which the line is stored, and rank 0 continues. The
// slot is written in cycle 60 (384 ns), which ends the wait of rank 1.
//
// # Requirements for the caller
//
//   - Add every process before Run. Run may be called again after it has returned nil.
//   - Use a Proc only from its own function, except for its device before Run. Data shared by
//     processes of different nodes needs atomic access, and decisions based on it may only use
//     values that are [Window] cycles old.
//   - Charge host work with Spend; posted writes are charged automatically (Config).
//
// # Choice of threads
//
// Parts are simulated in windows. Only the wall clock decides which threads simulate the next
// windows; results do not depend on it. A run starts with one thread. After 4 ms, one thread per
// part is tried, unless the single thread gets less than a core. At the end of such a slice all
// parts are at the same cycle. The mode with less time per cycle and event is kept; threads must be
// faster by a tenth. The other mode is tried again after 16 to 64 times the duration of the last
// trial. A thread that waits for half a millisecond ends its slice, because the awaited thread has
// no core.
//
// # Worked example: windows of two threads
//
// An action of one part is visible to another after 4 cycles at the earliest (Lookahead), so
// windows have 2 cycles. A flit that part 1 sends in w1, in cycle 1 or 2, is visible to part 0 in
// cycle 5 or 6, which is in w3. Thread 0 may therefore simulate w2 independent of thread 1, and
// starts w3 after thread 1 has finished w1 and thread 0 has received what it sent. In this example
// thread 1 has much work in w1:
//
//	thread 0                        thread 1
//	begins w1: cycles 1 to 2
//	                                begins w1: cycles 1 to 2
//	has done w1
//	begins w2: cycles 3 to 4
//	has done w2
//	                                has done w1
//	takes what was sent in w1
//	begins w3: cycles 5 to 6
//
// With windows of 4 cycles, each thread would have to wait for the other after every window.
//
// A process has at most Config.PIODepth lines in its send window and on the way there. The next
// store parks it until one line has left, which models polling VELO_WINDOW. While parked, the
// process cannot poll its mailbox. As a result, no line is refused.
package vtime
