// Package build turns the RTL and the C++ side into a simulator, once: a model lies
// in the user's cache under a hash of everything it was built from (sources, mesh,
// parameters, tools, flags), so a second request for it takes milliseconds.
//
// It promises that a model directory is complete when it exists: builds happen in a
// directory of their own and are moved into place; two processes that want the same
// model build it once; an interrupted build leaves nothing that a later one would
// trust, and is swept away by it.
//
// The caller must treat what [Build] returns as read-only, and must expect minutes
// of work for a large mesh on a first call: [Spec].Progress tells what is going on.
//
// A missing tool is drivers.ErrEnvironment and names the Debian package.
package build
