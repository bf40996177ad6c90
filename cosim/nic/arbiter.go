package nic

import "github.com/nicloop/nicloop/drivers"

const maxClients = 6 // the most clients that anything here serves

// An arbiter grants something that serves one client at a time, round-robin, to those who ask.
type arbiter struct {
	asks [maxClients]drivers.Cycle // from when on; 0: not
	next int                       // the client that is looked at first
}

func (a *arbiter) asking(client int) bool { return a.asks[client] != 0 }

// due is when the first of them asks.
func (a *arbiter) due() drivers.Cycle {
	first := drivers.Forever
	for _, at := range a.asks {
		if at != 0 {
			first = min(first, at)
		}
	}
	return first
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
