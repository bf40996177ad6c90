// skid: skid buffer, cuts the combinational path of ready.
//
// Job: passes words through with full throughput; s_ready is a register.
// Handshake: valid/ready on both sides; m_valid never falls and m_data never changes before
//   m_ready.
// Backpressure: when m_ready falls, one more word is stored in the spare register, then s_ready
//   falls.
module skid #(
    parameter int W = 64
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         s_valid,
    output logic         s_ready,
    input  logic [W-1:0] s_data,
    output logic         m_valid,
    input  logic         m_ready,
    output logic [W-1:0] m_data
);
  logic         spare_valid;
  logic [W-1:0] spare_data;

  assign s_ready = !spare_valid;

  // m_ready is known late, so it is the last term: no enable and no reset depends on it.
  logic stays;
  assign stays = m_valid && !m_ready;
  always_ff @(posedge clk) begin
    m_valid     <= !rst && (stays || spare_valid || s_valid);
    spare_valid <= !rst && stays && (spare_valid || s_valid);
    m_data      <= ({W{stays}} & m_data) | ({W{!stays}} & (spare_valid ? spare_data : s_data));
    if (s_ready) spare_data <= s_data;
  end
`ifdef FORMAL
  // What must be inside, oldest first.
  logic [W-1:0] shadow[2];
  logic [1:0]   inside_n;
  logic         enters, leaves;
  assign enters   = s_valid && s_ready;
  assign leaves   = m_valid && m_ready;
  assign inside_n = 2'(m_valid) + 2'(spare_valid);
  always_ff @(posedge clk) begin
    if (leaves) shadow[0] <= shadow[1];
    if (enters) shadow[1'(inside_n - 2'(leaves))] <= s_data;
  end
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb if (!formal_started) assume (rst);

  always_comb
    if (formal_started) begin
      assert (!spare_valid || m_valid);
      if (m_valid) assert (m_data == shadow[0]);
      if (spare_valid) assert (spare_data == shadow[1]);
    end
  always_ff @(posedge clk)
    if (formal_started && !$past(rst) && $past(m_valid && !m_ready)) begin
      assert (m_valid);
      assert ($stable(m_data));
    end
  always_ff @(posedge clk) begin
    cover (formal_started && spare_valid);
    cover (formal_started && $past(spare_valid) && !spare_valid && m_valid);
  end
`endif
endmodule
