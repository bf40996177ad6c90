// Package world makes ranks of processes: who lives where, what of a node's memory is whose, and
// how they run.
//
// # What it promises
//
//   - A [World] has a rank on every process of its [Directory], with a mailbox, and with RMA if
//     messages may be longer than [host.EagerMax] or eager ones go by it (Config.Reuse). It demands
//     of a device what it uses, and no simulated time: what time is and who waits for what is the
//     [Machine]'s. [OnClock] is one for bodies whose time passes by itself, a goroutine for each
//     rank; bench joins cosim/vtime, which owns simulated time, to one.
//   - A rank whose function has returned goes on with what it owes to others. Ends of rendezvous,
//     credits and messages that have not left reach those who wait for them, so that no program
//     needs a barrier for that. On a clock all ranks make progress until none owes anything.
//   - After a run on simulated time every credit is where it belongs, or that is an error, as is a
//     message that came when its rank had returned.
//   - A run in which one rank fails ends with that rank's error. On a clock, one in which all wait
//     and nothing comes ends with a [*StallError] after [Clock].Patience, which says what each
//     waits for.
//   - Nothing assumes that memory lies at address 0 for the NIC, or in one piece: see [Layout].
//
// # Several programs
//
// Mine names the ranks that this program runs. Package bootstrap brings programs together: it tells
// who lives where, Fence of the [Config] has all wait for all, before anybody sends and before
// anybody closes, and Watch ends the run of all when one dies. They need NICs that several programs
// can use: those that a broker serves (host/broker, the scheme shared:), which owns the translation
// tables, so that ranks of one node that belong to several programs have RMA, too. [Join] is all of
// it in a call.
//
// # What the caller must do
//
//   - Give all programs of a world the same [Config] but for Mine.
//   - Use a rank in its own function only, and share between them what is safe for that.
package world
