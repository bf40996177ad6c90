// credit_counter: the sender's count of free buffer entries at the other end of a link.
//
// Job: starts with START of DEPTH; one less per flit sent, one more per returned credit.
// Handshake: spend only while available; give is a one-cycle pulse. Both may be high together.
module credit_counter #(
    parameter int DEPTH = 16,
    parameter int START = DEPTH,
    localparam int W = $clog2(DEPTH + 1)
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         spend,
    input  logic         give,
    output logic         available,
    output logic [W-1:0] count
);
  // A flag of its own, since what it allows takes long enough.
  always_ff @(posedge clk) begin
    if (rst) begin
      count     <= W'(START);
      available <= START != 0;
    end else if (spend != give) begin
      count     <= give ? count + 1'b1 : count - 1'b1;
      available <= give || count != W'(1);
    end
  end

`ifndef SYNTHESIS
  logic started = 1'b0;  // a session of a link that has not been reset means nothing
  always_ff @(posedge clk) if (rst) started <= 1'b1;
  always_ff @(posedge clk)
    if (!rst && started) begin
      assert (!(spend && !available)) else $error("credit_counter %m: a flit was sent without credit");
      assert (!(give && !spend && count == W'(DEPTH))) else $error("credit_counter %m: more than %0d credits", DEPTH);
    end
`endif
`ifdef FORMAL
  // The receiver: it can give back only what it was sent.
  logic [31:0] outside;
  always_ff @(posedge clk) begin
    if (rst) outside <= 0;
    else outside <= outside + 32'(spend) - 32'(give);
  end
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb begin
    if (!formal_started) assume (rst);
    if (spend) assume (available);
    if (give) assume (outside > 0);
  end

  always_comb
    if (formal_started) begin
      assert (outside <= DEPTH);
      assert (32'(count) + outside == DEPTH);
      assert (available == (outside < DEPTH));
    end
  always_ff @(posedge clk) begin
    cover (formal_started && outside == DEPTH);
    cover (formal_started && outside == 1 && spend && give);
  end
`endif
endmodule
