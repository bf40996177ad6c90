// Package sweep runs a verb of nicloop over a space of parameters that a YAML file describes: axes
// and their products, lists that advance together, conditions, several seeds; and makes rows,
// figures and a table of changes of what the runs print.
//
// # What it promises
//
//   - A file that is not as it must be is an [*Error] with its line, and the key that was meant;
//     nothing runs.
//   - Rows have the order of the file, whatever the order was in which runs ended, and nothing in
//     them is a time of the clock on the wall: a sweep that was killed and goes on gives the same
//     bytes as one that was not.
//   - Every row says on which device and hardware it was measured, on which machine, and how exact
//     that is.
//   - What has ended is in the journal before it is told.
//
// # What the caller must do
//
//   - Say which verbs there are ([Program]), and perform the tasks.
package sweep
