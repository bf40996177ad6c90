package nic

import "github.com/nicloop/nicloop/drivers"

const maxClients = 6 // the most clients that anything here serves

// requests holds the pending requests of an arbiter's clients.
type requests struct {
	asks [maxClients]drivers.Cycle // from when on; 0: not
}

func (a *requests) asking(client int) bool { return a.asks[client] != 0 }

// due returns the cycle of the first request, or Forever.
func (a *requests) due() drivers.Cycle {
	first := drivers.Forever
	for _, at := range a.asks {
		if at != 0 {
			first = min(first, at)
		}
	}
	return first
}

// An arbiter is a round-robin arbiter.
type arbiter struct {
	requests
	next int // the client that is looked at first
}

// grant selects the next client whose request is due by now. At least one must be.
func (a *arbiter) grant(now drivers.Cycle) (client int) {
	client = a.next
	for a.asks[client] == 0 || a.asks[client] > now {
		client = (client + 1) % maxClients
	}
	a.asks[client] = 0
	a.pass(client)
	return client
}

// pass moves the pointer behind a client that was served.
func (a *arbiter) pass(client int) { a.next = (client + 1) % maxClients }

// An lrsArbiter grants the client that was served longest ago (rtl/core/lrs_arbiter.sv). A client
// that was granted but could not be served keeps its place.
type lrsArbiter struct {
	requests
	services uint64
	served   [maxClients]uint64 // number of the last service
}

// grant selects among the clients whose request is due by now. At least one must be.
func (a *lrsArbiter) grant(now drivers.Cycle) (client int) {
	client = -1
	for i, at := range a.asks {
		if at != 0 && at <= now && (client < 0 || a.served[i] < a.served[client]) {
			client = i
		}
	}
	a.asks[client] = 0
	return client
}

// serve gives a client the lowest priority.
func (a *lrsArbiter) serve(client int) {
	a.services++
	a.served[client] = a.services
}
