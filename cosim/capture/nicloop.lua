-- Wireshark dissector for captures of nicloop (DLT_USER0). nicloop_desc, the
-- table of formats, is generated and stands in front of this text.
local desc = nicloop_desc
local FLIT = desc.constants.FLIT_BYTES
local bits = bit32 or bit -- bit32 up to Wireshark 4.2, bit from 4.4 on

local nicloop = Proto("nicloop", "NicLoop packet")

-- The filter name of a field of the description: nicloop.src_node, nicloop.crc;
-- of RMA's formats with the format's name: nicloop.rma_ext.nla …
local function filter_name(format, f)
  if format == "header" or format == "tail" then return "nicloop." .. f.name end
  return "nicloop." .. format .. "." .. f.name
end

local function new_field(format, f)
  local name, values = filter_name(format, f), f.enum and desc.enums[f.enum] or nil
  if f.width == 1 then return ProtoField.bool(name, f.name, base.NONE, nil, nil, f.doc) end
  if f.name == "crc" then return ProtoField.uint32(name, f.name, base.HEX, nil, nil, f.doc) end
  if f.width > 32 then return ProtoField.uint64(name, f.name, base.HEX, nil, nil, f.doc) end
  if f.width <= 8 then return ProtoField.uint8(name, f.name, base.DEC, values, nil, f.doc) end
  if f.width <= 16 then return ProtoField.uint16(name, f.name, base.DEC, values, nil, f.doc) end
  return ProtoField.uint32(name, f.name, base.DEC, values, nil, f.doc)
end

