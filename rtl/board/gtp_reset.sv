// gtp_reset: brings a GTPE2_CHANNEL out of reset, and through it again when it does not answer.
//
// Job: PLL, transmitter, receiver, as UG482 prescribes. The receiver of a GTP needs a detour:
//   before its reset ends, bit 11 of DRP address 0x11 is cleared, and it is set again when
//   RXPMARESETDONE falls. Without a done within PATIENCE cycles everything starts again: the
//   reference clock or the other end may come later.
// Handshake: clk runs freely, up to the DRP's limit (175 MHz). pll_lock, *_done of the transceiver
//   are asynchronous and synchronised here. ready: transmitter and receiver are out of reset.
// Backpressure: none.
//
//   PLL ──lock──► SETTLE ──500 ns──► READ ─► CLEAR ─► FALL ──PMA done falls──► RESTORE ─► DONE
//    ▲                                                                                     │
//    └────────────────── PATIENCE cycles without ready, or the PLL lost its lock ──────────┘
module gtp_reset #(
    parameter int SETTLE_CYCLES = 64,       // 500 ns
    parameter int PATIENCE      = 1 << 19   // some ms
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        pll_lock,
    input  logic        tx_reset_done,
    input  logic        rx_reset_done,
    input  logic        rx_pma_reset_done,
    output logic        pll_reset,
    output logic        tx_reset,
    output logic        rx_reset,
    output logic        user_ready,
    output logic        ready,
    // DRP of the channel
    output logic [8:0]  drp_addr,
    output logic        drp_en,
    output logic        drp_we,
    output logic [15:0] drp_di,
    input  logic [15:0] drp_do,
    input  logic        drp_rdy
);
  typedef enum logic [2:0] {PLL, SETTLE, READ, CLEAR, FALL, RESTORE, DONE} state_t;
  localparam int          N_W    = $clog2(PATIENCE + 1);
  localparam logic [15:0] BIT_11 = 16'h0800;
  state_t         state;
  logic           locked, tx_done, rx_done, pma_done, pma_was, asked;
  logic [N_W-1:0] waited;
  logic [15:0]    value_q;
  sync_level u_locked (.clk, .rst, .d(pll_lock), .q(locked));
  sync_level u_tx_done (.clk, .rst, .d(tx_reset_done), .q(tx_done));
  sync_level u_rx_done (.clk, .rst, .d(rx_reset_done), .q(rx_done));
  sync_level u_pma_done (.clk, .rst, .d(rx_pma_reset_done), .q(pma_done));
  assign drp_addr = 9'h011;
  // Registers in front of the transceiver's asynchronous inputs: a gate may have a glitch.
  always_ff @(posedge clk) begin
    pma_was    <= !rst && pma_done;
    pll_reset  <= rst || state == PLL && waited < N_W'(16);
    tx_reset   <= rst || state == PLL || state == SETTLE;
    rx_reset   <= rst || state == PLL || state == SETTLE || state == READ || state == CLEAR;
    user_ready <= !rst && state != PLL && state != SETTLE;
    ready      <= !rst && state == DONE && tx_done && rx_done;
    drp_en     <= 1'b0;
    if (rst || waited == N_W'(PATIENCE) || (state != PLL && !locked)) begin
      state  <= PLL;
      waited <= '0;
      asked  <= 1'b0;
    end else begin
      waited <= state == DONE && tx_done && rx_done ? '0 : waited + 1'b1;
      case (state)
        PLL: if (locked && waited > N_W'(16)) begin
          state  <= SETTLE;
          waited <= '0;
        end
        SETTLE: if (waited == N_W'(SETTLE_CYCLES)) state <= READ;
        READ, CLEAR, RESTORE: begin
          if (!asked) begin
            drp_en <= 1'b1;
            drp_we <= state != READ;
            // Bit 11 belongs to RX_DATA_WIDTH and is 1 for 20 and 40 bits. What was read may be the
            // 0 of a sequence that a reset has cut off: written back, it would hold the receiver in
            // reset for good.
            drp_di <= state == CLEAR ? value_q & ~BIT_11 : value_q | BIT_11;
          end
          asked <= !drp_rdy;
          if (drp_rdy) state <= state == READ ? CLEAR : state == CLEAR ? FALL : DONE;
          if (drp_rdy && state == READ) value_q <= drp_do;
        end
        FALL: if (pma_was && !pma_done) state <= RESTORE;
        default: ;
      endcase
    end
  end
endmodule
