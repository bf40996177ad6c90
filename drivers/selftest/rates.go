package selftest

import (
	"math"
	"slices"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	leastSamples = 16
	// mostTime is the maximum wall-clock time for one measurement, in picoseconds.
	mostTime = 1000 * 2 * time.Second
	putBytes = 8192
)

// sample repeats a measurement; in wall-clock time, only until mostTime has passed.
func (t *tester) sample(what string, once func(i int) error) error {
	begin := t.now()
	var list []float64
	for i := range t.cfg.Samples {
		if !t.timed && i >= leastSamples && t.now()-begin > mostTime {
			break
		}
		from := t.now()
		if err := once(i); err != nil {
			return err
		}
		list = append(list, float64(t.now()-from)/1000)
	}
	slices.Sort(list)
	t.rates = append(t.rates, Rate{
		What: what, Samples: len(list), Simulated: t.timed,
		LeastNS: list[0], P50NS: percentile(list, 50), P90NS: percentile(list, 90), P99NS: percentile(list, 99), MostNS: list[len(list)-1],
	})
	return nil
}

// percentile returns the smallest sample that is not below p per cent of the samples.
func percentile(sorted []float64, p float64) float64 {
	return sorted[max(0, int(math.Ceil(p/100*float64(len(sorted))))-1)]
}

// flow measures throughput: batch performs and returns a number of operations of each bytes.
func (t *tester) flow(what string, each int, batch func() (int, error)) error {
	begin := t.now()
	count := 0
	for count < t.cfg.Samples {
		if !t.timed && count >= leastSamples && t.now()-begin > mostTime {
			break
		}
		n, err := batch()
		if err != nil {
			return err
		}
		count += n
	}
	seconds := float64(max(1, t.now()-begin)) / 1e12
	t.rates = append(t.rates, Rate{What: what, Samples: count, Simulated: t.timed,
		PerS: float64(count) / seconds, MBPerS: float64(count*each) / seconds / 1e6})
	return nil
}

func latency(t *tester, n *node) (string, error) {
	err := t.sample("read of a register", func(int) error {
		_, err := n.dev.ReadReg(regs.Scratch)
		return err
	})
	if err != nil || n.can(drivers.CanPIO|drivers.CanAwait, "") != nil {
		return "a register", err
	}
	m, err := n.openBox(0, boxSlots, 0)
	if err != nil {
		return "", err
	}
	payload := n.pattern(4000, 8)
	if err := t.sample("packet of 8 bytes to the own node", func(int) error { return m.exchange(m, regs.KindData, payload) }); err != nil {
		return "", err
	}
	if n.can(drivers.CanDMA, "") != nil {
		return "a register, a packet", nil
	}
	g, err := n.openRing(1, 0)
	if err != nil {
		return "", err
	}
	return "a register, a packet, a put", t.sample("put of 8 bytes to the own node", func(int) error {
		if err := g.post(regs.RMACommandPut, 8, nla(sourceAt), nla(targetAt)); err != nil {
			return err
		}
		return g.next(regs.RMACommandPut)
	})
}

func bandwidth(t *tester, n *node) (string, error) {
	if err := n.can(drivers.CanPIO|drivers.CanAwait, "traffic"); err != nil {
		return "", err
	}
	m, err := n.openBox(0, boxSlots, 0)
	if err != nil {
		return "", err
	}
	payload := n.pattern(4001, regs.VELOPayload)
	err = t.flow("packets of 56 bytes to the own node", regs.VELOPayload, func() (int, error) {
		for range linkBatch {
			if err := m.send(m, regs.KindData, payload); err != nil {
				return 0, err
			}
		}
		for range linkBatch {
			if _, err := m.next(); err != nil {
				return 0, err
			}
		}
		return linkBatch, m.acknowledge()
	})
	if err != nil || n.can(drivers.CanDMA, "") != nil {
		return "packets", err
	}
	g, err := n.openRing(1, 0)
	if err != nil {
		return "", err
	}
	return "packets, puts", t.flow("puts of 8 KB to the own node", putBytes, func() (int, error) {
		for range regs.RMADepth {
			if err := g.post(regs.RMACommandPut, putBytes, nla(sourceAt), nla(targetAt)); err != nil {
				return 0, err
			}
		}
		for range regs.RMADepth {
			if err := g.next(regs.RMACommandPut); err != nil {
				return 0, err
			}
		}
		return regs.RMADepth, nil
	})
}
