
-- TLPs of PCIe between a NIC and its root complex (DLT_USER1), header as PCI Express draws it, then the payload.
do
  local tlp = Proto("nicloop_tlp", "NicLoop PCIe TLP")
  local bits = bit32 or bit

  -- By fmt and type, without bit 5 of both: headers of 4 dwords are of the same kind.
  local kinds = {
    [0x00] = "MRd", [0x01] = "MRdLk", [0x40] = "MWr", [0x0a] = "Cpl", [0x4a] = "CplD", [0x0b] = "CplLk", [0x4b] = "CplDLk",
    [0x02] = "IORd", [0x42] = "IOWr", [0x04] = "CfgRd0", [0x44] = "CfgWr0",
  }
  local statuses = { [0] = "SC", [1] = "UR", [2] = "CRS", [4] = "CA" }
  -- Where the simulated root complex has put the BARs, and what memory it takes interrupts by (rtl/sim/root_complex.sv).
  local places = {
    { from = 0xa0000000, to = 0xbfffffff, name = "send windows" },
    { from = 0xd0000000, to = 0xd00fffff, name = "registers" },
    { from = 0xd0100000, to = 0xd0100fff, name = "MSI-X table" },
    { from = 0xfee00000, to = 0xfeefffff, name = "interrupt" },
  }

  local f = {
    kind = ProtoField.string("nicloop_tlp.kind", "kind"),
    fmt = ProtoField.uint8("nicloop_tlp.fmt", "format", base.HEX, nil, 0xe0),
    type = ProtoField.uint8("nicloop_tlp.type", "type", base.HEX, nil, 0x1f),
    tc = ProtoField.uint8("nicloop_tlp.tc", "traffic class", base.DEC, nil, 0x70),
    poisoned = ProtoField.bool("nicloop_tlp.poisoned", "poisoned", 8, nil, 0x40),
    length = ProtoField.uint16("nicloop_tlp.length", "length in dwords", base.DEC),
    requester = ProtoField.uint16("nicloop_tlp.requester", "requester", base.HEX),
    completer = ProtoField.uint16("nicloop_tlp.completer", "completer", base.HEX),
    tag = ProtoField.uint8("nicloop_tlp.tag", "tag", base.DEC),
    first_be = ProtoField.uint8("nicloop_tlp.first_be", "bytes of the first dword", base.HEX, nil, 0x0f),
    last_be = ProtoField.uint8("nicloop_tlp.last_be", "bytes of the last dword", base.HEX, nil, 0xf0),
    address = ProtoField.uint64("nicloop_tlp.address", "address", base.HEX),
    place = ProtoField.string("nicloop_tlp.place", "where that is"),
    status = ProtoField.uint8("nicloop_tlp.status", "status", base.DEC, statuses, 0xe0),
    count = ProtoField.uint16("nicloop_tlp.count", "bytes to come, these included", base.DEC),
    lower = ProtoField.uint8("nicloop_tlp.lower", "lower address", base.HEX, nil, 0x7f),
    payload = ProtoField.bytes("nicloop_tlp.payload", "payload"),
  }
  local list = {}
  for _, v in pairs(f) do list[#list + 1] = v end
  tlp.fields = list
  local ef = {
    length = ProtoExpert.new("nicloop_tlp.expert.length", "Length is wrong", expert.group.MALFORMED, expert.severity.ERROR),
    kind = ProtoExpert.new("nicloop_tlp.expert.kind", "Unknown kind", expert.group.PROTOCOL, expert.severity.ERROR),
    poisoned = ProtoExpert.new("nicloop_tlp.expert.poisoned", "Poisoned", expert.group.CHECKSUM, expert.severity.WARN),
    status = ProtoExpert.new("nicloop_tlp.expert.status", "Completion with an error", expert.group.RESPONSE_CODE, expert.severity.WARN),
    page = ProtoExpert.new("nicloop_tlp.expert.page", "A request crosses 4 KB", expert.group.PROTOCOL, expert.severity.ERROR),
  }
  tlp.experts = { ef.length, ef.kind, ef.poisoned, ef.status, ef.page }

  local function place(address)
    if address:higher() ~= 0 then return "memory" end
    local a = address:lower()
    for _, p in ipairs(places) do
      if a >= p.from and a <= p.to then return p.name end
    end
    return "memory"
  end

  -- The dwords behind the first of a request; returns the text of the info column.
  local function request(tree, tvb, four, length)
    tree:add(f.requester, tvb(4, 2))
    tree:add(f.tag, tvb(6, 1))
    tree:add(f.last_be, tvb(7, 1))
    tree:add(f.first_be, tvb(7, 1))
    local range = four and tvb(8, 8) or tvb(8, 4)
    local address = four and range:uint64() or UInt64.new(range:uint())
    tree:add(f.address, range, address)
    local where = place(address)
    tree:add(f.place, range, where):set_generated()
    if bits.band(address:lower(), 0xfff) + 4 * length > 4096 then tree:add_proto_expert_info(ef.page) end
    return string.format("%d dwords at 0x%s, %s", length, four and address:tohex() or string.format("%08x", address:lower()), where), tvb(6, 1):uint()
  end

  local function completion(tree, tvb)
    tree:add(f.completer, tvb(4, 2))
    tree:add(f.status, tvb(6, 1))
    tree:add(f.count, tvb(6, 2), bits.band(tvb(6, 2):uint(), 0xfff))
    tree:add(f.requester, tvb(8, 2))
    tree:add(f.tag, tvb(10, 1))
    tree:add(f.lower, tvb(11, 1))
    local status = bits.rshift(tvb(6, 1):uint(), 5)
    if status ~= 0 then tree:add_proto_expert_info(ef.status, "completion says " .. (statuses[status] or status)) end
    return string.format("%s, %d bytes to come", statuses[status] or status, bits.band(tvb(6, 2):uint(), 0xfff)), tvb(10, 1):uint()
  end

  function tlp.dissector(tvb, pinfo, root)
    local tree, n = root:add(tlp, tvb()), tvb:captured_len()
    pinfo.cols.protocol = "TLP"
    if n < 12 then
      tree:add_proto_expert_info(ef.length, string.format("%d bytes, expected a header of 12 at least", n))
      return
    end
    local first = tvb(0, 1):uint()
    local four, data = bits.band(first, 0x20) ~= 0, bits.band(first, 0x40) ~= 0
    local kind = kinds[bits.band(first, 0xdf)]
    tree:add(f.fmt, tvb(0, 1))
    tree:add(f.type, tvb(0, 1))
    tree:add(f.tc, tvb(1, 1))
    tree:add(f.poisoned, tvb(2, 1))
    local length = bits.band(tvb(2, 2):uint(), 0x3ff)
    if length == 0 and (data or kind == "MRd") then length = 1024 end
    tree:add(f.length, tvb(2, 2), length)
    if not kind then
      tree:add_proto_expert_info(ef.kind, string.format("format and type 0x%02x are not known", first))
      return
    end
    tree:add(f.kind, tvb(0, 1), kind):set_generated()
    local head = four and 16 or 12
    if n < head or n ~= head + (data and 4 * length or 0) then
      tree:add_proto_expert_info(ef.length, string.format("%d bytes, expected %d", n, head + (data and 4 * length or 0)))
      if n < head then return end
    end
    local poisoned = data and bits.band(tvb(2, 1):uint(), 0x40) ~= 0
    if poisoned then tree:add_proto_expert_info(ef.poisoned) end
    local say = kind:sub(1, 3) == "Cpl" and completion or request
    local text, tag = say(tree, tvb, four, length)
    if n > head then tree:add(f.payload, tvb(head, n - head)) end
    tree:append_text(", " .. kind)
    pinfo.cols.info = string.format("%s tag %d, %s%s", kind, tag, text, poisoned and " [poisoned]" or "")
  end

  DissectorTable.get("wtap_encap"):add(wtap.USER1, tlp)
end
