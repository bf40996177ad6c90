// Package scenario runs the scripts of testdata with which the pure cores of host are tested: commands, one to a line, and what each
// prints between ---- and an empty line. Lines that are empty or begin with # are kept as they are.
//
// It promises that a script comes out as it was if every command prints what it printed, and fails the test otherwise. The caller says
// how a command is executed, and its test program has the flag -update, which writes the scripts anew.
package scenario