local fields, all = {}, {}
for _, format in ipairs({ "header", "tail", "rma_op", "nla", "rma_ext", "rma_get", "rma_lock", "rma_result", "rma_noti" }) do
  fields[format] = {}
  for i, f in ipairs(desc.formats[format]) do
    fields[format][i] = new_field(format, f)
    all[#all + 1] = fields[format][i]
  end
end

local pf = {
  payload = ProtoField.bytes("nicloop.payload", "payload"),
  credits = ProtoField.uint16("nicloop.credits", "credits", base.DEC),
  padding = ProtoField.bytes("nicloop.padding", "padding"),
  bytes = ProtoField.uint32("nicloop.rma.bytes", "bytes moved", base.DEC),
  notification = ProtoField.uint64("nicloop.rma.notification", "payload of the notification", base.HEX),
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
  page = ProtoExpert.new("nicloop.expert.page", "A fragment crosses 4 KB", expert.group.PROTOCOL, expert.severity.WARN),
  cut = ProtoExpert.new("nicloop.expert.cut", "The end of the packet was not seen", expert.group.SEQUENCE, expert.severity.NOTE),
}
nicloop.experts = { ef.crc, ef.length, ef.type, ef.page, ef.cut }

-- The value of a field; an UInt64 if it is longer than 32 bits.
local function extract(word, f) -- word: UInt64
  local v = word:rshift(f.lsb)
  if f.width > 32 then return v:band(UInt64.new(0xffffffff, 2 ^ (f.width - 32) - 1)) end
  return v:band(UInt64.new(2 ^ f.width - 1)):tonumber()
end

local function description(format, name)
  for _, f in ipairs(desc.formats[format]) do
    if f.name == name then return f end
  end
end

-- Adds the fields of one word to tree and returns their values by name. parts
-- names the formats of fields that have parts themselves.
local function add_word(tree, format, range, word, parts)
  local values = {}
  for i, f in ipairs(desc.formats[format]) do
    local v = extract(word, f)
    values[f.name] = v
    if f.name ~= "rsvd" or v ~= 0 then
      if f.width == 1 then v = v == 1 end
      local item = tree:add(fields[format][i], range, v)
      if parts and parts[f.name] then
        add_word(item, parts[f.name], range, f.width > 32 and v or UInt64.new(v))
      end
    end
  end
  return values
end

local function flit(tree, format, range, parts)
  return add_word(tree, format, range, range:le_uint64(), parts)
end

local crc_table = {}
for i = 0, 255 do
  local c = i
  for _ = 1, 8 do
    c = bits.band(c, 1) == 1 and bits.bxor(bits.rshift(c, 1), 0xedb88320) or bits.rshift(c, 1)
  end
  crc_table[i] = c
end

-- Bits of each header byte that the network may change: those of answer and mark.
local free = {}
for _, f in ipairs(desc.formats.header) do
  if f.name == "answer" or f.name == "mark" then
    for b = f.lsb, f.lsb + f.width - 1 do
      local byte = math.floor(b / 8)
      free[byte] = bits.bor(free[byte] or 0, 2 ^ (b % 8))
    end
  end
end

-- CRC of a packet of n bytes and a tail: over all bytes, the free ones and the CRC itself, which begins the tail, as 0.
local function crc32(tvb, n)
  local c, raw = 0xffffffff, tvb:raw(0, n + FLIT)
  for i = 0, n + FLIT - 1 do
    local v = raw:byte(i + 1)
    if free[i] then v = bits.band(v, 255 - free[i]) end
    if i >= n and i < n + 4 then v = 0 end
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

-- The filter's own columns; what the packet does is told by text.
local function columns(pinfo, h, text)
  pinfo.cols.protocol = "NicLoop"
  pinfo.cols.src = string.format("%d.%d", h.src_node, h.src_vpid)
  pinfo.cols.dst = string.format("%d.%d", h.dst_node, h.dst_vpid)
  pinfo.cols.info = text
end

local function velo_text(h, kind, credits)
  local more = credits and string.format(", %d credits%s", credits, h.piggyback == 1 and " piggybacked" or "") or ""
  return string.format("VELO %s, %d bytes%s", kind, h.length, more)
end

-- What an RMA packet has behind the extension flit: bytes, or one quadword of a format.
local MOVES = { RMA_PUT = true, RMA_IMM_PUT = true, RMA_GET_RSP = true }
local WORD = { RMA_GET_REQ = "rma_get", RMA_LOCK_REQ = "rma_lock", RMA_LOCK_RSP = "rma_result", RMA_ERROR = "rma_noti" }

local function is_rma(type) return type:sub(1, 4) == "RMA_" end

local function nla_text(nla) return "NLA 0x" .. nla:tohex():sub(5) end -- 48 bits

-- What a packet does, by type: w holds the values of the quadword, n the bytes moved.
local RMA_TEXT = {
  RMA_GET_REQ = function(ext, w, n) return string.format("%d B at %s to %s", n, nla_text(ext.nla), nla_text(w.nla)) end,
  RMA_NOTI = function(_, w) return "payload 0x" .. w.payload:tohex() end,
  RMA_LOCK_REQ = function(ext, w) return string.format("at %s, add %d if at most %d", nla_text(ext.nla), w.add, w.compare) end,
  RMA_LOCK_RSP = function(ext, w)
    return string.format("at %s, was %d, %s", nla_text(ext.nla), w.old, w.success == 1 and "changed" or "not changed")
  end,
  RMA_ERROR = function(ext, w, n)
    local e = desc.enums
    return string.format("%s at %s, %s of %d B, found by %s", e.rma_error[w.error] or w.error, nla_text(ext.nla),
      e.rma_command[w.command] or w.command, n, e.rma_unit[w.unit] or w.unit)
  end,
}

local function moved_text(ext, _, n) return string.format("%d B at %s", n, nla_text(ext.nla)) end

-- Bytes that the fragment reads or writes; nil for a notification.
local function moved(type, h, w)
  if MOVES[type] then return h.length - FLIT end
  if w.bytes_minus_1 then return w.bytes_minus_1 + 1 end
  if type ~= "RMA_NOTI" then return 4 end
end

-- Extension flit and what follows; returns the text of the info column.
local function rma(tree, tvb, h, type, room)
  local ext = flit(tree:add(nicloop, tvb(FLIT, FLIT), "Extension"), "rma_ext", tvb(FLIT, FLIT), { nla = "nla" })
  local w, at = {}, tvb(2 * FLIT, FLIT)
  if WORD[type] then
    w = flit(tree:add(nicloop, at, type), WORD[type], at, { nla = "nla" })
  elseif type == "RMA_NOTI" then
    w.payload = at:le_uint64()
    tree:add_le(pf.notification, at)
  else
    tree:add(pf.payload, tvb(2 * FLIT, h.length - FLIT))
    if h.length < room then tree:add(pf.padding, tvb(FLIT + h.length, room - h.length)) end
  end
  local n = moved(type, h, w)
  if n then tree:add(pf.bytes, tvb(0, 2 * FLIT), n):set_generated() end
  if n and type ~= "RMA_ERROR" then
    if n > desc.constants.RMA_MTU then
      tree:add_proto_expert_info(ef.length, string.format("%d bytes asked for, expected at most %d", n, desc.constants.RMA_MTU))
    end
    for _, nla in ipairs({ ext.nla, w.nla }) do
      local offset = nla:band(0xfff):tonumber()
      if offset + n > 0x1000 then
        tree:add_proto_expert_info(ef.page, string.format("%d bytes at %s cross 4 KB", n, nla_text(nla)))
      end
    end
  end
  return (RMA_TEXT[type] or moved_text)(ext, w, n)
end

-- The least and the greatest length that a type may have.
local function bounds(type, h)
  if type == "VELO" then return 0, desc.constants.VELO_PAYLOAD - 2 * h.piggyback end
  if not is_rma(type) then return 0, desc.constants.MTU end
  if type == "RMA_IMM_PUT" then return FLIT + 1, 2 * FLIT end
  if MOVES[type] then return FLIT + 1, FLIT + desc.constants.RMA_MTU end
  return 2 * FLIT, 2 * FLIT
end

local function bad_length(tree, pinfo, ...)
  local text = string.format(...)
  tree:add_proto_expert_info(ef.length, text)
  pinfo.cols.info:append(" [" .. text .. "]")
end

-- The body by type, between header and tail; returns the text of the info column.
local function body(tree, tvb, h, type, kind, room)
  if type == "VELO" then return velo_text(h, kind, velo(tree, tvb, h, kind, room)) end
  if not is_rma(type) then
    if room > 0 then tree:add(pf.payload, tvb(FLIT, room)) end
    return string.format("%s, %d bytes", type, h.length)
  end
  local last = extract(UInt64.new(h.op), description("rma_op", "last")) == 1 and ", last" or ""
  return string.format("RMA %s %d.%d -> %d.%d %s%s", type:sub(5), h.src_node, h.src_vpid, h.dst_node, h.dst_vpid,
    rma(tree, tvb, h, type, room), last)
end

-- The header and what it alone is wrong about; returns nil if the rest cannot be read.
local function header(tree, tvb, pinfo)
  local range = tvb(0, FLIT)
  local sub = tree:add(nicloop, range, "Header")
  local known = desc.enums.packet_type[extract(range:le_uint64(), description("header", "type"))]
  local h = flit(sub, "header", range, known and is_rma(known) and { op = "rma_op" } or nil)
  local type = known or string.format("type %d", h.type)
  local reported = tvb:reported_len()
  local room = math.ceil((h.length + 2 * h.piggyback) / FLIT) * FLIT
  tree:add(pf.flits, tvb(), reported / FLIT):set_generated()
  tree:append_text(string.format(", %s", type))
  columns(pinfo, h, string.format("%s, %d bytes", type, h.length))
  if not known then tree:add_proto_expert_info(ef.type, string.format("packet type %d is not known", h.type)) end
  local low, high = bounds(type, h)
  if h.length < low or h.length > high then
    return bad_length(tree, pinfo, "length is %d, expected %d to %d", h.length, low, high)
  end
  if reported ~= room + 2 * FLIT then
    return bad_length(tree, pinfo, "%d bytes, expected %d", reported, room + 2 * FLIT)
  end
  return h, type, room
end

function nicloop.dissector(tvb, pinfo, root)
  local tree = root:add(nicloop, tvb())
  local reported, captured = tvb:reported_len(), tvb:captured_len()
  if captured < FLIT then
    pinfo.cols.protocol = "NicLoop"
    return bad_length(tree, pinfo, "%d bytes, expected a header of %d", captured, FLIT)
  end
  local h, type, room = header(tree, tvb, pinfo)
  if not h then return end
  if captured < reported then
    tree:add_proto_expert_info(ef.cut, string.format("%d of %d flits seen", captured / FLIT, reported / FLIT))
    return
  end
  columns(pinfo, h, body(tree, tvb, h, type, desc.enums.kind[h.kind], room))
  local last = tvb(reported - FLIT, FLIT)
  local t = flit(tree:add(nicloop, last, "Tail"), "tail", last)
  if not check_crc(tree, tvb, t.crc) then pinfo.cols.info:append(" [bad CRC]") end
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, nicloop)
