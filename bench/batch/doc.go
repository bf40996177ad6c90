// Package batch runs many commands of this program, each in a process of its own, and collects
// their --json output: on this machine, a limited number at a time, or as job arrays on a Slurm
// cluster.
//
// # Guarantees
//
//   - Every task ends in one [Record], or in an error that explains why there is none. On a cluster
//     a task has ended when its complete record exists, not when the scheduler reports COMPLETED:
//     without a record that is a failure.
//   - Tasks of a lost node are submitted again, a few times.
//   - When the context ends, nothing continues: processes are stopped and jobs are cancelled.
//
// # Requirements for the caller
//
//   - On a cluster, name a directory that all machines see under the same path. They must also see
//     this program and the cache of simulators ($XDG_CACHE_HOME or the home directory).
//   - Build what the tasks need once before. A task that finds it built needs no tools.
//   - Build what tasks need before, once; a task that finds it built needs no tools.
package batch
