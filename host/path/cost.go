package path

import "github.com/nicloop/nicloop/drivers"

// Cost is the host cost model: what the software of a rank costs its core, on
// the FC paper's nodes (2.1 GHz quad-core Opterons, HyperTransport).
type Cost struct {
	// Device side; the machine charges these when a rank touches its NIC.
	PIOWrite drivers.Time `json:"pio_write_ps"`      // posting one 64-byte line through a write-combining buffer
	RegWrite drivers.Time `json:"register_write_ps"` // posting a read pointer update
	Wake     drivers.Time `json:"wake_ps"`           // from the slot being visible until the polling core has seen it
	PIODepth int          `json:"pio_depth_lines"`   // lines in the send window per core, and on the way there

	// Library side.
	Poll     drivers.Time `json:"poll_ps"`            // looking at an empty slot
	Take     drivers.Time `json:"take_ps"`            // taking one packet: header decode
	CopyByte drivers.Time `json:"copy_byte_ps"`       // moving one payload byte
	Match    drivers.Time `json:"match_ps"`           // matching one message with a receive
	Start    drivers.Time `json:"start_ps"`           // entering a send or a receive
	Register drivers.Time `json:"register_buffer_ps"` // looking a buffer up in the registration cache
	Look     drivers.Time `json:"look_ps"`            // looking at an entry of the table of buffers that are used again
	Pin      drivers.Time `json:"pin_ps"`             // registering such a buffer, besides its pages
	PinPage  drivers.Time `json:"pin_page_ps"`        // and for each page of 4 KB
	Lock     drivers.Time `json:"lock_ps"`            // taking the library's lock, where a helper shares it: a line from another core's cache

	// Flow control, where there is one.
	Static  drivers.Time `json:"static_ps"`  // credit bookkeeping of one data packet, at each end
	Dynamic drivers.Time `json:"dynamic_ps"` // the same under the dynamic flow control
	Control drivers.Time `json:"control_ps"` // making or taking one control packet, besides its PIO
	// Search is the extra time for each data packet in the way of a send that waits for credits: a
	// library that searches its mailbox for credit packets has to set it aside. Here mailboxes are
	// read in order, what lies in front of a credit packet has to be received anyway, and Search is 0.
	Search drivers.Time `json:"search_ps,omitempty"`
}

// DefaultCost holds the numbers in use. Only ratios are claimed for them: the paper gives no
// breakdown. They are round figures for a core of that time (a cache miss to memory about 60 ns, 64
// bytes written through HyperTransport about 40 ns, copying at 2.5 GB/s). Credit bookkeeping is
// what the real code takes (mailbox, BenchmarkRetrieve1024), as is the table of buffers
// (host/reuse, BenchmarkUse: 6 to 10 ns if it is known, 30 ns per entry if it is new). These come
// from no paper. Pin and PinPage do: as many copies as on the machine of REUSE, whose Table 5.3
// says that a registration takes as long as 60 copies of 4 KB, and as 32 of 8 KB: 224 copies of 1
// KB, and 16 more for each page. They are charged where a buffer of the application is registered
// because it was used often; what Alloc gave for a rendezvous counts as pinned by Alloc.
func DefaultCost() Cost {
	return Cost{
		PIOWrite: 40 * drivers.Nanosecond,
		RegWrite: 20 * drivers.Nanosecond,
		Wake:     60 * drivers.Nanosecond,
		PIODepth: 15,
		Poll:     10 * drivers.Nanosecond,
		Take:     25 * drivers.Nanosecond,
		CopyByte: 400 * drivers.Picosecond,
		Match:    30 * drivers.Nanosecond,
		Start:    40 * drivers.Nanosecond,
		Register: 50 * drivers.Nanosecond,
		Look:     20 * drivers.Nanosecond,
		Pin:      224 * 1024 * 400 * drivers.Picosecond,
		PinPage:  16 * 1024 * 400 * drivers.Picosecond,
		Lock:     60 * drivers.Nanosecond,
		Static:   10 * drivers.Nanosecond,
		Dynamic:  15 * drivers.Nanosecond,
		Control:  25 * drivers.Nanosecond,
	}
}
