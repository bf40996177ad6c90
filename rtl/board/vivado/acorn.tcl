# Bitstream of acorn_pcie7x for the SQRL Acorn CLE-215+ (XC7A200T), for Vivado in batch mode:
#
#   cd rtl && vivado -mode batch -source board/vivado/acorn.tcl
#   cd rtl && vivado -mode batch -source board/vivado/acorn.tcl -tclargs lanes=1 window_bits=26
#
# lanes: 4 (128 bits) or 1 (64 bits), both 5 GT/s and a user clock of 125 MHz. window_bits: BAR 2 has 2^window_bits bytes,
# half of them per NIC, 32 MB per process; hosts without "above 4G decoding" accept 26, seldom more.
# Not run on any machine yet: no Vivado was at hand. board/vivado/check.tcl runs it against stub commands.

set options [dict create lanes 4 window_bits 28 part xc7a200tfbg484-3 out ../build/vivado]
foreach argument $argv {
  lassign [split $argument =] key value
  if {![dict exists $options $key] || $value eq ""} {
    error "acorn.tcl: $argument: expected one of [join [dict keys $options] {=…, }]=…"
  }
  dict set options $key $value
}
dict with options {}
if {$lanes != 1 && $lanes != 4} { error "acorn.tcl: lanes=$lanes: expected 1 or 4" }
if {$window_bits < 26 || $window_bits > 29} { error "acorn.tcl: window_bits=$window_bits: expected 26 to 29" }
set width [expr {$lanes == 4 ? 128 : 64}]
file mkdir $out

# The files of the two lists of RTL, the only lists there are.
proc listed {list} {
  set file [open $list]
  set files {}
  foreach line [split [read $file] "\n"] {
    if {[regexp {^[a-z].*\.sv$} $line]} { lappend files $line }
  }
  close $file
  return $files
}

create_project -in_memory -part $part
read_verilog -sv [concat [listed design.flist] [listed board.flist]]

# The integrated block. Names and values of its settings are those of pcie_7x 3.3.
set mega [expr {1 << ($window_bits - 20)}]
create_ip -name pcie_7x -vendor xilinx.com -library ip -module_name pcie_7x_0 -dir $out
set_property -dict [list \
  CONFIG.mode_selection Advanced \
  CONFIG.Device_Port_Type PCI_Express_Endpoint_device \
  CONFIG.PCIe_Blk_Locn X0Y0 \
  CONFIG.Maximum_Link_Width X$lanes \
  CONFIG.Link_Speed 5.0_GT/s \
  CONFIG.Trgt_Link_Speed 4'h2 \
  CONFIG.Interface_Width ${width}_bit \
  CONFIG.User_Clk_Freq 125 \
  CONFIG.Ref_Clk_Freq 100_MHz \
  CONFIG.Vendor_ID 1234 \
  CONFIG.Device_ID 4E4C \
  CONFIG.Class_Code_Base 02 \
  CONFIG.Class_Code_Sub 80 \
  CONFIG.Max_Payload_Size 512_bytes \
  CONFIG.Extended_Tag_Field false \
  CONFIG.Trim_TLP_Digest_ECRC true \
  CONFIG.Bar0_Enabled true \
  CONFIG.Bar0_Type Memory \
  CONFIG.Bar0_64bit true \
  CONFIG.Bar0_Prefetchable false \
  CONFIG.Bar0_Scale Megabytes \
  CONFIG.Bar0_Size 2 \
  CONFIG.Bar2_Enabled true \
  CONFIG.Bar2_Type Memory \
  CONFIG.Bar2_64bit true \
  CONFIG.Bar2_Prefetchable true \
  CONFIG.Bar2_Scale Megabytes \
  CONFIG.Bar2_Size $mega \
  CONFIG.Bar4_Enabled true \
  CONFIG.Bar4_Type Memory \
  CONFIG.Bar4_64bit false \
  CONFIG.Bar4_Scale Kilobytes \
  CONFIG.Bar4_Size 4 \
  CONFIG.IntX_Generation false \
  CONFIG.MSI_Enabled false \
  CONFIG.MSIx_Enabled true \
  CONFIG.MSIx_Table_Size 34 \
  CONFIG.MSIx_Table_BIR BAR_4 \
  CONFIG.MSIx_Table_Offset 0 \
  CONFIG.MSIx_PBA_BIR BAR_4 \
  CONFIG.MSIx_PBA_Offset 800 \
  CONFIG.cfg_mgmt_if false \
  CONFIG.err_reporting_if false \
  CONFIG.rcv_msg_if false \
  CONFIG.pl_interface false \
] [get_ips pcie_7x_0]
generate_target all [get_ips pcie_7x_0]
synth_ip [get_ips pcie_7x_0]

synth_design -top acorn_pcie7x -part $part -generic LANES=$lanes -generic W=$width -generic WIN_W=$window_bits \
  -verilog_define SYNTHESIS -flatten_hierarchy rebuilt

# The IP places its transceivers; on this board the pins decide.
source board/vivado/crossings.tcl
reset_property LOC [nicloop::must_match "transceivers" [nicloop::cells */gtp_channel.gtpe2_channel_i]]
read_xdc board/constraints/acorn.xdc
if {$lanes == 4} { read_xdc board/constraints/acorn_x4.xdc }
nicloop::check_pins

# One clock domain: the only crossing of ours is the reset. Those inside the block have the IP's constraints.
nicloop::constrain_crossings {resets}

opt_design
place_design
phys_opt_design
route_design
report_timing_summary -file $out/timing.txt
report_utilization -hierarchical -file $out/size.txt
report_cdc -file $out/crossings.txt
set slack [get_property SLACK [get_timing_paths -max_paths 1]]
if {$slack < 0} { error "acorn.tcl: the slowest path misses its clock by [expr {-$slack}] ns; see $out/timing.txt" }
write_bitstream -force $out/acorn.bit
write_cfgmem -force -format bin -interface SPIx4 -size 16 -loadbit "up 0x0 $out/acorn.bit" $out/acorn.bin
puts "acorn.tcl: $out/acorn.bit; least slack $slack ns"
