// rma_collect: buffers RMA packets in full and checks them before a unit acts on them.
//
// Job: BUFFERS packets: one fills while earlier ones are examined and then drained. Checks frame,
//   CRC, length and node; the owner checks which types it accepts.
// Handshake: flits in by valid/ready; have shows the oldest packet not yet passed (reason 0: good)
//   until look_next, a pulse. It is shown from registers, two cycles after its tail or after the
//   look_next of the previous one; waits, a packet is present, is known a cycle earlier, as are its
//   process and stamp. The quadword at index, of those after the extension flit, is shown
//   combinationally, of the oldest packet not yet drained; drain_next frees its buffer, in the same
//   cycle as its look_next or later.
// Backpressure: while all buffers are in use no flit is accepted.
module rma_collect #(
    parameter int BUFFERS = 2,                        // a power of two
    parameter int QUADS   = nicloop_pkg::RMA_MTU / 8  // of a packet that are kept; a power of two, at least 2
) (
    input  logic        clk,
    input  logic        rst,
    input  logic [11:0] here,
    input  logic        in_valid,
    output logic        in_ready,
    input  nicloop_pkg::flit_t in_flit,
    output logic        waits,
    output logic        have,
    output logic [6:0]  reason,
    output logic [63:0] header,
    output logic [3:0]  vpid,       // of it, and its type
    output logic [3:0]  kind,
    output logic [63:0] ext,
    output logic [31:0] stamp,      // life and domain, from its tail
    output logic [3:0]  vpid_next,  // as vpid and stamp will be in the next cycle
    output logic [31:0] stamp_next,
    input  logic [5:0]  index,
    output logic [63:0] quad,
    input  logic        look_next,
    input  logic        drain_next,
    output logic        idle,       // nothing is inside, not even part of a packet
    output logic        active
);
  localparam int IDX_W = $clog2(QUADS);
  localparam int PTR_W = $clog2(BUFFERS);

  logic [63:0] quads[BUFFERS * QUADS];
  logic [63:0] headers[BUFFERS], exts[BUFFERS];
  logic [6:0]  reasons[BUFFERS];
  logic [31:0] uppers[BUFFERS];
  logic [PTR_W:0]   filled, looked, drained;       // packets so far, modulo 2 * BUFFERS
  logic [PTR_W-1:0] fill_at, look_at, drain_at;
  logic        full, open, framed;                 // open: flits since the last tail; framed: they began with a head
  logic [6:0]  count;                              // quadwords between header and tail, 127 means more
  assign fill_at  = filled[PTR_W-1:0];
  assign look_at  = looked[PTR_W-1:0];
  assign drain_at = drained[PTR_W-1:0];
  assign full     = filled - drained == (PTR_W + 1)'(BUFFERS);
  logic        head, tail, cut, take, done;
  logic [63:0] data;
  /* verilator lint_off UNUSEDSIGNAL */  // of some fields the judgement is elsewhere
  nicloop_pkg::header_t head_flit;  // it as a header
  nicloop_pkg::tail_t   tail_flit;  // it as a tail
  /* verilator lint_on UNUSEDSIGNAL */
  assign head      = in_flit.head;
  assign tail      = in_flit.tail;
  assign data      = in_flit.data;
  assign head_flit = data;
  assign tail_flit = data;
  assign cut      = in_valid && head && open;    // the tail of the packet before is missing
  assign in_ready = !full && !cut;
  assign take     = in_valid && in_ready;
  assign done     = !full && (cut || (take && tail));

  logic other;  // in the cycle behind a tail: it names another CRC than the packet's
  crc32_receiver u_crc (.clk, .valid(in_valid), .take, .flit(in_flit), .differs(other));

  always_ff @(posedge clk) begin
    if (rst) begin
      open   <= 1'b0;
      framed <= 1'b0;
    end else if (done) begin
      open   <= 1'b0;
      framed <= 1'b0;
    end else if (take) begin
      open   <= 1'b1;
      framed <= framed || head;
    end
  end
  logic [6:0] number;  // of a payload quadword; the extension flit precedes them
  assign number = count - 7'd1;
  always_ff @(posedge clk)
    if (take) count <= head ? '0 : count + 7'(count != 7'h7f);
  // Whether a flit is taken is known late: its place in the buffer is written in every cycle until
  // it is, for nobody looks at it before.
  always_ff @(posedge clk)
    if (!full) begin
      if (!open) headers[fill_at] <= head ? data : '0;
      if (open && count == '0) exts[fill_at] <= data;
      if (open && count != '0 && number < 7'(QUADS)) quads[{fill_at, number[IDX_W-1:0]}] <= data;
    end

  // ---- judging at the tail, but for the CRC, which is compared in the cycle behind it; what the
  // header says is judged as it comes ----
  logic [9:0]  bytes;
  logic [6:0]  announced;             // quadwords
  logic        bad_length, elsewhere;
  logic [6:0]  verdict;
  assign bytes = head_flit.length;
  always_ff @(posedge clk)
    if (!open) begin
      bad_length <= bytes <= 10'd8 || bytes > 10'd8 + 10'(nicloop_pkg::RMA_MTU);
      announced  <= 7'((bytes + 10'd7) >> 3);
      elsewhere  <= head_flit.dst_node != here;
    end
  always_comb begin
    if ((head && open) || !framed) verdict = 7'(nicloop_pkg::DROP_REASON_TRUNCATED);
    else if (bad_length) verdict = 7'(nicloop_pkg::DROP_REASON_BAD_LENGTH);
    else if (count != announced) verdict = 7'(nicloop_pkg::DROP_REASON_TRUNCATED);
    else if (elsewhere) verdict = 7'(nicloop_pkg::DROP_REASON_NO_SUCH_NODE);
    else verdict = 7'(nicloop_pkg::DROP_REASON_NONE);
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      filled  <= '0;
      looked  <= '0;
      drained <= '0;
    end else begin
      if (done) filled <= filled + 1'b1;
      if (look_next) looked <= looked + 1'b1;
      if (drain_next) drained <= drained + 1'b1;
    end
  end
  always_ff @(posedge clk)
    if (done) begin
      reasons[fill_at] <= verdict;
      uppers[fill_at]  <= {tail_flit.life, tail_flit.pdid};
    end

  // entire: from head to tail, known before its CRC
  logic             judged, entire, wrong, bad_crcs[BUFFERS];
  logic [PTR_W-1:0] judged_at;
  assign wrong = judged && judged_at == look_at ? entire && other : bad_crcs[look_at];
  always_ff @(posedge clk) begin
    judged    <= !rst && done;
    judged_at <= fill_at;
    entire    <= framed && !cut;
    if (judged) bad_crcs[judged_at] <= entire && other;
  end

  // What the owner decides by is taken out of its memories a cycle before.
  nicloop_pkg::header_t shown, next;
  assign waits = looked != filled;
  assign next  = headers[look_at];
  assign shown = header;
  always_ff @(posedge clk) begin
    have   <= !rst && waits && !look_next;
    reason <= wrong ? 7'(nicloop_pkg::DROP_REASON_CRC) : reasons[look_at];
    header <= next;
    ext    <= exts[look_at];
    stamp  <= stamp_next;
  end
  assign vpid_next  = next.dst_vpid;
  assign stamp_next = uppers[look_at];
  assign vpid   = shown.dst_vpid;
  assign kind   = shown.type_;
  assign quad   = quads[{drain_at, index[IDX_W-1:0]}];
  assign idle   = !open && drained == filled;
  assign active = take || done;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!look_next || have) else $error("rma_collect %m: node %0d: no packet to pass", here);
      assert (!drain_next || drained != looked || look_next)
          else $error("rma_collect %m: node %0d: no packet to drain", here);
    end
