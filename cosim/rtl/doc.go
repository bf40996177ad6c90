// Package rtl is the backend behind "rtl:": the Verilated NICs of a mesh, built on
// demand (package build), in a process of their own or in this one (package bridge). Importing it
// registers the scheme; what it opens is a drivers.Timed.
//
// Keys of the URI: keys.go, and "nicloop device list rtl".
//
// Faults of wires are registers of the simulation (page wire of the description), so
// they may change at any time; the keys set all wires when the system is opened.
//
// With inside=1 results are the same, and an exchange with the model is a call. It takes a program
// built with cgo; it has no checkpoints, and patience and spin mean nothing. A crash of the model
// is one of this process, and so is a wave file that can no longer be written. On one CPU set
// GOMAXPROCS=2: with one P the runtime spends a fifth of the time watching the call.
//
// With bus=pcie each node has rtl/board/nic_pcie.sv and a root complex between its ports and the
// bridge (rtl/board/README.md). Writes are posted there, so none is a drivers.BusError (the devices
// lack drivers.CanAnswerWrites), and host_wr_latency means nothing. A NIC that was pulled out
// (package simregs) is reported as drivers.ErrPeerDied by the next read of a register; the system
// goes on.
//
// With bus=axi each node has rtl/board/axi_front.sv (all of nic_axi but the core) and a host in a
// clock of its own between its ports and the bridge; ratio says how many of the host's cycles take
// as long as how many of the core's. host_rd_latency and host_wr_latency are of the host's cycles.
// Accesses of a node go in the order in which they were posted, one kind behind the other. Package
// simregs names what is beside the NIC's registers.
//
// With uart=pty the hardware is rtl/board/nic_uart.sv in a process that keeps its own time and
// carries bits between the pins of its UARTs and pseudo-terminals; what is opened is the system of
// drivers/uart, which reaches it through those. So it is no drivers.Timed, has 1 MiB of memory on
// board, and can do what a board on such a line can. Of the keys dims, src and random_init mean
// something beside it. With size=small it is rtl/board/ice40_top.sv instead, one board of two
// processes and 4 KB, and with netlist=ice40 the netlist that yosys makes of that: minutes of work,
// once. A killed simulator is a board that was unplugged: drivers.ErrPeerDied.
//
// Options must say how many nodes unless dims does; memory defaults to 1 MiB. The
// promises and duties are those of package bridge.
package rtl
