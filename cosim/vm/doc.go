// Package vm boots a virtual machine that has one NIC of a simulated system in a PCI slot, and runs
// a command in it. Kernel and QEMU are Debian's, unchanged: QEMU hands the configuration space,
// BARs and memory of the device to this program (x-pci-proxy-dev), which serves them with any
// device that runs by itself.
//
// # What it promises
//
//   - The device looks as nic_pcie does: BARs 0 (registers), 2 (send windows, prefetchable) and 4
//     (MSI-X, with a vector per process), bus mastering, function reset, and INTA besides.
//     Registers are written by quadwords; other writes to them are dropped, as are writes that the
//     NIC refuses: both as a posted write is.
//   - What the NIC writes is the guest's memory itself, at the guest's addresses or, behind the
//     virtual IOMMU, where its tables say. A function that is no bus master, and an address that is
//     not mapped, reach memory that nobody sees; nobody is told.
//   - What a command prints is passed on as it is; its exit code counts only with a mark that no
//     output has by chance. A guest that dies before the command begins is booted again; later that
//     is a [GuestError] which says what died: QEMU, the guest's kernel, or the device.
//   - No process, file or name of a file is left: sockets and the second disk have no names, and
//     QEMU ends with this program.
//
// [Config].Function describes the function of another design: IDs, BAR 0, vectors, the widths of
// its accesses, and what a reset writes. Its interrupts are read from registers of the simulation.
//
// # What the caller must do
//
//   - Open the system with clock=wall and [Config].Memory bytes per node, and use that node for
//     nothing else meanwhile.
//   - Make the image (scripts/vm-image), which is what [CheckImage] looks for.
//
// # Start-up, worked
//
//	SYNC_SYSMEM       pieces of the guest's memory, as files: the first is kept
//	config reads      who the device is
//	BARs              written with ones, read, put back: their sizes
//	config writes     addresses of the BARs, by the firmware; then the kernel's driver switches memory and bus mastering on, and the NIC reaches the guest's memory
//	BAR reads         registers
//
// # What an access costs
//
// A read of a register takes as long as one of the MSI-X table, which is QEMU's way to this program
// and back (50 to 60 us on one machine, TestRate: 0.97 of its rate with model:, 1.20 to 1.29 in
// five runs with rtl:; why it is more than 1 is not known, perhaps since its thread is still awake
// when the next read comes). What rtl: simulates for it are six cycles of the registers, 4.1 us
// there (BenchmarkReadReg of cosim/freerun).
//
// # What it does not do
//
// Faults of the IOMMU are not reported to the guest. What the guest unmaps stays reachable until
// software next writes to the device. PCIe errors and hot-plug are not there; for TLPs see
// rtl:?bus=pcie. Which register of a design clears an interrupt is not known, so every register
// write while one is asserted may send its message again.
package vm
