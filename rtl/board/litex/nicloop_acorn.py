#!/usr/bin/env python3
"""Two nicloop NICs on the SQRL Acorn CLE-215+ with LiteX and LitePCIe (one lane, 64 bits, 125 MHz).

    scripts/verilog acorn_litepcie build/acorn_litepcie.v        plain Verilog of the RTL, for any tool
    python3 rtl/board/litex/nicloop_acorn.py --build             needs LiteX, LitePCIe, litex-boards and Vivado

LitePCIe's PHY is used for clocks, transceivers and the integrated block; its DMA, MMIO and MSI cores are not. Not run with
LiteX yet: check.py of this folder runs it against fakes, and its shim is simulated (scripts/rtl-test nic_pcie_phy).
"""

import argparse
import os

from migen import Cat, ClockSignal, Instance, Module, ResetSignal, Signal

VERILOG = os.path.join(os.path.dirname(__file__), "../../../build/acorn_litepcie.v")

# BARs and identity of the function, as drivers/pcie and drivers/scan expect them. Names are those of the IP pcie_7x.
IP_SETTINGS = {
    "mode_selection": "Advanced",
    "Vendor_ID": "1234", "Device_ID": "4E4C", "Class_Code_Base": "02", "Class_Code_Sub": "80",
    "Trim_TLP_Digest_ECRC": True,
    "Bar0_Enabled": True, "Bar0_Type": "Memory", "Bar0_64bit": True, "Bar0_Prefetchable": False,
    "Bar0_Scale": "Megabytes", "Bar0_Size": 2,
    "Bar2_Enabled": True, "Bar2_Type": "Memory", "Bar2_64bit": True, "Bar2_Prefetchable": True,
    "Bar2_Scale": "Megabytes",
    "Bar4_Enabled": True, "Bar4_Type": "Memory", "Bar4_64bit": False, "Bar4_Scale": "Kilobytes", "Bar4_Size": 4,
    "IntX_Generation": False, "MSI_Enabled": False, "MSIx_Enabled": True, "MSIx_Table_Size": "34",
    "MSIx_Table_BIR": "BAR_4", "MSIx_Table_Offset": "0", "MSIx_PBA_BIR": "BAR_4", "MSIx_PBA_Offset": "800",
}


class NicloopNICs(Module):
    """acorn_litepcie behind an S7PCIEPHY that was built with cd="pcie" and as wide as pcie_data_width."""

    def __init__(self, platform, phy, window_bits=28):
        if phy.data_width != phy.pcie_data_width:
            raise ValueError("the PHY converts widths: BAR hits would not belong to its beats")
        if phy.data_width != 64:
            raise ValueError("128 bits pass through LitePCIe's aligner, behind which BAR hits are lost: use one lane "
                             "and 64 bits, or rtl/board/vivado for four lanes")
        if not 26 <= window_bits <= 29:
            raise ValueError(f"window_bits={window_bits}: expected 26 to 29")
        self.up = Signal()
        self.irq_pending = Signal()
        width = phy.data_width

        # Ports of the integrated block that LitePCIe leaves open or ties: its dictionary of them is read when the
        # design is finalized.
        ports = phy.pcie_phy_params
        rx_user = ports["o_m_axis_rx_tuser"]
        command, dcommand = Signal(16), Signal(16)
        bus, device, function = Signal(8), Signal(5), Signal(3)
        msix_enable, msix_mask, received_flr, pending = Signal(), Signal(), Signal(), Signal()
        fc_nph, fc_sel, rx_np_ok = Signal(8), Signal(3), Signal()
        ports.update(
            o_cfg_command=command, o_cfg_dcommand=dcommand, o_cfg_bus_number=bus, o_cfg_device_number=device,
            o_cfg_function_number=function, o_cfg_interrupt_msixenable=msix_enable,
            o_cfg_interrupt_msixfm=msix_mask, o_cfg_received_func_lvl_rst=received_flr, i_cfg_trn_pending=pending,
            o_fc_nph=fc_nph, i_fc_sel=fc_sel, i_rx_np_ok=rx_np_ok,
        )
        phy.update_config({**IP_SETTINGS, "Bar2_Size": 1 << (window_bits - 20)})

        self.specials += Instance(
            "acorn_litepcie",
            p_W=width, p_WIN_W=window_bits,
            i_clk=ClockSignal("pcie"), i_rst=ResetSignal("pcie"),
            i_source_valid=phy.source.valid, o_source_ready=phy.source.ready, i_source_last=phy.source.last,
            i_source_dat=phy.source.dat, i_source_bar_hit=Cat(*[rx_user[i] for i in range(2, 10)]),
            o_sink_valid=phy.sink.valid, i_sink_ready=phy.sink.ready, o_sink_first=phy.sink.first,
            o_sink_last=phy.sink.last, o_sink_dat=phy.sink.dat, o_sink_be=phy.sink.be,
            i_cfg_bus_number=bus, i_cfg_device_number=device, i_cfg_function_number=function,
            i_cfg_command=command, i_cfg_dcommand=dcommand, i_cfg_interrupt_msixenable=msix_enable,
            i_cfg_interrupt_msixfm=msix_mask, i_cfg_received_func_lvl_rst=received_flr, o_cfg_trn_pending=pending,
            i_fc_nph=fc_nph, o_fc_sel=fc_sel, o_rx_np_ok=rx_np_ok,
            o_up=self.up, o_irq_pending=self.irq_pending,
        )
        platform.add_source(os.path.abspath(VERILOG))


def build(window_bits, run):
    from litepcie.phy.s7pciephy import S7PCIEPHY
    from litex.soc.integration.builder import Builder
    from litex.soc.integration.soc_core import SoCMini
    from litex_boards.platforms import sqrl_acorn
    from litex_boards.targets.sqrl_acorn import CRG

    platform = sqrl_acorn.Platform(variant="cle-215+")
    soc = SoCMini(platform, int(100e6), ident="nicloop on Acorn CLE-215+")
    soc.submodules.crg = CRG(platform, int(100e6))
    soc.submodules.pcie_phy = S7PCIEPHY(
        platform, platform.request("pcie_x1"), data_width=64, cd="pcie", bar0_size=0x200000, msi_type="msi-x")
    soc.submodules.nics = NicloopNICs(platform, soc.pcie_phy, window_bits)
    soc.comb += platform.request_all("user_led").eq(Cat(soc.nics.up, soc.nics.irq_pending))
    Builder(soc, output_dir="build/litex").build(run=run)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--window-bits", type=int, default=28, help="BAR 2 has 2^BITS bytes, half of them per NIC")
    parser.add_argument("--build", action="store_true", help="run Vivado")
    arguments = parser.parse_args()
    build(arguments.window_bits, arguments.build)


if __name__ == "__main__":
    main()
