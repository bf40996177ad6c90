// Package model is the backend behind "model:": the NICs of package drivers/nic on
// the network of package cosim/fabric, in this process. Importing it registers the
// scheme; what it opens is a drivers.Timed.
//
// # What it promises
//
//   - What software sees is what rtl: shows, timing included: [Params] holds the cycles
//     of the blocks, which "nicloop calibrate" measures. Package cosim/differ measures the difference.
//   - The promises of drivers/nic: time depends on the calls alone, idle costs nothing.
//   - With Options.Trace, every flit at its injection, on every link and at its
//     ejection, heads as they arrive from a link, every line, slot and dropped packet.
//     Buses are not traced.
//
// It has no waveforms. Links never fail: their registers read as working ones, and the
// registers of wires, which belong to the simulation of rtl:, answer DECERR.
//
// # Keys of the URI
//
//	params=FILE         cycles of the blocks, from "nicloop calibrate"; default: those of the RTL
//	dims=4x4x4          the mesh; default: that of build.DimsFor for Options.Nodes
//	torus=1             rings in every dimension of more than two nodes
//	wire_latency=0      cycles that a flit between nodes takes beyond its two, up to 64; credits too
//	vc_depth=16         flits per virtual channel of a router's input
//	host_wr_latency=4   cycles from a DMA burst to its acknowledgement
//	host_rd_latency=8   cycles from the address of a DMA read to its first beat
//
// Options must say how many nodes unless dims does; memory defaults to 1 MiB a node.
package model
