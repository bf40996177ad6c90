#!/usr/bin/env python3
"""Runs nicloop_acorn.py against fakes of migen and of LitePCIe's PHY, and compares the ports of its Instance with those of
acorn_litepcie.sv: names, directions, and that none is missing. What LiteX makes of it cannot be shown here."""

import os
import re
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))


class Signal:
    def __init__(self, bits=1):
        self.bits = bits

    def __getitem__(self, i):
        assert 0 <= i < self.bits, i
        return Signal()


class Instance:
    def __init__(self, name, **ports):
        self.name, self.ports = name, ports


class Module:
    def __init__(self):
        self.specials = []

    def __getattr__(self, name):
        if name != "specials":
            raise AttributeError(name)
        self.__dict__["specials"] = Specials()
        return self.specials


class Specials(list):
    def __iadd__(self, one):
        self.append(one)
        return self


class Endpoint:
    def __init__(self, width):
        self.valid, self.ready, self.first, self.last = Signal(), Signal(), Signal(), Signal()
        self.dat, self.be = Signal(width), Signal(width // 8)


class PHY:
    def __init__(self, width, pcie_width=None):
        self.data_width, self.pcie_data_width = width, pcie_width or width
        self.source, self.sink = Endpoint(width), Endpoint(width)
        self.pcie_phy_params = {"o_m_axis_rx_tuser": Signal(32), "i_rx_np_ok": 1, "i_fc_sel": 0, "i_cfg_trn_pending": 0}
        self.settings = {}

    def update_config(self, settings):
        self.settings.update(settings)


class Platform:
    def __init__(self):
        self.sources = []

    def add_source(self, path):
        self.sources.append(path)


def fake_migen():
    migen = types.ModuleType("migen")
    migen.Signal, migen.Instance, migen.Module = Signal, Instance, Module
    migen.Cat = lambda *parts: list(parts)
    migen.ClockSignal = migen.ResetSignal = lambda domain: domain
    sys.modules["migen"] = migen


def ports_of(path):
    """name → direction of a module's ports."""
    with open(path, encoding="utf-8") as source:
        text = re.sub(r"//.*", "", source.read())
    header = text[text.index(") (") : text.index(");")]
    return {name: way[0] for way, name in re.findall(r"(input|output)\s+logic\s*(?:\[[^\]]*\])?\s*(\w+)", header)}


def refused(make, text):
    try:
        make()
    except ValueError as error:
        assert text in str(error), error
        return
    raise AssertionError(f"not refused: {text}")


def main():
    fake_migen()
    sys.path.insert(0, HERE)
    import nicloop_acorn

    phy, platform = PHY(64), Platform()
    nics = nicloop_acorn.NicloopNICs(platform, phy, window_bits=26)
    (instance,) = nics.specials
    assert instance.name == "acorn_litepcie", instance.name
    given = {name[2:]: name[0] for name in instance.ports if name[0] in "io"}
    wanted = ports_of(os.path.join(HERE, "../acorn_litepcie.sv"))
    assert given == wanted, f"differ from acorn_litepcie.sv: {set(given.items()) ^ set(wanted.items())}"
    assert instance.ports["p_WIN_W"] == 26 and phy.settings["Bar2_Size"] == 64, phy.settings["Bar2_Size"]
    assert len(instance.ports["i_source_bar_hit"]) == 8
    for name in ("i_rx_np_ok", "i_fc_sel", "i_cfg_trn_pending"):
        assert isinstance(phy.pcie_phy_params[name], Signal), f"{name} is still tied"
    refused(lambda: nicloop_acorn.NicloopNICs(platform, PHY(128)), "128 bits")
    refused(lambda: nicloop_acorn.NicloopNICs(platform, PHY(64, 128)), "converts widths")
    refused(lambda: nicloop_acorn.NicloopNICs(platform, PHY(64), window_bits=25), "expected 26 to 29")
    print(f"ok    nicloop_acorn.py: {len(wanted)} ports of acorn_litepcie, settings of the IP")


if __name__ == "__main__":
    main()
