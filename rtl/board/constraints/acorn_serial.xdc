# SQRL Acorn CLE-215+: oscillator and serial line, for a top with nic_uart; acorn.xdc names the source of the pins.

set_property INTERNAL_VREF 0.750 [get_iobanks 34]

# Oscillator of 200 MHz, for the clock of the core
set_property PACKAGE_PIN J19 [get_ports clk200_p]
set_property PACKAGE_PIN H19 [get_ports clk200_n]
set_property IOSTANDARD DIFF_SSTL15 [get_ports {clk200_p clk200_n}]
create_clock -name clk200 -period 5.000 [get_ports clk200_p]

# Serial line on connector P2, for nic_uart when PCIe does not come up
set_property PACKAGE_PIN K2 [get_ports uart_tx]
set_property PACKAGE_PIN J2 [get_ports uart_rx]
set_property IOSTANDARD LVCMOS33 [get_ports {uart_tx uart_rx}]
