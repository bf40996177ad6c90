// atu: translates network logical addresses and checks access rights.
//
// Job: table and page of an address, the page's entry from the TLB or, by DMA, from the table in
//   host memory; then rights, owner and bounds. An address is returned only when all of them allow
//   the access. A table read that coincides with a flush is used for its own request and not
//   cached.
// Handshake: valid is high with nla, vpid and need until done, a pulse, with error or addr. One
//   request at a time, clients round-robin. An access must not cross 4 KB. Flushes are pulses,
//   accepted in any cycle.
// Backpressure: none: a request ends after two cycles, or one DMA read later.
module atu #(
    parameter int N       = 4,
    parameter int ENTRIES = 32,  // of the TLB, a power of two
    localparam int TABLES = nicloop_pkg::ATU_TABLES,
    localparam int IDX_W  = $clog2(ENTRIES)
) (
    input  logic            clk,
    input  logic            rst,
    input  logic [N-1:0]    valid,
    input  logic [N*48-1:0] nla,
    input  logic [N*4-1:0]  vpid,
    input  logic [N*2-1:0]  need,      // {write, read}
    output logic [N-1:0]    done,
    output logic [3:0]      error,     // with done: why not
    output logic [63:0]     addr,      // with done and no error
    // AXI4 read master
    output logic            m_arvalid,
    input  logic            m_arready,
    output logic [63:0]     m_araddr,
    input  logic            m_rvalid,
    output logic            m_rready,
    input  logic [63:0]     m_rdata,
    input  logic [1:0]      m_rresp,
    // flush
    input  logic            flush_page,
    input  logic            flush_vpid,
    input  logic            flush_all,
    input  logic [3:0]      flush_table,
    input  logic [23:0]     flush_number,  // of the page
    input  logic [3:0]      flush_owner,
    // tables
    input  logic [3:0]      rd_table,
    output logic [63:0]     rd_base,
    output logic [25:0]     rd_pages,
    input  logic [3:0]      wr_table,
    input  logic [63:0]     wr_data,
    input  logic            wr_base,
    input  logic            wr_pages,
    // events
    output logic            ev_hit,
    output logic            ev_miss,
    output logic            ev_fault,
    output logic [63:0]     fault,     // as register ATU_FAULT
    output logic            active
);
  localparam logic [3:0] GOOD = 4'(nicloop_pkg::RMA_ERROR_NONE);

  // ---- tables ----
  logic [60:0] bases[TABLES];
  logic [23:0] counts[TABLES];
  logic [1:0]  sizes[TABLES];
  always_ff @(posedge clk) begin
    if (wr_base) bases[wr_table] <= wr_data[63:3];
    if (wr_pages) sizes[wr_table] <= wr_data[nicloop_pkg::ATU_PAGES_SIZE_LSB+:2];
  end
  always_ff @(posedge clk) begin
    if (rst) for (int i = 0; i < TABLES; i++) counts[i] <= '0;
    else if (wr_pages) counts[wr_table] <= wr_data[nicloop_pkg::ATU_PAGES_PAGES_LSB+:24];
  end
  assign rd_base  = {bases[rd_table], 3'h0};
  assign rd_pages = {sizes[rd_table], counts[rd_table]};

  // ---- which request ----
  localparam logic [2:0] PICK = 3'd0, LOOK = 3'd1, ASK = 3'd2, TAKE = 3'd3, JUDGE = 3'd4;
  logic [2:0]   state;
  logic [N-1:0] grant, client;
  logic [47:0]  pick_nla, now_nla;
  logic [3:0]   pick_vpid, now_vpid;
  logic [1:0]   pick_need, now_need;
  rr_arbiter #(.N(N)) u_arbiter (.clk, .rst, .req(valid), .advance(state == PICK), .grant);
  always_comb begin
    pick_nla  = '0;
    pick_vpid = '0;
    pick_need = '0;
    for (int i = 0; i < N; i++)
      if (grant[i]) begin
        pick_nla  = pick_nla | nla[i*48+:48];
        pick_vpid = pick_vpid | vpid[i*4+:4];
        pick_need = pick_need | need[i*2+:2];
      end
  end
  // The page size of the table is part of the request, so that the TLB can be looked up in the
  // cycle after.
  logic [3:0] pick_tab;
  logic [1:0] size;
  assign pick_tab = pick_nla[nicloop_pkg::NLA_TABLE_LSB+:4];
  always_ff @(posedge clk)
    if (state == PICK) begin
      client   <= grant;
      size     <= wr_pages && wr_table == pick_tab ? wr_data[nicloop_pkg::ATU_PAGES_SIZE_LSB+:2] : sizes[pick_tab];
      now_nla  <= pick_nla;
      now_vpid <= pick_vpid;
      now_need <= pick_need;
    end

  // ---- page of the address ----
  logic [3:0]  tab;
  logic [43:0] offset;
  logic [31:0] page;       // a table may be far smaller than the address range
  logic        no_table, beyond;
  assign tab      = now_nla[nicloop_pkg::NLA_TABLE_LSB+:4];
  assign offset   = now_nla[43:0];
  assign page     = size == 2'(nicloop_pkg::ATU_PAGE_SIZE_K4) ? offset[43:12] :
                    size == 2'(nicloop_pkg::ATU_PAGE_SIZE_K64) ? 32'(offset[43:16]) : 32'(offset[43:21]);
  assign no_table = counts[tab] == '0 || size == 2'd3;
  assign beyond   = page >= 32'(counts[tab]);

  // ---- the request keeps the table as it was when it was looked at ----
  logic [1:0]  now_size;
  logic [31:0] now_page;
  logic [60:0] walk;
  always_ff @(posedge clk)
    if (state == LOOK) begin
      now_size <= size;
      now_page <= page;
      walk     <= bases[tab] + 61'(page);
    end

  // ---- TLB: direct mapped; entries without rights are not kept, so that software may fill them in
  // at any time ----
  function automatic logic [IDX_W-1:0] index_of(input logic [3:0] t, input logic [23:0] p);
    index_of = p[IDX_W-1:0] ^ IDX_W'(t);
  endfunction
  logic [91:0]        lines[ENTRIES];  // {table, page, entry}
  logic [ENTRIES-1:0] used;
  logic [3:0]         owners[ENTRIES];
  logic [IDX_W-1:0]   at;            // where the page is looked for
  logic [IDX_W-1:0]   to;            // where it is kept
  logic [91:0]        line;
  logic               hit, fill, stale;  // stale: a flush arrived while the table was read
  logic [63:0]        entry;
  assign at   = index_of(tab, page[23:0]);
  assign line = lines[at];
  assign to   = index_of(tab, now_page[23:0]);
  assign hit  = used[at] && line[91:64] == {tab, page[23:0]};
  logic flushes;
  assign flushes = flush_page || flush_vpid || flush_all || wr_base || wr_pages;
  // What empties all of the TLB in this cycle does so below, and need not hold up what is written:
  // it is known late.
  assign fill    = state == TAKE && m_rvalid && m_rresp == 2'b00 && m_rdata[1:0] != '0 && !stale && !flush_page &&
      !flush_vpid;
  always_ff @(posedge clk) if (fill) lines[to] <= {tab, now_page[23:0], m_rdata};
  always_ff @(posedge clk) begin
    if (rst) used <= '0;
    else
      for (int i = 0; i < ENTRIES; i++) begin
        if (flush_all || wr_base || wr_pages || (flush_vpid && owners[i] == flush_owner) ||
            (flush_page && IDX_W'(i) == index_of(flush_table, flush_number))) used[i] <= 1'b0;
        else if (fill && to == IDX_W'(i)) used[i] <= 1'b1;
      end
  end
  always_ff @(posedge clk) if (fill) owners[to] <= m_rdata[nicloop_pkg::ATU_ENTRY_VPID_LSB+:4];
  always_ff @(posedge clk) stale <= (state == ASK || state == TAKE) && (stale || flushes);

  // ---- steps ----
  always_ff @(posedge clk) begin
    if (rst) state <= PICK;
    else
      case (state)
        PICK: if (valid != '0) state <= LOOK;
        LOOK: state <= no_table || beyond || (hit && !flushes) ? JUDGE : ASK;
        ASK: if (m_arready) state <= TAKE;
        TAKE: if (m_rvalid) state <= JUDGE;
        default: state <= PICK;
      endcase
  end
  logic bad_read, bad_table, bad_page;
  always_ff @(posedge clk) begin
    if (state == LOOK) begin
      entry     <= line[63:0];
      bad_table <= no_table;
      bad_page  <= beyond;
      bad_read  <= 1'b0;
    end else if (state == TAKE) begin
      entry    <= m_rdata;
      bad_read <= m_rresp != 2'b00;
    end
  end
  assign m_arvalid = state == ASK;
  assign m_araddr  = {walk, 3'h0};
  assign m_rready  = state == TAKE;

  // ---- judging ----
  logic [1:0] rights;
  logic [3:0] owner;
  assign rights = entry[nicloop_pkg::ATU_ENTRY_RIGHTS_LSB+:2];
  assign owner  = entry[nicloop_pkg::ATU_ENTRY_VPID_LSB+:4];
  always_comb begin
    if (bad_table) error = 4'(nicloop_pkg::RMA_ERROR_TRANSLATION);
    else if (bad_page) error = 4'(nicloop_pkg::RMA_ERROR_BOUNDS);
    else if (bad_read) error = 4'(nicloop_pkg::RMA_ERROR_DMA);
    else if (rights == 2'(nicloop_pkg::ATU_RIGHTS_NONE)) error = 4'(nicloop_pkg::RMA_ERROR_TRANSLATION);
    else if (owner != now_vpid) error = 4'(nicloop_pkg::RMA_ERROR_OWNER);
    else if ((now_need & ~rights) != '0) error = 4'(nicloop_pkg::RMA_ERROR_RIGHTS);
    else error = GOOD;
  end
  always_comb begin
    addr = {entry[63:12], offset[11:0]};
    if (now_size != 2'(nicloop_pkg::ATU_PAGE_SIZE_K4)) addr[15:12] = offset[15:12];
    if (now_size == 2'(nicloop_pkg::ATU_PAGE_SIZE_M2)) addr[20:16] = offset[20:16];
  end
  assign done     = client & {N{state == JUDGE}};
  assign ev_hit   = state == LOOK && !no_table && !beyond && hit && !flushes;
  assign ev_miss  = state == ASK && m_arready;
  assign ev_fault = state == JUDGE && error != GOOD;
  assign fault    = {7'h0, now_need[1], now_vpid, error, now_nla};
  assign active   = valid != '0 || state != PICK;

`ifndef SYNTHESIS
  if (ENTRIES != 1 << IDX_W) $fatal(1, "atu: ENTRIES %0d is not a power of two", ENTRIES);
  if (nicloop_pkg::ATU_FAULT_ERROR_LSB != 48 || nicloop_pkg::ATU_FAULT_VPID_LSB != 52 ||
      nicloop_pkg::ATU_FAULT_WRITE_LSB != 56)
    $fatal(1, "atu: register ATU_FAULT has changed");
  always_ff @(posedge clk)
    if (!rst) assert ((done & ~valid) == '0) else $error("atu %m: a client went away before its answer");
`endif
`ifdef FORMAL
  // For any table, page and entry of it, which the solver chooses: an access that this entry lets
  // through had the right, was its owner's and in range, and the entry came from memory for this
  // page with no flush since its read began. Memory may answer anything at any time, flushes and
  // register writes may come in any cycle.
  (* anyconst *) logic [3:0]  some_table;
  (* anyconst *) logic [23:0] some_page;
  (* anyconst *) logic [63:0] some_entry;
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb if (!formal_started) assume (rst);

  // The clients' side of the handshake: a request stays, unchanged, until it is done.
  logic [N-1:0]    was_valid;
  logic [N*48-1:0] was_nla;
  logic [N*4-1:0]  was_vpid;
  logic [N*2-1:0]  was_need;
  always_ff @(posedge clk) begin
    was_valid <= rst ? '0 : valid & ~done;
    was_nla   <= nla;
    was_vpid  <= vpid;
    was_need  <= need;
  end
  always_comb
    for (int i = 0; i < N; i++)
      if (formal_started && !rst && was_valid[i])
        assume (valid[i] && nla[i*48+:48] == was_nla[i*48+:48] && vpid[i*4+:4] == was_vpid[i*4+:4] &&
            need[i*2+:2] == was_need[i*2+:2]);

  // The registers of some_table, as software wrote them.
  logic [60:0] table_base;
  logic [23:0] table_count;
  logic [1:0]  table_size;
  logic        base_known;
  always_ff @(posedge clk) begin
    if (rst) base_known <= 1'b0;
    else if (wr_base && wr_table == some_table) base_known <= 1'b1;
    if (wr_base && wr_table == some_table) table_base <= wr_data[63:3];
    if (rst) table_count <= '0;
    else if (wr_pages && wr_table == some_table) table_count <= rst ? '0 : wr_data[23:0];
    if (wr_pages && wr_table == some_table) table_size <= wr_data[25:24];
  end

  // The request under way, from its client's wires, and the registers when it was looked at.
  logic [47:0] ask_nla;
  logic [3:0]  ask_vpid;
  logic [1:0]  ask_need, look_size;
  logic [23:0] look_count;
  logic [60:0] look_base;
  logic        look_known, about;
  logic [31:0] ask_page;
  always_comb begin
    ask_nla  = '0;
    ask_vpid = '0;
    ask_need = '0;
    for (int i = 0; i < N; i++)
      if (client[i]) begin
        ask_nla  = nla[i*48+:48];
        ask_vpid = vpid[i*4+:4];
        ask_need = need[i*2+:2];
      end
  end
  assign ask_page = look_size == 2'd0 ? ask_nla[43:12] : look_size == 2'd1 ? {4'h0, ask_nla[43:16]} :
      {9'h0, ask_nla[43:21]};
  assign about    = ask_nla[47:44] == some_table && ask_page == {8'h0, some_page};
  always_ff @(posedge clk)
    if (state == LOOK) begin
      look_size  <= table_size;
      look_count <= table_count;
      look_base  <= table_base;
      look_known <= base_known;
    end

  // known: memory gave some_entry for some_page, by a read that no flush has met, and none has come
  // since.
  logic touches, met, known, known_then;
  assign touches = flush_all || ((wr_base || wr_pages) && wr_table == some_table) ||
      (flush_vpid && flush_owner == some_entry[5:2]) ||
                   (flush_page && flush_table == some_table && flush_number == some_page);
  always_ff @(posedge clk) begin
    if (m_arvalid && m_arready) met <= touches;
    else if (touches) met <= 1'b1;
    if (rst || touches) known <= 1'b0;
    else if (m_rvalid && m_rready && m_rresp == 2'b00 && m_rdata == some_entry && about && !met) known <= 1'b1;
    if (state == LOOK) known_then <= known && !touches;
    else if (m_rvalid && m_rready) known_then <= m_rresp == 2'b00 && m_rdata == some_entry && about;
  end

  // ---- what is promised ----
  logic passed;
  assign passed = done != '0 && error == GOOD && ask_nla[47:44] == some_table;
  always_comb
    if (formal_started && !rst) begin
      assert ((done & ~valid) == '0 && (done & (done - 1'b1)) == '0);
      if (passed) assert (look_size != 2'd3 && ask_page < {8'h0, look_count});
      if (passed && about && entry == some_entry) begin
        assert (known_then);
        assert (some_entry[5:2] == ask_vpid && (ask_need & ~some_entry[1:0]) == '0);
        assert (addr[63:21] == some_entry[63:21] && addr[11:0] == ask_nla[11:0]);
        assert (addr[20:16] == (look_size == 2'd2 ? ask_nla[20:16] : some_entry[20:16]));
        assert (addr[15:12] == (look_size == 2'd0 ? some_entry[15:12] : ask_nla[15:12]));
      end
      if (m_arvalid && ask_nla[47:44] == some_table) begin
        assert (ask_page < {8'h0, look_count});
        if (look_known) assert (m_araddr == {look_base + 61'(ask_page), 3'h0});
      end
    end

  // ---- what makes it inductive ----
  always_comb
    if (formal_started && !rst) begin
      assert (state <= JUDGE);
      assert (table_count == counts[some_table]);
      if (table_count != '0) assert (table_size == sizes[some_table]);
      if (state == LOOK) assert (size == sizes[tab]);  // as it is now, a write in the cycle before included
      if (base_known) assert (table_base == bases[some_table]);
      if (state != PICK) begin
        assert (client != '0 && (client & (client - 1'b1)) == '0 && (client & ~was_valid) == '0);
        assert (now_nla == ask_nla && now_vpid == ask_vpid && now_need == ask_need);
      end
      if (state == ASK || state == TAKE) assert (!bad_table && !bad_page);
      if (state == TAKE && met) assert (stale);
      if (state > LOOK && ask_nla[47:44] == some_table && !bad_table) begin
        assert (look_count != '0 && look_size != 2'd3 && now_size == look_size && now_page == ask_page);
        assert (bad_page == (ask_page >= {8'h0, look_count}));
        if (look_known) assert (walk == look_base + 61'(ask_page));
      end
      if (state == JUDGE && about && !bad_table && !bad_page && !bad_read && entry == some_entry) assert (known_then);
      for (int i = 0; i < ENTRIES; i++)
        if (used[i]) begin
          assert (owners[i] == lines[i][5:2] && lines[i][1:0] != '0);
          if (lines[i] == {some_table, some_page, some_entry})
              assert (known && IDX_W'(i) == index_of(some_table, some_page));
        end
    end
  logic filled;
  always_ff @(posedge clk) begin
    filled <= !rst && (filled || fill);
    cover (formal_started && passed && about && known_then && look_size == 2'd2 && m_araddr[3]);
    cover (formal_started && ev_hit && filled);
    cover (formal_started && state == TAKE && m_rvalid && stale && !met);
    cover (formal_started && done != '0 && error == 4'(nicloop_pkg::RMA_ERROR_OWNER) && known_then);
  end
`endif
endmodule
