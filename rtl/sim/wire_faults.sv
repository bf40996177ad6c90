// wire_faults: the wires that leave one node, and what goes wrong on them.
//
// Job: passes link words on without delay; by the registers of page wire it corrupts or loses words
//   at random and takes the carrier away. The same seed and the same words bring the same faults.
//   Shows what the router has at each port.
// Handshake: words valid, never held; sel is one cycle, its answer combinational.
module wire_faults #(
    parameter int LINKS  = 2,
    parameter int WORD_W = 128
) (
    input  logic                    clk,
    input  logic                    rst,
    input  logic [11:0]             node_id,
    // page wire
    input  logic                    sel,
    input  logic                    write,
    input  logic [15:0]             addr,
    input  logic [63:0]             wdata,
    output logic [63:0]             rdata,
    output logic                    known,
    output logic                    writable,
    input  logic [LINKS*64-1:0]     credits,   // as register WIRE_CREDITS
    input  logic [LINKS*64-1:0]     flits,     // as register WIRE_FLITS
    // words
    input  logic [LINKS-1:0]        in_valid,
    input  logic [LINKS*WORD_W-1:0] in_word,
    output logic [LINKS-1:0]        out_valid,
    output logic [LINKS*WORD_W-1:0] out_word,
    output logic [LINKS-1:0]        down
);
  localparam int PAGE_W = $clog2(nicloop_pkg::PAGE_WIRE_STRIDE);
  localparam int OFF_W  = nicloop_pkg::REG_ADDR_W;

  logic [3:0]         which;
  logic [OFF_W-1:0]   off;
  logic [LINKS*64-1:0] values;
  assign which    = addr[PAGE_W+:4];
  assign off      = OFF_W'(addr[PAGE_W-1:0]);
  assign known    = which < 4'(nicloop_pkg::PAGE_WIRE_COUNT) && off <= nicloop_pkg::REG_WIRE_FLITS && off[2:0] == '0;
  assign writable = off < nicloop_pkg::REG_WIRE_FAULTS;
  always_comb begin
    rdata = '0;
    for (int l = 0; l < LINKS; l++) if (which == 4'(l)) rdata = values[l*64+:64];
  end

  // xorshift64: never 0 once it is not.
  function automatic logic [63:0] step(input logic [63:0] x);
    logic [63:0] y;
    y    = x ^ (x << 13);
    y    = y ^ (y >> 7);
    step = y ^ (y << 17);
  endfunction

  // Seeds that differ in one bit, and neighbouring wires, must not walk in step.
  function automatic logic [63:0] scatter(input logic [63:0] x);
    logic [63:0] y;
    y       = (x ^ (x >> 30)) * 64'hbf58476d1ce4e5b9;
    y       = (y ^ (y >> 27)) * 64'h94d049bb133111eb;
    scatter = (y ^ (y >> 31)) | 64'h1;
  endfunction

  generate
    for (genvar l = 0; l < LINKS; l++) begin : g_wire
      logic [31:0]       errors, losses;
      logic [63:0]       seed, random, faults;
      logic              hit, armed, corrupt, lose;
      logic [WORD_W-1:0] flips;
      assign hit     = sel && write && known && which == 4'(l);
      assign armed   = in_valid[l] && (errors | losses) != '0;
      assign corrupt = armed && random[31:0] < errors;
      assign lose    = armed && random[63:32] < losses;

      // One to three bits, anywhere in the word.
      always_comb begin
        flips = '0;
        if (corrupt)
          for (int b = 0; b < WORD_W; b++)
            flips[b] = random[39:32] % 8'(WORD_W) == 8'(b) || (random[40] && random[48:41] % 8'(WORD_W) == 8'(b)) ||
                       (random[49] && random[57:50] % 8'(WORD_W) == 8'(b));
      end
      assign out_valid[l] = in_valid[l] && !lose;
      assign out_word[l*WORD_W+:WORD_W] = in_word[l*WORD_W+:WORD_W] ^ flips;

      always_ff @(posedge clk) begin
        if (rst) begin
          errors  <= '0;
          losses  <= '0;
          seed    <= '0;
          random  <= scatter(64'(node_id) * 8 + 64'(l) + 64'h1);
          faults  <= '0;
          down[l] <= 1'b0;
        end else begin
          if (armed) random <= step(random);
          if (corrupt || lose) faults <= faults + 1'b1;
          if (hit) begin
            case (off)
              nicloop_pkg::REG_WIRE_ERRORS: errors <= wdata[31:0];
              nicloop_pkg::REG_WIRE_LOSSES: losses <= wdata[31:0];
              nicloop_pkg::REG_WIRE_CTRL:   down[l] <= wdata[0];
              nicloop_pkg::REG_WIRE_SEED: begin
                seed   <= wdata;
                random <= scatter(wdata ^ scatter(64'(node_id) * 8 + 64'(l) + 64'h1));
              end
              default: ;
            endcase
          end
        end
      end

      always_comb begin
        case (off)
          nicloop_pkg::REG_WIRE_ERRORS: values[l*64+:64] = 64'(errors);
          nicloop_pkg::REG_WIRE_LOSSES: values[l*64+:64] = 64'(losses);
          nicloop_pkg::REG_WIRE_SEED:   values[l*64+:64] = seed;
          nicloop_pkg::REG_WIRE_CTRL:   values[l*64+:64] = 64'(down[l]);
          nicloop_pkg::REG_WIRE_CREDITS: values[l*64+:64] = credits[l*64+:64];
          nicloop_pkg::REG_WIRE_FLITS:  values[l*64+:64] = flits[l*64+:64];
          default:                      values[l*64+:64] = faults;
        endcase
      end
    end
  endgenerate
  if (WORD_W > 255) $fatal(1, "wire_faults: words of %0d bits, expected at most 255", WORD_W);
endmodule
