// Package tune measures the algorithms of host's collectives and makes the table that chooses among
// them.
//
// # What it promises
//
//   - Every algorithm of every collective is measured as IMB measures (package imb): a barrier
//     before each repetition, roots that change, every byte verified. Times are simulated, so the
//     same [Options] give the same [Report].
//   - The table of a report names for each class of ranks and bytes the fastest algorithm among
//     those that a rank may choose by itself ([host.Collective.Fits]).
//   - [Report.Slower] lists what the table in host has that is slower than everybody talking to
//     everybody directly.
//
// # What the caller must do
//
//   - Give it a device whose cycles are the RTL's, such as model:. Host work takes time by
//     [host.DefaultCost]; the combining of a reduction takes none.
package tune
