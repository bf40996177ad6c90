// router_output: one output port of the router.
//
// Job: per cycle, grants the port to one of the virtual channels that can move (round-robin); each
//   channel (router_output_vc) takes one packet at a time. What is granted leaves in the next
//   cycle.
// Handshake: req and pop towards the queues, one bit per input and VC (index v * PORTS + input);
//   tail belongs to the flit that a queue offers, data to the flit popped in the cycle before, zero
//   from all other inputs; flit channel out.
// Backpressure: without a credit of the receiver for a VC nothing of that VC is popped, unless the
//   port drains.
//
// While drain is high, packets for this port are popped and discarded, a flit per cycle, so that
// they block no other packet. A packet that has lost a flit loses all that follow, also when the
// port works again. If a part of it had been sent before, a tail of zeros is sent to the receiver,
// as soon as there is a credit and before anything else of the VC.
//
// A port with a link starts without credits, and has none while the link has no session (closed):
// a new session starts with as many credits as the receiver has entries. The rest of a packet that
// was being sent when a session ended is discarded; the other end of the link terminates it.
//
// A mesh has one layer of VCs, a torus two: VC = layer * CLASSES + class. Continuing in a dimension
// keeps the layer, a change of dimension starts in layer 0, and leaving over a wrap wire goes to
// layer 1, so that no cycle of one layer closes. Delivery is in layer 0.
module router_output #(
    parameter int PORT     = 0,
    parameter int PORTS    = 3,
    parameter int LAYERS   = 1,
    parameter int VC_DEPTH = 16,
    parameter int CLASSES  = nicloop_pkg::VCS,
    localparam int VCS     = CLASSES * LAYERS,
    localparam int VC_W    = VCS > 1 ? $clog2(VCS) : 1,
    localparam int N       = VCS * PORTS,
    localparam int K       = LAYERS * PORTS  // queues of a class: index layer * PORTS + input
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                wrap,   // this port is connected to a wrap wire
    input  logic                drain,  // packets are discarded instead of sent
    input  logic                closed, // the link has no session
    input  logic [N-1:0]        req,    // this queue offers a flit for this output
    output logic [N-1:0]        pop,
    input  logic [N-1:0]        tail,   // the flit is the last of its packet
    input  logic [PORTS*64-1:0] data,   // by input
    output logic                tx_valid,
    output logic [VC_W-1:0]     tx_vc,
    output logic                tx_head,
    output logic                tx_tail,
    output logic [63:0]         tx_data,
    input  logic [VCS-1:0]      tx_credit,
    output logic                ev_drained,  // a packet is discarded of which nothing was sent
    output logic                ev_ended,    // the rest of a packet is discarded of which a part was sent
    output logic                moves,       // something is popped or sent; known before the grant
    output logic                idle
);
  // Queues of a class whose packets leave in a layer.
  function automatic logic [K-1:0] leaving(input int layer, input logic over_wrap);
    for (int k = 0; k < K; k++) begin
      if (PORT == 0) leaving[k] = layer == 0;
      else if (k % PORTS != 0 && (k % PORTS - 1) / 2 == (PORT - 1) / 2)
          leaving[k] = (layer == 1) == (k / PORTS == 1 || over_wrap);
      else leaving[k] = (layer == 1) == over_wrap;
    end
  endfunction

  logic [VCS*K-1:0] pops;  // by VC out, then queue of the class
  logic [VCS-1:0]   ready, granted, idles, pulls, sends, owed, drained, truncated, last;

  generate
    for (genvar v = 0; v < VCS; v++) begin : g_vc
      logic [K-1:0] reqs, tails;
      for (genvar l = 0; l < LAYERS; l++) begin : g_layer
        assign reqs[l*PORTS+:PORTS]  = req[(l*CLASSES+v%CLASSES)*PORTS+:PORTS] &
            (LAYERS == 1 ? {PORTS{1'b1}} : PORTS'(leaving(v / CLASSES, wrap) >> l * PORTS));
        assign tails[l*PORTS+:PORTS] = tail[(l*CLASSES+v%CLASSES)*PORTS+:PORTS];
      end
      router_output_vc #(.K(K), .VC_DEPTH(VC_DEPTH), .START(PORT == 0 ? VC_DEPTH : 0),
          .LINKED(PORT == 0 ? 0 : 1)) u_vc (
          .clk, .rst, .drain, .closed, .req(reqs), .tail(tails), .pop(pops[v*K+:K]), .tx_credit(tx_credit[v]),
          .ready(ready[v]), .granted(granted[v]), .pull(pulls[v]), .send(sends[v]), .idle(idles[v]), .last(last[v]),
          .tail_owed(owed[v]), .ev_drained(drained[v]), .ev_truncated(truncated[v])
      );
    end
  endgenerate

  rr_arbiter #(.N(VCS)) u_port (.clk, .rst, .req(ready), .advance(1'b1), .grant(granted));

  // Inputs that were not popped show zeros, and so does the tail of a truncated packet.
  function automatic logic [63:0] popped(input logic [PORTS*64-1:0] words);
    popped = '0;
    for (int i = 0; i < PORTS; i++) popped = popped | words[i*64+:64];
  endfunction
  assign tx_data = popped(data);
  logic [VC_W-1:0] sel_vc;
  always_comb begin
    pop      = '0;
    sel_vc   = '0;
    for (int v = 0; v < VCS; v++) begin
      if (sends[v]) sel_vc = sel_vc | VC_W'(v);
      for (int l = 0; l < LAYERS; l++)
        pop[(l*CLASSES+v%CLASSES)*PORTS+:PORTS] = pop[(l*CLASSES+v%CLASSES)*PORTS+:PORTS] | pops[v*K+l*PORTS+:PORTS];
    end
  end

  assign moves      = ready != '0;
  assign idle       = !tx_valid && owed == '0;
  assign ev_drained = |drained;
  assign ev_ended   = |truncated;

  always_ff @(posedge clk) tx_valid <= !rst && |sends;
  always_ff @(posedge clk) begin
    if (|sends) begin
      tx_vc   <= sel_vc;
      tx_head <= |(sends & pulls & idles);
      tx_tail <= |(sends & (last | ~pulls));
    end
  end
endmodule
