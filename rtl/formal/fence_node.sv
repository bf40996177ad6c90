// fence_node: a command of the translation unit ends, and is told, over the wiring of nic_rma:
// within CYCLES cycles in which memory does all that is asked of the node, whatever rings, network,
// descriptors, VELO, registers and other commands do. The write limiter, which registers may slow,
// counts as memory. Real are the muxes, the ATU and the commands; the units that a fence waits for,
// VELO and the notifier are anything that keeps the rules of fence_client, which fence_ends and
// master_rules prove of the real ones. Accesses are as there: two under way in a unit, of 8 bytes
// at most; two writes of VELO and of the notifier. In parts, by induction with what makes it
// inductive, each on what those before it show:
//   1, 3, 4 and 5, 2: what is asked stands for so many cycles of service at most: the address of a read ASK, its data
//      DATA; a write WRITE, from its address to its last beat; an answer ANSWER; a translation ATU;
//   0: what UNIT (0 requester, 1 responder, 2 completer, 3 completer of answers) has under way from before a fence ends
//      within ACCESSES cycles, since no more than so many of each come first, and the commands wait for just that;
//   6: so the command ends.
// They also show what the units' proofs take for granted: no translation, answer or data but for
// what was asked, and no fence before the one before has ended.
module fence_node #(
    parameter int PART   = 0,
    parameter int UNIT   = 0,
    parameter int ATU    = 95,
    parameter int WRITE  = 35,
    parameter int ASK    = 2,
    parameter int ANSWER = 14,
    parameter int DATA   = 17,
    parameter int CYCLES = 841,
    localparam int ACCESSES = 788
) (
    input logic clk,
    input logic rst,
    input logic velo_want,
    input logic m_arready,
    input logic m_rvalid,
    input logic m_bvalid
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic       velo_awvalid, velo_awready, velo_wvalid, velo_wready, velo_wlast, velo_bvalid, velo_bready;
  logic       m_arvalid, m_rready, m_rlast, m_bready;
  logic [7:0] m_arlen;
  fence_client #(.UNIT(4)) u_velo (
      .clk, .rst, .want_aw(velo_want), .want_last(1'b0), .awvalid(velo_awvalid), .awready(velo_awready),
      .wvalid(velo_wvalid), .wready(velo_wready), .wlast(velo_wlast), .bvalid(velo_bvalid), .bready(velo_bready)
  );
  nic_rma u_dut (
      .clk, .clk_memory(clk), .clk_units(clk), .rst, .velo_awvalid, .velo_awready, .velo_wvalid, .velo_wready,
      .velo_wlast, .velo_bvalid, .velo_bready, .m_arvalid, .m_arready, .m_arlen, .m_rvalid, .m_rready, .m_rlast,
      .m_bvalid, .m_bready
  );

  // ---- what is looked at inside ----
  // Clients of the ATU, write masters and read masters as nic_rma numbers them.
  (* hierconn *) wire [3:0] \u_dut.atu_valid , \u_dut.atu_done ;
  (* hierconn *) wire [5:0] \u_dut.aw_valid , \u_dut.w_valid , \u_dut.w_ready , \u_dut.w_last , \u_dut.b_valid ,
      \u_dut.b_ready ;
  (* hierconn *) wire [2:0] \u_dut.ar_valid , \u_dut.ar_ready , \u_dut.r_valid , \u_dut.r_ready ;
  (* hierconn *) wire [3:0] \u_dut.u_requester.u_client.beats , \u_dut.u_responder.u_client.beats ;
  (* hierconn *) wire \u_dut.u_requester.u_client.ar_kept , \u_dut.u_responder.u_client.ar_kept ,
      \u_dut.u_requester.u_client.ar_two , \u_dut.u_responder.u_client.ar_two ,
      \u_dut.u_requester.u_client.stall , \u_dut.u_responder.u_client.stall ;
  (* hierconn *) wire [2:0] \u_velo.bursts , \u_dut.u_completer.u_client.bursts , \u_dut.u_answers.u_client.bursts ,
      \u_dut.u_responder.u_client.bursts , \u_dut.u_notifier.u_client.bursts , \u_velo.beat ,
      \u_dut.u_completer.u_client.beat , \u_dut.u_answers.u_client.beat , \u_dut.u_responder.u_client.beat ,
      \u_dut.u_notifier.u_client.beat ;
  (* hierconn *) wire \u_velo.aw_gone , \u_dut.u_completer.u_client.aw_gone , \u_dut.u_answers.u_client.aw_gone ,
      \u_dut.u_responder.u_client.aw_gone , \u_dut.u_notifier.u_client.aw_gone , \u_velo.w_gone ,
      \u_dut.u_completer.u_client.w_gone , \u_dut.u_answers.u_client.w_gone , \u_dut.u_responder.u_client.w_gone ,
      \u_dut.u_notifier.u_client.w_gone , \u_velo.aw_kept , \u_dut.u_completer.u_client.aw_kept ,
      \u_dut.u_answers.u_client.aw_kept , \u_dut.u_responder.u_client.aw_kept , \u_dut.u_notifier.u_client.aw_kept ;
  (* hierconn *) wire [1:0] \u_dut.u_commands.state ;
  (* hierconn *) wire \u_dut.u_commands.aw_sent , \u_dut.u_commands.w_sent , \u_dut.u_commands.have ;
  (* hierconn *) wire [2:0] \u_dut.u_atu.state ;
  (* hierconn *) wire [3:0] \u_dut.u_atu.client , \u_dut.u_atu.u_arbiter.after ;
  (* hierconn *) wire [2:0] \u_dut.u_reads.shown , \u_dut.u_reads.u_arbiter.after ;
  (* hierconn *) wire [47:0] \u_dut.u_reads.u_owners.words ;
  (* hierconn *) wire [95:0] \u_dut.u_writes.u_askers.words ;
  (* hierconn *) wire [15:0] \u_dut.u_reads.u_owners.used , \u_dut.u_writes.u_askers.used , \u_lens.words ,
      \u_lens.used ;
  (* hierconn *) wire \u_dut.u_reads.u_owners.over , \u_dut.u_writes.u_askers.over ;
  (* hierconn *) wire \u_dut.lim_awvalid , \u_dut.lim_awready , \u_dut.lim_wvalid , \u_dut.lim_wready ,
      \u_dut.m_wlast ;
  (* hierconn *) wire [5:0] \u_dut.u_writes.owner , \u_dut.u_writes.u_arbiter.after ;
  (* hierconn *) wire \u_dut.u_writes.open , \u_dut.u_writes.full , \u_dut.u_writes.behind ,
      \u_dut.u_writes.u_data.spare_valid ;
  (* hierconn *) wire [72:0] \u_dut.u_writes.u_data.spare_data ;

  logic [5:0] wants, opens, keeps, gone;  // by write master
  logic [17:0] awaited, at_beat;
  logic       writing, telling;  // the command
  assign writing = \u_dut.u_commands.state == 2'd2;
  assign telling = \u_dut.u_commands.state == 2'd3;
  assign wants   = \u_dut.aw_valid | \u_dut.w_valid ;
  assign opens   = {writing && \u_dut.u_commands.aw_sent , \u_dut.u_notifier.u_client.aw_gone ,
      \u_dut.u_responder.u_client.aw_gone , \u_dut.u_answers.u_client.aw_gone , \u_dut.u_completer.u_client.aw_gone ,
      \u_velo.aw_gone };
  assign gone    = {writing && \u_dut.u_commands.w_sent , \u_dut.u_notifier.u_client.w_gone ,
      \u_dut.u_responder.u_client.w_gone , \u_dut.u_answers.u_client.w_gone , \u_dut.u_completer.u_client.w_gone ,
      \u_velo.w_gone };
  assign keeps   = {1'b0, \u_dut.u_notifier.u_client.aw_kept , \u_dut.u_responder.u_client.aw_kept ,
      \u_dut.u_answers.u_client.aw_kept , \u_dut.u_completer.u_client.aw_kept , \u_velo.aw_kept };
  assign awaited = {2'b00, telling, \u_dut.u_notifier.u_client.bursts , \u_dut.u_responder.u_client.bursts ,
      \u_dut.u_answers.u_client.bursts , \u_dut.u_completer.u_client.bursts , \u_velo.bursts };
  assign at_beat = {3'd0, \u_dut.u_notifier.u_client.beat , \u_dut.u_responder.u_client.beat ,
      \u_dut.u_answers.u_client.beat , \u_dut.u_completer.u_client.beat , \u_velo.beat };
  logic [11:0] due;  // beats, by read master
  assign due = {3'd0, \u_dut.u_atu.state == 3'd3, \u_dut.u_responder.u_client.beats ,
      \u_dut.u_requester.u_client.beats };

  // ---- memory, with the write limiter ----
  logic       aw_valid, aw_ready, w_valid, w_ready, two, owes, second, aw_gone, w_gone, aw_done, w_done;
  logic [4:0] bursts;
  assign aw_valid = \u_dut.lim_awvalid ;
  assign aw_ready = \u_dut.lim_awready ;
  assign w_valid  = \u_dut.lim_wvalid ;
  assign w_ready  = \u_dut.lim_wready ;
  fifo #(.W(1), .DEPTH(128)) u_lens (
      .clk, .rst, .wr_valid(m_arvalid && m_arready), .wr_data(m_arlen[0]), .rd_valid(owes),
      .rd_ready(m_rvalid && m_rready && m_rlast), .rd_data(two)
  );
  assign m_rlast = !two || second;
  assign aw_done = aw_gone || (aw_valid && aw_ready);
  assign w_done  = w_gone || (w_valid && w_ready && \u_dut.m_wlast );
  always_ff @(posedge clk) begin
    second  <= !rst && (m_rvalid && m_rready ? two && !second : second);
    aw_gone <= !rst && aw_done && !w_done;
    w_gone  <= !rst && w_done && !aw_done;
    bursts  <= rst ? '0 : bursts + 5'(aw_done && w_done) - 5'(m_bvalid && m_bready);
  end
  logic reads, writes, serves;
  assign reads  = (!m_arvalid || m_arready) && (!owes || m_rvalid);
  assign writes = (!aw_valid || aw_ready) && (!w_valid || w_ready) && (bursts == '0 || m_bvalid);
  assign serves = ((PART > 2 && PART < 6) || reads) && (PART == 1 || PART == 2 || writes);
  always_comb
    if (started && !rst) begin
      if (PART < 3 || PART == 6) assume (!m_rvalid || owes);
      if (PART == 0 || PART > 2) assume (!m_bvalid || bursts != '0);
    end

  // ---- how long each stands, in cycles of service ----
  logic [6:0] st_atu[4], st_w[6], st_b[6], st_ar[3], st_r[3];
  generate
    for (genvar i = 0; i < 4; i++) begin : g_atu
      always_ff @(posedge clk)
        st_atu[i] <= rst || !\u_dut.atu_valid [i] || \u_dut.atu_done [i] ? '0 : st_atu[i] + 7'(serves);
    end
    for (genvar i = 0; i < 6; i++) begin : g_write
      always_ff @(posedge clk) begin
        st_w[i] <= rst || !wants[i] || (\u_dut.w_valid [i] && \u_dut.w_ready [i] && \u_dut.w_last [i]) ? '0 :
            st_w[i] + 7'(serves);
        st_b[i] <= rst || awaited[i*3+:3] == '0 || \u_dut.b_valid [i] ? '0 : st_b[i] + 7'(serves);
      end
    end
    for (genvar i = 0; i < 3; i++) begin : g_read
      always_ff @(posedge clk) begin
        st_ar[i] <= rst || !\u_dut.ar_valid [i] || \u_dut.ar_ready [i] ? '0 : st_ar[i] + 7'(serves);
        st_r[i]  <= rst || due[i*4+:4] == '0 || (\u_dut.r_valid [i] && \u_dut.r_ready [i]) ? '0 :
            st_r[i] + 7'(serves);
      end
    end
  endgenerate

  // ---- reads ----
  generate
    if (PART == 1 || (PART == 0 && UNIT < 2)) begin : g_reads
      logic [2:0] head;
      assign head = \u_dut.u_reads.u_owners.words [2:0];
      always_comb
        if (started && !rst) begin
          assert (!\u_dut.u_reads.u_owners.over );
          for (int j = 0; j < 3; j++) assert (!\u_dut.r_valid [j] || due[j*4+:4] != '0);
          assert (\u_lens.used == \u_dut.u_reads.u_owners.used && (\u_lens.used & (\u_lens.used + 1'b1)) == '0);
          assert (!second || (\u_lens.used [0] && \u_lens.words [0]));
          for (int j = 0; j < 16; j++)
            if (\u_lens.used [j])
              assert (\u_dut.u_reads.u_owners.words [j*3+:3] == 3'd1 ||
                  \u_dut.u_reads.u_owners.words [j*3+:3] == 3'd2 ||
                  (\u_dut.u_reads.u_owners.words [j*3+:3] == 3'd4 && !\u_lens.words [j]));
          assert (\u_dut.u_reads.u_arbiter.after == 3'd0 || \u_dut.u_reads.u_arbiter.after == 3'd4 ||
              \u_dut.u_reads.u_arbiter.after == 3'd6);
          assert ((\u_dut.u_reads.shown & (\u_dut.u_reads.shown - 1'b1)) == '0 &&
              (\u_dut.u_reads.shown & ~\u_dut.ar_valid ) == '0);
          assert (\u_dut.u_atu.state <= 3'd4);
          for (int j = 0; j < 3; j++)
            if (\u_dut.u_reads.shown [j]) assert (\u_dut.u_reads.u_arbiter.after == 3'(3'd6 << j));
          assert (!\u_dut.u_reads.shown [0] || \u_dut.u_requester.u_client.ar_kept );
          assert (!\u_dut.u_reads.shown [1] || \u_dut.u_responder.u_client.ar_kept );
          assert (32'(\u_dut.u_requester.u_client.beats ) +
              (\u_dut.u_requester.u_client.ar_kept ? 1 + 32'(\u_dut.u_requester.u_client.ar_two ) : 0) <= 4);
          assert (32'(\u_dut.u_responder.u_client.beats ) +
              (\u_dut.u_responder.u_client.ar_kept ? 1 + 32'(\u_dut.u_responder.u_client.ar_two ) : 0) <= 4);
          assert (!\u_dut.u_requester.u_client.stall || (\u_lens.used [0] && head[0]));
          assert (!\u_dut.u_responder.u_client.stall || (\u_lens.used [0] && head[1]));
        end
      for (genvar i = 0; i < 3; i++) begin : g_unit
        logic [5:0] mine, ahead;  // beats in the queue
        logic       found;
        logic [1:0] others_first;
        always_comb begin
          mine  = '0;
          ahead = '0;
          found = 1'b0;
          for (int j = 0; j < 16; j++)
            if (\u_lens.used [j]) begin
              if (\u_dut.u_reads.u_owners.words [j*3+i]) begin
                found = 1'b1;
                mine  = mine + 6'd1 + 6'(\u_lens.words [j]) - 6'(j == 0 && second);
              end else if (!found) ahead = ahead + 6'd1 + 6'(\u_lens.words [j]) - 6'(j == 0 && second);
            end
          // who is granted before: after says who is behind the one that was served last
          others_first = '0;
          for (int j = 0; j < 3; j++)
            if (j != i && (\u_dut.u_reads.u_arbiter.after [i] ? j < i && \u_dut.u_reads.u_arbiter.after [j] :
                j < i || \u_dut.u_reads.u_arbiter.after [j])) others_first = others_first + 1'b1;
          if (\u_dut.u_reads.shown [i]) others_first = '0;
          else if (\u_dut.u_reads.shown != '0) others_first = others_first + 1'b1;
        end
        always_comb
          if (started && !rst) begin
            assert (mine == 6'(due[i*4+:4]));
            assert (32'(st_ar[i]) <= ASK);
            if (\u_dut.ar_valid [i]) assert (32'(st_ar[i]) + 32'(others_first) <= ASK);
            assert (32'(st_r[i]) <= DATA);
            if (found) assert (32'(st_r[i]) + 2 * 32'(ahead) + 1 <= DATA +
                32'(\u_dut.u_requester.u_client.stall || \u_dut.u_responder.u_client.stall ));
          end
      end
    end
  endgenerate

  // ---- translations ----
  localparam int ROUND = ASK + DATA + 5;  // choose, look up, ask, take, judge
  generate
    if (PART == 2) begin : g_atu
      logic [2:0] state;
      logic [3:0] client, after;
      logic [6:0] rest;  // of the round under way
      assign state  = \u_dut.u_atu.state ;
      assign client = \u_dut.u_atu.client ;
      assign after  = \u_dut.u_atu.u_arbiter.after ;
      always_comb begin
        case (state)
          3'd1: rest = 7'(ROUND - 1);
          3'd2: rest = 7'(DATA + 2 + ASK + 1) - st_ar[2];
          3'd3: rest = 7'(DATA + 2) - st_r[2];
          3'd4: rest = 7'd1;
          default: rest = '0;
        endcase
      end
      always_comb
        if (started && !rst) begin
          assume (32'(st_ar[2]) <= ASK && 32'(st_r[2]) <= DATA);
          assert ((\u_dut.atu_done & ~\u_dut.atu_valid ) == '0);
          assert (state <= 3'd4);
          assert (after == 4'h0 || after == 4'h8 || after == 4'hc || after == 4'he);
          if (state != '0) assert ((client & (client - 1'b1)) == '0 && client != '0 &&
              (client & ~\u_dut.atu_valid ) == '0 && after == ~(client | (client - 1'b1)));
          if (state == 3'd2) assert (st_r[2] == '0);
        end
      for (genvar i = 0; i < 4; i++) begin : g_client
        logic [2:0] others_first;
        always_comb begin
          others_first = 3'd1;
          for (int j = 0; j < 4; j++)
            if (j != i && (after[i] ? j < i && after[j] : j < i || after[j])) others_first = others_first + 1'b1;
          if (state != '0 && client[i]) others_first = '0;
        end
        always_comb
          if (started && !rst) begin
            assert (32'(st_atu[i]) <= ATU);
            if (\u_dut.atu_valid [i]) assert (32'(st_atu[i]) + 32'(rest) + ROUND * 32'(others_first) <= ATU + 1);
            if (state != '0 && client[i] && state != 3'd2) assert (st_ar[2] == '0);
          end
      end
    end
  endgenerate

  // ---- writes: what every burst is in that is not told ----
  logic [2:0] lasts;  // of bursts, in the registers of the mux
  logic       m_last, spare, spare_last, open, full, behind;
  logic [5:0] owner, after;
  assign spare      = \u_dut.u_writes.u_data.spare_valid ;
  assign spare_last = \u_dut.u_writes.u_data.spare_data [0];
  assign m_last     = \u_dut.m_wlast ;
  assign open       = \u_dut.u_writes.open ;
  assign full       = \u_dut.u_writes.full ;
  assign behind     = \u_dut.u_writes.behind ;
  assign owner      = \u_dut.u_writes.owner ;
  assign after      = \u_dut.u_writes.u_arbiter.after ;
  assign lasts      = 3'(w_valid && m_last) + 3'(spare && spare_last);
  generate
    if (PART == 0 || PART > 2) begin : g_pipe
      always_comb
        if (started && !rst) begin
          assert (owner != '0 && (owner & (owner - 1'b1)) == '0);
          assert (after == ~(owner | (owner - 1'b1)) || (after == '0 && owner == 6'd1));
          assert (opens == (owner & {6{open}}) && gone == '0);
          assert (!(open && owner[5]) || writing);
          assert (!spare || w_valid);
          assert (4'(lasts) + 4'(open) + 4'(w_gone) == 4'(aw_gone) + 4'(full));
          assert (!full || behind == aw_gone);
          assert (!behind || (full && w_valid && (m_last || (spare && spare_last))));
          assert (!w_gone || (!w_valid && !open && full && !behind));
          if (w_valid && !spare && !m_last) assert (open);
          if (spare && !spare_last) assert (open);
        end
      for (genvar i = 0; i < 5; i++) begin : g_unit
        localparam int LEN = i == 0 ? 8 : 2;
        always_comb
          if (started && !rst) begin
            assert (!(keeps[i] || opens[i]) || 32'(awaited[i*3+:3]) < (i == 1 || i == 2 ? 4 : 2));
            assert (32'(awaited[i*3+:3]) <= (i == 1 || i == 2 ? 4 : 2));
            assert (32'(at_beat[i*3+:3]) < LEN && (opens[i] || at_beat[i*3+:3] == '0));
            assert (!(keeps[i] && opens[i]));
          end
      end
    end
    if (PART == 3) begin : g_writes
      // Cycles of service until the owner's burst has left it, as far as it has one.
      logic [5:0] until_free, now;
      always_comb begin
        until_free = !full ? 6'd0 : !behind ? 6'd1 : m_last ? 6'd2 : 6'd3;
        now        = 6'd1;
        for (int o = 0; o < 6; o++)
          if (owner[o] && (open || wants[o]))
            now = 6'(o == 0 ? 8 : o == 5 ? 1 : 2) - 6'(at_beat[o*3+:3]) + 6'(spare) + (open ? 6'd0 : until_free);
      end
      for (genvar i = 0; i < 6; i++) begin : g_unit
        logic [6:0] left;
        always_comb begin
          left = 7'(now);
          for (int o = 0; o < 6; o++)
            if (owner[o] && o != i) begin
              left = left + 7'((i == 0 ? 8 : i == 5 ? 1 : 2) + 3);
              for (int j = 0; j < 6; j++)
                if (j != o && j != i && (j - o + 6) % 6 < (i - o + 6) % 6)
                  left = left + 7'((j == 0 ? 8 : j == 5 ? 1 : 2) + 3);
            end
        end
        always_comb
          if (started && !rst) begin
            assert (32'(st_w[i]) <= WRITE);
            if (wants[i]) assert (32'(st_w[i]) + 32'(left) <= WRITE + 1);
          end
      end
    end
    if (PART == 4 || PART == 5) begin : g_answers
      logic [5:0] queued;
      always_comb begin
        queued = '0;
        for (int j = 0; j < 16; j++) queued = queued + 6'(\u_dut.u_writes.u_askers.used [j]);
      end
      always_comb
        if (started && !rst) begin
          assert (!\u_dut.u_writes.u_askers.over );
          for (int j = 0; j < 6; j++) assert (!\u_dut.b_valid [j] || awaited[j*3+:3] != '0);
          assert ((\u_dut.u_writes.u_askers.used & (\u_dut.u_writes.u_askers.used + 1'b1)) == '0);
          if (PART == 5) assert (queued == 6'(bursts) + 6'(lasts) + 6'(w_gone));
          if (PART == 5) assume (!\u_dut.u_writes.u_askers.used [15]);
          else assert (!\u_dut.u_writes.u_askers.used [15]);
          for (int j = 0; j < 16; j++)
            if (\u_dut.u_writes.u_askers.used [j])
              assert (\u_dut.u_writes.u_askers.words [j*6+:6] != '0 && (\u_dut.u_writes.u_askers.words [j*6+:6] &
                  (\u_dut.u_writes.u_askers.words [j*6+:6] - 1'b1)) == '0);
        end
      for (genvar i = 0; i < 6; i++) begin : g_unit
        logic [5:0] mine, ahead, before;
        logic [4:0] left;
        always_comb begin
          mine  = '0;
          ahead = '0;
          for (int j = 0; j < 16; j++)
            if (\u_dut.u_writes.u_askers.used [j]) begin
              if (\u_dut.u_writes.u_askers.words [j*6+i]) mine = mine + 1'b1;
              else if (mine == '0) ahead = ahead + 1'b1;
            end
          // of those whose data has not left, if it is one
          before = ahead - 6'(bursts);
          left   = 5'(ahead);
          if (ahead >= 6'(bursts) && !w_gone && left < 5'd2 && (before != '0 || !m_last)) left = 5'd2;
          if (ahead >= 6'(bursts) && left == '0) left = 5'd1;
        end
        always_comb
          if (started && !rst) begin
            if (PART == 4) assert (mine == 6'(awaited[i*3+:3]));
            else begin
              assume ((mine != '0) == (awaited[i*3+:3] != '0));
              assert (32'(st_b[i]) <= ANSWER);
              if (mine != '0) assert (32'(st_b[i]) + 32'(left) <= ANSWER);
            end
          end
      end
    end
  endgenerate

  // ---- the command ----
  (* hierconn *) wire [23:0] \u_dut.u_requester.u_client.counts , \u_dut.u_responder.u_client.counts ,
      \u_dut.u_completer.u_client.counts , \u_dut.u_answers.u_client.counts ;
  (* hierconn *) wire \u_dut.u_requester.u_client.waits , \u_dut.u_responder.u_client.waits ,
      \u_dut.u_completer.u_client.waits , \u_dut.u_answers.u_client.waits , \u_dut.u_requester.u_client.over ,
      \u_dut.u_responder.u_client.over , \u_dut.u_completer.u_client.over , \u_dut.u_answers.u_client.over ;
  (* hierconn *) wire [4:0] \u_dut.u_requester.u_client.asks , \u_dut.u_responder.u_client.asks ,
      \u_dut.u_completer.u_client.asks , \u_dut.u_answers.u_client.asks ;
  (* hierconn *) wire [3:0] \u_dut.u_commands.waits ;
  (* hierconn *) wire \u_dut.u_commands.fence , \u_dut.u_commands.ended ;
  // As fence_client has them.
  localparam logic [95:0] MOST = {24'h2060a2, 24'h2060a2, 24'hc62a22, 24'hc60a02};
  generate
    if (PART == 0 || PART == 6) begin : g_command
      logic [95:0] counts;
      logic [3:0]  waits, over;
      logic [19:0] asks;
      assign asks   = {\u_dut.u_answers.u_client.asks , \u_dut.u_completer.u_client.asks ,
          \u_dut.u_responder.u_client.asks , \u_dut.u_requester.u_client.asks };
      logic [1:0]  state;
      logic [10:0] served;
      assign counts = {\u_dut.u_answers.u_client.counts , \u_dut.u_completer.u_client.counts ,
          \u_dut.u_responder.u_client.counts , \u_dut.u_requester.u_client.counts };
      assign waits  = {\u_dut.u_answers.u_client.waits , \u_dut.u_completer.u_client.waits ,
          \u_dut.u_responder.u_client.waits , \u_dut.u_requester.u_client.waits };
      assign over   = {\u_dut.u_answers.u_client.over , \u_dut.u_completer.u_client.over ,
          \u_dut.u_responder.u_client.over , \u_dut.u_requester.u_client.over };
      assign state  = \u_dut.u_commands.state ;
      always_ff @(posedge clk)
        served <= rst || !(\u_dut.u_commands.have || state != 2'd0) || \u_dut.u_commands.ended ? '0 :
            served + 11'(serves);
      always_comb
        if (started && !rst) begin
          for (int j = 0; j < 6; j++) assume (!\u_dut.b_valid [j] || awaited[j*3+:3] != '0);
          assume (over == '0);
          assert (waits == (state == 2'd1 ? \u_dut.u_commands.waits : '0));
          assert (!\u_dut.u_commands.fence || waits == '0);
          if (state == 2'd0) assert (served == '0);
          if (PART == 6) begin
            assume (32'(st_w[5]) <= WRITE && 32'(st_b[5]) <= ANSWER);
            assert (32'(served) <= CYCLES);
            case (state)
              2'd0: ;
              2'd1: assert (32'(served) <= ACCESSES + 2);
              2'd2: assert (32'(served) <= ACCESSES + 3 + 32'(st_w[5]));
              default: assert (32'(served) <= ACCESSES + 4 + WRITE + 32'(st_b[5]));
            endcase
          end
        end
      for (genvar u = 0; u < 4; u++) if (PART == 6 || u == UNIT) begin : g_unit
        localparam int W = u == 1 ? 3 : u == 2 ? 1 : 2;  // as write master
        logic [10:0] taken;
        // Of those cycles, by what is asked in them, the first of several; and all up to that one.
        if (PART == 0) begin : g_kinds
          logic [6:0] stands[6];
          always_comb begin
            stands[0] = st_atu[u];
            stands[1] = u > 0 ? st_w[W] : '0;
            stands[2] = u < 2 ? st_ar[u%2] : '0;
            stands[3] = u > 0 ? st_b[W] : '0;
            stands[4] = u < 2 ? st_r[u%2] : '0;
            stands[5] = '0;
          end
          for (genvar k = 0; k < 6; k++) begin : g_kind
            localparam int EACH = k == 0 ? ATU + 1 : k == 1 ? WRITE + 1 : k == 2 ? ASK + 1 : k == 3 ? ANSWER + 1 :
                k == 4 ? DATA + 1 : 1;
            localparam int TIMES = 32'(MOST[u*24+k*4+:4]);
            localparam int ALL = TIMES * EACH + (k < 5 && TIMES != 0 ? EACH - 1 : 0);
            logic [10:0] these, sum;
            logic        now;
            if (k == 0) assign now = asks[u*5];
            else if (k < 5) assign now = asks[u*5+k] && asks[u*5+:k] == '0;
            else assign now = asks[u*5+:5] == '0;
            always_ff @(posedge clk) begin
              these <= rst || !waits[u] ? '0 : these + 11'(serves && now);
              sum   <= rst || !waits[u] ? '0 : sum + 11'(serves && (k == 5 || asks[u*5+:(k<5?k+1:1)] != '0));
            end
            if (TIMES != 0) begin : g_comes
              always_comb
                if (started && !rst && waits[u])
                  assert (these <= 11'(counts[u*24+k*4+:4]) * 11'(EACH) + 11'(stands[k]));
            end else begin : g_never
              always_comb if (started && !rst && waits[u]) assert (these == '0);
            end
          end
          always_comb
            if (started && !rst && waits[u]) begin
              assert (g_kind[0].sum == g_kind[0].these);
              assert (g_kind[1].sum == g_kind[0].sum + g_kind[1].these);
              assert (g_kind[2].sum == g_kind[1].sum + g_kind[2].these);
              assert (g_kind[3].sum == g_kind[2].sum + g_kind[3].these);
              assert (g_kind[4].sum == g_kind[3].sum + g_kind[4].these);
              assert (g_kind[5].sum == g_kind[4].sum + g_kind[5].these);
              assert (g_kind[5].sum == taken);
              assert (32'(g_kind[0].these) <= g_kind[0].ALL && 32'(g_kind[1].these) <= g_kind[1].ALL &&
                  32'(g_kind[2].these) <= g_kind[2].ALL && 32'(g_kind[3].these) <= g_kind[3].ALL &&
                  32'(g_kind[4].these) <= g_kind[4].ALL && 32'(g_kind[5].these) <= g_kind[5].ALL);
            end
        end
        always_ff @(posedge clk) taken <= rst || !waits[u] ? '0 : taken + 11'(serves);
        always_comb
          if (started && !rst && PART == 6) begin
            if (waits[u]) assume (32'(served) <= ACCESSES + 1);
          end else if (started && !rst) begin
            assume (32'(st_atu[u]) <= ATU);
            if (u > 0) assume (32'(st_w[W]) <= WRITE && 32'(st_b[W]) <= ANSWER);
            if (u < 2) assume (32'(st_ar[u%2]) <= ASK && 32'(st_r[u%2]) <= DATA);
            assert (st_atu[u] == '0 || \u_dut.atu_valid [u]);
            if (u > 0) assert ((st_w[W] == '0 || wants[W]) && (st_b[W] == '0 || awaited[W*3+:3] != '0));
            if (u < 2) assert ((st_ar[u%2] == '0 || \u_dut.ar_valid [u%2]) && (st_r[u%2] == '0 || due[u%2*4+:4] != '0));
            if (waits[u]) assert (32'(taken) <= ACCESSES);
            if (waits[u]) assert (32'(served) <= 32'(taken) + 1);
          end
      end
    end
  endgenerate
  always_ff @(posedge clk) begin
    if (PART == 1) cover (started && !rst && st_r[2] == 7'd10);
    if (PART == 2) cover (started && !rst && st_atu[0] == 7'd12);
    if (PART == 3) cover (started && !rst && st_w[5] == 7'd12);
    if (PART == 4) cover (started && !rst && \u_dut.u_writes.u_askers.used [5]);
    if (PART == 5) cover (started && !rst && st_b[1] == 7'd5);
    if (PART == 6) cover (started && !rst && \u_dut.u_commands.ended && \u_dut.b_valid [5] && fenced);
    if (PART == 0) cover (started && !rst && waited == 4'd9);
  end
  logic       fenced;
  logic [3:0] waited;
  always_ff @(posedge clk) begin
    fenced         <= !rst && (\u_dut.u_commands.fence || fenced) && !(\u_dut.u_commands.ended );
    waited <= rst || !\u_dut.u_commands.waits [UNIT] ? '0 : waited + 4'(serves && waited != '1);
  end
endmodule
