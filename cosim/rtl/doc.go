// Package rtl is the backend behind "rtl:": the Verilated NICs of a mesh, built on
// demand (package build), in a process of their own or in this one (package bridge). Importing it
// registers the scheme; what it opens is a drivers.Timed.
//
// Keys of the URI:
//
//	src=DIR               RTL of a working tree, a checkout or its folder rtl, instead of that in the program;
//	                      description, ports and DPI imports must be the same
//	dims=4x2x1            the mesh; default: that of build.DimsFor for Options.Nodes
//	torus=1               wires from end to end of every dimension of more than two nodes
//	vc_depth=16           flits per virtual channel of a router's input
//	wire_latency=0        cycles that a word between nodes takes beyond one, up to 64
//	host_wr_latency=4     cycles from a DMA burst to its acknowledgement
//	host_rd_latency=8     cycles from the address of a DMA read to its first beat
//	plusargs=%2Ba,%2Bb=1  arguments of the simulator, separated by commas; + is %2B in a URI
//	patience=30s          how long the simulator may be silent
//	spin=1ms              how long to look for an answer before sleeping; 0s: never
//	inside=1              the model in this process: less per crossing, see below
//	clock=wall            time passes by itself (package alone); the model is in this process
//	random_init=7         registers and memories start with random values, by this seed, instead of zeros
//	coverage=DIR          a node that counts which lines and toggles it has seen, into a new file of that folder
//	link_errors=1e-4      chance of a word on a wire between nodes to be corrupted
//	link_losses=1e-5      chance of it to be lost
//	link_seed=7           where the random numbers of both start
//	bus=pcie              the NIC behind PCIe, see below; default: axi
//	mps=256, mrrs=512     largest payload and read request, in bytes
//	bus_seed=7            all that PCIe leaves open is at random, by this seed
//	bus_lost=1e-3         chance of a read of a NIC to get no completion; bus_late: one behind its time-out;
//	                      bus_poisoned: one that is poisoned; bus_errors: one that says UR or CA
//	uart=pty              one board or two linked ones behind serial lines, see below
//	baud=3000000          of these lines, in simulated time
//	noise=1e-5            chance of a bit on them to be wrong
//	noise_seed=7          where the random numbers of that start
//
// Faults of wires are registers of the simulation (page wire of the description), so
// they may change at any time; the keys set all wires when the system is opened.
//
// With inside=1 results are the same, and an exchange with the model is a call. It takes a program built with cgo; it
// has no checkpoints, and patience and spin mean nothing. A crash of the model is one of this
// process, and so is a wave file that can no longer be written.
// On one CPU set GOMAXPROCS=2: with one P the runtime spends a fifth of the time watching the call.
//
// With bus=pcie each node has rtl/board/nic_pcie.sv and a root complex between its ports and the bridge (rtl/board/README.md). Writes are posted there, so none is a
// drivers.BusError (the devices lack drivers.CanAnswerWrites), and host_wr_latency means nothing. A NIC that was pulled out (package rootcomplex) is told as
// drivers.ErrPeerDied by the next read of a register; the system goes on.
//
// With uart=pty the hardware is rtl/board/nic_uart.sv in a process that keeps its own time and carries bits between the pins of
// its UARTs and pseudo-terminals; what is opened is the system of drivers/uart, which reaches it through those. So it is no
// drivers.Timed, has 1 MiB of memory on board, and can do what a board on such a line can. Of the keys dims, src and random_init mean something beside it. A
// killed simulator is a board that was unplugged: drivers.ErrPeerDied.
//
// Options must say how many nodes unless dims does; memory defaults to 1 MiB. The
// promises and duties are those of package bridge.
package rtl
