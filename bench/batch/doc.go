// Package batch runs many commands of this program, each a process of its own, and collects what
// they print with --json: on this machine some at a time, or as arrays of a Slurm cluster.
//
// # What it promises
//
//   - Every task ends in one [Record], or in an error that says why there is none. On a cluster a
//     task has ended when its record is there, whole, and not when the scheduler says COMPLETED:
//     without a record that is a failure.
//   - What a lost node took is submitted again, a few times.
//   - When its context ends, nothing of it goes on: processes are told to stop, jobs are cancelled.
//
// # What the caller must do
//
//   - On a cluster, name a folder that all machines see, under the same path, as they must see this
//     program and the cache of simulators ($XDG_CACHE_HOME or the home folder).
//   - Build what tasks need before, once; a task that finds it built needs no tools.
package batch
