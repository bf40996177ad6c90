// voq: the flits that wait at one input of the router, in virtual output queues.
//
// Job: one queue per virtual channel and output, so that a packet whose output is blocked blocks
//   only later packets to the same output. The queues of a VC share its VC_DEPTH entries; each
//   queue has rows for all of them. A queue holds whole packets one after the other, so their heads
//   need no mark.
// Handshake: a flit is written with its output, one-hot; with none it is discarded. Every output
//   reads independently, one flit per cycle from one VC: rd_pop takes a flit, which rd_data shows
//   in the next cycle, and zero otherwise. Whether the oldest flit of a queue is a tail is known
//   before it is popped, so the reader need not wait for the storage.
// Backpressure: a credit per flit that left or was discarded, one per VC and cycle; if several
//   flits leave in one cycle, the remaining credits are returned in later cycles.
module voq #(
    parameter int PORTS    = 3,
    parameter int VCS      = nicloop_pkg::VCS,
    parameter int VC_DEPTH = 16,
    parameter int W        = 64,
    localparam int VC_W    = VCS > 1 ? $clog2(VCS) : 1,
    localparam int N       = VCS * PORTS  // index v * PORTS + output
) (
    input  logic               clk,
    input  logic               rst,
    input  logic               wr_valid,
    input  logic [VC_W-1:0]    wr_vc,
    input  logic [PORTS-1:0]   wr_port,
    input  logic               wr_tail,
    input  logic [W-1:0]       wr_data,
    output logic [N-1:0]       rd_valid,
    input  logic [N-1:0]       rd_pop,
    output logic [N-1:0]       rd_tail,  // of the oldest flit, while rd_valid
    output logic [PORTS*W-1:0] rd_data,
    output logic [VCS-1:0]     credit,
    output logic               idle
);
  localparam int ROW_W = VC_DEPTH > 1 ? $clog2(VC_DEPTH) : 1;
  localparam int CNT_W = $clog2(VC_DEPTH + 1);

  // Pointers count rows modulo twice their number, so equal pointers mean empty and nothing else.
  localparam int PTR_W = ROW_W + 1;
  logic [PTR_W-1:0]     wr_ptr[N], rd_ptr[N], rd_flip[N];  // rd_flip: the bits of rd_ptr that change when it moves on
  logic [N-1:0]         push, single;                      // single: the queue holds one flit
  logic [VCS-1:0]       drop;                              // a flit without a way
  always_comb begin
    single = '0;
    for (int q = 0; q < N; q++) begin
      rd_flip[q] = '0;
      if (rd_valid[q]) begin  // a simulation passes over the others
        for (int b = 0; b < PTR_W; b++) rd_flip[q][b] = &(rd_ptr[q] | ~((PTR_W'(1) << b) - 1'b1));
        single[q] = (rd_ptr[q] ^ rd_flip[q]) == wr_ptr[q];
      end
    end
  end
  logic                 moves;
  assign moves = wr_valid || rd_valid != '0;  // more than moves, and known early

  always_comb begin
    push = '0;
    if (wr_valid)
      for (int v = 0; v < VCS; v++) if (wr_vc == VC_W'(v)) push[v*PORTS+:PORTS] = wr_port;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      for (int q = 0; q < N; q++) begin
        wr_ptr[q] <= '0;
        rd_ptr[q] <= '0;
      end
      rd_valid <= '0;
    end else if (moves)
      for (int q = 0; q < N; q++) begin
        // rd_pop is known late: it is the last term, and no enable depends on it.
        if (push[q]) wr_ptr[q] <= wr_ptr[q] + 1'b1;
        rd_ptr[q]   <= rd_ptr[q] ^ (rd_flip[q] & {PTR_W{rd_pop[q]}});
        rd_valid[q] <= push[q] || (rd_valid[q] && !(rd_pop[q] && single[q]));
      end
  end

  // ---- credits: which places were freed is known late in a cycle, so they are counted in the
  // next ----
  logic [CNT_W-1:0] owed[VCS], owed_was[VCS];
  logic [N-1:0]     popped_was;   // in the cycle before
  logic [VCS-1:0]   dropped_was;
  always_comb
    for (int v = 0; v < VCS; v++) begin
      drop[v] = wr_valid && wr_vc == VC_W'(v) && wr_port == '0;
      owed[v] = '0;
      if (credit[v]) begin  // else nothing was freed, and nothing owed
        owed[v] = owed_was[v] - 1'b1;
        for (int o = 0; o < PORTS; o++) owed[v] = owed[v] + CNT_W'(popped_was[v*PORTS+o]);
        owed[v] = owed[v] + CNT_W'(dropped_was[v]);
      end
    end
  always_ff @(posedge clk) begin
    if (rst) begin
      for (int v = 0; v < VCS; v++) owed_was[v] <= '0;
      popped_was  <= '0;
      dropped_was <= '0;
      credit      <= '0;
    end else if (moves || credit != '0) begin  // what is owed, is so beside a credit
      popped_was  <= rd_pop;
      dropped_was <= drop;
      for (int v = 0; v < VCS; v++) begin
        owed_was[v] <= owed[v];
        credit[v]   <= owed[v] != '0 || rd_pop[v*PORTS+:PORTS] != '0 || drop[v];
      end
    end
  end

  // ---- storage: of an output the rows of all VCs, one read and one write port; the tails by
  // queue ---- A flit is written for every output, since which one is known late: who has a credit
  // finds no queue of the VC full, so the row behind the newest is free, and it counts in the queue
  // that it is pushed into alone.
  generate
    for (genvar o = 0; o < PORTS; o++) begin : g_out
      logic [W-1:0] data[VCS<<ROW_W];
      logic [VC_W+ROW_W-1:0] wr_at, pop_at, rd_at;
      logic                  popped;  // in the cycle before, at rd_at
      always_comb begin
        wr_at = '0;
        for (int v = 0; v < VCS; v++) if (wr_vc == VC_W'(v))
            wr_at = wr_at | {VC_W'(v), wr_ptr[v*PORTS+o][ROW_W-1:0]};
      end
      always_ff @(posedge clk) if (wr_valid) data[wr_at] <= wr_data;
      always_comb begin
        pop_at = '0;
        for (int v = 0; v < VCS; v++) if (rd_pop[v*PORTS+o])
            pop_at = pop_at | {VC_W'(v), rd_ptr[v*PORTS+o][ROW_W-1:0]};
      end
      // No write can go there meanwhile: the credit of the row is returned in that cycle.
      always_ff @(posedge clk) begin
        popped <= 1'b0;
        for (int v = 0; v < VCS; v++) if (!rst && rd_pop[v*PORTS+o]) popped <= 1'b1;
        if (moves) rd_at <= pop_at;
      end
      assign rd_data[o*W+:W] = popped ? data[rd_at] : '0;
      for (genvar v = 0; v < VCS; v++) begin : g_tail
        localparam int Q = v * PORTS + o;
        logic tail[1<<ROW_W];
        always_ff @(posedge clk) if (wr_valid && wr_vc == VC_W'(v)) tail[wr_ptr[Q][ROW_W-1:0]] <= wr_tail;
        assign rd_tail[Q] = tail[rd_ptr[Q][ROW_W-1:0]];
      end
    end
  endgenerate

  assign idle = rd_valid == '0 && credit == '0;

`ifndef SYNTHESIS
  generate
    for (genvar v = 0; v < VCS; v++) begin : g_check
      logic [CNT_W-1:0] held;  // sim_node shows it
      always_ff @(posedge clk) begin
        if (rst) held <= '0;
        else if (moves) begin
          held <= held + CNT_W'(|push[v*PORTS+:PORTS]) - CNT_W'($countones(rd_pop[v*PORTS+:PORTS]));
          assert (!(wr_valid && wr_vc == VC_W'(v)) || held < CNT_W'(VC_DEPTH))
            else $error("voq %m: flit on VC %0d without a free entry: credits are wrong", v);
        end
      end
    end
  endgenerate
  always_ff @(posedge clk)
    if (!rst && moves) assert ((rd_pop & ~rd_valid) == '0)
        else $error("voq %m: an empty queue was read: %b of %b", rd_pop, rd_valid);
`endif
`ifdef FORMAL
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb if (!formal_started) assume (rst);

  // Outputs read what is there, one VC each. The sender keeps to its credits.
  generate
    for (genvar o = 0; o < PORTS; o++) begin : g_reader
      logic [VCS-1:0] pop;
      always_comb begin
        for (int v = 0; v < VCS; v++) pop[v] = rd_pop[v*PORTS+o];
        assume ((pop & (pop - 1'b1)) == '0);
        if (formal_started) assert (g_out[o].popped || rd_data[o*W+:W] == '0);
      end
    end
    for (genvar v = 0; v < VCS; v++) begin : g_sender
      logic [31:0] left, inside;  // credits in the sender's hand; flits in the queues
      logic        arrives;
      assign arrives = wr_valid && wr_vc == VC_W'(v);
      always_ff @(posedge clk) begin
        if (rst) left <= VC_DEPTH;
        else left <= left + 32'(credit[v]) - 32'(arrives);
      end
      always_comb begin
        if (arrives) assume (left != 0);
        inside = 0;
        for (int o = 0; o < PORTS; o++) inside = inside + 32'(levels[(v*PORTS+o)*8+:8]);
      end
      always_comb
        if (formal_started) begin
          assert (left <= VC_DEPTH);
          // no entry is lost or invented
          assert (left + inside + 32'(credit[v]) + 32'(owed[v]) == VC_DEPTH);
          assert (owed[v] == '0 || credit[v]);
          assert (credit[v] == (owed_was[v] != '0 || popped_was[v*PORTS+:PORTS] != '0 || dropped_was[v]));
        end
      always_ff @(posedge clk) begin
        cover (formal_started && owed[v] != '0);
        cover (formal_started && inside == VC_DEPTH && rd_valid[v*PORTS+:PORTS] == (PORTS > 1 && VC_DEPTH > 1 ? 3 : 1));
      end
    end
  endgenerate
  always_comb begin
    assume ((rd_pop & ~rd_valid) == '0);
    assume ((wr_port & (wr_port - 1'b1)) == '0);
    assume (32'(wr_vc) < VCS);
  end

  // Of every queue a shift register that holds what must be inside, oldest first.
  logic [N*8-1:0] levels;
  generate
    for (genvar q = 0; q < N; q++) begin : g_model
      localparam int V = q / PORTS, O = q % PORTS;
      logic [W:0]     shadow[VC_DEPTH+1];
      logic [ROW_W:0] level;
      logic           popped;  // in the cycle before, with what was the oldest then
      logic [W-1:0]   oldest;
      always_ff @(posedge clk) begin
        popped <= !rst && rd_pop[q];
        oldest <= shadow[0][W-1:0];
      end
      assign level = wr_ptr[q] - rd_ptr[q];
      assign levels[q*8+:8] = 8'(level);
      always_ff @(posedge clk)
        for (int i = 0; i <= VC_DEPTH; i++) begin
          if (rd_pop[q] && i < VC_DEPTH) shadow[i] <= shadow[i+1];
          if (push[q] && (ROW_W + 1)'(i) == level - (ROW_W + 1)'(rd_pop[q])) shadow[i] <= {wr_tail, wr_data};
        end
      always_comb
        if (formal_started) begin
          assert (32'(level) <= VC_DEPTH);
          assert (rd_valid[q] == (level != '0));
          if (rd_valid[q]) assert (rd_tail[q] == shadow[0][W]);
          if (popped) assert (g_out[O].popped && rd_data[O*W+:W] == oldest);
          for (int i = 0; i < VC_DEPTH; i++)
            if (i < 32'(level)) begin
              assert (g_out[O].data[{VC_W'(V), ROW_W'(rd_ptr[q][ROW_W-1:0] + i)}] == shadow[i][W-1:0]);
              assert (g_out[O].g_tail[V].tail[ROW_W'(rd_ptr[q][ROW_W-1:0] + i)] == shadow[i][W]);
            end
        end
    end
  endgenerate
`endif
endmodule
