// pio_split: parts the PIO window into its VELO half (address bit 28 clear) and its RMA half.
//
// Job: passes AXI write bursts on to one of two slaves and their answers back in order.
// Handshake: AXI4 write slave in; the address goes to both slaves, valid to one. A slave must not take data
//   before its address (both slaves here do not).
// Back-pressure: that of the slave; an address for the other slave waits until all answers are back.
module pio_split (
    input  logic        clk,
    input  logic        rst,
    input  logic        s_awvalid,
    output logic        s_awready,
    input  logic        s_awrma,    // the address bit
    input  logic        s_wvalid,
    output logic        s_wready,
    output logic        s_bvalid,
    input  logic        s_bready,
    output logic [1:0]  s_bresp,
    // by slave: 0 VELO, 1 RMA
    output logic [1:0]  m_awvalid,
    input  logic [1:0]  m_awready,
    output logic [1:0]  m_wvalid,
    input  logic [1:0]  m_wready,
    input  logic [1:0]  m_bvalid,
    output logic [1:0]  m_bready,
    input  logic [3:0]  m_bresp,
    output logic        idle
);
  logic       sel;        // slave of every burst that has no answer yet
  logic [3:0] unknown;    // bursts without an answer
  logic       pass, aw_take, b_take;
  assign pass      = (unknown == '0 || sel == s_awrma) && unknown != 4'hf;
  assign m_awvalid = {2{s_awvalid && pass}} & {s_awrma, !s_awrma};
  assign s_awready = pass && m_awready[s_awrma];
  assign aw_take   = s_awvalid && s_awready;
  assign m_wvalid  = {2{s_wvalid && unknown != '0}} & {sel, !sel};
  assign s_wready  = unknown != '0 && m_wready[sel];
  assign s_bvalid  = m_bvalid[sel];
  assign s_bresp   = sel ? m_bresp[3:2] : m_bresp[1:0];
  assign m_bready  = {2{s_bready}} & {sel, !sel};
  assign b_take    = s_bvalid && s_bready;
  assign idle      = unknown == '0;

  always_ff @(posedge clk) begin
    if (rst) begin
      unknown <= '0;
      sel     <= 1'b0;
    end else begin
      if (aw_take) sel <= s_awrma;
      if (aw_take != b_take) unknown <= aw_take ? unknown + 1'b1 : unknown - 1'b1;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!b_take || unknown != '0) else $error("pio_split %m: an answer without a burst");
`endif
`ifdef FORMAL
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb if (!formal_started) assume (rst);

  // Each slave answers a burst that it has taken, once; an answer stays until it is taken.
  logic [4:0] bursts[2];
  logic [1:0] was_answer;
  always_ff @(posedge clk) begin
    for (int i = 0; i < 2; i++)
      if (rst) bursts[i] <= '0;
      else bursts[i] <= bursts[i] + 5'(m_awvalid[i] && m_awready[i]) - 5'(m_bvalid[i] && m_bready[i]);
    was_answer <= rst ? '0 : m_bvalid & ~m_bready;
  end
  always_comb
    if (formal_started && !rst)
      for (int i = 0; i < 2; i++) assume ((!m_bvalid[i] || bursts[i] != '0) && (!was_answer[i] || m_bvalid[i]));

  // Answers come back in the order of the bursts: only one slave ever owes any.
  always_comb
    if (formal_started && !rst) begin
      assert (bursts[0] + bursts[1] == 5'(unknown));
      assert (bursts[!sel] == '0);
      assert (m_awvalid != 2'b11 && (s_awready && s_awvalid) == ((m_awvalid & m_awready) != '0));
      assert (m_wvalid != 2'b11 && (m_wvalid == '0 || m_wvalid[sel]));
      assert ((s_wvalid && s_wready) == ((m_wvalid & m_wready) != '0));
      assert (!s_bvalid || unknown != '0);
      assert ((m_bvalid & m_bready) == {s_bvalid && s_bready && sel, s_bvalid && s_bready && !sel});
      // No burst starves: with no answer owed it passes as soon as its slave is ready.
      assert (!(s_awvalid && unknown == '0 && m_awready == 2'b11) || s_awready);
    end
  logic turned;
  always_ff @(posedge clk) begin
    turned <= !rst && (turned || (formal_started && sel && aw_take && !s_awrma));
    cover (turned && s_bvalid && s_bready);
    cover (formal_started && unknown == 4'hf && s_awvalid && !s_awready);
  end
`endif
endmodule
