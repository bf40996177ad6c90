package nic

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/userfile"
)

// Params are the cycle counts of a NIC and the network, as measured by "nicloop calibrate".
type Params struct {
	NIC     Timing        `json:"nic"`
	Network NetworkTiming `json:"network"`
}

// NetworkTiming are the cycle counts of routers and links, as defined by cosim/fabric.
type NetworkTiming struct {
	VCDepth     int `json:"vc_depth"` // flits per input and virtual channel
	Router      int `json:"router"`
	Link        int `json:"link"`
	Inject      int `json:"inject"`       // from NIC to router
	Credit      int `json:"credit"`       // over a link
	LocalCredit int `json:"local_credit"` // between NIC and router
}

//go:embed rtl.json
var measured []byte

// RTL returns the parameters of rtl/core with the host of rtl/sim.
func RTL() Params {
	p, err := ParseParams(measured)
	if err != nil {
		panic("cosim/nic/rtl.json: " + err.Error())
	}
	return p
}

// ReadParams reads a file that "nicloop calibrate" wrote.
func ReadParams(file string) (Params, error) {
	text, err := userfile.Read(file, userfile.TextLimit)
	if err != nil {
		return Params{}, err
	}
	p, err := ParseParams(text)
	if err != nil {
		return Params{}, fmt.Errorf("%w: %s: %v", drivers.ErrConfig, file, err)
	}
	return p, nil
}

// ParseParams reads parameters. All must be present and positive.
func ParseParams(text []byte) (p Params, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("expected what nicloop calibrate writes: %v", err)
	}
	for _, f := range p.Fields() {
		if v := f.Value(); v < 1 || v > 65535 {
			return p, fmt.Errorf("%s is %d: expected a number 1..65535", f.Name, v)
		}
	}
	return p, nil
}

// A Field is a parameter with its name in the file.
type Field struct {
	Name   string
	number *int
	cycles *drivers.Cycle
}

// Value returns the parameter.
func (f Field) Value() int {
	if f.number != nil {
		return *f.number
	}
	return int(*f.cycles)
}

// Set changes the parameter.
func (f Field) Set(v int) {
	if f.number != nil {
		*f.number = v
	} else {
		*f.cycles = drivers.Cycle(v)
	}
}

// Fields lists the parameters in the order of the file.
func (p *Params) Fields() []Field {
	t, n := &p.NIC, &p.Network
	return []Field{
		{"nic.clear", nil, &t.Clear}, {"nic.lines", &t.Lines, nil},
		{"nic.host_write", nil, &t.HostWrite}, {"nic.host_read", nil, &t.HostRead},
		{"nic.descriptor", nil, &t.Descriptor}, {"nic.translate", nil, &t.Translate}, {"nic.notify", nil, &t.Notify},
		{"network.vc_depth", &n.VCDepth, nil}, {"network.router", &n.Router, nil}, {"network.link", &n.Link, nil},
		{"network.inject", &n.Inject, nil},
		{"network.credit", &n.Credit, nil}, {"network.local_credit", &n.LocalCredit, nil},
	}
}

// Text returns the content of the file.
func (p *Params) Text() ([]byte, error) {
	b, err := json.MarshalIndent(p, "", "  ")
	return append(b, '\n'), err
}
