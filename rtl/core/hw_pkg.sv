// hw_pkg: types and functions that several blocks share and no description generates. nicloop_pkg,
//   generated from rtl/desc, has what software must know and the records that blocks exchange.
package hw_pkg;
  // Responses of AXI4 and AXI4-Lite; EXOKAY is not used.
  typedef enum logic [1:0] {
    RESP_OKAY   = 2'b00,
    RESP_SLVERR = 2'b10,
    RESP_DECERR = 2'b11
  } axi_resp_t;

  // The fixed part of the control bits of a link word. Behind it: VC, sequence number, acknowledged
  // number, and the number of freed entries per VC. In a hello nack says that the session is up,
  // head that it echoes, tail that no head has been accepted; the acknowledged number is that of
  // accepted heads.
  localparam int LINK_FLAGS_W = 6;
  typedef struct packed {
    logic hello;     // session word
    logic nack;      // go-back-N: retransmit from the acknowledged number
    logic numbered;  // the word has a sequence number
    logic flit;      // the word holds a flit
    logic head;      // first of its packet
    logic tail;      // last of its packet
  } link_flags_t;

  // Bits of a VC's number, of a sequence number and of the control bits on a link with VCs vcs of
  // depth entries each.
  function automatic int link_vc_w(input int vcs);
    link_vc_w = vcs > 1 ? $clog2(vcs) : 1;
  endfunction
  function automatic int link_seq_w(input int vcs, input int depth);
    link_seq_w = $clog2(vcs * depth + 1) + 1;
  endfunction
  function automatic int link_ctrl_w(input int vcs, input int depth);
    link_ctrl_w = LINK_FLAGS_W + link_vc_w(vcs) + 2 * link_seq_w(vcs, depth) + vcs * $clog2(depth + 1);
  endfunction
  // tuser of a link word: the CRC, and the control bits in whole words of 32 bits.
  function automatic int link_user_w(input int vcs, input int depth);
    link_user_w = 32 + (link_ctrl_w(vcs, depth) + 31) / 32 * 32;
  endfunction

  // a + b > 7, without a carry chain.
  function automatic logic sum_above_7(input logic [2:0] a, input logic [2:0] b);
    sum_above_7 = (a[2] && b[2]) || ((a[2] || b[2]) && ((a[1] && b[1]) || ((a[1] || b[1]) && a[0] && b[0])));
  endfunction
endpackage
