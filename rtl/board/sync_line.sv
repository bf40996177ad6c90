// sync_line: an interrupt line into another clock domain, of which no edge is lost.
//
// Job: q follows d. A level of d that lasts less than a cycle of clk_m, which sync_level may miss,
//   is stretched: each level is held until it has arrived and come back. So an interrupt that falls
//   and rises again at once is a new rise of q, and a message for it is sent.
// Handshake: levels. settled: q is d, and no edge of d is still to be shown. Rises of d that come
//   while an earlier one is on its way are one.
// Backpressure: none.
//
//   clk_s  d     _|^^^|_|^^^^^^^^^^^^^^^^^^      other: d has differed from sent since sent changed;
//          sent  _|^^^^^^^^|______|^^^^^^^^      again: and has been as sent since
//   clk_m  q     ____|^^^^^^^^|______|^^^^^
module sync_line (
    input  logic clk_s,
    input  logic rst_s,
    input  logic d,
    output logic settled,
    input  logic clk_m,
    input  logic rst_m,
    output logic q
);
  logic sent, back, other, again;
  sync_level u_there (.clk(clk_m), .rst(rst_m), .d(sent), .q);
  sync_level u_back (.clk(clk_s), .rst(rst_s), .d(q), .q(back));
  assign settled = sent == d && sent == back && !other;
  always_ff @(posedge clk_s)
    if (rst_s) {sent, other, again} <= 3'b000;
    else if (sent == back && (other || d != sent)) {sent, other, again} <= {!sent, again || d == sent, 1'b0};
    else begin
      other <= other || d != sent;
      again <= again || (other && d == sent);
    end
endmodule
