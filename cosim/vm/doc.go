// Package vm boots a virtual machine with one NIC of a simulated system in a PCI slot, and runs a
// command in it. Kernel and QEMU are unmodified Debian packages: QEMU forwards accesses to the
// device's configuration space, BARs and memory to this program (x-pci-proxy-dev), which serves
// them with any free-running device.
//
// # Guarantees
//
//   - The device looks like nic_pcie: BARs 0 (registers), 2 (send windows, prefetchable) and 4
//     (MSI-X, with a vector per process), bus mastering, function reset, and INTA in addition.
//     Registers are written by quadwords; other writes to them are dropped, like writes that the
//     NIC refuses, as is usual for posted writes.
//   - The NIC writes directly to the guest's memory, at the guest's addresses or, behind the
//     virtual IOMMU, according to its tables. Accesses of a function without bus mastering, or to
//     an unmapped address, silently go to scratch memory.
//   - The output of a command is passed on unchanged; its exit code is recognised only with a mark
//     that no output contains by chance. A guest that dies before the command begins is booted
//     again; later that is a [GuestError], which names what died: QEMU, the guest's kernel, or the
//     device.
//   - No process or file is left behind: sockets and the second disk have no names, and QEMU exits
//     with this program.
//
// [Config].Function describes the function of another design: IDs, BAR 0, vectors, the widths of
// its accesses, and what a reset writes. Its interrupts are read from registers of the simulation.
//
// # What the caller must do
//
//   - Open the system with clock=wall and [Config].Memory bytes per node, and do not use the node
//     otherwise meanwhile.
//   - Build the image with scripts/vm-image; [CheckImage] verifies it.
//
// # Start-up, worked
//
//	SYNC_SYSMEM       pieces of the guest's memory, as files: the first is kept
//	config reads      who the device is
//	BARs              written with ones, read, put back: their sizes
//	config writes     addresses of the BARs, by the firmware; then the kernel's driver switches memory and bus mastering on, and the NIC reaches the guest's memory
//	BAR reads         registers
//
// # Cost of an access
//
// A register read takes as long as a read of the MSI-X table, which is the round trip from QEMU to
// this program (50 to 60 us on one machine; TestRate: 0.97 of its rate with model:, 1.20 to 1.29 in
// five runs with rtl:; the reason for more than 1 is not known, perhaps the thread is still awake
// when the next read arrives). rtl: simulates six cycles of the registers for it, 4.1 us there
// (BenchmarkReadReg of cosim/freerun).
//
// # Limitations
//
// Faults of the IOMMU are not reported to the guest. What the guest unmaps stays reachable until
// software next writes to the device. PCIe errors and hot-plug are not there; for TLPs see
// rtl:?bus=pcie. Which register of a design clears an interrupt is not known, so every register
// write while one is asserted may send its message again.
package vm
