package host

import "github.com/nicloop/nicloop/drivers"

// Cost is the host cost model: what the software of a rank costs its core, on
// the FC paper's nodes (2.1 GHz quad-core Opterons, HyperTransport).
type Cost struct {
	// Device side; the machine charges these when a rank touches its NIC.
	PIOWrite drivers.Time // posting one 64-byte line through a write-combining buffer
	RegWrite drivers.Time // posting a read pointer update
	Wake     drivers.Time // from the slot being visible until the polling core has seen it
	PIODepth int          // posted lines in flight per core

	// Library side.
	Poll     drivers.Time // looking at an empty slot
	Take     drivers.Time // taking one packet: header decode
	CopyByte drivers.Time // moving one payload byte
	Match    drivers.Time // matching one message with a receive
	Start    drivers.Time // entering a send or a receive
	Register drivers.Time // looking a buffer up in the registration cache

	// Flow control, where there is one.
	Static  drivers.Time // credit bookkeeping of one data packet, at each end
	Dynamic drivers.Time // the same under the dynamic flow control
	Control drivers.Time // making or taking one control packet, besides its PIO
}

// DefaultCost holds the numbers in use. Only ratios are claimed for them: the
// paper gives no breakdown. They are round figures for a core of that time (a
// cache miss to memory about 60 ns, 64 bytes written through HyperTransport
// about 40 ns, copying at 2.5 GB/s). Credit bookkeeping is what the real code
// takes (mailbox, BenchmarkRetrieve1024). No number here comes from a paper.
func DefaultCost() Cost {
	return Cost{
		PIOWrite: 40 * drivers.Nanosecond,
		RegWrite: 20 * drivers.Nanosecond,
		Wake:     60 * drivers.Nanosecond,
		PIODepth: 16,
		Poll:     10 * drivers.Nanosecond,
		Take:     25 * drivers.Nanosecond,
		CopyByte: 400 * drivers.Picosecond,
		Match:    30 * drivers.Nanosecond,
		Start:    40 * drivers.Nanosecond,
		Register: 50 * drivers.Nanosecond,
		Static:   10 * drivers.Nanosecond,
		Dynamic:  15 * drivers.Nanosecond,
		Control:  25 * drivers.Nanosecond,
	}
}