`endif
`ifdef FORMAL
  // Packets come out as they came in, each once, in order, with the verdict that its flits deserve
  // and its contents, until its owner has passed and drained it, whatever flits come. Bit 0 stands
  // for a flit, a quadword for all, two buffers for more. Taken for granted is what the owner
  // keeps. Whether the CRC differs is anything, in the cycle behind a tail.
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb begin
    if (!formal_started) assume (rst);
    assume (!look_next || have);
    assume (!drain_next || drained != looked || look_next);
  end
  logic here_held;
  logic [11:0] here_was;
  always_ff @(posedge clk) {here_held, here_was} <= {formal_started, here};
  always_comb if (here_held) assume (here == here_was);

  typedef struct packed {
    logic [6:0]  verdict;
    logic        framed, bad_crc, judged;  // judged: the cycle behind its tail is over
    logic [31:0] stamp;
    logic        head, ext, quad;          // bit 0 of them, where there are any
    logic        has_ext, has_quad;
  } model_t;
  model_t     inside_0, inside_1, now, oldest, drains;  // by buffer; the packet that fills one
  logic       m_open, m_framed, m_far, m_head, m_ext, m_quad;
  logic [7:0] m_flits;                     // between head and tail so far, at most 255
  logic [9:0] m_length;
  logic       takes, ends, broken, was_end, was_at, was_whole;
  logic [7:0] needed;
  assign takes  = in_valid && in_ready;
  assign broken = in_valid && head && m_open && !full;  // a head where a tail is missing
  assign ends   = broken || (takes && tail);
  assign needed = 8'((m_length + 10'd7) >> 3);
  always_comb begin
    now.framed  = m_framed;
    now.bad_crc = 1'b0;
    now.judged  = 1'b0;
    now.stamp   = data[63:32];
    now.head    = m_head;
    now.ext     = m_ext;
    now.quad    = m_quad;
    now.has_ext  = m_flits != '0;
    now.has_quad = m_flits > 8'd1;
    if (broken || !m_framed || head) now.verdict = 7'(nicloop_pkg::DROP_REASON_TRUNCATED);
    else if (m_length <= 10'd8 || m_length > 10'd8 + 10'(nicloop_pkg::RMA_MTU))
        now.verdict = 7'(nicloop_pkg::DROP_REASON_BAD_LENGTH);
    else if (m_flits != needed) now.verdict = 7'(nicloop_pkg::DROP_REASON_TRUNCATED);
    else if (m_far) now.verdict = 7'(nicloop_pkg::DROP_REASON_NO_SUCH_NODE);
    else now.verdict = 7'(nicloop_pkg::DROP_REASON_NONE);
  end
  always_ff @(posedge clk) begin
    m_open   <= !rst && !ends && (m_open || takes);
    m_framed <= !rst && !ends && (m_framed || (takes && head));
    if (takes && !m_open) begin
      m_far    <= head_flit.dst_node != here;
      m_length <= head_flit.length;
      m_head   <= head && data[0];
    end
    if (takes) m_flits <= head ? '0 : m_flits + 8'(m_flits != '1);
    if (takes && m_open && m_flits == 8'd0) m_ext <= data[0];
    if (takes && m_open && m_flits == 8'd1) m_quad <= data[0];
    was_end   <= !rst && ends;
    was_at    <= fill_at[0];
    was_whole <= m_framed && !broken;
    if (ends && !fill_at[0]) inside_0 <= now;
    else if (was_end && !was_at) {inside_0.judged, inside_0.bad_crc} <= {1'b1, was_whole && other};
    if (ends && fill_at[0]) inside_1 <= now;
    else if (was_end && was_at) {inside_1.judged, inside_1.bad_crc} <= {1'b1, was_whole && other};
  end
  assign oldest = look_at[0] ? inside_1 : inside_0;
  assign drains = drain_at[0] ? inside_1 : inside_0;
  always_comb
    if (formal_started && !rst) begin
      assert (!(in_ready && (full || broken)));  // a head that ends a packet is taken behind it
      assert (waits == (looked != filled) && idle == (!m_open && drained == filled));
      if (have) begin
        assert (waits && oldest.judged);
        assert (reason == (oldest.bad_crc ? 7'(nicloop_pkg::DROP_REASON_CRC) : oldest.verdict));
        assert (stamp == oldest.stamp);
        if (oldest.framed) assert (header[0] == oldest.head);
        if (reason == '0) assert (oldest.has_quad && ext[0] == oldest.ext);
      end
      if (drained != filled && drains.verdict == '0 && index == '0) assert (quad[0] == drains.quad);
      assert (open == m_open && framed == m_framed);
      assert ((PTR_W + 1)'(filled - looked) <= (PTR_W + 1)'(filled - drained));
      assert ((PTR_W + 1)'(filled - drained) <= (PTR_W + 1)'(BUFFERS));
      assert (judged == was_end && (!judged || (judged_at == was_at && entire == was_whole)));
    end
  always_ff @(posedge clk) begin
    cover (formal_started && !rst && have && reason == '0 && full && oldest.has_quad);
    cover (formal_started && !rst && have && reason == 7'(nicloop_pkg::DROP_REASON_TRUNCATED) && oldest.framed);
    cover (formal_started && !rst && have && reason == 7'(nicloop_pkg::DROP_REASON_CRC) && look_next && drain_next);
  end
`endif
endmodule
