// Package scan says which boards a machine has, who holds them, and what stands in the way of using them; and gives a PCI device to a driver,
// or back.
//
// # What it promises
//
//   - [Host.Scan] writes nothing. Of PCI devices it looks at those with the numbers of [IDs] alone, and reads registers of such a one only if nobody
//     has it: a read can change a stranger's device.
//   - What is found says one of three things of itself: it is ours, it is ours with another description, or it is not; or why nobody knows.
//   - What cannot be used says why, and what to do.
//   - [Host.Bind] and [Host.Unbind] are whole or undone: when a step fails, what was done before it is put back, and both are told.
//
// # What the caller must do
//
// Be root to bind, and ask whoever uses the machine before.
//
// # A binding, worked
//
// 0000:03:00.0 is held by nobody and goes to vfio-pci:
//
//	driver_override   vfio-pci          of /sys/bus/pci/devices/0000:03:00.0
//	drivers_probe     0000:03:00.0      of /sys/bus/pci: the kernel looks for a driver
//	driver -> …/vfio-pci                is looked at: else driver_override is emptied again
package scan
