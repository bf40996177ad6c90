package lockstep

import (
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Blocks of a node, by their path below sim_node in waves. A difference is attributed to the block
// whose inputs were still the same on both sides, as far as trace points show them.
const (
	blockWindow    = "u_nic.u_window"
	blockRequester = "u_nic.u_requester"
	blockCompleter = "u_nic.u_completer"
	blockMailboxes = "u_nic.u_table"
	blockDomains   = "u_nic.u_domains"
	blockRegfile   = "u_nic.u_regs"
	blockInject    = "u_nic.u_inject"
	blockRouter    = "u_nic.u_router"
	blockRoutes    = "u_nic.u_router.u_table"
	blockLinkRegs  = "u_nic.u_link_regs"
	blockWires     = "u_wires"
	blockHost      = "u_host"

	blockRMARequester = "u_nic.u_rma.u_requester"
	blockRMAResponder = "u_nic.u_rma.u_responder"
	blockRMACompleter = "u_nic.u_rma.u_completer"
	blockRMAAnswers   = "u_nic.u_rma.u_answers"
	blockRMARegs      = "u_nic.u_rma.u_regs"
	blockNotifier     = "u_nic.u_rma.u_notifier"
	blockATU          = "u_nic.u_rma.u_atu"
	blockCommands     = "u_nic.u_rma.u_commands"
	blockWrites       = "u_nic.u_rma.u_writes"
	blockReads        = "u_nic.u_rma.u_reads"
	blockLimiter      = "u_nic.u_rma.u_limiter"
	blockMemory       = "u_nic.u_rma" // one of the paths to memory
)

// sources maps blocks to files, relative to the RTL directory.
var sources = map[string]string{
	blockWindow: "core/pio_window.sv", blockRequester: "core/velo_requester.sv", blockCompleter: "core/velo_completer.sv", blockMailboxes: "core/mailbox_table.sv",
	blockDomains: "core/domain_table.sv", blockRegfile: "core/regfile.sv", blockInject: "core/inject.sv", blockRouter: "core/router.sv", blockRoutes: "core/route_table.sv",
	blockLinkRegs: "core/link_regs.sv", blockWires: "sim/wire_faults.sv", blockHost: "sim/host_bus.sv", blockRMARequester: "core/rma_requester.sv",
	blockRMAResponder: "core/rma_responder.sv", blockRMACompleter: "core/rma_completer.sv", blockRMAAnswers: "core/rma_completer.sv", blockRMARegs: "core/rma_regs.sv",
	blockNotifier: "core/rma_notifier.sv", blockATU: "core/atu.sv", blockCommands: "core/atu_commands.sv", blockWrites: "core/axi_write_mux.sv",
	blockReads: "core/axi_read_mux.sv", blockLimiter: "core/nvm_write_limiter.sv", blockMemory: "core/nic_rma.sv",
}

// source returns the file of a block.
func source(block string) string {
	if strings.Contains(block+".", ".u_link.") {
		return "core/link.sv"
	}
	for below := block; ; {
		if file, ok := sources[below]; ok {
			return file
		}
		i := strings.LastIndexByte(below, '.')
		if i < 0 {
			return "core/nic_core.sv"
		}
		below = below[:i]
	}
}

func blockLink(link int) string { return "u_nic.g_link[" + strconv.Itoa(link) + "].u_link" }

// linkNames are the names of the ports from 1 on.
var linkNames = [...]string{"+X", "-X", "+Y", "-Y", "+Z", "-Z"}

// byRegister maps registers to responsible blocks by prefix of the name; the first match counts.
var byRegister = []struct{ prefix, block string }{
	{"VELO_WINDOW", blockWindow}, {"RMA_WINDOW", blockWindow},
	{"TX_", blockRequester}, {"RX_", blockCompleter}, {"ROUTE_ERRORS", blockRouter}, {"ROUTE", blockRoutes}, {"DOMAIN_", blockDomains}, {"RP_REFUSED", blockMailboxes},
	{"RMA_NOTI", blockNotifier}, {"RMA_STALL", blockNotifier}, {"RMA_TX", blockRMARequester}, {"RMA_PURGED", blockRMARequester}, {"RMA_LATE", blockRMAAnswers},
	{"RMA_RX", blockRMACompleter}, {"RMA_", blockRMARegs}, {"ATU_DONE", blockCommands}, {"ATU_COMMAND", blockCommands}, {"ATU_STATUS", blockCommands},
	{"ATU_REFUSED", blockCommands}, {"ATU_", blockATU}, {"MBOX_", blockMailboxes}, {"NOTI_", blockNotifier}, {"PDID", blockDomains}, {"LIFE", blockDomains},
	{"LEVEL", blockDomains}, {"HOLD", blockDomains}, {"OVERFLOW", blockDomains}, {"NVM_", blockLimiter}, {"WIRE_", blockWires},
}

func blockOfRegister(off uint32) string {
	r, i, ok := regs.ByAddress(off)
	if !ok {
		return blockRegfile
	}
	if strings.HasPrefix(r.Name, "LINK_") {
		if r.Access != regs.RO {
			return blockLinkRegs
		}
		return blockLink(i)
	}
	for _, b := range byRegister {
		if strings.HasPrefix(r.Name, b.prefix) {
			return b.block
		}
	}
	return blockRegfile
}

// Requesters at the buses, in the order of the model's Flags, which is the order of the muxes in
// nic_rma.
var (
	readers = [...]string{blockRMARequester, blockRMAResponder, blockATU}
	writers = [...]string{blockCompleter, blockRMACompleter, blockRMAAnswers, blockRMAResponder, blockNotifier, blockCommands}
)

// block returns the block to which a difference is attributed.
func (d *difference) block() string {
	switch p := d.point; {
	case p == drivers.PointPIOAddr || p == drivers.PointPIOLast:
		return blockWindow
	case p == drivers.PointPIO:
		return blockRequester
	case p == drivers.PointInject:
		return d.injector()
	case p >= drivers.PointLink1 && p <= drivers.PointEject:
		return blockRouter
	case p >= drivers.PointArrive1:
		return blockLink(int(p - drivers.PointArrive1))
	case p == drivers.PointSlot:
		return d.slotWriter()
	case p == drivers.PointDropped:
		return d.dropper()
	case p == drivers.PointReadAddr || p == drivers.PointReadLast:
		return d.served(readers[:], blockReads)
	}
	return d.served(writers[:], blockWrites)
}

// either returns an event of the difference, the earlier one if there are two.
func (d *difference) either() *drivers.TraceEvent {
	if d.left == nil || d.right != nil && d.right.Cycle < d.left.Cycle {
		return d.right
	}
	return d.left
}

// injector returns the block that creates packets of the type, or the one that admits them to the
// network.
func (d *difference) injector() string {
	if l, r := d.left, d.right; d.swapped || l != nil && r != nil && l.Flags&r.Flags&drivers.TraceHead != 0 && unitOf(regs.Header(l.Data)) != unitOf(regs.Header(r.Data)) {
		return blockInject
	}
	switch d.refused { // translation decided differently, and the responder reports it
	case regs.RMAErrorTranslation, regs.RMAErrorRights, regs.RMAErrorOwner, regs.RMAErrorBounds:
		return blockATU
	}
	return unitOf(d.header)
}

// unitOf returns the unit that creates packets of a type.
func unitOf(h regs.Header) string {
	switch h.Type() {
	case regs.PacketTypeVELO:
		return blockRequester
	case regs.PacketTypeRMAGetRsp, regs.PacketTypeRMALockRsp, regs.PacketTypeRMAError:
		return blockRMAResponder
	}
	return blockRMARequester
}

// slotWriter returns the completer for a slot header with different information about the packet,
// the mailbox table for a different sequence number.
func (d *difference) slotWriter() string {
	if l, r := d.left, d.right; l != nil && r != nil && l.Cycle == r.Cycle && regs.Slot(l.Data).Seq() != regs.Slot(r.Data).Seq() {
		return blockMailboxes
	}
	return blockCompleter
}

// dropper returns the block that discards packets for the reason.
func (d *difference) dropper() string {
	e := d.either()
	switch reason := regs.DropReason(e.Data >> 32 & 0x7f); {
	case reason == regs.DropReasonWindowOff, reason == regs.DropReasonNoSuchNode && uint16(e.Data>>20) == e.Node:
		return blockRequester
	case reason == regs.DropReasonMailboxOff:
		return blockMailboxes
	}
	return blockCompleter
}

// served returns the unit whose memory access differs, the mux if the order of requesters differs,
// or the translation if the page differs.
func (d *difference) served(units []string, mux string) string {
	who := func(e *drivers.TraceEvent) string {
		if e == nil || e.Flags == 0 || int(e.Flags) > len(units) {
			return ""
		}
		return units[e.Flags-1]
	}
	unit := who(d.left) + who(d.right) // only one side reports it
	if d.swapped {
		return mux
	}
	if l, r := d.left, d.right; d.slow && (l == nil || r == nil || l.Data>>3 == r.Data>>3) {
		return blockLimiter
	}
	if l, r := d.left, d.right; l != nil && r != nil && l.Data != r.Data {
		switch {
		case l.Cycle == r.Cycle && l.Data>>12 != r.Data>>12 && l.Data&0xfff == r.Data&0xfff && unit != blockCompleter:
			return blockATU
		case l.Cycle == r.Cycle && unit == blockCompleter:
			return blockMailboxes
		}
	}
	if unit == "" || d.point == drivers.PointWriteLast {
		return mux
	}
	return unit
}

// elsewhere finds the head of the difference at another output of the same router, on either side:
// the packet took another route.
func (d *difference) elsewhere(lists ...[]drivers.TraceEvent) int {
	if d.point < drivers.PointLink1 || d.point > drivers.PointEject {
		return -1
	}
	for _, list := range lists {
		for i := range list {
			e := &list[i]
			if e.Node == d.node && e.Point != d.point && e.Point >= drivers.PointLink1 && e.Point <= drivers.PointEject &&
				e.Flags&drivers.TraceHead != 0 && regs.Header(e.Data) == d.header && e.Cycle < d.at+soon {
				return int(e.Point)
			}
		}
	}
	return -1
}

// isSlow reports whether the event is a write to memory behind a write limiter.
func (s *Side) isSlow(d *difference) bool {
	for _, e := range []*drivers.TraceEvent{d.left, d.right} {
		for _, r := range s.slow {
			if e != nil && d.point == drivers.PointWriteAddr && r.node == int(e.Node) && e.Data >= r.base && e.Data < r.end {
				return true
			}
		}
	}
	return false
}
