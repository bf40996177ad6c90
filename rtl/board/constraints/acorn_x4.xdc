# SQRL Acorn CLE-215+: lanes 1 to 3 of PCIe, beside acorn.xdc, which names the source of the pins.

set_property PACKAGE_PIN B8 [get_ports {pcie_rx_p[1]}]
set_property PACKAGE_PIN A8 [get_ports {pcie_rx_n[1]}]
set_property PACKAGE_PIN D11 [get_ports {pcie_rx_p[2]}]
set_property PACKAGE_PIN C11 [get_ports {pcie_rx_n[2]}]
set_property PACKAGE_PIN D9 [get_ports {pcie_rx_p[3]}]
set_property PACKAGE_PIN C9 [get_ports {pcie_rx_n[3]}]
set_property PACKAGE_PIN B4 [get_ports {pcie_tx_p[1]}]
set_property PACKAGE_PIN A4 [get_ports {pcie_tx_n[1]}]
set_property PACKAGE_PIN D5 [get_ports {pcie_tx_p[2]}]
set_property PACKAGE_PIN C5 [get_ports {pcie_tx_n[2]}]
set_property PACKAGE_PIN D7 [get_ports {pcie_tx_p[3]}]
set_property PACKAGE_PIN C7 [get_ports {pcie_tx_n[3]}]
