// Package build turns the RTL and the C++ side into a simulator, once. The node is verilated and
// compiled into a library, by number of ports, kind and depth of channels; the program around it
// makes meshes of any size of it (cosim/dpi). Both lie in the user's cache under a hash of
// everything they were built from (sources, parameters, tools, flags), so a second request takes
// milliseconds, and a change of the C++ side does not verilate anything.
//
// It promises that what it gives is what was built: builds happen in a directory of their own, are
// synced and moved into place; each has a list of its files with their hashes, and one that was
// damaged, or that another user may have written, is built again. Two processes that want the same
// build it once, and who waits is told for whom; an interrupted build leaves nothing that a later
// one would trust, and is swept away by it. What was not used for long is forgotten. Where all is
// there, no tool is needed.
//
// The caller must treat what [Build] returns as read-only, and must expect half a minute of work on
// a first call: [Spec].Progress tells what is built, for how long, and what changed in a working
// tree since it was last built. RTL that is not this program's must pass [CheckBoundary] first.
//
// A netlist ([Spec].Netlist) is made by yosys first, and simulated with its models of the cells, in
// place of the RTL.
//
// A missing tool is drivers.ErrEnvironment and names the Debian package.
package build
