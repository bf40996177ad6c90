package design

import (
	"fmt"
	"slices"
	"strings"
)

// registers connects the register bus to csr_host, through an adapter if it is not AXI4-Lite.
func (w *wrapper) registers() {
	kind := registerBus(w.d.Registers.Bus, w.ports)
	b, err := findBus(kind, w.d.Registers.Bus, w.ports)
	if err != nil {
		w.problem("registers: %v", err)
		return
	}
	data := map[string]string{liteBus.name: "wdata", apbBus.name: "pwdata", wishboneBus.name: "dat_i"}[kind.name]
	w.width = b.width(data)
	if w.width != 32 && w.width != 64 {
		w.problem("registers: %s has %d bits of data, expected 32 or 64", b.prefix, w.width)
		return
	}
	if w.d.Registers.Address == "words" && kind.name != wishboneBus.name {
		w.problem("registers: address: words applies to Wishbone, and %s is %s", b.prefix, kind.name)
	}
	fmt.Fprintf(&w.declared, "  logic [31:0] csr_awaddr_wide, csr_araddr_wide;\n  logic [%d:0] csr_wstrb_host;\n", w.width/8-1)
	bresp, rresp := "csr_bresp", "csr_rresp"
	switch kind.name {
	case apbBus.name:
		w.apb(b)
	case wishboneBus.name:
		w.wishbone(b)
	default:
		w.axiLite(b)
		bresp, rresp = ifHas(b, "bresp", bresp, "2'b00"), ifHas(b, "rresp", rresp, "2'b00")
	}
	fmt.Fprintf(&w.body, `  csr_host #(.DATA_W(%d)) u_csr (
      .clk, .rst, .node_id, .reg_pending, .awvalid(csr_awvalid), .awready(csr_awready), .awaddr(csr_awaddr_wide),
      .wvalid(csr_wvalid), .wready(csr_wready), .wdata(csr_wdata), .wstrb(csr_wstrb_host), .bvalid(csr_bvalid),
      .bready(csr_bready), .bresp(%s), .arvalid(csr_arvalid), .arready(csr_arready),
      .araddr(csr_araddr_wide), .rvalid(csr_rvalid), .rready(csr_rready), .rdata(csr_rdata),
      .rresp(%s), .idle(%s), .sim_sel, .sim_write, .sim_addr, .sim_wdata, .sim_rdata);
`, w.width, bresp, rresp, w.hostIdle("csr_idle"))
}

func (w *wrapper) axiLite(b *bus) {
	for _, s := range slices.Concat(liteBus.required, liteBus.optional) {
		if !b.has(s) {
			continue
		}
		// The host drives the inputs of the design.
		driven := !strings.HasSuffix(s, "ready") && s[0] != 'b' && s[0] != 'r' || s == "bready" || s == "rready"
		w.wire("registers", "csr_"+s, b.signals[s], driven)
	}
	for _, s := range []string{"awprot", "arprot"} {
		if b.has(s) {
			fmt.Fprintf(&w.body, "  assign csr_%s = '0;\n", s)
		}
	}
	if b.has("wstrb") {
		w.body.WriteString("  assign csr_wstrb = csr_wstrb_host;\n")
	}
	fmt.Fprintf(&w.body, "  assign csr_awaddr = %d'(csr_awaddr_wide);\n  assign csr_araddr = %d'(csr_araddr_wide);\n", b.width("awaddr"), b.width("araddr"))
}

// adapted declares the AXI4-Lite wires between csr_host and an adapter, and returns the connections
// of the adapter to them.
func (w *wrapper) adapted() string {
	fmt.Fprintf(&w.declared, `  logic csr_awvalid, csr_awready, csr_wvalid, csr_wready, csr_bvalid, csr_bready, csr_arvalid, csr_arready, csr_rvalid, csr_rready;
  logic [%d:0] csr_wdata, csr_rdata;
  logic [1:0] csr_bresp, csr_rresp;
`, w.width-1)
	return `.clk, .rst, .awvalid(csr_awvalid), .awready(csr_awready), .awaddr(csr_awaddr_wide), .wvalid(csr_wvalid), .wready(csr_wready),
      .wdata(csr_wdata), .wstrb(csr_wstrb_host), .bvalid(csr_bvalid), .bresp(csr_bresp), .arvalid(csr_arvalid), .arready(csr_arready),
      .araddr(csr_araddr_wide), .rvalid(csr_rvalid), .rdata(csr_rdata), .rresp(csr_rresp)`
}

// driven connects inputs of the design to outputs of an adapter, in the width of the port.
func (w *wrapper) driven(b *bus, adapter string, widths map[string]int, names map[string]string) (list []string) {
	for _, s := range sortedKeys(widths) {
		port := s
		if names[s] != "" {
			port = names[s]
		}
		wide := adapter + "_" + port + "_host"
		fmt.Fprintf(&w.declared, "  logic [%d:0] %s;\n", widths[s]-1, wide)
		list = append(list, fmt.Sprintf(".%s(%s)", port, wide))
		if b.has(s) {
			name := w.wire("registers", adapter+"_"+s, b.signals[s], true)
			fmt.Fprintf(&w.body, "  assign %s = %d'(%s);\n", name, b.width(s), wide)
		}
	}
	return list
}

// read connects an output of the design to an input of an adapter; absent is its value without one.
func (w *wrapper) read(b *bus, adapter, signal, port, absent string) string {
	if b.has(signal) {
		absent = w.wire("registers", adapter+"_"+signal, b.signals[signal], false)
	}
	return fmt.Sprintf(".%s(%s)", port, absent)
}

func (w *wrapper) apb(b *bus) {
	args := w.driven(b, "apb", map[string]int{"psel": 1, "penable": 1, "pwrite": 1, "paddr": 32, "pwdata": w.width, "pstrb": w.width / 8}, nil)
	args = append(args, w.read(b, "apb", "pready", "pready", "1'b1"), w.read(b, "apb", "pslverr", "pslverr", "1'b0"), w.read(b, "apb", "prdata", "prdata", "'0"))
	if b.has("pprot") {
		w.set("registers", b.signals["pprot"], "'0")
	}
	fmt.Fprintf(&w.body, "  apb_host #(.DATA_W(%d)) u_apb (\n      %s,\n      %s);\n", w.width, w.adapted(), strings.Join(args, ", "))
}

func (w *wrapper) wishbone(b *bus) {
	args := w.driven(b, "wb", map[string]int{"cyc": 1, "stb": 1, "we": 1, "adr": 32, "sel": w.width / 8, "dat_i": w.width}, map[string]string{"dat_i": "dat_w"})
	args = append(args, w.read(b, "wb", "dat_o", "dat_r", "'0"), w.read(b, "wb", "ack", "ack", "1'b0"), w.read(b, "wb", "err", "err", "1'b0"),
		w.read(b, "wb", "stall", "stall", "1'b0"))
	for _, s := range []string{"cti", "bte"} { // 0: a classic cycle
		if b.has(s) {
			w.set("registers", b.signals[s], "'0")
		}
	}
	pipelined, words := 0, 0
	if b.has("stall") {
		pipelined = 1
	}
	if w.d.Registers.Address == "words" {
		words = 1
	}
	fmt.Fprintf(&w.body, "  wishbone_host #(.DATA_W(%d), .PIPELINED(%d), .WORDS(%d)) u_wishbone (\n      %s,\n      %s);\n",
		w.width, pipelined, words, w.adapted(), strings.Join(args, ", "))
}
