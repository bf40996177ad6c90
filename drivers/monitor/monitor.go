package monitor

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/nicloop/nicloop/drivers/regs"
)

// counted are the monitored registers, by the unit of their differences.
var counted = []struct {
	name string
	unit unit
}{
	{"CYCLES", events}, {"TX_PACKETS", events}, {"RX_PACKETS", events}, {"RMA_TX_PACKETS", events}, {"RMA_RX_PACKETS", events}, {"RMA_NOTIS", events},
	{"TX_STALL", cycles}, {"RX_STALL", cycles}, {"MBOX_STALL", cycles}, {"NOTI_STALL", cycles},
	{"ATU_HITS", events}, {"ATU_MISSES", events}, {"NVM_BYTES", events}, {"NVM_STALL", cycles},
	{"TX_DROPPED", faults}, {"RX_DROPPED", faults}, {"RX_CRC_ERRORS", faults}, {"ROUTE_ERRORS", faults}, {"RP_REFUSED", faults}, {"DOMAIN_REFUSED", faults},
	{"BAD_ACCESS", faults}, {"RMA_REFUSED", faults}, {"RMA_RX_DROPPED", faults}, {"RMA_ERRORS", faults}, {"RMA_NOTI_OFF", faults}, {"RMA_LATE", faults},
	{"RMA_PURGED", events}, {"ATU_FAULTS", faults}, {"ATU_REFUSED", faults}, {"ATU_DONE_ERRORS", faults},
	{"LINK_CRC_ERRORS", faults}, {"LINK_RETRANSMISSIONS", faults}, {"LINK_TIMEOUTS", faults}, {"LINK_FAILURES", faults}, {"LINK_CUT", faults},
	{"LINK_DRAINED", faults}, {"LINK_RESETS", faults}, {"LINK_LOST", faults},
}

type unit uint8

const (
	events   unit = iota
	cycles        // shown as a share of the elapsed cycles
	faults        // expected not to change
	anyValue      // may be a counter, or anything else: shown as a number, and whether it changes
)

// A Counter is one counter register.
type Counter struct {
	Off  uint32
	name string
	unit unit
	wide bool // 64 bits; otherwise 32
}

// Name returns the name in the register description.
func (c Counter) Name() string { return c.name }

// A Monitor monitors one device.
type Monitor struct {
	dev      drivers.Device
	counters []Counter
	links    []uint8 // all or none: links that are not connected read 0
}

// New detects the counters and links of a device. registers is Info.Registers of its system: nil
// for this project's NIC.
func New(dev drivers.Device, registers *regmap.Map) (*Monitor, error) {
	if registers != nil {
		return newForMap(dev, registers)
	}
	m := &Monitor{dev: dev}
	for l := range uint8(6) {
		_, err := dev.ReadReg(regs.LinkStatus(l))
		var bus *drivers.BusError
		if errors.As(err, &bus) {
			break
		}
		if err != nil {
			return nil, err
		}
		m.links = append(m.links, l)
	}
	for _, c := range counted {
		r, ok := regs.ByName(c.name)
		if !ok {
			return nil, fmt.Errorf("no register %s", c.name)
		}
		wide := !strings.Contains(r.Doc, "(32 bits)")
		if strings.HasPrefix(c.name, "LINK_") {
			for _, l := range m.links {
				m.counters = append(m.counters, nicCounter(r.Address(int(l)), c.unit, wide))
			}
			continue
		}
		for i := range int(r.Count) {
			m.counters = append(m.counters, nicCounter(r.Address(i), c.unit, wide))
		}
	}
	return m, nil
}

func nicCounter(off uint32, u unit, wide bool) Counter {
	return Counter{off, regs.Describe(off), u, wide}
}

// copiesShown bounds the copies of a register that are monitored: memories behind a register bus
// are described as registers with many copies.
const copiesShown = 64

// newForMap monitors the read-only registers of any design: software changes none of them, so a
// difference is the hardware's. Reading one that the hardware changes on a read would disturb the
// design, so a map gives those another access.
func newForMap(dev drivers.Device, registers *regmap.Map) (*Monitor, error) {
	m := &Monitor{dev: dev}
	for i := range registers.Registers() {
		r := &registers.Registers()[i]
		if r.Access != regmap.RO || r.Count > copiesShown {
			continue
		}
		for n := range int(r.Count) {
			off := r.Address(n)
			m.counters = append(m.counters, Counter{off, registers.Describe(off), anyValue, true})
		}
	}
	if len(m.counters) == 0 {
		return nil, fmt.Errorf("%w: %s has no read-only register: mark those to monitor with access: ro", drivers.ErrConfig, registers.Name)
	}
	return m, nil
}

