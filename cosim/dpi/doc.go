// Package dpi holds the C++ side of the bridge: what is linked with the Verilated
// node to make the simulator. They lie in src/, out of the go command's sight.
//
//	main.cpp       handshake and the command loop
//	arguments      what the simulator is started with
//	simulation     the nodes behind bridge.h's Hardware: clock, reset, waves
//	mesh.h         all nodes, the wires between them, who sleeps; knows no Verilator
//	clocks.h       when a host's clock rises beside the core's
//	node.h         one verilated node, with the ports that mesh.h asks for
//	wiring, crew   which link leads where; threads that share a cycle
//	checkpoint     forks of the simulator, from which the end of a run is repeated
//	inside         main.cpp and transport for a model in the host's process, which calls instead; inside.h is C
//	board          boards on serial lines: another program, which knows nothing of bridge.h
//	uart_line.h    the other end of such a line, bit by bit
//	hello.h        what the simulator says of itself
//	log            what the model prints
//	transport      the socket and the shared memory
//	decode         bytes to checked commands, pure
//	bridge         executes commands, runs until, collects events; abstract above and below
//	dpi.cpp        DPI imports and Verilator's hooks to bridge.h's Bus, types only
//	protocol.h     the frames; cosim/bridge/frames.go is the other half
//
// The package promises the sources, no more; cosim/build compiles them. mesh_test.cpp and
// fuzz_frames.cpp are tests, with sanitizers.
package dpi
