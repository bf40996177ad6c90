// Package figure draws the figures of a report: lines with markers or grouped
// bars, axes with units, a legend, and dashed lines at the values that a paper
// claims.
//
// # What it promises
//
//   - [Figure.Save] writes the same figure as PNG and as SVG, and its points as
//     CSV. The same figure gives the same bytes.
//   - Series differ in brightness, dash and marker, so that they can be told
//     apart in grey print and by people who do not see all colours.
//   - A figure that cannot be drawn as asked (a value that is not a number, zero
//     on a logarithmic axis, bars without their group) is an [*Error] that names
//     the series; nothing is written.
package figure
