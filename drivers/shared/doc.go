// Package shared is the backend behind "shared:": some processes of a device that another program owns, a broker (host/broker). Importing
// it registers the scheme. Time passes by itself.
//
//	shared:PATH?claim=0.0,0.1[&domain=1][&world=NAME]
//
// PATH is the broker's socket, claim the processes that this program shall have, NODE.PROCESS each. They are of one protection domain, which
// is shared by all programs that say the same world; without claims only global registers can be read. Options.MemoryBytes are
// those of this program on each node where it has a process.
//
// # What it promises
//
//   - What a [drivers.Device] does, but for interrupts and for what belongs to who owns the NIC: registers of others' processes,
//     routes, translation tables ([drivers.Tenant]). Memory is this program's alone, and no other program ever maps it.
//   - A store of a line waits for an entry in its window ([drivers.Pacer]); who posts RMA descriptors counts them.
//   - An access that is not this program's to make, and one that the NIC refuses, ends the system with an error that says so, here and not
//     for others.
//   - When the broker dies, every call and Wait returns drivers.ErrPeerDied; what it says that makes no sense is drivers.ErrProtocol.
//   - When this program dies, or closes the system, the broker shuts its processes in the NIC, and others may have their numbers.
//
// # What the caller must do
//
// Keep a Device as long as its Memory is looked at.
package shared
