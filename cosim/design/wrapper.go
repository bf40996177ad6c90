package design

import (
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/suggest"
)

// A wrapper collects how the ports of a design are connected while sim_node.sv is written.
type wrapper struct {
	d        *Description
	ports    []Port
	byName   map[string]Port
	connect  map[string]string // port: expression
	declared strings.Builder
	body     strings.Builder
	problems []string
	wordW    int      // bits of a link word
	width    int      // bits of the register bus
	idle     []string // signals of the bus models: nothing is outstanding
	notes    []string
	layout   *StreamLayout
}

// hostIdle declares the idle output of a bus model.
func (w *wrapper) hostIdle(name string) string {
	fmt.Fprintf(&w.declared, "  logic %s;\n", name)
	w.idle = append(w.idle, name)
	return name
}

// A Checked is a description that fits the ports of its design.
type Checked struct {
	Wrapper string        // the text of sim_node.sv
	Width   int           // bits of the register bus
	Ports   []Port        // of the top module
	Notes   []string      // outputs that are not connected
	Stream  *StreamLayout // of a word of the stream out; nil: there is none
}

// A StreamLayout says where the signals of an AXI-Stream beat are in a word of the network.
type StreamLayout struct {
	DataLSB, DataBits int
	KeepLSB, KeepBits int // KeepBits is 0 without TKEEP
	LastBit           int // -1 without TLAST
}

// Check compares the description with the ports and writes the wrapper. Its error names every port
// that is missing, in the wrong direction or left over, with the nearest name.
func (d *Description) Check(ports []Port) (*Checked, error) {
	w := &wrapper{d: d, ports: ports, byName: map[string]Port{}, connect: map[string]string{}, wordW: 64}
	for _, p := range ports {
		w.byName[p.Name] = p
		if p.Width == 0 {
			w.problem("port %s has a type that is not a vector of bits", p.Name)
		}
	}
	w.clocks()
	w.resets()
	w.registers()
	for i, prefix := range d.Memory.Masters {
		w.master(i, prefix)
	}
	w.interrupts()
	w.network()
	w.ties()
	w.sleep()
	notes := append(w.notes, w.leftOver()...)
	if len(w.problems) > 0 {
		return nil, fmt.Errorf("%w: %s does not fit the ports of %s:\n  %s", drivers.ErrConfig, d.file, d.Top, strings.Join(w.problems, "\n  "))
	}
	return &Checked{w.text(), w.width, ports, notes, w.layout}, nil
}

