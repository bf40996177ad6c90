// Package vtime runs ranks as coroutines over the simulated time of a
// drivers.Timed system.
//
// # What it promises
//
//   - One kernel owns time. A process runs at its own local time, which may lie
//     ahead of the hardware's as long as it only posts writes (they carry their
//     time); it falls back in step when it must see that something is absent.
//   - What a process does in a loop while it waits ([Proc.Attend]) is done without resuming
//     it, at the times at which it would have been done.
//   - Ties break by (time, order of scheduling). The same programs give the same
//     calls to the system, hence the same run, on every machine.
//   - A system in parts (drivers.Partitioned) is run by a thread per part, each with the processes
//     of its nodes, or by one thread, part by part: whatever is faster on the machine as it is (see
//     below). Processes of different parts meet through the hardware only, so what they do and see
//     is the same as on one thread, as is how a run ends: a hang and a limit to the cycle. Of
//     errors that different parts have within a window of Lookahead cycles the earliest counts. A
//     panic on any thread is one of Run.
//   - A run ends in one of three ways: every process returned, a process or the
//     device failed, or nobody can ever run again. The last is a [HangError] with the
//     state of every process, not a time-out.
//
// # Worked example: virtual time
//
// Two nodes on ideal: with a clock of 6.4 ns; a store takes the core 40 ns, waking up 60 ns. Rank 0
// stores a packet for rank 1. In the order in which the kernel lets things happen:
//
//	rank  its time  hardware in
//	   0      0 ns  cycle  0     begins, works for 100 ns (Spend)
//	   0    100 ns  cycle  0     stores a line: it carries the time 140 ns
//	   0    160 ns  cycle  0     has worked on; must know what has come (Sync)
//	   1      0 ns  cycle  0     begins, sees nothing, parks (WaitArrival)
//	   0    160 ns  cycle 25     looks: nothing is there, and that is certain
//	   1    444 ns  cycle 70     finds the packet, 60 ns (Wake) after it was written
//
// Rank 0 gets 160 ns ahead of the hardware before anybody else runs: nothing that it did needed an
// answer. Sync puts it behind those who are earlier, so rank 1 runs; then the hardware does 25
// cycles (160 ns), in which the line is stored, and rank 0 goes on. The slot is written in cycle 60
// (384 ns), which ends the wait of rank 1.
//
// # What the caller must do
//
//   - Add every process before Run. Run may be called again once it has returned nil.
//   - Use a Proc only from its own function, except for its device before Run. What
//     processes of different nodes share needs atomic access, and what they make of it may
//     depend only on what is [Window] cycles old.
//   - Charge host work with Spend; posting writes charges itself (Config).
//
// # Who does the work
//
// Parts are simulated in windows. The clock of the host decides who does the next ones, and nothing
// else: a window comes to the same whoever does it. A run begins with one thread; after 4 ms all
// threads are tried, unless the one gets less than a core. At the end of such a slice all parts
// stand at the same cycle, and the way that takes less time per cycle and event goes on, threads if
// they are faster by a tenth. The other is tried again after 16 to 64 times what the last trial
// took. A thread that waits for half a millisecond ends its slice: the one it waits for has no
// core.
//
// # Worked example: windows of two threads
//
// Nothing that a part does is seen in another before 4 cycles have passed (Lookahead), so windows
// have 2. A flit that part 1 sends in w1, in cycle 1 or 2, is seen in part 0 in cycle 5 or 6, which
// is w3. So thread 0 may do w2 whatever thread 1 does, and begins w3 when thread 1 has done w1, and
// has taken what it sent there. Here thread 1 has a lot to do in w1:
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
// With windows of 4 cycles each thread would have to wait for the other after every one.
//
// A process has Config.PIODepth lines in its send window at most, and on the way there: with as
// many, the next store parks it until one has left, which stands for a look at VELO_WINDOW now and
// then. While it is parked it cannot poll its mailbox. So no line is refused.
package vtime
