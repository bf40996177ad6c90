// Package rtl carries the SystemVerilog sources, so that a program can build the simulation it needs
// without a checkout at hand.
//
// The lists name files in compile order and are the only ones: building, linting and synthesis all
// use them. A caller passes the include directory "sim" along with [SimulationFiles].
package rtl

import (
	"embed"
	"slices"
)

// Sources holds every file that the simulation is built from, by its path below this folder.
//
//go:embed nicloop_pkg.sv core/*.sv sim/*.sv sim/*.svh
var Sources embed.FS

// design is the synthesizable core; a module stands behind those it uses.
var design = []string{
	"nicloop_pkg.sv",
	"core/fifo.sv",
	"core/skid.sv",
	"core/rr_arbiter.sv",
	"core/credit_counter.sv",
	"core/crc32_d64.sv",
	"core/mailbox_table.sv",
	"core/regfile.sv",
	"core/velo_requester.sv",
	"core/velo_completer.sv",
	"core/axi_write_mux.sv",
	"core/axi_read_mux.sv",
	"core/access_epoch.sv",
	"core/dma_read.sv",
	"core/dma_write.sv",
	"core/atu.sv",
	"core/atu_commands.sv",
	"core/nvm_write_limiter.sv",
	"core/rma_collect.sv",
	"core/rma_sender.sv",
	"core/rma_window.sv",
	"core/rma_notifier.sv",
	"core/rma_requester.sv",
	"core/rma_responder.sv",
	"core/rma_completer.sv",
	"core/rma_regs.sv",
	"core/nic_rma.sv",
	"core/pio_split.sv",
	"core/inject.sv",
	"core/eject.sv",
	"core/route_xyz.sv",
	"core/route_table.sv",
	"core/voq.sv",
	"core/router_input.sv",
	"core/router_output.sv",
	"core/router.sv",
	"core/link_crc.sv",
	"core/link_tx.sv",
	"core/link_rx.sv",
	"core/link.sv",
	"core/link_regs.sv",
	"core/nic_core.sv",
}

var simulation = []string{
	"sim/host_bus.sv",
	"sim/nic_trace.sv",
	"sim/handshake_check.sv",
	"sim/wire_faults.sv",
	"sim/sim_node.sv",
}

// DesignFiles lists the synthesizable files; the top module is nic_core.
func DesignFiles() []string { return slices.Clone(design) }

// SimulationFiles lists the files of the simulation, the design included; the top module is sim_node.
func SimulationFiles() []string { return slices.Concat(design, simulation) }