// A Sample has the values of all counters and links at one time.
type Sample struct {
	At     time.Duration // on the caller's clock
	Values []uint64      // of the counters, in their order
	Links  []uint64      // LINK_STATUS
}

// Take reads all registers, one by one, so the values are not simultaneous.
func (m *Monitor) Take(at time.Duration) (s Sample, err error) {
	s.At = at
	s.Values = make([]uint64, len(m.counters))
	for i, c := range m.counters {
		if s.Values[i], err = m.dev.ReadReg(c.Off); err != nil {
			return s, err
		}
	}
	for _, l := range m.links {
		v, err := m.dev.ReadReg(regs.LinkStatus(l))
		if err != nil {
			return s, err
		}
		s.Links = append(s.Links, v)
	}
	return s, nil
}

// Since returns how far a counter has advanced between two values, and whether it was reset in
// between.
func (c Counter) Since(was, is uint64) (n uint64, anew bool) {
	switch {
	case is >= was:
		return is - was, false
	case !c.wide && was < 1<<32:
		return is + 1<<32 - was, false
	}
	return is, true
}

// Head writes the header of a CSV file, the same for all nodes of a system.
func (m *Monitor) Head(w *csv.Writer) error {
	row := []string{"time_s", "node"}
	for _, l := range m.links {
		row = append(row, regs.Describe(regs.LinkStatus(l)))
	}
	for _, c := range m.counters {
		row = append(row, c.Name())
	}
	return write(w, row)
}

// Row writes a sample. It writes values instead of differences, so that lost rows do not falsify
// others.
func (m *Monitor) Row(w *csv.Writer, node int, s Sample) error {
	row := []string{strconv.FormatFloat(s.At.Seconds(), 'f', 6, 64), strconv.Itoa(node)}
	for _, v := range s.Links {
		row = append(row, strconv.FormatUint(v, 10))
	}
	for _, v := range s.Values {
		row = append(row, strconv.FormatUint(v, 10))
	}
	return write(w, row)
}

func write(w *csv.Writer, row []string) error {
	if err := w.Write(row); err != nil {
		return err
	}
	w.Flush() // readers expect complete lines
	return w.Error()
}

// Show prints a sample for people: all counters that are not 0, their rates, and unexpected
// changes.
func (m *Monitor) Show(w io.Writer, was, is Sample) error {
	seconds := (is.At - was.At).Seconds()
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	passed, _ := m.counters[0].Since(was.Values[0], is.Values[0]) // CYCLES
	for i, c := range m.counters {
		if is.Values[i] == 0 && was.Values[i] == 0 {
			continue
		}
		n, anew := c.Since(was.Values[i], is.Values[i])
		rate := ""
		switch {
		case c.unit == anyValue && anew:
			rate = fmt.Sprintf("was %d", was.Values[i])
		case anew:
			rate = "began anew"
		case n == 0:
		case c.unit == cycles && passed > 0:
			rate = fmt.Sprintf("%.1f %% of the time", 100*float64(n)/float64(passed))
		case seconds > 0:
			rate = perSecond(float64(n) / seconds)
		}
		if c.unit == faults && n > 0 {
			rate += "  <- +" + strconv.FormatUint(n, 10)
		}
		fmt.Fprintf(tw, "  %s\t%d\t%s\n", c.Name(), is.Values[i], rate)
	}
	for i, l := range m.links {
		if is.Links[i]&regs.LinkStatusConnected == 0 {
			continue
		}
		fmt.Fprintf(tw, "  link %s\t%s\t\n", linkNames[l], linkText(is.Links[i]))
	}
	return tw.Flush()
}

var linkNames = [...]string{"+X", "-X", "+Y", "-Y", "+Z", "-Z"}

func linkText(v uint64) string {
	switch {
	case v&regs.LinkStatusCarrier == 0:
		return "no carrier"
	case v&regs.LinkStatusDrains != 0:
		return "drains"
	case v&regs.LinkStatusDead != 0:
		return "dead"
	case v&regs.LinkStatusAgreed == 0:
		return "no session"
	}
	return "up"
}

func perSecond(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.2f M/s", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.2f k/s", v/1e3)
	}
	return fmt.Sprintf("%.1f /s", v)
}
