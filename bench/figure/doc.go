// Package figure draws the figures of a report: lines with markers or grouped bars, axes with
// units, a legend, and dashed lines at values claimed by a paper.
//
// # Guarantees
//
//   - [Figure.Save] writes the same figure as PNG and as SVG, and its points as CSV. Equal figures
//     give equal bytes.
//   - Series differ in brightness, dash and marker, so that they can be distinguished in grey print
//     and by colour-blind readers.
//   - A figure that cannot be drawn (a value that is not a number, zero on a logarithmic axis, bars
//     without their group) is an [*Error] that names the series; nothing is written.
package figure
