package rdrp

import "github.com/nicloop/nicloop/cosim/fabric/packets"

// unbounded lifts every bound on outstanding packets.
func unbounded(config any) {
	if c, ok := config.(*packets.Config); ok {
		c.Bound, c.Window, c.AckCycles = packets.NoBound, 0, 0
	}
}

// evenMemories makes every memory as fast as the network.
func evenMemories(config any) {
	if c, ok := config.(*packets.Config); ok {
		c.DrawSlow(0, 1)
	}
}

// idealNotification replaces FECN/BECN by sources that know how fast their partner's memory is.
func idealNotification(config any) {
	if c, ok := config.(*packets.Config); ok && c.ECN != nil {
		c.ECN, c.Paced = nil, true
	}
}
