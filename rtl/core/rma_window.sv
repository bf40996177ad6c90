// rma_window: takes RMA descriptors from processes and keeps them until the requester has done them.
//
// Job: AXI4 write slave of the RMA half of the PIO window; one burst of three quadwords is one descriptor.
//   Refuses what has the wrong shape or comes through a window that is off; what a descriptor says is judged
//   by the requester, which can tell the process. A FIFO of DEPTH descriptors per VPID, in one RAM. What stands there when
//   its window goes off is dead, also if the window goes on again.
// Handshake: AXI4 write channels; B comes when the descriptor has its place, SLVERR when it was refused. head is the
//   oldest descriptor of head_vpid; pop removes it. head_dead: it is not to be done, nor the rest of it.
// Back-pressure: while the FIFO of its VPID is full, a descriptor holds the bus.
module rma_window #(
    parameter int DEPTH = nicloop_pkg::RMA_DEPTH,  // a power of two
    localparam int VPIDS = nicloop_pkg::VPIDS,
    localparam int PTR_W = $clog2(DEPTH)
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             s_awvalid,
    output logic             s_awready,
    input  logic [28:0]      s_awaddr,
    input  logic [7:0]       s_awlen,
    input  logic [2:0]       s_awsize,
    input  logic [1:0]       s_awburst,
    input  logic             s_wvalid,
    output logic             s_wready,
    input  logic [63:0]      s_wdata,
    input  logic [7:0]       s_wstrb,
    input  logic             s_wlast,
    output logic             s_bvalid,
    input  logic             s_bready,
    output logic [1:0]       s_bresp,
    input  logic [VPIDS-1:0] window_on,
    input  logic [511:0]     stamps,      // {life, pdid} by VPID
    output logic [VPIDS-1:0] waiting,     // by VPID: there is a descriptor
    input  logic [3:0]       head_vpid,
    output logic [191:0]     head,        // first quadword lowest
    output logic             head_dead,
    input  logic             pop,
    output logic             ev_error,
    output logic [6:0]       error_reason,
    output logic [3:0]       error_vpid,
    output logic [15:0]      level,
    input  logic [3:0]       level_vpid,
    output logic [PTR_W:0]   level_of,    // level_vpid
    output logic             idle,
    output logic             active
);
  localparam logic [1:0] OKAY = 2'b00, SLVERR = 2'b10;

  // ---- the descriptor on the bus ----
  logic       open, shape_ok, aw_take, w_take, w_end, place;
  logic [3:0] vpid;
  logic [2:0] beat;
  logic [127:0] words;
  assign s_awready = !open;
  assign aw_take   = s_awvalid && s_awready;
  assign s_wready  = open && (!s_wlast || (place && !(s_bvalid && !s_bready)));
  assign w_take    = s_wvalid && s_wready;
  assign w_end     = w_take && s_wlast;

  logic beats_ok;
  assign beats_ok = beat == 3'd2 && s_wstrb == 8'hff && !words[nicloop_pkg::RMA_DESC_RSVD_LSB];
  always_comb begin
    if (!window_on[vpid]) error_reason = 7'(nicloop_pkg::DROP_REASON_WINDOW_OFF);
    else if (stamps[{vpid, 5'h0}+:16] == '0) error_reason = 7'(nicloop_pkg::DROP_REASON_DOMAIN);
    else if (!shape_ok || !beats_ok) error_reason = 7'(nicloop_pkg::DROP_REASON_BAD_LENGTH);
    else error_reason = 7'(nicloop_pkg::DROP_REASON_NONE);
  end
  assign ev_error   = w_end && error_reason != 7'(nicloop_pkg::DROP_REASON_NONE);
  assign error_vpid = vpid;

  always_ff @(posedge clk) begin
    if (rst) begin
      open     <= 1'b0;
      s_bvalid <= 1'b0;
    end else begin
      if (aw_take) open <= 1'b1;
      else if (w_end) open <= 1'b0;
      if (w_end) s_bvalid <= 1'b1;
      else if (s_bready) s_bvalid <= 1'b0;
    end
  end
  always_ff @(posedge clk) begin
    if (aw_take) begin
      vpid     <= s_awaddr[nicloop_pkg::RMA_PIO_SRC_VPID_LSB+:4];
      shape_ok <= s_awaddr[nicloop_pkg::RMA_PIO_SRC_VPID_LSB-1:0] == '0 && s_awlen == 8'd2 && s_awsize == 3'd3 &&
                  s_awburst == 2'b01;
      beat     <= '0;
    end else if (w_take) begin
      beat     <= beat == 3'd7 ? beat : beat + 1'b1;
      shape_ok <= shape_ok && s_wstrb == 8'hff;
      if (!beat[2] && beat[1:0] < 2'd2) words[{beat[0], 6'h0}+:64] <= s_wdata;
    end
    if (w_end) s_bresp <= ev_error ? SLVERR : OKAY;
  end

  // ---- one FIFO per VPID ----
  logic [191:0]     descriptors[VPIDS * DEPTH];
  logic [PTR_W-1:0] wr_ptr[VPIDS], rd_ptr[VPIDS];
  logic [PTR_W:0]   count[VPIDS];
  logic             push;
  assign push  = w_end && !ev_error;
  assign place = !(window_on[vpid] && count[vpid] == (PTR_W + 1)'(DEPTH));
  always_ff @(posedge clk) if (push) descriptors[{vpid, wr_ptr[vpid]}] <= {s_wdata, words};
  assign level_of = count[level_vpid];
  assign head = descriptors[{head_vpid, rd_ptr[head_vpid]}];

  // How many of a process's oldest are dead: all that stand there when its window goes off, for one that is off takes no more.
  logic [PTR_W:0]   dying[VPIDS];
  logic [VPIDS-1:0] was_on, falls;
  assign head_dead = !window_on[head_vpid] || dying[head_vpid] != '0;
  assign falls     = was_on & ~window_on;
  always_ff @(posedge clk) begin
    was_on <= rst ? '0 : window_on;
    if (rst) for (int v = 0; v < VPIDS; v++) dying[v] <= '0;
    else begin
      if (falls != '0) for (int v = 0; v < VPIDS; v++) if (falls[v]) dying[v] <= count[v];
      if (pop && falls[head_vpid]) dying[head_vpid] <= count[head_vpid] - 1'b1;
      else if (pop && dying[head_vpid] != '0) dying[head_vpid] <= dying[head_vpid] - 1'b1;
    end
  end

  generate
    for (genvar v = 0; v < VPIDS; v++) begin : g_vpid
      logic in, out;
      assign in  = push && vpid == 4'(v);
      assign out = pop && head_vpid == 4'(v);
      assign waiting[v] = count[v] != '0;
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
    else if (push != pop) level <= push ? level + 1'b1 : level - 1'b1;
  end

  assign idle   = !open && !s_bvalid && waiting == '0;
  assign active = aw_take || w_take || (s_bvalid && s_bready) || pop;

`ifndef SYNTHESIS
  if (DEPTH != 1 << PTR_W) $fatal(1, "rma_window: DEPTH %0d is not a power of two", DEPTH);
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!pop || waiting[head_vpid]) else $error("rma_window %m: VPID %0d has no descriptor to pop", head_vpid);
      assert (!push || count[vpid] != (PTR_W + 1)'(DEPTH)) else $error("rma_window %m: VPID %0d: overflow", vpid);
    end
`endif
endmodule
