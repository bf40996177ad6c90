package explore

import (
	"fmt"
	"strconv"
	"strings"
)

// Options describe a world.
type Options struct {
	Messages [2]int // that each end sends
	Capacity int    // datagrams in the network, each way
	Buffers  int    // posted receives at the beginning; further ones are posted at any time
	Stored   int    // messages that a receiver may store until an earlier one arrives
	AckEvery int
	Restarts int // of both ends together

	Plant     string // a planted mistake; see Plants
	MaxStates int
}

// fields lists the numbers of a world in the order of String.
func (o *Options) fields() []struct {
	key   string
	value *int
} {
	return []struct {
		key   string
		value *int
	}{
		{"forth", &o.Messages[0]}, {"back", &o.Messages[1]}, {"capacity", &o.Capacity}, {"buffers", &o.Buffers},
		{"stored", &o.Stored}, {"ackevery", &o.AckEvery}, {"restarts", &o.Restarts},
	}
}

// String is the command that makes the world.
func (o Options) String() string {
	s := "new"
	for _, f := range o.fields() {
		s += fmt.Sprintf(" %s=%d", f.key, *f.value)
	}
	if o.Plant != "" {
		s += " plant=" + o.Plant
	}
	return s
}

// Parse is the inverse of String, without the word new.
func Parse(words []string) (o Options, err error) {
	o = Options{Messages: [2]int{1, 0}, Capacity: 1, Buffers: 1, Stored: 1, AckEvery: 1}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		if key == "plant" {
			if _, known := plants[value]; !known {
				return o, fmt.Errorf("unknown mistake %q", value)
			}
			o.Plant = value
			continue
		}
		found := false
		for _, f := range o.fields() {
			if f.key == key {
				found = true
				*f.value, err = strconv.Atoi(value)
			}
		}
		if !found || err != nil || o.tooLarge() {
			return o, fmt.Errorf("%s: expected forth, back, capacity, buffers, stored, ackevery or restarts = 0 to 8", word)
		}
	}
	return o, nil
}

func (o *Options) tooLarge() bool {
	for _, f := range o.fields() {
		if *f.value < 0 || *f.value > 8 {
			return true
		}
	}
	return false
}

// Suite lists the worlds that must be proved.
func Suite() []Options {
	return []Options{
		{Messages: [2]int{3, 0}, Capacity: 2, Buffers: 3, Stored: 2, AckEvery: 1},
		{Messages: [2]int{3, 0}, Capacity: 2, Buffers: 3, Stored: 1, AckEvery: 3},
		{Messages: [2]int{2, 1}, Capacity: 2, Buffers: 2, Stored: 1, AckEvery: 2},
		{Messages: [2]int{2, 0}, Capacity: 2, Buffers: 0, Stored: 1, AckEvery: 1},
		{Messages: [2]int{2, 0}, Capacity: 3, Buffers: 2, Stored: 1, AckEvery: 1},
		{Messages: [2]int{1, 0}, Capacity: 2, Buffers: 1, Stored: 1, AckEvery: 1, Restarts: 1},
	}
}

// Deep lists worlds that take a minute together.
func Deep() []Options {
	return []Options{
		{Messages: [2]int{3, 0}, Capacity: 2, Buffers: 0, Stored: 2, AckEvery: 1},
		{Messages: [2]int{2, 0}, Capacity: 2, Buffers: 2, Stored: 1, AckEvery: 1, Restarts: 1},
	}
}

// Planted lists worlds with a mistake each, which must be found.
func Planted() (list []Options) {
	for _, name := range Plants() {
		o := Options{Messages: [2]int{2, 0}, Capacity: 2, Buffers: 2, Stored: 1, AckEvery: 1, Plant: name}
		if name == sameEpoch {
			o.Restarts = 1
		}
		list = append(list, o)
	}
	return list
}
