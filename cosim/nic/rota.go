package nic

import "github.com/nicloop/nicloop/drivers"

const rotaSize = 6 // the most clients that anything here serves

// A rota is who asks for something that serves one client at a time, in turn.
type rota struct {
	asks [rotaSize]drivers.Cycle // from when on; 0: not
	turn int                     // the client who comes first
}

func (r *rota) asking(client int) bool { return r.asks[client] != 0 }

// due is when the first of them asks.
func (r *rota) due() drivers.Cycle {
	first := drivers.Forever
	for _, at := range r.asks {
		if at != 0 {
			first = min(first, at)
		}
	}
	return first
}

// pick takes the next in turn of those who ask by now: there must be one.
func (r *rota) pick(now drivers.Cycle) (client int) {
	client = r.turn
	for r.asks[client] == 0 || r.asks[client] > now {
		client = (client + 1) % rotaSize
	}
	r.asks[client] = 0
	r.pass(client)
	return client
}

// pass gives the turn to those behind a client that was served.
func (r *rota) pass(client int) { r.turn = (client + 1) % rotaSize }
