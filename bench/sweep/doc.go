// Package sweep runs a verb of nicloop over a parameter space described by a YAML file: axes and
// their products, lists that advance together, conditions, and seeds. It turns the output of the
// runs into rows, figures and a table of changes.
//
// # Guarantees
//
//   - An invalid file yields an [*Error] with the line and a suggestion for the key; nothing runs.
//   - Rows have the order of the file, independent of the order in which runs end, and contain no
//     wall clock time: an interrupted and resumed sweep produces the same bytes as an uninterrupted
//     one.
//   - Every row contains the device, hardware and machine of its measurement, and its exactness.
//   - A finished run is in the journal before it is reported.
//
// # Requirements for the caller
//
//   - Define the verbs ([Program]) and execute the tasks.
package sweep
