// Package figure draws the figures of a report: lines with markers or grouped bars, axes with
// units, a legend, and dashed lines at values claimed by a paper.
//
// # Guarantees
//
//   - [Figure.Save] writes the same figure as PNG and as SVG, and its points as CSV; on request
//     also as PDF, as PGF for TeX, and as a gnuplot script with data. Equal figures give equal
//     bytes.
//   - Series differ in brightness, dash and marker, so that they can be distinguished in grey print
//     and by colour-blind readers. That holds for up to 36 series; bars have hatching.
//   - Points without a value are gaps, marked with a cross and counted under the plot.
//   - A figure that cannot be drawn (a value that is not a number, zero on a logarithmic axis, bars
//     without their group) is an [*Error] that names the series; nothing is written.
package figure
