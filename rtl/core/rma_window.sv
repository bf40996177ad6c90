// rma_window: stores the RMA descriptors of processes until the requester has executed them.
//
// Job: a FIFO of DEPTH descriptors per VPID. A descriptor is assembled, word by word, in the entry
//   after those that wait; take completes it (pio_window). The requester checks its fields, since
//   it can notify the process. Descriptors that are pending when their window is switched off are
//   dead, even if it is switched on again.
// Handshake: put and take as in pio_window. head is the oldest descriptor of head_vpid; pop removes
//   it. head_dead: it, or the rest of it, must not be executed.
// Backpressure: none. full: the processes without an entry for another descriptor, which will have
//   none in the next cycle unless one of theirs is popped (known late, so it is pio_window's last
//   term); no descriptor of these is completed then.
module rma_window #(
    parameter int DEPTH = nicloop_pkg::RMA_DEPTH,  // a power of two
    localparam int VPIDS = nicloop_pkg::VPIDS,
    localparam int PTR_W = $clog2(DEPTH) + 1       // twice the entries: one is for the descriptor in parts
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             put,
    input  logic [3:0]       put_vpid,
    input  logic [2:0]       put_quad,
    input  logic [63:0]      put_data,
    input  logic [1:0]       put_words,
    input  logic             take,
    input  logic [3:0]       take_vpid,
    output logic [VPIDS-1:0] full,
    input  logic [VPIDS-1:0] window_on,
    output logic [VPIDS-1:0] waiting,     // by VPID: there is a descriptor
    input  logic [3:0]       head_vpid,
    output logic [191:0]     head,        // first quadword lowest
    output logic             head_dead,
    input  logic             pop,
    output logic [15:0]      level,
    input  logic [3:0]       level_vpid,
    output logic [PTR_W-1:0] level_of,    // level_vpid
    output logic             idle,
    output logic             active
);
  // ---- one FIFO per VPID ----
  logic [PTR_W-1:0] wr_ptr[VPIDS], rd_ptr[VPIDS];
  logic [PTR_W-1:0] count[VPIDS];
  generate
    for (genvar i = 0; i < 6; i++) begin : g_word
      logic [31:0] words[VPIDS << PTR_W];
      always_ff @(posedge clk)
        if (put && put_quad == 3'(i / 2) && put_words[i%2]) words[{put_vpid, wr_ptr[put_vpid]}] <= put_data[i%2*32+:32];
      assign head[i*32+:32] = words[{head_vpid, rd_ptr[head_vpid]}];
    end
  endgenerate
  assign level_of = count[level_vpid];

  // How many of a process's oldest are dead: all that stand there when its window goes off, for one
  // that is off takes no more.
  logic [PTR_W-1:0] dying[VPIDS];
  logic [VPIDS-1:0] was_on, falls;
  assign head_dead = !window_on[head_vpid] || dying[head_vpid] != '0;
  assign falls     = was_on & ~window_on;
  always_ff @(posedge clk) begin
    was_on <= rst ? '0 : window_on;
  end

  generate
    for (genvar v = 0; v < VPIDS; v++) begin : g_vpid
      logic in, out;
      logic [PTR_W-1:0] dead;  // with those of a window that goes off in this cycle
      assign in  = take && take_vpid == 4'(v);
      assign out = pop && head_vpid == 4'(v);
      assign waiting[v] = count[v] != '0;
      assign full[v]    = count[v] == PTR_W'(DEPTH);
      // Whether one is popped is known last.
      assign dead = falls[v] ? count[v] : dying[v];
      always_ff @(posedge clk) dying[v] <= rst ? '0 : out && dead != '0 ? dead - 1'b1 : dead;
      always_ff @(posedge clk) begin
        if (rst) begin
          wr_ptr[v] <= '0;
          rd_ptr[v] <= '0;
          count[v]  <= '0;
        end else begin
          if (in) wr_ptr[v] <= wr_ptr[v] + 1'b1;
          if (out) rd_ptr[v] <= rd_ptr[v] + 1'b1;
          if (in != out) count[v] <= in ? count[v] + 1'b1 : count[v] - 1'b1;
        end
      end
    end
  endgenerate
  always_ff @(posedge clk) begin
    if (rst) level <= '0;
    else if (take != pop) level <= take ? level + 1'b1 : level - 1'b1;
  end

  assign idle   = waiting == '0;
  assign active = take || pop;

`ifndef SYNTHESIS
  if (DEPTH != 1 << PTR_W - 1) $fatal(1, "rma_window: DEPTH %0d is not a power of two", DEPTH);
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!pop || waiting[head_vpid]) else $error("rma_window %m: VPID %0d has no descriptor to pop", head_vpid);
      assert (!take || !full[take_vpid]) else $error("rma_window %m: VPID %0d: overflow", take_vpid);
    end
`endif
`ifdef FORMAL
  // The descriptors of one process, which the solver chooses, against a queue: each is shown whole
  // and in order, and is dead just when its window has been off since it was taken. Bit 0 of each
  // word stands for the word. Taken for granted is what pio_window and the requester keep.
  (* anyconst *) logic [3:0] some_vpid;
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb begin
    if (!formal_started) assume (rst);
    assume (!pop || waiting[head_vpid]);
    assume (!take || (!full[take_vpid] && window_on[take_vpid]));
  end
  logic             enters, leaves, goes_off, some_on_was;
  logic [PTR_W-1:0] queue_n, queue_left, some_wr, some_rd;
  logic [DEPTH-1:0] queue_dead;  // the oldest lowest
  assign enters     = take && take_vpid == some_vpid;
  assign leaves     = pop && head_vpid == some_vpid;
  assign goes_off   = some_on_was && !window_on[some_vpid];
  assign queue_left = queue_n - PTR_W'(leaves);
  assign some_wr    = wr_ptr[some_vpid];
  assign some_rd    = rd_ptr[some_vpid];
  always_ff @(posedge clk) begin
    some_on_was <= !rst && window_on[some_vpid];
    queue_n     <= rst ? '0 : queue_left + PTR_W'(enters);
    if (rst) queue_dead <= '0;
    else if (goes_off) queue_dead <= ~({DEPTH{1'b1}} << queue_left);
    else if (leaves) queue_dead <= queue_dead >> 1;
  end
  always_comb
    if (formal_started && !rst) begin
      assert (waiting[some_vpid] == (queue_n != '0) && full[some_vpid] == (queue_n == PTR_W'(DEPTH)));
      if (level_vpid == some_vpid) assert (level_of == queue_n);
      if (head_vpid == some_vpid && queue_n != '0) assert (head_dead == (!window_on[some_vpid] || queue_dead[0]));
      // A new one is not dead: its window is on, and no more are dead than stand there.
      if (enters) assert (dying[some_vpid] <= queue_n);
      // what makes it inductive
      assert (queue_n == count[some_vpid] && queue_n <= PTR_W'(DEPTH) && queue_n == some_wr - some_rd);
      assert (dying[some_vpid] <= queue_n && queue_dead == ~({DEPTH{1'b1}} << dying[some_vpid]));
      assert (was_on[some_vpid] == some_on_was && (some_on_was || dying[some_vpid] == queue_n));
    end
  // What is put, word by word, and taken. A word that was not put since the last take may be
  // anything.
  generate
    for (genvar i = 0; i < 6; i += 5) begin : g_formal  // the first and the last stand for all
      logic             writes, bit_known, bit_value, known_now, value_now;
      logic [DEPTH-1:0] known, value, known_left, value_left;
      assign writes     = put && put_vpid == some_vpid && put_quad == 3'(i / 2) && put_words[i%2];
      assign known_now  = writes || bit_known;
      assign value_now  = writes ? put_data[i%2*32] : bit_value;
      assign known_left = leaves ? known >> 1 : known;
      assign value_left = leaves ? value >> 1 : value;
      always_ff @(posedge clk) begin
        bit_known <= !rst && !enters && known_now;
        bit_value <= value_now;
        known     <= rst ? '0 : enters ? (known_left & ~(DEPTH'(1) << queue_left)) | (DEPTH'(known_now) << queue_left) :
            known_left;
        value     <= enters ? (value_left & ~(DEPTH'(1) << queue_left)) | (DEPTH'(value_now) << queue_left) :
            value_left;
      end
      always_comb
        if (formal_started && !rst) begin
          if (head_vpid == some_vpid && queue_n != '0 && known[0]) assert (head[i*32] == value[0]);
          // what makes it inductive
          if (bit_known) assert (g_word[i].words[{some_vpid, some_wr}][0] == bit_value);
        end
      for (genvar j = 0; j < DEPTH; j++) begin : g_entry
        logic [PTR_W-1:0] entry;
        assign entry = some_rd + PTR_W'(j);
        always_comb
          if (formal_started && !rst && PTR_W'(j) < queue_n && known[j])
            assert (g_word[i].words[{some_vpid, entry}][0] == value[j]);
      end
    end
  endgenerate
  always_ff @(posedge clk) begin
    cover (formal_started && !rst && leaves && goes_off && queue_n == PTR_W'(2));
    cover (formal_started && !rst && leaves && !head_dead && queue_n == PTR_W'(DEPTH));
    cover (formal_started && !rst && leaves && head_dead && window_on[some_vpid]);
  end
`endif
endmodule
