package ethernet

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/suggest"
)

// Scheme begins the text that describes a network: "ethernet:?mtu=9000&loss=1e-3".
const Scheme = "ethernet"

// key is a parameter of the text.
type key struct {
	registry.Key
	set func(c *Config, text string) error
}

var keys = []key{
	{registry.Key{Name: "mtu", Value: "BYTES", Doc: "of an IP packet in one frame (1500)"},
		number(func(c *Config) *int { return &c.MTU }, 1)},
	{registry.Key{Name: "rate", Value: "BITS", Doc: "per second of every cable, such as 1G (10G)"},
		number(func(c *Config) *int64 { return &c.Rate }, 1000)},
	{registry.Key{Name: "cable", Value: "TIME", Doc: "of propagation (25ns)"},
		duration(func(c *Config) *drivers.Time { return &c.Cable })},
	{registry.Key{Name: "latency", Value: "TIME", Doc: "of the switch (500ns)"},
		duration(func(c *Config) *drivers.Time { return &c.SwitchLatency })},
	{registry.Key{Name: "queue", Value: "BYTES", Doc: "of every output port of the switch (256K)"},
		number(func(c *Config) *int { return &c.SwitchQueue }, 1024)},
	{registry.Key{Name: "send_buffer", Value: "BYTES", Doc: "of every host (256K)"},
		number(func(c *Config) *int { return &c.SendBuffer }, 1024)},
	{registry.Key{Name: "receive_buffer", Value: "BYTES", Doc: "of every socket (256K)"},
		number(func(c *Config) *int { return &c.ReceiveBuffer }, 1024)},
	{registry.Key{Name: "send_cost", Value: "TIME", Doc: "of the core per datagram sent (1.5us)"},
		duration(func(c *Config) *drivers.Time { return &c.SendCost })},
	{registry.Key{Name: "receive_cost", Value: "TIME", Doc: "of the core per datagram received (1.5us)"},
		duration(func(c *Config) *drivers.Time { return &c.ReceiveCost })},
	{registry.Key{Name: "frame_cost", Value: "TIME", Doc: "of the core per frame in either direction (100ns)"},
		duration(func(c *Config) *drivers.Time { return &c.FrameCost })},
	{registry.Key{Name: "segment_cost", Value: "TIME", Doc: "of the core per segment of a stream, besides its frame (200ns)"},
		duration(func(c *Config) *drivers.Time { return &c.SegmentCost })},
	{registry.Key{Name: "retransmit", Value: "TIME", Doc: "until a stream repeats a segment (200ms)"},
		duration(func(c *Config) *drivers.Time { return &c.RetransmitTime })},
	{registry.Key{Name: "ack_delay", Value: "TIME", Doc: "until a stream acknowledges a single segment (40ms)"},
		duration(func(c *Config) *drivers.Time { return &c.AckDelay })},
	{registry.Key{Name: "loss", Value: "P", Doc: "probability that the switch loses a frame"},
		probability(func(c *Config) *float64 { return &c.Loss })},
	{registry.Key{Name: "duplicate", Value: "P", Doc: "probability that it duplicates a frame"},
		probability(func(c *Config) *float64 { return &c.Duplicate })},
	{registry.Key{Name: "reorder", Value: "P", Doc: "probability that it delays a frame by reorder_delay"},
		probability(func(c *Config) *float64 { return &c.Reorder })},
	{registry.Key{Name: "reorder_delay", Value: "TIME", Doc: "(20us)"},
		duration(func(c *Config) *drivers.Time { return &c.ReorderDelay })},
	{registry.Key{Name: "corrupt", Value: "P", Doc: "probability that it flips a bit of a frame"},
		probability(func(c *Config) *float64 { return &c.Corrupt })},
	{registry.Key{Name: "checksum", Value: "on|off", Doc: "UDP checksums (on); without them only iWARP's CRC32c finds corruption"},
		setChecksum},
	{registry.Key{Name: "seed", Value: "NUMBER", Doc: "of all faults (0)"}, setSeed},
}

// Keys describes the parameters of Parse.
func Keys() (list []registry.Key) {
	for _, k := range keys {
		list = append(list, k.Key)
	}
	return list
}

// Parse reads a description such as "ethernet:?mtu=9000&loss=1e-3&seed=7".
func Parse(text string) (c Config, err error) {
	rest, ok := strings.CutPrefix(text, Scheme+":")
	query := strings.TrimPrefix(rest, "?")
	if !ok || rest != "" && query == rest {
		return c, fmt.Errorf("%w: network %q: expected ethernet:?KEY=VALUE&…", drivers.ErrConfig, text)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return c, fmt.Errorf("%w: network %q: %w", drivers.ErrConfig, text, err)
	}
	names := registry.KeyNames(Keys())
	for name := range values {
		if !slices.Contains(names, name) {
			return c, fmt.Errorf("%w: network %q has no key %q; it has %s%s",
				drivers.ErrConfig, text, name, strings.Join(names, ", "), suggest.Nearest(name, names))
		}
	}
	for _, k := range keys {
		v := values[k.Name]
		if len(v) == 0 {
			continue
		}
		if err := k.set(&c, v[len(v)-1]); err != nil {
			return c, fmt.Errorf("%w: %s=%s: expected %w", drivers.ErrConfig, k.Name, v[len(v)-1], err)
		}
	}
	_, err = c.complete()
	return c, err
}

// Errors that a setter returns name the value that it expects.
type expectation string

func (e expectation) Error() string { return string(e) }

// number reads a positive integer. Unless unit is 1, a suffix K, M, G or T multiplies it by a power
// of unit.
func number[T int | int64](field func(*Config) *T, unit int64) func(*Config, string) error {
	return func(c *Config, text string) error {
		scale := int64(1)
		if unit > 1 {
			digits := strings.TrimRight(text, "KMGT")
			if suffix := text[len(digits):]; len(suffix) == 1 {
				for range strings.Index("KMGT", suffix) + 1 {
					scale *= unit
				}
				text = digits
			}
		}
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v < 1 || v > (1<<62)/scale {
			return expectation("a positive number, such as 1500 or 64K")
		}
		*field(c) = T(v * scale)
		return nil
	}
}

func duration(field func(*Config) *drivers.Time) func(*Config, string) error {
	return func(c *Config, text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 || d > time.Minute {
			return expectation("a time, such as 500ns")
		}
		*field(c) = drivers.Time(d) * drivers.Nanosecond
		return nil
	}
}

func probability(field func(*Config) *float64) func(*Config, string) error {
	return func(c *Config, text string) error {
		p, err := strconv.ParseFloat(text, 64)
		if err != nil || !(p >= 0 && p <= 1) {
			return expectation("a probability per frame from 0 to 1, such as 1e-3")
		}
		*field(c) = p
		return nil
	}
}

func setChecksum(c *Config, text string) error {
	if text != "on" && text != "off" {
		return expectation("on or off")
	}
	c.NoChecksum = text == "off"
	return nil
}

func setSeed(c *Config, text string) (err error) {
	if c.Seed, err = strconv.ParseUint(text, 0, 64); err != nil {
		return expectation("a number of at most 64 bits")
	}
	return nil
}
