// root_complex: the other end of a node's PCIe, in a simulation with BUS 1.
//
// Job: makes TLPs of the program's commands, and memory accesses of the NIC's TLPs. A register
//   access is a read or a write of 8 bytes in the BAR of registers, a piece of a line a write in
//   that of the send windows. Memory is written when the last dword of a write is here, and read
//   when a read request is; its completions are due rd_latency cycles later. With a seed all that
//   PCIe leaves open is at random: completions later, in parts, in any order of tags, stalls of
//   both streams and of credits for the NIC's reads. Faults, removal and reset are asked for by
//   registers of the simulation (below). A function-level reset cuts no TLP; completions of reads
//   that the NIC sent before the reset arrive after it. After reset it writes the NIC's MSI-X
//   table, as firmware does; what is written to MSI_ADDR then is an interrupt.
// Handshake: TLPs as in docs/decisions/0020, 64 bits a word; commands through DPI, a register
//   access at a time. A write to a register is done when it has left, a piece of a line when its
//   window has answered, with OKAY both: that is all a host knows of a posted write.
// Backpressure: commands go in the order in which they were posted and wait while the NIC's stream
//   does, reads also while rx_np_ok is low; without a seed the NIC's TLPs are always taken.
//
// Registers at SETTINGS: CHANCES are those of a read of the NIC, in 1/2^32; which one meets it is
//   drawn with the seed.
//   00 lost  08 late  10 poisoned  18 error   40 CTRL: bit 0 the NIC was pulled out, bit 1 reset it, bit 2 no bus
//   master
//   48 reads so far, 50 those that were answered in parts, 58 out of order, 60 faults made
//   80 what nic_pcie has counted: malformed, unsupported, 88 poisoned, timeouts, 90 failed, unexpected, 98 write_errors
`include "nicloop_dpi.svh"
module root_complex #(
    parameter int          TAGS     = 32,
    parameter int          GIVES_UP = 3 << 16,  // cycles after which the NIC waits for no completion
    parameter logic [15:0] ID       = 16'h0300
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [11:0]  node_id,
    input  logic [15:0]  rd_latency,   // cycles
    input  logic         reg_pending,
    input  logic         pio_pending,
    // TLPs to the NIC and from it
    output logic         s_tlp_valid,
    input  logic         s_tlp_ready,
    output logic [63:0]  s_tlp_data,
    output logic [1:0]   s_tlp_keep,
    output logic         s_tlp_last,
    output logic [2:0]   s_tlp_bar,
    input  logic         rx_np_ok,
    input  logic         m_tlp_valid,
    output logic         m_tlp_ready,
    input  logic [63:0]  m_tlp_data,
    input  logic [1:0]   m_tlp_keep,
    input  logic         m_tlp_last,
    output logic         np_ok,
    output logic         bus_master,
    output logic [2:0]   mps,          // 128 bytes << mps
    output logic [2:0]   mrrs,
    // what is no TLP
    input  logic         window_answers,
    input  logic [nicloop_pkg::VPIDS:0] lines_up,  // the core's interrupt lines, a vector each
    output logic         irq,
    // the function, as long as it is high; with its links, since what a neighbour sends must not
    // come to a router that is still being reset
    output logic         resets,
    input  logic [255:0] counters,     // of nic_pcie, in the order of the registers
    // registers of the simulation beside the NIC: answered in the same cycle
    output logic         ext_sel,
    output logic         ext_write,
    output logic [15:0]  ext_addr,
    output logic [63:0]  ext_wdata,
    input  logic         ext_known,
    input  logic         ext_writable,
    input  logic [63:0]  ext_rdata,
    output logic         idle
);
  localparam logic [31:0] REG_BASE = 32'hd000_0000, WINDOW_BASE = 32'ha000_0000, MSIX_BASE = 32'hd010_0000,
      MSI_ADDR = 32'hfee0_0000;
  localparam int          REG_BYTES = 1 << 20;
  localparam logic [15:0] SETTINGS = 16'hffff;    // upper half of the address
  localparam logic [15:0] HOST_ID = 16'h0000;
  localparam logic [6:0]  WRITE = 7'h40, READ = 7'h00, COMPLETION = 7'h0a, DATA_COMPLETION = 7'h4a;
  localparam int          MOST = 3 + 4 + 128;     // dwords of a TLP
  localparam int          T = $clog2(TAGS);
  localparam int          RESETTING = 64;         // cycles of a function reset
  int node;
  assign node = 32'(node_id);

  // ---- what is at random ----
  logic [63:0] random, seed;
  logic        wild;                // a seed was given
  int          mps_bytes, mrrs_bytes;
  function automatic logic [63:0] scatter(input logic [63:0] x);
    logic [63:0] y;
    y       = (x ^ (x >> 30)) * 64'hbf58476d1ce4e5b9;
    y       = (y ^ (y >> 27)) * 64'h94d049bb133111eb;
    scatter = (y ^ (y >> 31)) | 64'h1;
  endfunction
  // xorshift64. What is drawn is its upper half: the lower one is less random.
  function automatic int unsigned draw();
    random = random ^ (random << 13);
    random = random ^ (random >> 7);
    random = random ^ (random << 17);
    draw   = random[63:32];
  endfunction
  function automatic int unsigned below(input int unsigned n);
    below = draw() % n;
  endfunction
  // Draws stand in statements: of an expression Verilator draws all that is named in it. once(on,
  // n): on, and one in n.
  function automatic logic once(input logic on, input int unsigned n);
    once = 1'b0;
    if (wild && on) once = below(n) == 0;
  endfunction
  function automatic int unsigned later();
    later = 0;
    if (once(1'b1, 4)) later = below(200);
    else if (wild) later = below(8);
  endfunction
  initial begin
    wild = $value$plusargs("nl_pcie_seed=%d", seed) != 0;
    if ($value$plusargs("nl_pcie_mps=%d", mps_bytes) == 0) mps_bytes = 256;
    if ($value$plusargs("nl_pcie_mrrs=%d", mrrs_bytes) == 0) mrrs_bytes = 512;
  end
  assign mps  = 3'($clog2(mps_bytes) - 7);
  assign mrrs = 3'($clog2(mrrs_bytes) - 7);

  // ---- what the program sets ----
  logic [31:0] chance[4];            // by the registers' addresses
  localparam int LOST = 0, LATE = 1, POISONED = 2, ERROR = 3;
  logic        removed, master;
  int unsigned off_at;               // when the NIC lost bus master
  localparam int MAY_LEAVE = 16;     // cycles later: a TLP that was offered by then, and stalls of the stream
  int unsigned reads_lost;           // of the host, which it waits for no more, but the NIC will answer
  int unsigned resetting;            // cycles left
  int unsigned now;

  // ---- reads of the NIC, and the completions that they get ----
  logic [TAGS-1:0] open;             // has completions to come
  logic [11:0]     left[TAGS];       // bytes of them
  logic [63:0]     from[TAGS];       // address of the next
  logic [2:0]      status[TAGS];     // of the next, when there is no data; poisoned: 7
  int unsigned     due[TAGS];
  logic [511:0]    lines[TAGS*8];    // 64 bytes each, from the address that was asked for
  logic [11:0]     done_bytes[TAGS];
  logic [TAGS-1:0] late;             // waits for nobody, and nobody for it
  logic [7:0]      order[TAGS];      // open tags as they came
  int unsigned     asked_for;        // how many
  longint unsigned reads, in_parts, reordered, faults;

  // ---- a TLP to the NIC ----
  logic [31:0] tx[MOST];
  int unsigned tx_at, tx_len, tx_pause;
  logic [2:0]  tx_bar;
  logic        sending;                         // a word is offered
  int unsigned tables;                          // vectors whose entry of the MSI-X table is written
  logic        completions_next;                // completions go before commands
  logic        held, held_write;                // a register access is held
  logic [31:0] held_addr;
  logic [63:0] held_data;
  logic        reg_busy;                        // a read, or one beside the NIC, has no answer
  logic        reg_tlp, tlp_write;              // the TLP that is sent is of a register access; of a write
  // writes that have left since the one that has no answer: answers go in order
  int unsigned writes_left;
  int unsigned read_due;                        // when a read of the host is given up
  int unsigned lines_open;                      // pieces without an answer
  localparam int VECTORS = nicloop_pkg::VPIDS + 1;
  logic [VECTORS-1:0] set_irq, irqs;            // a message has arrived; and its line is still up
  logic        ext_asks;

  function automatic void request(input logic [6:0] kind, input logic [31:0] addr, input int unsigned len,
      input logic [2:0] bar);
    tx[0]  = {1'b0, kind[6:5], kind[4:0], 14'h0, 10'(len)};
    tx[1]  = {HOST_ID, 8'h0, len == 1 ? 4'h0 : 4'hf, 4'hf};
    tx[2]  = addr;
    tx_at  = 0;
    tx_len = kind == WRITE ? 3 + len : 3;
    tx_bar = bar;
  endfunction

  // The next completion of a tag: all that is left, or in parts up to a multiple of 64 bytes.
  function automatic void complete(input int unsigned tag);
    int unsigned n, most;
    n    = 32'(left[tag]);
    most = 64 - 32'(from[tag][5:0]);
    if (once(n > most, 2)) begin
      n        = most + 64 * below((n - most + 63) / 64);
      in_parts = in_parts + 1;
    end
    if (status[tag] != 3'd0 && status[tag] != 3'd7) n = 0;
    tx[0]  = {1'b0, n == 0 ? COMPLETION : DATA_COMPLETION, 9'h0, status[tag] == 3'd7, 4'h0, 10'(n / 4)};
    tx[1]  = {HOST_ID, status[tag] == 3'd7 ? 3'd0 : status[tag], 1'b0, left[tag]};
    tx[2]  = {ID, 8'(tag), 1'b0, from[tag][6:0]};
    for (int unsigned i = 0; i < n / 4; i++)
      tx[3+i] = lines[tag*8+((32'(done_bytes[tag])/4+i)/16)][(32'(done_bytes[tag])/4+i)%16*32+:32];
    tx_at  = 0;
    tx_len = 3 + n / 4;
    tx_bar = '0;
    left[tag]       = left[tag] - 12'(n);
    from[tag]       = from[tag] + 64'(n);
    done_bytes[tag] = done_bytes[tag] + 12'(n);
    due[tag]        = now + 1;
    if (wild) due[tag] = due[tag] + below(16);
    if (left[tag] == 0 || status[tag] != 0) close(tag);
  endfunction

  function automatic void close(input int unsigned tag);
    int unsigned at;
    at        = 0;
    open[tag] = 1'b0;
    while (32'(order[at]) != tag) at = at + 1;
    asked_for = asked_for - 1;
    for (int unsigned i = at; i < asked_for; i++) order[i] = order[i+1];
  endfunction

  // Which tag's turn it is; TAGS: none is due.
  function automatic int unsigned next_tag();
    int unsigned t, first;
    first = TAGS;
    for (int unsigned i = 0; i < asked_for; i++) begin
      t = 32'(order[i]);
      if (late[t] && int'(now - due[t]) >= 0) return t;
      if (!late[t] && first == TAGS) first = i;
    end
    if (first == TAGS) return TAGS;
    if (wild) begin
      t = below(asked_for);
      if (late[order[t][T-1:0]]) return TAGS;
      if (t != first && int'(now - due[order[t][T-1:0]]) >= 0) reordered = reordered + 1;
      first = t;
    end
    t        = 32'(order[first]);
    next_tag = int'(now - due[t]) >= 0 ? t : TAGS;
  endfunction

  function automatic logic [63:0] setting(input logic [15:0] off);
    case (off)
      16'h40:  setting = {61'h0, !master, resetting != 0, removed};
      16'h48:  setting = reads;
      16'h50:  setting = in_parts;
      16'h58:  setting = reordered;
      16'h60:  setting = faults;
      default: setting = off[7] ? counters[off[4:3]*64+:64] : 64'(chance[off[4:3]]);
    endcase
  endfunction

  function automatic void set(input logic [15:0] off, input logic [63:0] v);
    if (off != 16'h40) chance[off[4:3]] = v[31:0];
    else begin
      removed = v[0];
      if (v[1]) resetting = RESETTING;
      if (master && v[2]) off_at = now;
      master = !v[2];
    end
  endfunction
  function automatic logic is_setting(input logic [15:0] off);
    is_setting = off[2:0] == 0 && (off <= 16'h18 || (off >= 16'h40 && off <= 16'h60) ||
        (off >= 16'h80 && off <= 16'h98));
  endfunction
  function automatic logic may_be_set(input logic [15:0] off);
    may_be_set = off <= 16'h18 || off == 16'h40;
  endfunction

  // Takes the next register access of the program. One that is no write to the NIC waits until the
  // one before it has been answered, and holds those behind it.
  function automatic void next_register();
    bit              write;
    int unsigned     addr;
    longint unsigned wdata;
    nl_reg_next(node, write, addr, wdata);
    held       = 1'b1;
    held_write = write;
    held_addr  = addr;
    held_data  = wdata;
  endfunction
  function automatic logic absent();
    absent = removed || resetting != 0;
  endfunction
  function automatic logic is_tlp();
    is_tlp = held_addr < REG_BYTES && held_addr[31:16] != 16'(nicloop_pkg::PAGE_WIRE_BASE >> 16) && !absent();
  endfunction

  // Begins the access that is held. What is no TLP is answered here.
  function automatic void begin_register();
    held = 1'b0;
    if (is_tlp()) begin
      reg_tlp   = 1'b1;
      tlp_write = held_write;
      reg_busy  = reg_busy || !held_write;
      if (!held_write) read_due = now + GIVES_UP;
      request(held_write ? WRITE : READ, REG_BASE + held_addr, 2, 3'd0);
      {tx[4], tx[3]} = held_data;
    end else if (held_addr[31:16] == SETTINGS) begin
      if (held_write && is_setting(held_addr[15:0]) && may_be_set(held_addr[15:0])) set(held_addr[15:0], held_data);
      nl_reg_done(node, !is_setting(held_addr[15:0]) ? 3 : held_write && !may_be_set(held_addr[15:0]) ? 2 : 0,
          held_write ? 64'h0 : setting(held_addr[15:0]));
    end else if (held_addr[31:16] == 16'(nicloop_pkg::PAGE_WIRE_BASE >> 16)) begin
      reg_busy = 1'b1;
      ext_asks = 1'b1;
    end else begin
      // Nobody is there: a read of a NIC that was pulled out, or is being reset, is all ones, one
      // outside all BARs an error; writes are lost.
      nl_reg_done(node, held_write || absent() ? 0 : 3, '1);
    end
  endfunction

  // The access without an answer has one, and so have the writes behind it.
  function automatic void answered(input int resp, input logic [63:0] data);
    reg_busy = 1'b0;
    nl_reg_done(node, resp, data);
    while (writes_left != 0) begin
      nl_reg_done(node, 0, 64'h0);
      writes_left = writes_left - 1;
    end
  endfunction

  function automatic void next_piece();
    int unsigned addr, beats;
    bit [511:0]  data;
    nl_pio_next(node, addr, beats, data);
    if (absent()) begin
      nl_pio_done(node, 0);
      return;
    end
    lines_open = lines_open + 1;
    request(WRITE, WINDOW_BASE + addr, 2 * beats, 3'd2);
    for (int unsigned i = 0; i < 2 * beats; i++) tx[3+i] = data[i*32+:32];
  endfunction

  // ---- a TLP from the NIC ----
  logic [31:0] rx[MOST];
  int unsigned rx_len;
  int unsigned rx_begin;             // when its first word arrived

  function automatic void written(input logic [63:0] addr, input int unsigned head, input int unsigned len,
      input logic [3:0] first_be, input logic [3:0] last_be);
    bit [511:0]  data;
    bit [63:0]   strobes;
    int unsigned d;
    logic [3:0]  be;
    d = 0;
    while (d < len) begin
      logic [63:0] at;
      int unsigned slot;
      at      = addr + 64'(d) * 4;
      slot    = 32'(at[2]);
      strobes = '0;
      data    = '0;
      while (d < len && slot < 16) begin
        be = d == 0 ? first_be : d + 1 == len ? last_be : 4'hf;
        data[slot*32+:32]  = rx[head+d];
        strobes[slot*4+:4] = be;
        d    = d + 1;
        slot = slot + 1;
      end
      void'(nl_dma_write(node, {at[63:3], 3'h0}, (slot + 1) / 2, data, strobes));
    end
  endfunction

  // A read of the NIC: memory is read now, and what becomes of it is drawn.
  function automatic void asked(input logic [63:0] addr, input int unsigned len, input int unsigned tag);
    logic bad;
    bit [511:0] data;
    bad = 1'b0;
    for (int unsigned d = 0; d < len; d += 16) begin
      if (nl_dma_read(node, addr + 64'(d) * 4, (len - d >= 16 ? 16 : len - d) / 2, data) != 0) bad = 1'b1;
      lines[tag*8+d/16] = data;
    end
    open[tag]       = 1'b1;
    left[tag]       = 12'(len * 4);
    from[tag]       = addr;
    done_bytes[tag] = '0;
    status[tag]     = bad ? 3'd1 : 3'd0;
    due[tag]        = now + 32'(rd_latency) + later();
    reads           = reads + 1;
    late[tag]        = 1'b0;
    order[asked_for] = 8'(tag);
    asked_for        = asked_for + 1;
    if ((chance[LOST] | chance[LATE] | chance[POISONED] | chance[ERROR]) != 0) begin
      faults = faults + 1;
      if (draw() < chance[ERROR]) status[tag] = below(2) == 0 ? 3'd1 : 3'd4;
      else if (draw() < chance[POISONED]) status[tag] = 3'd7;
      else if (draw() < chance[LOST]) close(tag);
      else if (draw() < chance[LATE]) begin
        due[tag]  = now + GIVES_UP + 16;
        late[tag] = 1'b1;
      end else faults = faults - 1;
    end
  endfunction

  function automatic void arrived();
    logic        four, has_data;
    logic [63:0] addr;
    int unsigned len, head;
    four     = rx[0][29];
    has_data = rx[0][30];
    len      = rx[0][9:0] == 0 ? 1024 : 32'(rx[0][9:0]);
    head     = four ? 4 : 3;
    addr     = four ? {rx[2], rx[3]} : {32'h0, rx[2]};
    if (rx[0][28:24] == 5'h0a) begin
      assert (rx[2][31:16] == HOST_ID && rx_len == (has_data ? 5 : 3) && reg_busy && !ext_asks)
        else $error("root_complex: node %0d: a completion of %0d dwords that nobody waits for", node, rx_len);
      answered(rx[1][15:13] == 0 ? 0 : rx[1][15:13] == 3'd1 ? 3 : 2, has_data ? {rx[4], rx[3]} : '1);
      return;
    end
    assert (rx[0][28:24] == 5'h00 && !rx[0][31] && !rx[0][14] && rx[1][31:16] == ID)
      else $error("root_complex: node %0d: header %08x %08x", node, rx[0], rx[1]);
    assert (master || rx_begin - off_at < MAY_LEAVE)
        else $error("root_complex: node %0d: header %08x %08x of a function that is no bus master", node, rx[0], rx[1]);
    assert (rx_len == head + (has_data ? len : 0))
      else $error("root_complex: node %0d: %0d dwords, the header says %0d and %0d", node, rx_len, head, has_data ?
          len : 0);
    assert (four == (addr[63:32] != 0) && 32'(addr[11:0]) + 4 * len <= 4096)
      else $error("root_complex: node %0d: %0d dwords at %x: a wrong header, or across 4 KB", node, len, addr);
    assert (4 * len <= (has_data ? mps_bytes : mrrs_bytes))
      else $error("root_complex: node %0d: %0d dwords, of %0d bytes at most", node, len, has_data ? mps_bytes :
          mrrs_bytes);
    assert (rx[1][3:0] != 0 && (rx[1][7:4] != 0) == (len > 1))
      else $error("root_complex: node %0d: byte enables %x of %0d dwords", node, rx[1][7:0], len);
    if (has_data && addr == 64'(MSI_ADDR)) begin
      assert (len == 1 && rx[head][31:16] == 16'(node) && 32'(rx[head][15:0]) < VECTORS)
          else $error("root_complex: node %0d: an interrupt of %0d dwords, %x", node, len, rx[head]);
      set_irq[rx[head][4:0]] = 1'b1;
    end
    else if (has_data) written(addr, head, len, rx[1][3:0], rx[1][7:4]);
    else begin
      assert (32'(rx[1][15:8]) < TAGS && !open[rx[1][8+:T]])
        else $error("root_complex: node %0d: a read with tag %0d, which is in use", node, rx[1][15:8]);
      asked(addr, len, 32'(rx[1][15:8]));
    end
  endfunction

  function automatic void forget();
    open       = '0;
    asked_for  = 0;
    tx_at      = 0;
    tx_len     = 0;
    tx_pause   = 0;
    rx_len     = 0;
    reads_lost = 0;
    sending    = 1'b0;
    tables     = 0;
    set_irq    = '0;
    completions_next = 1'b0;
  endfunction

  // A function that is reset, or gone, loses what was outstanding: the host's read is all ones,
  // lines are lost. A TLP that has begun is sent to its end. Completions for a NIC that is gone are
  // dropped.
  function automatic void lose();
    logic begun;
    begun = sending || tx_at != 0;
    if (!ext_asks) begin
      if (reg_busy && (begun || !reg_tlp || tlp_write)) reads_lost = reads_lost + 1;
      if (reg_busy) answered(0, '1);
      if (reg_tlp && tlp_write) nl_reg_done(node, 0, 64'h0);
      reg_tlp = 1'b0;
    end
    while (lines_open != 0) begin
      nl_pio_done(node, 0);
      lines_open = lines_open - 1;
    end
    if (!begun) tx_len = 0;
    if (removed) begin
      open      = '0;
      asked_for = 0;
    end
    tables           = 0;
    set_irq          = '0;
    completions_next = 1'b0;
  endfunction

  always @(posedge clk) begin : all
    int unsigned tag;
    if (rst) begin
      forget();
      reg_busy      = 1'b0;
      reg_tlp       = 1'b0;
      held          = 1'b0;
      writes_left   = 0;
      lines_open    = 0;
      removed       = 1'b0;
      master        = 1'b1;
      resetting     = 0;
      random        = scatter((wild ? seed : 64'h1) + 64'(node) * 64'h9e3779b97f4a7c15);
      chance        = '{default: '0};
      reads         = 0;
      in_parts      = 0;
      reordered     = 0;
      faults        = 0;
      now           = 0;
      ext_asks      = 1'b0;
      irqs          <= '0;
      m_tlp_ready   <= 1'b0;
      np_ok         <= 1'b0;
    end else begin
      now = now + 1;
      // Answers first, so that what waits for them may begin in the same cycle.
      if (ext_sel) begin
        ext_asks = 1'b0;
        answered(!ext_known ? 3 : ext_write && !ext_writable ? 2 : 0, ext_write ? 64'h0 : ext_rdata);
      end
      if (window_answers && lines_open != 0) begin
        nl_pio_done(node, 0);
        lines_open = lines_open - 1;
      end
      if (s_tlp_valid && s_tlp_ready) begin
        if (sim_node.trace_on)
            nl_trace(node, 24, {30'h0, s_tlp_last, tx_at == 2}, 32'(s_tlp_keep[1]) | 32'(s_tlp_bar) << 1, s_tlp_data);
        if (s_tlp_last && reg_tlp) begin
          reg_tlp = 1'b0;
          if (tlp_write && reg_busy) writes_left = writes_left + 1;
          else if (tlp_write) nl_reg_done(node, 0, 64'h0);
        end
      end
      if (m_tlp_valid && m_tlp_ready) begin
        if (sim_node.trace_on) nl_trace(node, 25, {30'h0, m_tlp_last, rx_len == 0}, 32'(m_tlp_keep[1]), m_tlp_data);
        if (rx_len == 0) rx_begin = now;
        rx[rx_len]   = m_tlp_data[31:0];
        rx[rx_len+1] = m_tlp_data[63:32];
        rx_len       = rx_len + 1 + 32'(m_tlp_keep[1]);
        if (m_tlp_last) begin
          if (reads_lost != 0 && rx[0][28:24] == 5'h0a) reads_lost = reads_lost - 1;
          else if (!absent()) arrived();
          rx_len = 0;
        end
      end
      // The host gives up, as a root port does.
      if (reg_busy && !ext_asks && int'(now - read_due) >= 0) answered(3, '1);

      // The next word to the NIC, of a TLP that is chosen here when there is none.
      if (!s_tlp_valid || s_tlp_ready) begin
        if (tx_at >= tx_len) begin
          tag = open == '0 ? TAGS : next_tag();
          if (tables != VECTORS && !absent()) begin
            request(WRITE, MSIX_BASE + 32'(16 * tables), 4, 3'd4);
            tx[3]  = MSI_ADDR;
            tx[4]  = 32'h0;
            tx[5]  = {16'(node), 16'(tables)};
            tx[6]  = 32'h0;
            tables = tables + 1;
          end else if (tag != TAGS && !absent() && (completions_next || !(pio_pending || reg_pending || held))) begin
            complete(tag);
            completions_next = 1'b0;
          end else begin
            if (!held && reg_pending && rx_np_ok) next_register();
            if (held && (!reg_busy || (held_write && is_tlp()))) begin_register();
            else if (!held && pio_pending) next_piece();
            completions_next = 1'b1;
          end
          if (once(tx_at < tx_len, 8)) tx_pause = below(6);
        end
        sending = tx_at < tx_len && tx_pause == 0;
        if (tx_pause != 0) tx_pause = tx_pause - 1;
        if (sending) begin
          s_tlp_data <= {tx[tx_at+1], tx[tx_at]};
          s_tlp_keep <= {tx_at + 1 < tx_len, 1'b1};
          s_tlp_last <= tx_at + 2 >= tx_len;
          s_tlp_bar  <= tx_bar;
          tx_at      = tx_at + 2;
        end
      end
      // Drawn only while something is offered, so that it does not matter for how long a node
      // sleeps.
      m_tlp_ready <= !once(m_tlp_valid, 8);
      np_ok       <= !once(np_ok && m_tlp_valid, 16);

      // A message says that the line rose; it is down when the core lets it fall.
      irqs    <= removed ? '0 : lines_up & (irqs | set_irq);
      set_irq = set_irq & lines_up;
      if (absent()) lose();
      if (resetting != 0) resetting = resetting - 1;
    end
    // What others see of the state after this edge.
    s_tlp_valid <= sending;
    ext_sel     <= ext_asks;
    if (ext_asks) begin
      ext_write <= held_write;
      ext_addr  <= held_addr[15:0];
      ext_wdata <= held_data;
    end
    bus_master  <= master;
    resets      <= resetting != 0;
    idle        <= !held && !reg_busy && tx_at >= tx_len && !sending && open == '0 && lines_open == 0 &&
        resetting == 0 && (tables == VECTORS || removed);
  end
  assign irq = irqs != '0;
endmodule