func (w *wrapper) problem(format string, args ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// port looks up a port that the description names under a key.
func (w *wrapper) port(key, name string, input bool) (Port, error) {
	p, ok := w.byName[name]
	if !ok {
		var names []string
		for _, p := range w.ports {
			if p.Input == input {
				names = append(names, p.Name)
			}
		}
		return p, fmt.Errorf("%s: %s has no port %s%s", key, w.d.Top, name, suggest.Nearest(name, names))
	}
	if p.Input != input {
		return p, fmt.Errorf("%s: port %s is an %s, expected an %s", key, name, direction(p.Input), direction(input))
	}
	return p, nil
}

func direction(input bool) string {
	if input {
		return "input"
	}
	return "output"
}

func (w *wrapper) set(key string, p Port, expression string) {
	if _, taken := w.connect[p.Name]; taken {
		w.problem("%s: port %s is already connected by another key", key, p.Name)
	}
	w.connect[p.Name] = expression
}

func (w *wrapper) clocks() {
	for i, c := range w.d.clocks {
		p, err := w.port("clocks", c.port, true)
		if err != nil {
			w.problem("%v", err)
			continue
		}
		if i == 0 {
			w.set("clocks", p, "clk")
			continue
		}
		fmt.Fprintf(&w.declared, "  logic clock%d;\n", i)
		fmt.Fprintf(&w.body, "  clock_host #(.FROM(%d), .TO(%d)) u_clock%d (.clk, .out(clock%d));\n", w.d.clocks[0].period, c.period, i, i)
		w.set("clocks", p, fmt.Sprintf("clock%d", i))
	}
}

func (w *wrapper) resets() {
	for _, name := range sortedKeys(w.d.Resets) {
		p, err := w.port("resets", name, true)
		if err != nil {
			w.problem("%v", err)
			continue
		}
		if w.d.Resets[name] == "low" {
			w.set("resets", p, "!rst")
		} else {
			w.set("resets", p, "rst")
		}
	}
}

// wire declares a wire for a signal of a bus and connects the port to it.
func (w *wrapper) wire(key, name string, p Port, input bool) string {
	if p.Input != input {
		w.problem("%s: port %s is an %s: the bus has the opposite direction", key, p.Name, direction(p.Input))
	}
	fmt.Fprintf(&w.declared, "  logic [%d:0] %s;\n", p.Width-1, name)
	w.set(key, p, name)
	return name
}

func ifHas(b *bus, signal, yes, no string) string {
	if b.has(signal) {
		return yes
	}
	return no
}

// master connects an AXI4 master, or one direction of it, to the memory.
func (w *wrapper) master(i int, prefix string) {
	b, err := findBus(memoryBus, prefix, w.ports)
	if err != nil {
		w.problem("memory: %v", err)
		return
	}
	name := func(signal string) string { return fmt.Sprintf("m%d_%s", i, signal) }
	for _, s := range memoryBus.optional {
		if b.has(s) {
			w.wire("memory", name(s), b.signals[s], strings.HasSuffix(s, "ready") == (s[0] != 'b' && s[0] != 'r'))
		}
	}
	width := max(b.width("wdata"), b.width("rdata"))
	if width < 8 || width > 512 || width&(width-1) != 0 {
		w.problem("memory: %s has %d bits of data, expected a power of two from 8 to 512", prefix, width)
		return
	}
	idW := max(1, b.width("awid"), b.width("arid"))
	size := 0
	for 8<<size < width {
		size++
	}
	absent := map[string]string{
		"awvalid": "1'b0", "wvalid": "1'b0", "bready": "1'b1", "arvalid": "1'b0", "rready": "1'b1", "awid": "'0", "arid": "'0", "awaddr": "'0",
		"araddr": "'0", "awlen": "8'd0", "arlen": "8'd0", "awsize": fmt.Sprintf("3'd%d", size), "arsize": fmt.Sprintf("3'd%d", size),
		"awburst": "2'b01", "arburst": "2'b01", "wdata": "'0", "wstrb": "'1", "wlast": "1'b1",
	}
	args := []string{fmt.Sprintf(".idle(%s)", w.hostIdle(name("idle")))}
	for _, s := range []string{"awvalid", "awready", "awid", "awaddr", "awlen", "awsize", "awburst", "wvalid", "wready", "wdata", "wstrb", "wlast", "bvalid",
		"bready", "bid", "bresp", "arvalid", "arready", "arid", "araddr", "arlen", "arsize", "arburst", "rvalid", "rready", "rid", "rdata", "rresp", "rlast"} {
		switch {
		case !b.has(s):
			args = append(args, fmt.Sprintf(".%s(%s)", s, absent[s]))
		case strings.HasSuffix(s, "addr"):
			args = append(args, fmt.Sprintf(".%s(64'(%s))", s, name(s)))
		case strings.HasSuffix(s, "len"): // AXI3 has four bits
			args = append(args, fmt.Sprintf(".%s(8'(%s))", s, name(s)))
		case strings.HasSuffix(s, "id") && s[0] == 'a':
			args = append(args, fmt.Sprintf(".%s(%d'(%s))", s, idW, name(s)))
		default:
			args = append(args, fmt.Sprintf(".%s(%s)", s, name(s)))
		}
	}
	for _, s := range []string{"buser", "ruser"} {
		if b.has(s) {
			fmt.Fprintf(&w.body, "  assign %s = '0;\n", name(s))
		}
	}
	last := 0
	if b.has("wlast") {
		last = 1
	}
	fmt.Fprintf(&w.body, "  any_host #(.DATA_W(%d), .ID_W(%d), .PORT(%d), .LAST(%d)) u_memory%d (\n      .clk, .rst, .node_id, .trace_on, .wr_latency(host_wr_latency), .rd_latency(host_rd_latency),\n      %s);\n",
		width, idW, i, last, i, strings.Join(args, ",\n      "))
}

func (w *wrapper) interrupts() {
	var lines, pulses []string
	total := 0
	for _, name := range sortedKeys(w.d.Interrupts) {
		p, err := w.port("interrupts", name, false)
		if err != nil {
			w.problem("%v", err)
			continue
		}
		line := "irq_" + name
		fmt.Fprintf(&w.declared, "  logic [%d:0] %s;\n", p.Width-1, line)
		w.set("interrupts", p, line)
		bit := "1'b0"
		if w.d.Interrupts[name] == "pulse" {
			bit = "1'b1"
		}
		// Concatenation begins with the highest bits: the first name is line 0.
		lines = append([]string{line}, lines...)
		pulses = append([]string{fmt.Sprintf("{%d{%s}}", p.Width, bit)}, pulses...)
		total += p.Width
	}
	if total == 0 {
		lines, pulses, total = []string{"1'b0"}, []string{"1'b0"}, 1
	}
	if total > 64 {
		w.problem("interrupts: %d lines, expected at most 64", total)
	}
	fmt.Fprintf(&w.body, "  irq_host #(.LINES(%d), .PULSE({%s})) u_irq (\n      .clk, .rst, .node_id, .trace_on, .lines({%s}), .sim_sel, .sim_write, .sim_addr, .sim_wdata, .sim_rdata, .irq,\n      .idle(%s));\n",
		total, strings.Join(pulses, ", "), strings.Join(lines, ", "), w.hostIdle("irq_idle"))
}

func (w *wrapper) network() {
	n := w.d.Network
	if n.Out == "" {
		w.body.WriteString("  assign tx_valid = '0;\n  assign tx_word  = '0;\n")
		return
	}
	out, err := findBus(streamBus, n.Out, w.ports)
	if err == nil {
		var in *bus
		if in, err = findBus(streamBus, n.In, w.ports); err == nil {
			w.stream(out, in)
			return
		}
	}
	w.problem("network: %v", err)
}

func (w *wrapper) stream(out, in *bus) {
	var send, receive []string
	bits := 0
	for _, s := range []string{"tdata", "tkeep", "tstrb", "tlast", "tid", "tdest", "tuser"} {
		if out.has(s) != in.has(s) || out.width(s) != in.width(s) {
			if !out.has(s) {
				w.wire("network", "rx_"+s, in.signals[s], true)
				fmt.Fprintf(&w.body, "  assign rx_%s = '%d;\n", s, map[bool]int{true: 1}[s != "tid" && s != "tdest" && s != "tuser"])
				continue
			}
			if in.has(s) {
				w.problem("network: %s has %d bits at %s and %d at %s", s, out.width(s), out.prefix, in.width(s), in.prefix)
				continue
			}
		}
		if !out.has(s) {
			continue
		}
		send = append(send, w.wire("network", "tx_"+s, out.signals[s], false))
		bits += out.width(s)
		if in.has(s) {
			receive = append(receive, w.wire("network", "rx_"+s, in.signals[s], true))
		} else {
			fmt.Fprintf(&w.declared, "  logic [%d:0] rx_%s;\n", out.width(s)-1, s)
			receive = append(receive, "rx_"+s)
		}
	}
	w.wire("network", "tx_tvalid", out.signals["tvalid"], false)
	w.wire("network", "rx_tvalid", in.signals["tvalid"], true)
	w.declared.WriteString("  logic link_ready;\n")
	if out.has("tready") {
		w.wire("network", "tx_tready", out.signals["tready"], true)
		w.body.WriteString("  assign tx_tready = link_ready;\n")
	}
	ready := "1'b1"
	if in.has("tready") {
		ready = w.wire("network", "rx_tready", in.signals["tready"], false)
	}
	w.wordW = max(64, (bits+2+31)/32*32)
	fmt.Fprintf(&w.declared, "  logic [%d:0] link_rx;\n", w.wordW-3)
	fmt.Fprintf(&w.body, "  assign {%s} = link_rx[%d:0];\n", strings.Join(receive, ", "), bits-1)
	ring := "1'b0"
	if w.d.Network.Links == "ring" { // two nodes have one wire, for both directions
		ring = "shape[59:48] > 12'd2"
	}
	last := -1
	if out.has("tlast") { // above tid, tdest and tuser
		last = out.width("tid") + out.width("tdest") + out.width("tuser")
	}
	data := bits - out.width("tdata")
	w.layout = &StreamLayout{DataLSB: data, DataBits: out.width("tdata"), KeepLSB: data - out.width("tkeep"), KeepBits: out.width("tkeep"), LastBit: last}
	fmt.Fprintf(&w.body, `  stream_link #(.W(%d), .DEPTH(%d), .DATA_LSB(%d), .DATA_W(%d), .LAST(%d)) u_link (
      .clk, .rst, .node_id, .trace_on, .idle(%s), .ring(%s), .odd(node_id[0]), .link_up, .tx_valid, .tx_word, .rx_valid, .rx_word,
      .s_valid(tx_tvalid), .s_ready(link_ready), .s_data(%d'({%s})),
      .m_valid(rx_tvalid), .m_ready(%s), .m_data(link_rx));
`, w.wordW-2, w.d.Network.depth(), data, out.width("tdata"), last, w.hostIdle("link_idle"), ring, w.wordW-2, strings.Join(send, ", "), ready)
}

func (w *wrapper) ties() {
	for _, name := range sortedKeys(w.d.Tie) {
		p, err := w.port("tie", name, true)
		if err != nil {
			w.problem("%v", err)
			continue
		}
		w.set("tie", p, fmt.Sprintf("%d'(%s)", p.Width, w.d.Tie[name]))
	}
	for _, name := range w.d.Open {
		p, err := w.port("open", name, false)
		if err != nil {
			w.problem("%v", err)
			continue
		}
		w.set("open", p, "")
	}
}

// sleep tells the simulation when nothing happens in a node. A node that is idle sleeps: it gets no
// clock until something reaches it.
func (w *wrapper) sleep() {
	name := w.d.Idle
	if name == "" || name == "never" {
		w.body.WriteString("  assign idle   = 1'b0;\n  assign active = 1'b1;\n")
		return
	}
	p, err := w.port("idle", name, false)
	if err != nil {
		w.problem("%v", err)
		return
	}
	if p.Width != 1 {
		w.problem("idle: port %s has %d bits, expected 1", name, p.Width)
		return
	}
	w.set("idle", p, w.hostIdle("design_idle"))
	quiet := strings.Join(w.idle, " && ")
	if len(w.d.clocks) > 1 {
		// A further clock is derived from the cycles that have passed. After a sleep its edges would
		// lie elsewhere than in a run with waves, in which no node sleeps.
		w.notes = append(w.notes, "idle: a design of several clocks does not sleep")
		fmt.Fprintf(&w.body, "  assign idle   = 1'b0;\n  assign active = !(%s);\n", quiet)
		return
	}
	fmt.Fprintf(&w.body, "  assign idle   = %s;\n  assign active = !idle;\n", quiet)
}

// leftOver reports inputs that nothing drives, and returns notes about outputs that nothing reads.
func (w *wrapper) leftOver() (notes []string) {
	for _, p := range w.ports {
		if _, done := w.connect[p.Name]; done {
			continue
		}
		if p.Input {
			w.problem("input %s (%d bits) is not connected: add it to tie, or to the key of its bus", p.Name, p.Width)
			continue
		}
		w.connect[p.Name] = ""
		notes = append(notes, fmt.Sprintf("output %s (%d bits) is not connected", p.Name, p.Width))
	}
	return notes
}

func (w *wrapper) text() string {
	var t strings.Builder
	fmt.Fprintf(&t, wrapperHead, w.wordW)
	t.WriteString(w.declared.String())
	t.WriteString("\n")
	t.WriteString(w.body.String())
	var parameters, ports []string
	for _, name := range sortedKeys(w.d.Parameters) {
		parameters = append(parameters, fmt.Sprintf(".%s(%s)", name, w.d.Parameters[name]))
	}
	for _, p := range w.ports {
		ports = append(ports, fmt.Sprintf("      .%s(%s)", p.Name, w.connect[p.Name]))
	}
	fmt.Fprintf(&t, "  %s #(%s) u_design (\n%s);\nendmodule\n", w.d.Top, strings.Join(parameters, ", "), strings.Join(ports, ",\n"))
	return t.String()
}

// wrapperHead has the ports that cosim/dpi/src/node.h expects of every sim_node.
const wrapperHead = `// sim_node: written by nicloop from the description of a design.
module sim_node #(
    parameter int PORTS    = 3,
    parameter int VC_DEPTH = 16,
    parameter int TORUS    = 0,
    localparam int LINKS   = PORTS - 1,
    localparam int WORD_W  = %d
) (
    input  logic                    clk,
    input  logic                    clk_local,
    input  logic                    clk_rma,
    input  logic                    clk_link0,
    input  logic                    clk_link1,
    output logic                    local_rests,
    output logic                    rma_rests,
    output logic [LINKS-1:0]        link_rests,
    input  logic                    rst,
    input  logic                    link_rst,
    input  logic [11:0]             node_id,
    input  logic [59:0]             shape,
    input  logic [63:0]             slept,
    input  logic [15:0]             host_wr_latency,
    input  logic [15:0]             host_rd_latency,
    input  logic                    trace_on,
    input  logic                    reg_pending,
    input  logic                    pio_pending,
    input  logic [LINKS-1:0]        link_up,
    input  logic [LINKS-1:0]        carrier,
    output logic [LINKS-1:0]        wire_down,
    output logic [LINKS-1:0]        tx_valid,
    output logic [LINKS*WORD_W-1:0] tx_word,
    input  logic [LINKS-1:0]        rx_valid,
    input  logic [LINKS*WORD_W-1:0] rx_word,
    input  logic                    expect_credits,
    output logic                    irq,
    output logic                    idle,
    output logic                    active
);
  assign local_rests = 1'b1;
  assign rma_rests   = 1'b1;
  assign link_rests  = '1;
  assign wire_down   = '0;
  logic        sim_sel, sim_write;
  logic [11:0] sim_addr;
  logic [63:0] sim_wdata, sim_rdata;
`
