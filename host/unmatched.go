package host

import (
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/host/path"
)

// Unmatched describes a message that has arrived, or has been announced, and that no receive
// matches.
type Unmatched struct {
	Source int    `json:"source"` // in the world
	Tag    int    `json:"tag"`
	Bytes  int    `json:"bytes"`
	Got    int    `json:"arrived_bytes"`
	Comm   uint16 `json:"communicator"` // its context
}

// Unmatched returns the messages that no receive of this rank has matched, the oldest first. The
// usual cause of a receive that waits forever is a message with another tag.
func (r *Rank) Unmatched() (list []Unmatched) {
	r.engine.Match.Each(func(e match.Envelope, m *path.Message) {
		list = append(list, Unmatched{Source: int(e.Source), Tag: int(e.Tag), Bytes: int(m.Length), Got: int(m.Got), Comm: e.Comm})
	})
	return list
}
