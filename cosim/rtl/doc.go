// Package rtl is the backend "rtl:": the Verilated NICs of a mesh, built on demand (package build),
// in a process of their own or in this one (package bridge). Importing it registers the scheme; it
// opens a drivers.Timed.
//
// Keys of the URI: see keys.go, and "nicloop device list rtl".
//
// Wire faults are registers of the simulation (page wire of the description), so they can change at
// any time; the keys initialise all wires when the system is opened.
//
// With inside=1 results are the same, and an exchange with the model is a function call. This
// requires a program built with cgo; checkpoints are not available, and patience and spin have no
// effect. A crash of the model crashes this process, and so does a wave file that can no longer be
// written. On one CPU set GOMAXPROCS=2: with one P the runtime spends a fifth of the time
// monitoring the call.
//
// With bus=pcie each node has rtl/board/nic_pcie.sv and a root complex between its ports and the
// bridge (rtl/board/README.md). Writes are posted there, so they never return a drivers.BusError
// (the devices lack drivers.CanAnswerWrites), and host_wr_latency has no effect. The removal of a
// NIC (package simregs) is reported as drivers.ErrPeerDied by the next register read; the system
// continues.
//
// With bus=axi each node has rtl/board/axi_front.sv (nic_axi without the core) and a host in a
// clock domain of its own between its ports and the bridge; ratio is the ratio of the host's to the
// core's cycles. host_rd_latency and host_wr_latency are in cycles of the host. Accesses of a node
// are executed in the order of posting, across all kinds. Package simregs describes the additional
// registers.
//
// With uart=pty the hardware is rtl/board/nic_uart.sv in a free-running process that connects the
// pins of its UARTs to pseudo-terminals; the system opened is that of drivers/uart, which uses
// those. It is therefore not a drivers.Timed, has 1 MiB of memory on board, and the capabilities of
// a board on such a line. Of the other keys, dims, src and random_init apply. With size=small it is
// rtl/board/ice40_top.sv instead, one board with two processes and 4 KB, and with netlist=ice40 the
// netlist that yosys generates from it, which takes minutes once. A killed simulator is reported
// like an unplugged board: drivers.ErrPeerDied.
//
// Options must set the number of nodes, unless dims does; memory defaults to 1 MiB. The guarantees
// and requirements are those of package bridge.
package rtl
