// For yosys techmap: a cover becomes the claim that it cannot happen, which the solver must refute.
(* techmap_celltype = "$cover" *)
module claim (input A, EN);
  \$assert claim (.A(~A), .EN(EN));
endmodule
