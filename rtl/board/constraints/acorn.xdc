# SQRL Acorn CLE-215+ (XC7A200T-FBG484-3; CLE-215: -2; the same board as RHS Research's NiteFury).
# Pins from the public pin table of litex-boards, litex_boards/platforms/sqrl_acorn.py, commit 041c1607ce7461909cc4076937a55c068e850557.
# For acorn_pcie7x, one lane; acorn_x4.xdc has the other three, acorn_serial.xdc oscillator and serial line.
# ../vivado/check.tcl holds its ports against the top. Not tried on silicon.

set_property CFGBVS VCCO [current_design]
set_property CONFIG_VOLTAGE 3.3 [current_design]
set_property BITSTREAM.CONFIG.SPI_BUSWIDTH 4 [current_design]

# PCIe: fundamental reset, reference clock, four lanes
set_property PACKAGE_PIN J1 [get_ports perst_n]
set_property IOSTANDARD LVCMOS15 [get_ports perst_n]
set_property PULLUP TRUE [get_ports perst_n]
set_false_path -from [get_ports perst_n]
set_property PACKAGE_PIN G1 [get_ports clkreq_n]
set_property IOSTANDARD LVCMOS33 [get_ports clkreq_n]
set_property PACKAGE_PIN F6 [get_ports pcie_clk_p]
set_property PACKAGE_PIN E6 [get_ports pcie_clk_n]
create_clock -name pcie_clk -period 10.000 [get_ports pcie_clk_p]
set_property PACKAGE_PIN B10 [get_ports {pcie_rx_p[0]}]
set_property PACKAGE_PIN A10 [get_ports {pcie_rx_n[0]}]
set_property PACKAGE_PIN B6 [get_ports {pcie_tx_p[0]}]
set_property PACKAGE_PIN A6 [get_ports {pcie_tx_n[0]}]

# Four LEDs
set_property PACKAGE_PIN G3 [get_ports {led[0]}]
set_property PACKAGE_PIN H3 [get_ports {led[1]}]
set_property PACKAGE_PIN G4 [get_ports {led[2]}]
set_property PACKAGE_PIN H4 [get_ports {led[3]}]
set_property IOSTANDARD LVCMOS33 [get_ports {led[*]}]
