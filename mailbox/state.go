package mailbox

import (
	"encoding/binary"
	"fmt"
)

// Check verifies the invariants listed at type dynamic.
func (d *dynamic) Check() error {
	var current, intended int32
	for i := range d.senders {
		s := &d.senders[i]
		current += s.current
		intended += s.intended
		if err := d.checkSender(i); err != nil {
			return fmt.Errorf("mailbox: %w; %s", err, d.Describe(d.cfg.rank(i)))
		}
	}
	if current+d.available != d.region || d.available < 0 {
		return fmt.Errorf("mailbox: current credits %d + available slots %d, expected the data region %d", current, d.available, d.region)
	}
	if intended != d.region {
		return fmt.Errorf("mailbox: intended quotas sum to %d, expected the data region %d", intended, d.region)
	}
	return d.lists.check()
}

func (d *dynamic) checkSender(i int) error {
	s := &d.senders[i]
	sum, least := int32(0), int32(1)
	for k := range d.fifo {
		t := *d.threshold(i, k)
		sum += t
		least = min(least, t)
	}
	switch {
	case sum-s.retrieved != s.current+1:
		return fmt.Errorf("thresholds sum to %d, expected current+retrieved+1 = %d", sum, s.current+s.retrieved+1)
	case least < 1:
		return fmt.Errorf("a threshold of %d, expected at least 1", least)
	case s.current < d.static:
		return fmt.Errorf("current credits %d, expected at least the static slots %d", s.current, d.static)
	case s.intended < d.static:
		return fmt.Errorf("intended quota %d, expected at least the static slots %d", s.intended, d.static)
	case s.retrieved < 0 || s.piggybacked < 0 || s.credits < 0:
		return fmt.Errorf("a negative counter")
	case (s.request || s.response) && s.credits != 0:
		return fmt.Errorf("a control packet waits although there is a credit")
	case s.blocked && d.lists.level(int32(i)) != null:
		return fmt.Errorf("blocked, expected to be in the null list until it answers")
	case s.request && !s.blocked:
		return fmt.Errorf("a request waits for a sender that is not blocked")
	}
	return nil
}

func (d *dynamic) Describe(peer int) string {
	i := d.cfg.index(peer)
	s := &d.senders[i]
	line := fmt.Sprintf("rank %d peer %d: credits=%d thresholds=[", d.cfg.Self, peer, s.credits)
	for k := range d.fifo {
		if k > 0 {
			line += " "
		}
		line += fmt.Sprint(*d.threshold(i, k))
	}
	line += fmt.Sprintf("] intended=%d retrieved=%d piggybacked=%d current=%d available=%d crossings=%d %v",
		s.intended, s.retrieved, s.piggybacked, s.current, d.available, s.head, d.lists.level(int32(i)))
	if s.blocked {
		line += " blocked"
	}
	if s.request {
		line += " request-waits"
	}
	if s.response {
		line += " response-waits"
	}
	return line
}

// AppendState encodes thresholds starting at the head and lists by level, so that equal states have
// equal encodings whatever the positions of FIFO heads and lists in memory. Senders that are in no
// encoded list are in the null list, whose order has no effect.
func (d *dynamic) AppendState(b []byte) []byte {
	for i := range d.senders {
		s := &d.senders[i]
		flags := uint64(s.head)<<3 | bit(s.blocked) | bit(s.request)<<1 | bit(s.response)<<2
		b = binary.AppendUvarint(b, flags)
		for k := range d.fifo {
			b = binary.AppendUvarint(b, uint64(*d.threshold(i, k)))
		}
		for _, v := range [...]int32{s.intended, s.retrieved, s.piggybacked, s.current, s.credits} {
			b = binary.AppendUvarint(b, uint64(v))
		}
	}
	for v := low; v < null; v++ {
		for i := d.lists.first(v); i != none; i = d.lists.next(i) {
			b = binary.AppendUvarint(b, uint64(i)+1)
		}
		b = append(b, 0)
	}
	return b
}

func (d *dynamic) LoadState(b []byte) []byte {
	d.available = d.region
	for i := range d.senders {
		s := &d.senders[i]
		flags := load(&b)
		s.head = uint8(flags >> 3)
		s.blocked, s.request, s.response = flags&1 != 0, flags&2 != 0, flags&4 != 0
		for k := range d.fifo {
			*d.threshold(i, k) = int32(load(&b))
		}
		for _, v := range [...]*int32{&s.intended, &s.retrieved, &s.piggybacked, &s.current, &s.credits} {
			*v = int32(load(&b))
		}
		d.available -= s.current
	}
	d.lists.clear()
	for i := range d.senders {
		d.senders[i].ring = uint8(null)
	}
	for v := low; v < null; v++ {
		for prev, e := none, load(&b); e != 0; e = load(&b) {
			d.lists.insertAfter(prev, int32(e)-1, v)
			prev = int32(e) - 1
		}
	}
	for i := range d.senders {
		if d.senders[i].ring == uint8(null) {
			d.lists.insertFirst(int32(i), null)
		}
	}
	return b
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
