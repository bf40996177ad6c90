// Package uart reaches NICs through a serial line and the register bridge at its other end (rtl/board/uart_bridge.sv): a board
// whose PCIe is dead, or one that has none.
//
//	uart:/dev/ttyUSB0?baud=3000000
//	uart:/dev/ttyUSB0,/dev/ttyUSB1      two boards, nodes 0 and 1
//
// What stands behind the bridge on such a board is rtl/board/nic_uart.sv; rtl:?uart=pty simulates one, or two that are linked.
//
// # What it promises
//
//   - Nothing is touched before the bridge has said who it is and the NIC's MAGIC and DESC_HASH are ours.
//   - A frame carries a CRC; what is damaged or lost is sent again, up to 6 times, and the bridge does nothing twice. Garbage
//     ends with the next frame. A write has been done when WriteReg and WritePIO come back.
//   - A line that does not answer gives a [*LineError], which says what did come; an unplugged port drivers.ErrPeerDied; both
//     end what waits.
//   - Registers and send windows are whole; what is stored to a window may not leave its line, since the bus there sees quadwords. Memory is a copy of on-board memory: Await looks for what the NIC has
//     written, ReadMemory and WriteMemory move it. So mailboxes work; software that has the NIC read what it
//     stores does not, and CanDMA says so. There are no interrupts.
//
// # What the caller must do
//
//   - Close the System: it has its ports alone, and a second program is refused.
//
// # A frame, worked
//
// The register at 0x18 is read with sequence number 7. 8 bytes of header, no data, 4 of CRC, between two flags:
//
//	7e 07 10 01 18 00 00 00 00 (crc) 7e      one quadword, please
//	7e 07 90 00 18 00 00 00 00 (8 bytes) (crc) 7e      status 0, and here it is
//
// A byte 7e or 7d inside is sent as 7d and itself with bit 5 turned. At 3 Mbaud the 38 bytes take 127 microseconds.
package uart
