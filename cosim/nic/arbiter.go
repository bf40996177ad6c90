package nic

import "github.com/nicloop/nicloop/drivers"

const maxClients = 6 // the most clients that anything here serves

// requests are those of the clients of an arbiter.
type requests struct {
	asks [maxClients]drivers.Cycle // from when on; 0: not
}

func (a *requests) asking(client int) bool { return a.asks[client] != 0 }

// due is when the first of them asks.
func (a *requests) due() drivers.Cycle {
	first := drivers.Forever
	for _, at := range a.asks {
		if at != 0 {
			first = min(first, at)
		}
	}
	return first
}

// An arbiter grants something that serves one client at a time, round-robin, to those who ask.
type arbiter struct {
	requests
	next int // the client that is looked at first
}

// grant chooses the next of those who ask by now: there must be one.
func (a *arbiter) grant(now drivers.Cycle) (client int) {
	client = a.next
	for a.asks[client] == 0 || a.asks[client] > now {
		client = (client + 1) % maxClients
	}
	a.asks[client] = 0
	a.pass(client)
	return client
}

// pass has those behind a client that was served come first.
func (a *arbiter) pass(client int) { a.next = (client + 1) % maxClients }

// An lrsArbiter grants to the client that was served longest ago (rtl/core/lrs_arbiter.sv). One
// that was granted and could not be served keeps its place.
type lrsArbiter struct {
	requests
	services uint64
	served   [maxClients]uint64 // number of the last service
}

// grant chooses among those who ask by now: there must be one.
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

// serve has a client come behind all others.
func (a *lrsArbiter) serve(client int) {
	a.services++
	a.served[client] = a.services
}
