// Package scan lists the boards of a machine, who uses them and what prevents their use. It also
// binds PCI devices to drivers and unbinds them.
//
// # Guarantees
//
//   - [Host.Scan] writes nothing. It examines only PCI devices with the numbers in [IDs], and reads
//     registers only of devices without a driver: a read could change the state of an unknown
//     device.
//   - A device is reported as ours, as ours with another register description, or as another; or
//     with the reason why this is unknown.
//   - A device that cannot be used is reported with the reason and the remedy.
//   - [Host.Bind] and [Host.Unbind] are atomic: when a step fails, the earlier steps are undone,
//     and the error reports both.
//
// # Obligations of the caller
//
// Be root to bind, and ask the users of the machine first.
//
// # Example of a binding
//
// Binding 0000:03:00.0, which has no driver, to vfio-pci:
//
//	driver_override   vfio-pci          write to /sys/bus/pci/devices/0000:03:00.0
//	drivers_probe     0000:03:00.0      write to /sys/bus/pci: the kernel selects a driver
//	driver -> …/vfio-pci                check the result; on failure, clear driver_override
package scan
