// Package mixed is the backend behind "mixed:": a mesh in which some nodes are the Verilated RTL, in a process of their own, and all
// others the model (drivers/nic on cosim/fabric), in this one.
package mixed
