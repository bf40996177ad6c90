// axi_windows: an AXI4 slave with IDs in front of the send windows.
//
// Job: a write burst goes on to the core, whatever its shape (pio_window judges it); its ID waits
//   here for the answer. Windows cannot be read: a read gets its beats, all SLVERR.
// Handshake: AXI4. Answers come in the order of the bursts. A burst is passed to the core when open
//   is high as its address is taken, else its data is taken and it is answered with SLVERR. cut:
//   what is with the core is answered with SLVERR too, and the core hears no more of it. lost, a
//   pulse: the core has taken or answered nothing of what it owes for PATIENCE cycles. refused, a
//   pulse: an answer in the core's stead.
// Backpressure: data is taken behind its address; up to BURSTS bursts are owed an answer.
module axi_windows #(
    parameter int ID_W     = 4,
    parameter int BURSTS   = 8,
    parameter int PATIENCE = 4096
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            s_awvalid,
    output logic            s_awready,
    input  logic [ID_W-1:0] s_awid,
    input  logic            s_wvalid,
    output logic            s_wready,
    input  logic            s_wlast,
    output logic            s_bvalid,
    input  logic            s_bready,
    output logic [ID_W-1:0] s_bid,
    output logic [1:0]      s_bresp,
    input  logic            s_arvalid,
    output logic            s_arready,
    input  logic [ID_W-1:0] s_arid,
    input  logic [7:0]      s_arlen,
    output logic            s_rvalid,
    input  logic            s_rready,
    output logic [ID_W-1:0] s_rid,
    output logic [1:0]      s_rresp,
    output logic            s_rlast,
    // the core; address and data go beside this block
    input  logic            open,
    input  logic            cut,
    output logic            aw_valid,
    input  logic            aw_ready,
    output logic            w_valid,
    input  logic            w_ready,
    input  logic            b_valid,
    output logic            b_ready,
    input  logic [1:0]      b_resp,
    output logic            busy,
    output logic            lost,
    output logic            refused
);
  localparam logic [1:0] SLVERR = hw_pkg::RESP_SLVERR;
  localparam int Q_W = $clog2(BURSTS + 2);

  // ---- address, then data ----
  logic            data_due, pass, pass_now, aw_take, w_end, ours;
  logic [ID_W-1:0] id, owed_id;
  logic            room, owed, owed_ours, answer;
  logic [Q_W-1:0]  level, stale;
  assign pass_now  = open && !cut;
  assign s_awready = !data_due && room && (!pass_now || aw_ready);
  assign aw_valid  = !data_due && room && pass_now && s_awvalid;
  assign aw_take   = s_awvalid && s_awready;
  assign ours      = !pass || cut;  // the burst whose data comes is answered here
  assign s_wready  = data_due && (ours || w_ready);
  assign w_valid   = data_due && !ours && s_wvalid;
  assign w_end     = s_wvalid && s_wready && s_wlast;
  always_ff @(posedge clk) begin
    data_due <= !rst && (aw_take || (data_due && !w_end));
    pass     <= aw_take ? pass_now : pass && !cut;
    if (aw_take) id <= s_awid;
  end

  // ---- answers that are owed ----
  fifo #(.W(ID_W + 1), .DEPTH(BURSTS)) u_owed (
      .clk, .rst, .wr_valid(w_end), .wr_ready(room), .wr_data({ours, id}), .rd_valid(owed), .rd_ready(answer),
      .rd_data({owed_ours, owed_id}), .level
  );
  logic here;
  assign here     = owed_ours || stale != '0 || cut;
  assign s_bvalid = owed && (here || b_valid);
  assign s_bid    = owed_id;
  assign s_bresp  = here ? SLVERR : b_resp;
  assign answer   = s_bvalid && s_bready;
  assign b_ready  = owed && !here && s_bready;
  // Those from before the cut: the core, reset meanwhile, knows nothing of them.
  always_ff @(posedge clk)
    if (rst) stale <= '0;
    else if (cut) stale <= level + Q_W'(w_end) - Q_W'(answer);
    else if (answer && stale != '0) stale <= stale - 1'b1;
  assign busy    = owed || (data_due && pass);
  assign refused = answer && here;

  localparam int T_W = $clog2(PATIENCE + 1);
  logic [T_W-1:0] waited;
  logic           waits;
  assign waits = (owed && !here && !b_valid) || (w_valid && !w_ready) || (aw_valid && !aw_ready);
  always_ff @(posedge clk) waited <= rst || !waits ? '0 : waited == T_W'(PATIENCE) ? waited : waited + 1'b1;
  assign lost = waited == T_W'(PATIENCE - 1);

  // ---- reads ----
  logic [7:0] left;
  assign s_arready = !s_rvalid;
  assign s_rresp   = SLVERR;
  assign s_rlast   = left == '0;
  always_ff @(posedge clk) begin
    s_rvalid <= !rst && (s_rvalid ? !(s_rready && s_rlast) : s_arvalid);
    if (!s_rvalid) begin
      s_rid <= s_arid;
      left  <= s_arlen;
    end else if (s_rready) left <= left - 1'b1;
  end
endmodule
