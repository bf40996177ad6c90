package nic

import "github.com/nicloop/nicloop/drivers"

// Timing are the cycles that the blocks take; RTL has those of the hardware. What
// is not here follows from the interfaces: a beat, a flit or a state is one cycle.
type Timing struct {
	Clear      drivers.Cycle `json:"clear"`      // after reset, until the tables of mailboxes and rings are clear
	Lines      int           `json:"lines"`      // lines that the VELO requester holds
	HostWrite  drivers.Cycle `json:"host_write"` // from the last beat of a DMA write to its answer (HOST_WR_LATENCY)
	HostRead   drivers.Cycle `json:"host_read"`  // from the address of a DMA read to its first beat (HOST_RD_LATENCY)
	Descriptor drivers.Cycle `json:"descriptor"` // a descriptor is picked, loaded and judged
	Translate  drivers.Cycle `json:"translate"`  // a translation that hits
	Notify     drivers.Cycle `json:"notify"`     // a notification, until its last beat is in the write channel, a cycle before memory
}
