// request_gate: when the function may send memory requests.
//
// Job: Command.Bus Master Enable is often cleared and set again while the stream of TLPs stands, so
//   that nothing of what was queued could be discarded meanwhile. may_request therefore stays low
//   until all of it has gone (queued low): a request from before the clear never leaves behind it,
//   however short the clear. flr counts as a clear.
//
//     bus_master   ‾‾‾‾‾|___|‾‾‾‾‾‾‾‾‾‾‾‾‾‾
//     queued       ‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾|_________   the stream stands until here
//     may_request  ‾‾‾‾‾|____________|‾‾‾‾‾
//     hold         _________|‾‾‾‾‾‾‾‾|_____   new bursts wait instead of failing
// Handshake: hold high: pcie_write and pcie_read take no address. queued: a burst that they have
//   taken is not answered, or a request of it is not gone.
// Backpressure: hold ends when the stream has taken what it stands in, and the core's data and
//   answers of open bursts.
module request_gate (
    input  logic clk,
    input  logic rst,
    input  logic bus_master,
    input  logic flr,
    input  logic queued,
    output logic may_request,
    output logic hold
);
  logic enabled, draining;
  assign enabled     = bus_master && !flr;
  assign may_request = enabled && !draining;
  assign hold        = enabled && draining;
  always_ff @(posedge clk) draining <= !rst && (!enabled || (draining && queued));
endmodule
