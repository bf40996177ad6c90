// Package bridgebench measures the cost of the bridge: transactions per second of Go code that
// drives the Verilated NICs through the bridge, relative to a bare C++ bench around the same model
// library in one process. The bare bench is the upper limit for that RTL.
//
// Two workloads run between nodes 0 and 1 with eight bytes per message:
//
//   - pingpong: a line is sent, its slot awaited, a line returned. A transaction is a round trip;
//     it crosses the bridge twice.
//   - stream: sixteen messages are in flight; eight more are sent whenever eight have arrived, and
//     the read pointer is written every 64.
//
// [Run] guarantees that both sides do the same work: every slot is checked, and the simulated
// cycles must be equal. To cancel out load on the machine, both sides alternate in rounds of some
// milliseconds, ratios are taken between adjacent rounds, and the median counts. Each round starts
// with a warm-up of half a round for caches and Go's runtime. The memory layout of a process
// changes its speed by up to a tenth for its lifetime, so both sides are restarted several times.
// Spread shows the remaining variation. CPU time of both processes is the cost to other work on the
// machine (with [Options].Inside there is one process); it still depends on what shares caches and
// cores.
package bridgebench
