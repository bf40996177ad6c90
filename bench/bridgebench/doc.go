// Package bridgebench measures what the bridge costs: transactions per second of Go
// driving the Verilated NICs through it, relative to a bare C++ bench around the very
// same model library in one process, which is the limit for that RTL.
//
// Two workloads between nodes 0 and 1, eight bytes a message:
//
//   - pingpong: a line sent, its slot awaited, a line back. One transaction is the
//     round trip; the bridge is crossed twice for it.
//   - stream: sixteen messages under way, eight more sent whenever eight have arrived,
//     the read pointer told every 64.
//
// [Run] promises that both sides do the same: every slot is checked, and the simulated cycles must
// agree exactly, or it fails. Both sides alternate in rounds of some milliseconds; ratios are taken
// of neighbours and their median counts, so a busy machine hurts both sides alike. Each round
// begins with half a round that does not count, in which caches and Go's runtime settle. Where a
// process lies in memory makes it faster or slower by up to a tenth for as long as it lives, so
// both sides are started anew several times. Spread tells how much the rest did. Processor time, of
// both processes, says what a crossing takes from others (with [Options].Inside there is one
// process); it still varies with what shares caches and cores.
package bridgebench
