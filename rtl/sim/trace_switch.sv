// trace_switch: whether the node above reports its trace.
//
// Job: a name that nic_trace finds from below, wherever the node stands: a hierarchical block cannot be
//   looked into by the name of its module.
// Handshake: none.
module trace_switch (
    input logic on
);
endmodule
