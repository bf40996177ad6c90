// Package uart accesses NICs through a serial line and the register bridge at its other end
// (rtl/board/uart_bridge.sv): boards without PCIe, or whose PCIe does not work.
//
//	uart:/dev/ttyUSB0?baud=3000000
//	uart:/dev/ttyUSB0,/dev/ttyUSB1      two boards, nodes 0 and 1
//
// The hardware behind the bridge is rtl/board/nic_uart.sv; rtl:?uart=pty simulates one such board,
// or two that are linked.
//
// # Guarantees
//
//   - No register is written before the bridge has identified itself and the NIC's MAGIC and
//     DESC_HASH match.
//   - A frame has a CRC. Damaged and lost frames are retransmitted, up to 6 times, and the bridge
//     performs a repeated write only once. Garbage ends with the next frame. When WriteReg or
//     WritePIO returns, the write has been performed.
//   - A line without answers gives a [*LineError] that describes what was received, an unplugged
//     port drivers.ErrPeerDied. Both end all waits.
//   - Registers and send windows are fully supported; a store to a window must stay within its
//     line, because the bus there transfers quadwords. Memory is a copy of on-board memory: Await
//     polls for writes of the NIC, ReadMemory and WriteMemory transfer data. So mailboxes work, but
//     the NIC cannot read what software stores to Memory, and CanDMA is not set. There are no
//     interrupts.
//
// # Obligations of the caller
//
//   - Close the System: it locks its ports, and other programs are refused.
//
// # Example of a frame
//
// This request reads the register at 0x18 with sequence number 7. It has 8 bytes of header, no data
// and 4 bytes of CRC, between two flags:
//
//	7e 07 10 01 18 00 00 00 00 (crc) 7e                request: read one quadword
//	7e 07 90 00 18 00 00 00 00 (8 bytes) (crc) 7e      answer: status 0 and the quadword
//
// A byte 7e or 7d inside a frame is sent as 7d, followed by the byte with bit 5 inverted. At 3
// Mbaud the 38 bytes take 127 microseconds.
package uart
