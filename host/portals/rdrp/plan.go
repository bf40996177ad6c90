// Package rdrp is the receiver-driven rendezvous protocol on Portals.
package rdrp

// Get is one chunk that the receiver fetches from the sender's entry.
type Get struct {
	Offset, Length uint64
	Threshold      uint64 // successful gets of this message before the get is released
}

// PlanGets returns the gets of a message of total bytes after its first chunk of first bytes.
// first is the chunk size that both sides agreed on, also if the receive buffer is shorter:
// otherwise the sender would expect another number of gets.
// At most inFlight are outstanding. The sender counts gets without knowing the receive buffer,
// so chunks beyond the buffer remain in the plan, with length zero.
// It returns nil if chunk or inFlight is zero.
func PlanGets(total, first, buffer, chunk, inFlight uint64) []Get {
	if chunk == 0 || inFlight == 0 {
		return nil
	}
	var gets []Get
	for offset := first; offset < total; {
		step := min(chunk, total-offset)
		get := Get{Offset: offset}
		if offset < buffer {
			get.Length = min(step, buffer-offset)
		}
		if n := uint64(len(gets)); n >= inFlight {
			get.Threshold = n - inFlight + 1
		}
		gets = append(gets, get)
		offset += step
	}
	return gets
}
