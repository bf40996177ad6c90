# SQRL Acorn CLE-215+ (XC7A200T-FBG484-3; CLE-215: -2; the same board as RHS Research's NiteFury).
# Pins from the public pin table of litex-boards, litex_boards/platforms/sqrl_acorn.py, commit 041c1607ce7461909cc4076937a55c068e850557.
# For a top with ports of these names; see ../BRINGUP.md. Not tried on silicon.

set_property CFGBVS VCCO [current_design]
set_property CONFIG_VOLTAGE 3.3 [current_design]
set_property BITSTREAM.CONFIG.SPI_BUSWIDTH 4 [current_design]
set_property INTERNAL_VREF 0.750 [get_iobanks 34]

# Oscillator of 200 MHz, for the clock of the core
set_property PACKAGE_PIN J19 [get_ports clk200_p]
set_property PACKAGE_PIN H19 [get_ports clk200_n]
set_property IOSTANDARD DIFF_SSTL15 [get_ports {clk200_p clk200_n}]
create_clock -name clk200 -period 5.000 [get_ports clk200_p]

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
set_property PACKAGE_PIN B8 [get_ports {pcie_rx_p[1]}]
set_property PACKAGE_PIN A8 [get_ports {pcie_rx_n[1]}]
set_property PACKAGE_PIN D11 [get_ports {pcie_rx_p[2]}]
set_property PACKAGE_PIN C11 [get_ports {pcie_rx_n[2]}]
set_property PACKAGE_PIN D9 [get_ports {pcie_rx_p[3]}]
set_property PACKAGE_PIN C9 [get_ports {pcie_rx_n[3]}]
set_property PACKAGE_PIN B6 [get_ports {pcie_tx_p[0]}]
set_property PACKAGE_PIN A6 [get_ports {pcie_tx_n[0]}]
set_property PACKAGE_PIN B4 [get_ports {pcie_tx_p[1]}]
set_property PACKAGE_PIN A4 [get_ports {pcie_tx_n[1]}]
set_property PACKAGE_PIN D5 [get_ports {pcie_tx_p[2]}]
set_property PACKAGE_PIN C5 [get_ports {pcie_tx_n[2]}]
set_property PACKAGE_PIN D7 [get_ports {pcie_tx_p[3]}]
set_property PACKAGE_PIN C7 [get_ports {pcie_tx_n[3]}]

# Four LEDs
set_property PACKAGE_PIN G3 [get_ports {led[0]}]
set_property PACKAGE_PIN H3 [get_ports {led[1]}]
set_property PACKAGE_PIN G4 [get_ports {led[2]}]
set_property PACKAGE_PIN H4 [get_ports {led[3]}]
set_property IOSTANDARD LVCMOS33 [get_ports {led[*]}]

# Serial line on connector P2, for nic_uart when PCIe does not come up
set_property PACKAGE_PIN K2 [get_ports uart_tx]
set_property PACKAGE_PIN J2 [get_ports uart_rx]
set_property IOSTANDARD LVCMOS33 [get_ports {uart_tx uart_rx}]
