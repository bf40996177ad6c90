-- Wireshark dissector for captures of nicloop (DLT_USER0). nicloop_desc, the
-- table of formats, is generated and stands in front of this text.
local desc = nicloop_desc
local FLIT = desc.constants.FLIT_BYTES
local bits = bit32 or bit -- bit32 up to Wireshark 4.2, bit from 4.4 on

local nicloop = Proto("nicloop", "NicLoop packet")

-- One filter name per field of the description: nicloop.src_node, nicloop.crc …
local function new_field(f)
  local name, values = "nicloop." .. f.name, f.enum and desc.enums[f.enum] or nil
  if f.width == 1 then return ProtoField.bool(name, f.name, base.NONE, nil, nil, f.doc) end
  if f.name == "crc" then return ProtoField.uint32(name, f.name, base.HEX, nil, nil, f.doc) end
  if f.width <= 8 then return ProtoField.uint8(name, f.name, base.DEC, values, nil, f.doc) end
  if f.width <= 16 then return ProtoField.uint16(name, f.name, base.DEC, values, nil, f.doc) end
  return ProtoField.uint32(name, f.name, base.DEC, values, nil, f.doc)
end

local fields, all = { header = {}, tail = {} }, {}
for _, format in ipairs({ "header", "tail" }) do
  for i, f in ipairs(desc.formats[format]) do
    fields[format][i] = new_field(f)
    all[#all + 1] = fields[format][i]
  end
end

local pf = {
  payload = ProtoField.bytes("nicloop.payload", "payload"),
  credits = ProtoField.uint16("nicloop.credits", "credits", base.DEC),
  padding = ProtoField.bytes("nicloop.padding", "padding"),
  rma = ProtoField.bytes("nicloop.rma", "RMA payload, not decoded"),
  status = ProtoField.string("nicloop.crc.status", "CRC status"),
  computed = ProtoField.uint32("nicloop.crc.computed", "CRC computed", base.HEX),
  flits = ProtoField.uint16("nicloop.flits", "flits", base.DEC),
}
for _, f in pairs(pf) do all[#all + 1] = f end
nicloop.fields = all

local ef = {
  crc = ProtoExpert.new("nicloop.expert.crc", "CRC is wrong", expert.group.CHECKSUM, expert.severity.ERROR),
  length = ProtoExpert.new("nicloop.expert.length", "Length is wrong", expert.group.MALFORMED, expert.severity.ERROR),
  type = ProtoExpert.new("nicloop.expert.type", "Unknown packet type", expert.group.PROTOCOL, expert.severity.ERROR),
  rma = ProtoExpert.new("nicloop.expert.rma", "RMA payload shown as bytes", expert.group.UNDECODED, expert.severity.NOTE),
  cut = ProtoExpert.new("nicloop.expert.cut", "The end of the packet was not seen", expert.group.SEQUENCE, expert.severity.NOTE),
}
nicloop.experts = { ef.crc, ef.length, ef.type, ef.rma, ef.cut }

local function extract(word, f) -- word: UInt64
  return word:rshift(f.lsb):band(UInt64.new(2 ^ math.min(f.width, 32) - 1)):tonumber()
end

-- Adds the fields of one flit to tree and returns their values by name.
local function flit(tree, format, range)
  local word, values = range:le_uint64(), {}
  for i, f in ipairs(desc.formats[format]) do
    local v = extract(word, f)
    values[f.name] = v
    if f.name ~= "rsvd" or v ~= 0 then
      if f.width == 1 then v = v == 1 end
      tree:add(fields[format][i], range, v)
    end
  end
  return values
end

local crc_table = {}
for i = 0, 255 do
  local c = i
  for _ = 1, 8 do
    c = bits.band(c, 1) == 1 and bits.bxor(bits.rshift(c, 1), 0xedb88320) or bits.rshift(c, 1)
  end
  crc_table[i] = c
end

-- CRC over the first n bytes, with the header's vc and mark bits as 0.
local function crc32(tvb, n)
  local free = {} -- bits of each header byte that the network may change
  for _, f in ipairs(desc.formats.header) do
    if f.name == "vc" or f.name == "mark" then
      for b = f.lsb, f.lsb + f.width - 1 do
        local byte = math.floor(b / 8)
        free[byte] = bits.bor(free[byte] or 0, 2 ^ (b % 8))
      end
    end
  end
  local c = 0xffffffff
  for i = 0, n - 1 do
    local v = tvb(i, 1):uint()
    if free[i] then v = bits.band(v, 255 - free[i]) end
    c = bits.bxor(crc_table[bits.band(bits.bxor(c, v), 0xff)], bits.rshift(c, 8))
  end
  return bits.bxor(c, 0xffffffff) % 2 ^ 32
end

local function check_crc(tree, tvb, crc)
  local n = tvb:reported_len() - FLIT
  local computed = crc32(tvb, n)
  if computed == crc then
    tree:add(pf.status, tvb(n, 4), "good"):set_generated()
    return true
  end
  tree:add(pf.status, tvb(n, 4), "bad"):set_generated()
  tree:add(pf.computed, tvb(n, 4), computed):set_generated()
  tree:add_proto_expert_info(ef.crc, string.format("CRC is 0x%08x, expected 0x%08x", crc, computed))
  return false
end

-- Payload, then two credit bytes if piggybacked; control packets carry their
-- credits as payload. Returns the credits, if any.
local function velo(tree, tvb, h, kind, room)
  local at, credits = FLIT, nil
  if h.length > 0 then tree:add(pf.payload, tvb(at, h.length)) end
  if h.piggyback == 0 and h.length == 2 and (kind == "CREDIT" or kind == "CREDIT_RESPONSE") then
    credits = tvb(at, 2):le_uint()
    tree:add_le(pf.credits, tvb(at, 2))
  end
  at = at + h.length
  if h.piggyback == 1 then
    credits = tvb(at, 2):le_uint()
    tree:add_le(pf.credits, tvb(at, 2))
    at = at + 2
  end
  if at < FLIT + room then tree:add(pf.padding, tvb(at, FLIT + room - at)) end
  return credits
end

local function columns(pinfo, h, type, kind, credits)
  pinfo.cols.protocol = "NicLoop"
  pinfo.cols.src = string.format("%d.%d", h.src_node, h.src_vpid)
  pinfo.cols.dst = string.format("%d.%d", h.dst_node, h.dst_vpid)
  local what = type == "VELO" and "VELO " .. kind or type
  local more = credits and string.format(", %d credits%s", credits, h.piggyback == 1 and " piggybacked" or "") or ""
  pinfo.cols.info = string.format("%s, %d bytes%s", what, h.length, more)
end

-- The longest payload that a type may have.
local function limit(type, h)
  if type ~= "VELO" then return desc.constants.MTU end
  return desc.constants.VELO_PAYLOAD - 2 * h.piggyback
end

local function bad_length(tree, pinfo, ...)
  local text = string.format(...)
  tree:add_proto_expert_info(ef.length, text)
  pinfo.cols.info:append(" [" .. text .. "]")
end

function nicloop.dissector(tvb, pinfo, root)
  local tree = root:add(nicloop, tvb())
  local reported, captured = tvb:reported_len(), tvb:captured_len()
  if captured < FLIT then
    pinfo.cols.protocol = "NicLoop"
    return bad_length(tree, pinfo, "%d bytes, expected a header of %d", captured, FLIT)
  end
  local h = flit(tree:add(nicloop, tvb(0, FLIT), "Header"), "header", tvb(0, FLIT))
  local type = desc.enums.packet_type[h.type] or string.format("type %d", h.type)
  local kind = desc.enums.kind[h.kind]
  local room = math.ceil((h.length + 2 * h.piggyback) / FLIT) * FLIT
  tree:add(pf.flits, tvb(), reported / FLIT):set_generated()
  tree:append_text(string.format(", %s", type))
  columns(pinfo, h, type, kind)
  if not desc.enums.packet_type[h.type] then
    tree:add_proto_expert_info(ef.type, string.format("packet type %d is not known", h.type))
  end
  if h.length > limit(type, h) then
    return bad_length(tree, pinfo, "payload of %d bytes, expected at most %d", h.length, limit(type, h))
  end
  if reported ~= room + 2 * FLIT then
    return bad_length(tree, pinfo, "%d bytes, expected %d", reported, room + 2 * FLIT)
  end
  if captured < reported then
    tree:add_proto_expert_info(ef.cut, string.format("%d of %d flits seen", captured / FLIT, reported / FLIT))
    return
  end
  if type == "VELO" then
    columns(pinfo, h, type, kind, velo(tree, tvb, h, kind, room))
  elseif room > 0 then
    tree:add(pf.rma, tvb(FLIT, room))
    tree:add_proto_expert_info(ef.rma)
  end
  local last = tvb(reported - FLIT, FLIT)
  local t = flit(tree:add(nicloop, last, "Tail"), "tail", last)
  if not check_crc(tree, tvb, t.crc) then pinfo.cols.info:append(" [bad CRC]") end
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, nicloop)
