// Package dpi holds the C++ side of the bridge: what is linked with the Verilated
// model to make the simulator. They lie in src/, out of the go command's sight.
//
//	main.cpp       clock, reset, arguments, waves, the command loop
//	inside         main.cpp and transport for a model in the host's process, which calls instead; inside.h is C
//	hello.h        what the simulator says of itself
//	log            what the model prints
//	transport      the socket and the shared memory
//	decode         bytes to checked commands, pure
//	bridge         executes commands, runs until, collects events; abstract above and below
//	dpi.cpp        DPI imports and Verilator's hooks to bridge.h's Bus, types only
//	protocol.h     the frames; cosim/bridge/frames.go is the other half
//
// The package promises the sources, no more; cosim/build compiles them.
package dpi
