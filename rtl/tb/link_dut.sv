// link_dut: two links that face each other; the bench owns the wires between them. Bit 0 and the
// lower half of each vector belong to the one end, bit 1 and the upper half to the other. A word is
// LATENCY cycles on its way.
module link_dut #(
    parameter int VC_DEPTH   = 16,
    parameter int LATENCY    = 0,
    parameter int DEAD_AFTER = 3,
    localparam int USER_W    = VC_DEPTH < 32 ? 64 : 96,
    localparam int WORD_W    = 64 + USER_W
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [1:0]   wipe,      // resets this end whole
    input  logic [1:0]   restart,
    input  logic [1:0]   carrier,
    input  logic [23:0]  patience,
    input  logic [1:0]   tx_valid,
    input  logic [1:0]   tx_vc,
    input  logic [1:0]   tx_head,
    input  logic [1:0]   tx_tail,
    input  logic [127:0] tx_data,
    output logic [3:0]   tx_credit,
    output logic [1:0]   rx_valid,
    output logic [1:0]   rx_vc,
    output logic [1:0]   rx_head,
    output logic [1:0]   rx_tail,
    output logic [127:0] rx_data,
    input  logic [3:0]   rx_credit,
    // the wire that leaves this end: ready, lost words, flipped bits, and the word that is offered
    input  logic [1:0]   wire_ready,
    input  logic [1:0]   wire_lose,
    input  logic [2*WORD_W-1:0] wire_flips,
    output logic [1:0]   wire_valid,
    output logic [2*WORD_W-1:0] wire_word,
    // the wire that enters this end
    output logic [1:0]   arrives,
    output logic [2*WORD_W-1:0] arrived,
    output logic [1:0]   dead,
    output logic [63:0]  crc_errors,
    output logic [63:0]  retransmissions,
    output logic [63:0]  timeouts,
    output logic [63:0]  failures,
    output logic [63:0]  cut,
    output logic [63:0]  resets,
    output logic [63:0]  lost,
    output logic [1:0]   up,
    output logic [1:0]   idle,
    output logic [1:0]   active
);
  logic [WORD_W-1:0] sent[2], seen[2];
  generate
    for (genvar e = 0; e < 2; e++) begin : g_end
      assign wire_word[e*WORD_W+:WORD_W] = sent[e];
      assign arrived[e*WORD_W+:WORD_W]   = seen[e];
      if (LATENCY == 0) begin : g_short
        assign arrives[e] = wire_valid[1-e] && wire_ready[1-e] && !wire_lose[1-e];
        assign seen[e]  = sent[1-e] ^ wire_flips[(1-e)*WORD_W+:WORD_W];
      end else begin : g_long
        logic [LATENCY-1:0] valid;
        logic [WORD_W-1:0]  words[LATENCY];
        always_ff @(posedge clk) begin
          valid    <= rst || !carrier[e] ? '0 : LATENCY'({valid, wire_valid[1-e] && wire_ready[1-e] &&
              !wire_lose[1-e]});
          words[0] <= sent[1-e] ^ wire_flips[(1-e)*WORD_W+:WORD_W];
          for (int i = 1; i < LATENCY; i++) words[i] <= words[i-1];
        end
        assign arrives[e] = valid[LATENCY-1] && carrier[e];
        assign seen[e]  = words[LATENCY-1];
      end
      /* verilator lint_off PINCONNECTEMPTY */
      link #(.VCS(2), .VC_DEPTH(VC_DEPTH), .DEAD_AFTER(DEAD_AFTER)) u_link (
          .clk, .rst(rst || wipe[e]), .restart(restart[e]), .up(up[e]), .resets(resets[e*32+:32]),
          .lost(lost[e*32+:32]), .carrier(carrier[e]), .patience, .tx_valid(tx_valid[e]), .tx_vc(tx_vc[e]),
          .tx_head(tx_head[e]), .tx_tail(tx_tail[e]), .tx_data(tx_data[e*64+:64]), .tx_credit(tx_credit[e*2+:2]),
          .rx_valid(rx_valid[e]), .rx_vc(rx_vc[e]), .rx_head(rx_head[e]), .rx_tail(rx_tail[e]),
          .rx_data(rx_data[e*64+:64]), .rx_credit(rx_credit[e*2+:2]), .m_tvalid(wire_valid[e]),
          .m_tready(wire_ready[e]), .m_tdata(sent[e][63:0]), .m_tuser(sent[e][64+:USER_W]), .s_tvalid(arrives[e]),
          .s_tready(), .s_tdata(seen[e][63:0]), .s_tuser(seen[e][64+:USER_W]), .dead(dead[e]),
          .crc_errors(crc_errors[e*32+:32]), .retransmissions(retransmissions[e*32+:32]), .timeouts(timeouts[e*32+:32]),
          .failures(failures[e*32+:32]), .cut(cut[e*32+:32]), .drain(1'b0), .drains(), .drained(), .ev_drained(1'b0),
          .ev_ended(1'b0), .ev_failure(), .idle(idle[e]), .active(active[e])
      );
      /* verilator lint_on PINCONNECTEMPTY */
    end
  endgenerate
endmodule
