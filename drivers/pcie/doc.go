// Package pcie accesses a board in a PCIe slot in one of three modes: with the driver vfio-pci,
// behind an IOMMU; with the kernel's files for its BARs and memory at physical addresses, for root
// on machines without an IOMMU, on request only; or with these files alone, without DMA, for
// bring-up.
//
//	pcie:0000:03:00.0                   with vfio-pci DMA and MSI-X; else registers and send windows
//	pcie:0000:03:00.0?dma=hugepage      DMA without an IOMMU; with uio_pci_generic INTA, too
//	pcie:0000:03:00.0,0000:04:00.0      two boards, nodes 0 and 1
//	pcie:0000:03:00.0?nics=2            a board with two NICs, nodes 0 and 1 (rtl/board/pcie_nics.sv)
//
// A board whose BAR of send windows is smaller than 512 MB has fewer processes: one per 32 MB.
//
// # Guarantees
//
//   - A board that is bound to another driver is not touched, and nothing is used before MAGIC and
//     DESC_HASH match. A disabled device is enabled, and disabled again by Close.
//   - Register accesses are whole. Writes are posted: a refused write is not reported, but
//     BAD_ACCESS counts it. A read outside the map, or one that returns all ones where no register
//     is, gives a drivers.BusError. A board on which all registers read as ones is dead
//     (drivers.ErrPeerDied).
//   - Stores to the send windows are write-combined where the kernel supports it. They wait for a
//     free entry (drivers.Pacer).
//   - With DMA, a board has one program at a time. The NIC is reset through its registers before
//     DMA is enabled and before it is disabled. Memory is one segment behind an IOMMU, and 2 MB
//     pages without one.
//   - A wait for a DMA write polls memory, first often, then once per millisecond. A wait for an
//     interrupt sleeps.
//   - Capabilities lack what the mode does not support.
//
// # Obligations of the caller
//
//   - vfio-pci: run nicloop device bind ADDRESS; own the IOMMU group's file in /dev/vfio; be
//     allowed to lock memory (ulimit -l).
//   - dma=hugepage: be root and reserve pages (/proc/sys/vm/nr_hugepages). Nothing protects the
//     machine's memory from such a board. If its program is killed, the board keeps writing to the
//     program's former memory until it is opened again.
//   - Otherwise: be root, or own the device's files resource0, resource2 and enable.
//
// Package scan has the device numbers.
package pcie
