# Timing constraints of the clock domain crossings of a board, for Vivado, after synth_design and the board's .xdc.
#
#   source crossings.tcl
#   nicloop::constrain_crossings            errors when a kind of crossing that the design must have is missing,
#                                           or a synchroniser is not covered by any constraint
#
# A constraint whose pattern matches nothing is only a warning in Vivado, and the path is then timed between unrelated
# clocks, or not at all. So every pattern must match, and every register with ASYNC_REG must be one that was matched.

namespace eval nicloop {
  # 4 ns: bits of a gray pointer may be no further apart than a cycle of the writing clock, up to 250 MHz.
  variable bound 4.0

  # Returns the objects that a query found; nothing is an error.
  proc must_match {what objects} {
    if {[llength $objects] == 0} {
      error "nicloop: no object matches $what: a constraint would be lost. Was a register renamed, or removed?"
    }
    return $objects
  }

  proc cells {pattern} {
    return [get_cells -quiet -hierarchical -filter "NAME =~ $pattern"]
  }

  # Registers of synchronisers: those of reset_sync have an asynchronous set or reset, those of sync_level have none.
  proc stages {reset} {
    set flops [expr {$reset ? {REF_NAME == FDPE || REF_NAME == FDCE} : {REF_NAME == FDRE || REF_NAME == FDSE}}]
    return [get_cells -quiet -hierarchical -filter "NAME =~ */stages_reg* && ($flops)"]
  }

  # Every pad of the top must have a pin.
  proc check_pins {} {
    set missed {}
    foreach port [must_match "ports of the top" [get_ports -quiet *]] {
      if {[get_property PACKAGE_PIN $port] eq ""} { lappend missed $port }
    }
    if {[llength $missed] > 0} { error "nicloop: ports without a pin: [join $missed {, }]" }
  }

  # First registers of sync_level: a level, or one changing bit of a gray pointer, is sampled at any time.
  proc constrain_levels {} {
    variable bound
    set all [must_match "registers of sync_level" [stages 0]]
    set pins [must_match "data pins of sync_level" [get_pins -quiet -of_objects $all -filter {REF_PIN_NAME == D}]]
    set_max_delay -datapath_only $bound -from [all_clocks] -to $pins
    return $all
  }

  # Words of async_fifo are in LUT RAM before their pointer is seen, two cycles of the reading clock later.
  proc constrain_fifos {} {
    variable bound
    set from [must_match "memories of async_fifo" [cells "*/mem_reg*"]]
    set to [must_match "read registers of async_fifo" [cells "*/rd_data_reg*"]]
    set_max_delay -datapath_only $bound -from $from -to $to
  }

  # reset_sync: the reset comes at any time, and ends with an edge.
  proc constrain_resets {} {
    set all [must_match "registers of reset_sync" [stages 1]]
    set pins [must_match "asynchronous pins of reset_sync" \
      [get_pins -quiet -of_objects $all -filter {REF_PIN_NAME == PRE || REF_PIN_NAME == CLR}]]
    set_false_path -to $pins
    return $all
  }

  # Every register with ASYNC_REG must have been constrained.
  proc check_covered {covered} {
    set missed {}
    foreach cell [get_cells -quiet -hierarchical -filter {ASYNC_REG == TRUE}] {
      if {[lsearch -exact $covered $cell] < 0} { lappend missed $cell }
    }
    if {[llength $missed] > 0} {
      error "nicloop: [llength $missed] synchronisers have no constraint: [join $missed {, }]"
    }
  }

  # kinds: those that the design has, of levels, fifos, resets. One clock: resets. nic_axi, gtp_link: all.
  proc constrain_crossings {{kinds {levels fifos resets}}} {
    set covered {}
    foreach kind $kinds {
      switch -- $kind {
        levels { lappend covered {*}[constrain_levels] }
        fifos { constrain_fifos }
        resets { lappend covered {*}[constrain_resets] }
        default { error "nicloop: kind of crossing $kind: expected levels, fifos or resets" }
      }
    }
    check_covered $covered
    return [llength $covered]
  }
}
