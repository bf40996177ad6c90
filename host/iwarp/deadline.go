package iwarp

import "time"

// Deadline returns the earliest time at which Progress has work without a datagram or data of a
// connection: a repetition or an acknowledgement of RD. Simulations advance their clock to it.
func (d *Device) Deadline() (at time.Duration, ok bool) {
	for _, q := range d.qps {
		t, is := q.transport.(*datagrams)
		if !is || t.reliable == nil || q.state == Error {
			continue
		}
		if next, due := t.reliable.Deadline(); due && (!ok || next < at) {
			at, ok = next, true
		}
	}
	return at, ok
}
