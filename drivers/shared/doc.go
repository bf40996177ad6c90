// Package shared is the backend of "shared:". It gives a program some processes of a device that
// another program, a broker (host/broker), owns. Importing it registers the scheme. The device's
// clock is free-running.
//
//	shared:PATH?claim=0.0,0.1[&domain=1][&world=NAME]
//
// PATH is the broker's socket. claim lists the processes that this program wants, NODE.PROCESS
// each. All of them are in one protection domain, which the programs of the same world share.
// Without claims, only global registers can be read. Options.MemoryBytes is this program's memory
// on each node where it has a process.
//
// # Guarantees
//
//   - A device supports what [drivers.Device] specifies, except interrupts and what only the owner
//     of the NIC may access: registers of other processes, routes and translation tables
//     ([drivers.Tenant]). Its memory is private: no other program maps it.
//   - A store of a line waits for an entry in its window ([drivers.Pacer]); whoever posts RMA
//     descriptors counts entries.
//   - A forbidden access, and one that the NIC refuses, ends this system with an error that
//     describes it; other programs are not affected.
//   - When the broker dies, every call and Wait returns drivers.ErrPeerDied. Invalid messages from
//     the broker give drivers.ErrProtocol.
//   - When this program dies or closes the system, the broker closes its processes in the NIC, and
//     other programs can claim them.
//
// # Obligations of the caller
//
// Keep a reference to a Device while its Memory is in use; the memory is unmapped when the system
// becomes unreachable.
package shared
