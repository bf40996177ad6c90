# Runs the scripts of this folder with tclsh against stubs of Vivado's commands: syntax, options, and that constraints which
# match nothing are errors. What Vivado makes of the commands it cannot show.
#
#   cd rtl && tclsh board/vivado/check.tcl

# ---- a netlist: cells, each with its type and whether it has ASYNC_REG; ports of the top with their pins ----
set netlist {}
set calls {}
set pins {}
proc get_cells {args} {
  global netlist
  set filter [lindex $args end]
  set found {}
  foreach {name type async} $netlist {
    if {$filter eq {ASYNC_REG == TRUE}} {
      if {$async} { lappend found $name }
    } elseif {![regexp {^NAME =~ ([^ ]*)(?: && .(.*).)?$} $filter _ pattern types]} {
      error "get_cells: filter $filter"
    } elseif {[string match [string map {\[ \\\[} $pattern] $name] && ($types eq "" || [string match "*== $type*" $types])} {
      lappend found $name
    }
  }
  return $found
}
proc get_ports {args} { global pins; return [dict keys $pins] }
proc get_pins {args} {
  set found {}
  foreach cell [dict get $args -of_objects] { lappend found $cell/D }
  return $found
}
proc all_clocks {} { return {clk aclk} }
proc get_ips {name} { return $name }
proc get_timing_paths {args} { return path }
proc get_property {name object} {
  global slack pins
  return [expr {$name eq "SLACK" ? $slack : [dict get $pins $object]}]
}
foreach command {set_max_delay set_false_path create_project read_verilog create_ip set_property generate_target synth_ip \
  read_xdc synth_design opt_design place_design phys_opt_design route_design report_timing_summary report_utilization \
  report_cdc write_bitstream write_cfgmem reset_property} {
  proc $command {args} "global calls; lappend calls \[linsert \$args 0 $command\]"
}
# get_pins has -quiet and -filter too: make a dictionary of what it is given.
rename get_pins pins_of
proc get_pins {args} { return [pins_of {*}[lsearch -all -inline -not -exact $args -quiet]] }

set failed 0
proc expect {what code message script} {
  global failed
  set got [catch {uplevel #0 $script} result]
  if {$got == $code && [string match $message $result]} {
    puts "ok    $what"
  } else {
    incr failed
    puts "FAIL  $what: code $got, $result"
  }
}

source board/vivado/crossings.tcl
set whole {
  u_nic/u_level/stages_reg[0] FDRE 1 u_nic/u_level/stages_reg[1] FDRE 1 u_nic/u_reset/u_sync/stages_reg[0] FDPE 1
  u_nic/u_fifo/mem_reg_0_3_0_5 RAM32M 0 u_nic/u_fifo/rd_data_reg[0] FDRE 0 u_nic/u_fifo/wr_bin_reg[0] FDRE 0
}
set netlist $whole
expect "a design with every kind of crossing" 0 3 { nicloop::constrain_crossings }
set netlist {u_nics/u_reset/u_sync/stages_reg[0] FDPE 1 u_nics/u_reset/u_sync/stages_reg[1] FDPE 1}
expect "a design of one clock" 0 2 { nicloop::constrain_crossings {resets} }
expect "a kind of crossing that is not there" 1 "nicloop: no object matches memories of async_fifo*" { nicloop::constrain_crossings {resets fifos} }
expect "resets are not levels" 1 "nicloop: no object matches registers of sync_level*" { nicloop::constrain_crossings {levels} }
set netlist {}
expect "a pattern that matches nothing" 1 "nicloop: no object matches registers of reset_sync*" { nicloop::constrain_crossings {resets} }
set netlist [concat $whole {u_nic/other_reg[0] FDRE 1}]
expect "a synchroniser without a constraint" 1 "nicloop: 1 synchronisers have no constraint: u_nic/other_reg*" { nicloop::constrain_crossings }
expect "a kind that is none" 1 "nicloop: kind of crossing resests*" { nicloop::constrain_crossings {resests} }

# ---- the project ----
proc acorn {arguments} {
  global argv calls
  set argv $arguments
  set calls {}
  uplevel #0 { source board/vivado/acorn.tcl }
}
proc called {pattern} {
  global calls
  return [llength [lsearch -all -glob $calls $pattern]]
}
set one {u_nics/u_reset/u_sync/stages_reg[0] FDPE 1 u_pcie/lane[0]/gtp_channel.gtpe2_channel_i GTPE2_CHANNEL 0}
set netlist $one
# The pads are those of the top's source, their pins those of the constraints; both must be the same set.
proc read_text {name} { set file [open $name]; set text [read $file]; close $file; return $text }
set pads {}
foreach {_ range name} [regexp -all -inline {(?:input|output) +logic +(\[[^\]]*\])? *([a-z_]+)} [read_text board/acorn_pcie7x.sv]] {
  if {$range eq ""} { lappend pads $name } else { for {set i 0} {$i < 4} {incr i} { lappend pads ${name}\[$i\] } }
}
foreach file {acorn acorn_x4} {
  foreach {_ pin port} [regexp -all -inline {PACKAGE_PIN (\w+) \[get_ports \{?([^\}\]]+\]?)\}?\]} [read_text board/constraints/$file.xdc]] {
    dict set pins $port $pin
  }
}
expect "pins of the constraints are the pads of the top" 0 1 { expr {[lsort $pads] eq [lsort [dict keys $pins]]} }
expect "no pin has two pads" 0 1 { expr {[llength [lsort -unique [dict values $pins]]] == [llength $pads]} }
set slack 0.4
set out [file join [expr {[info exists env(TMPDIR)] ? $env(TMPDIR) : "/tmp"}] nicloop-vivado-check.[pid]]
expect "the project" 0 "" { acorn out=$out }
expect "its files exist" 0 0 {
  set missing 0
  foreach file [lindex [lsearch -inline -glob $calls {read_verilog *}] end] { if {![file exists $file]} { incr missing; puts $file } }
  set missing
}
expect "its top, with 4 lanes" 0 1 { called {synth_design -top acorn_pcie7x *LANES=4*W=128*WIN_W=28*} }
expect "a bitstream" 0 1 { called {write_bitstream *} }
expect "one lane" 0 1 { acorn [list lanes=1 window_bits=26 out=$out]; called {synth_design *LANES=1*W=64*WIN_W=26*} }
expect "BAR 2 of 64 MB" 0 1 { called {set_property *CONFIG.Bar2_Size 64 *} }
expect "lanes that it does not have" 1 "*lanes=2: expected 1 or 4" { acorn lanes=2 }
expect "an option that is none" 1 "*lane=4: expected one of*" { acorn lane=4 }
dict set pins {led[1]} ""
expect "a pad without a pin" 1 "nicloop: ports without a pin: led*" { acorn out=$out }
dict set pins {led[1]} H3
set slack -0.1
expect "a path that is too slow" 1 "*misses its clock by 0.1 ns*" { acorn out=$out }
expect "and no bitstream of it" 0 0 { called {write_bitstream *} }
set slack 0.4
set netlist {u_pcie/lane[0]/gtp_channel.gtpe2_channel_i GTPE2_CHANNEL 0}
expect "a crossing that is not constrained" 1 "nicloop: no object matches*" { acorn out=$out }
file delete -force $out
puts "[expr {$failed == 0 ? {all} : {not all}}] passed, $failed failed"
exit [expr {$failed > 0}]
