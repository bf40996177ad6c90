// Package pcie reaches a board in a PCIe slot, by one of three ways: the driver vfio-pci, behind an IOMMU; the files that Linux has for its BARs, with memory whose
// physical address root is told, where there is no IOMMU and somebody says so; or these files alone, for bring-up.
//
//	pcie:0000:03:00.0                   with vfio-pci DMA and MSI-X; else registers and send windows
//	pcie:0000:03:00.0?dma=hugepage      DMA without an IOMMU; with uio_pci_generic INTA, too
//	pcie:0000:03:00.0,0000:04:00.0      two boards, nodes 0 and 1
//	pcie:0000:03:00.0?nics=2            a board with two NICs, nodes 0 and 1 (rtl/board/pcie_nics.sv)
//
// A board whose BAR of send windows is smaller than 512 MB has fewer processes: one per 32 MB.
//
// # What it promises
//
//   - A board that another driver has is left alone, and nothing is used before MAGIC and DESC_HASH are ours. A device that is off is switched on, and off again
//     by Close.
//   - Registers are read and written whole. Writes are posted: nobody hears of one that was refused, but BAD_ACCESS counts it. Outside the map, and where
//     all bits read as one although nothing is there, the error is a drivers.BusError; a board that reads as ones everywhere has died (drivers.ErrPeerDied).
//   - Stores to the send windows are combined where the kernel offers that. They wait for an entry (drivers.Pacer).
//   - With DMA: one program at a time has the board. The NIC is reset, by its registers, before it may reach memory and before it no longer may. Memory lies in one segment
//     for the NIC behind an IOMMU, in pages of 2 MB without.
//   - A wait for a write looks at memory, at first often, then every millisecond; one for an interrupt sleeps.
//   - What a way has not got, Capabilities leave out.
//
// # What the caller must do
//
//   - vfio-pci: nicloop device bind ADDRESS; own the file of the IOMMU group in /dev/vfio; have memory that may be locked (ulimit -l).
//   - dma=hugepage: be root, and reserve pages (/proc/sys/vm/nr_hugepages). Nothing keeps such a board from any memory of the machine, and one whose
//     program was killed goes on writing to where its memory was until somebody opens it again.
//   - Neither: be root, or own the files resource0, resource2 and enable of the device.
//
// Device numbers: package scan.
package pcie
