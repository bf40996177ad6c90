// phy_link: a link of nic_core over a serial PHY.
//
// Job: joins the words of a link, whose control stands in tuser, to a PHY that knows characters
//   alone (phy_tx, phy_rx; docs/decisions/0022), in the clocks of the PHY. Words cross between the
//   clocks whole (async_fifo): one comes in COLUMNS cycles of rx_clk, and clk takes one per cycle,
//   so no clock has to follow another, and no idle is put in or taken out on the way. Of tuser CRC
//   and control cross, its zeros between do not.
// Handshake: the link's streams. carrier is high when this end receives and the other says that it
//   does, too; it falls within WATCH cycles also when the PHY's clock stops. dropped counts words
//   that were lost here, downs how often the carrier fell; what happens several times within some
//   cycles counts once. arst resets it all, and lasts some cycles of each clock that runs. A reset
//   of the core does not reach it.
// Backpressure: m_tready of the link; on the way in none. clk is faster than rx_clk / COLUMNS,
// else words are dropped.
module phy_link #(
    parameter int LANES  = 1,
    parameter int USER_W = 96,
    parameter int CTRL_W = 37,  // of tuser, besides the CRC
    parameter int WATCH  = 1024
) (
    input  logic                arst,
    input  logic                clk,
    output logic                carrier,
    input  logic                s_tvalid,
    output logic                s_tready,
    input  logic [63:0]         s_tdata,
    input  logic [USER_W-1:0]   s_tuser,
    output logic                m_tvalid,
    output logic [63:0]         m_tdata,
    output logic [USER_W-1:0]   m_tuser,
    output logic [31:0]         dropped,
    output logic [31:0]         downs,
    // the PHY
    input  logic                tx_clk,
    output logic [LANES*32-1:0] tx_data,
    output logic [LANES*4-1:0]  tx_k,
    input  logic                rx_clk,
    input  logic [LANES-1:0]    phy_ok,   // of rx_clk: bits are being received
    input  logic [LANES*32-1:0] rx_data,
    input  logic [LANES*4-1:0]  rx_k,
    input  logic [LANES*4-1:0]  rx_bad
);
  localparam int WORD_W = 64 + 32 + CTRL_W;
  // ---- resets: a FIFO's side in clk stays in reset until the other's has been seen to end ----
  logic arst_c, arst_t, arst_r, tx_lives, rx_lives;
  reset_sync u_arst_c (.clk, .arst, .rst(arst_c));
  reset_sync u_arst_t (.clk(tx_clk), .arst, .rst(arst_t));
  reset_sync u_arst_r (.clk(rx_clk), .arst, .rst(arst_r));
  sync_level u_tx_lives (.clk, .rst(arst_c), .d(!arst_t), .q(tx_lives));
  sync_level u_rx_lives (.clk, .rst(arst_c), .d(!arst_r), .q(rx_lives));

  // ---- out ----
  logic              w_valid, w_ready, ok, ok_c, ok_t, receives, fits;  // receives: ok, and rx_clk runs
  logic [WORD_W-1:0] w_word;
  async_fifo #(.W(WORD_W), .A(2)) u_out (
      .wr_clk(clk), .wr_rst(!tx_lives), .wr_valid(s_tvalid), .wr_ready(s_tready),
      .wr_data({s_tuser[USER_W-1-:32], s_tuser[CTRL_W-1:0], s_tdata}), .rd_clk(tx_clk), .rd_rst(arst_t),
      .rd_valid(w_valid), .rd_ready(w_ready), .rd_data(w_word)
  );
  sync_level u_ok_t (.clk(tx_clk), .rst(arst_t), .d(receives), .q(ok_t));
  phy_tx #(.LANES(LANES), .WORD_W(WORD_W)) u_tx (
      .clk(tx_clk), .rst(arst_t), .ok(ok_t), .s_valid(w_valid), .s_ready(w_ready), .s_word(w_word), .tx_data, .tx_k
  );

  // ---- in ----
  logic              r_valid, in_valid, ev_dropped, far_ok, both, both_c, beat, beat_c, beat_was, drop_c;
  logic [WORD_W-1:0] r_word, in_word;
  logic [5:0]        beats;
  phy_rx #(.LANES(LANES), .WORD_W(WORD_W)) u_rx (
      .clk(rx_clk), .rst(arst_r), .phy_ok, .rx_data, .rx_k, .rx_bad, .ok, .far_ok, .m_valid(r_valid), .m_word(r_word),
      .ev_dropped
  );
  async_fifo #(.W(WORD_W), .A(2)) u_in (
      .wr_clk(rx_clk), .wr_rst(arst_r), .wr_valid(r_valid), .wr_ready(fits), .wr_data(r_word),
      .rd_clk(clk), .rd_rst(!rx_lives), .rd_valid(in_valid), .rd_ready(1'b1), .rd_data(in_word)
  );
  assign m_tvalid = in_valid && carrier;
  assign m_tdata  = in_word[63:0];
  assign m_tuser  = {in_word[WORD_W-1-:32], (USER_W - 32)'(in_word[64+:CTRL_W])};

  // ---- the carrier, and that rx_clk runs: beat changes every 32 cycles of it ----
  localparam int N_W = $clog2(WATCH + 1);
  logic [N_W-1:0] quiet;
  logic           lost_word;
  always_ff @(posedge rx_clk) begin
    both      <= !arst_r && ok && far_ok;
    beats     <= arst_r ? '0 : beats + 1'b1;
    beat      <= !arst_r && beats[5];
    lost_word <= !arst_r && (ev_dropped || (r_valid && !fits));
  end
  sync_level u_both (.clk, .rst(arst_c), .d(both), .q(both_c));
  sync_level u_ok_c (.clk, .rst(arst_c), .d(ok), .q(ok_c));
  sync_level u_beat (.clk, .rst(arst_c), .d(beat), .q(beat_c));
  /* verilator lint_off PINCONNECTEMPTY */
  sync_pulse u_dropped (.clk_s(rx_clk), .rst_s(arst_r), .s_pulse(lost_word), .s_busy(), .clk_m(clk), .rst_m(!rx_lives),
  .m_pulse(drop_c));
  /* verilator lint_on PINCONNECTEMPTY */
  always_ff @(posedge clk) begin
    beat_was <= !arst_c && beat_c;
    if (arst_c || beat_c != beat_was) quiet <= '0;
    else if (quiet != N_W'(WATCH)) quiet <= quiet + 1'b1;
    receives <= !arst_c && ok_c && quiet != N_W'(WATCH);
    carrier  <= !arst_c && both_c && quiet != N_W'(WATCH);
    dropped  <= arst_c ? '0 : dropped + 32'(drop_c);
    downs    <= arst_c ? '0 : downs + 32'(carrier && !(both_c && quiet != N_W'(WATCH)));
  end
endmodule
