package imb

import (
	"fmt"
	"io"
	"strings"
)

const rule = "#----------------------------------------------------------------"

// Print writes the report in IMB's format.
func (rep *Report) Print(w io.Writer) {
	for i := range rep.Tables {
		rep.Tables[i].print(w)
	}
	fmt.Fprintln(w, "\n# All processes entering MPI_Finalize")
}

func (t *Table) print(w io.Writer) {
	name := t.Benchmark
	if t.Groups > 1 {
		name = "Multi-" + name
	}
	fmt.Fprintf(w, "\n%s\n# Benchmarking %s\n", rule, name)
	if t.Groups > 1 {
		fmt.Fprintf(w, "# ( %d groups of %d processes each running simultaneously )\n", t.Groups, t.Procs)
	} else {
		fmt.Fprintf(w, "# #processes = %d\n", t.Procs)
	}
	if t.Waiting > 0 {
		fmt.Fprintf(w, "# ( %d additional processes waiting in MPI_Barrier )\n", t.Waiting)
	}
	fmt.Fprintln(w, rule)
	grouped := t.Rows[0].Group >= 0 && t.Groups > 1
	line(w, t.header(grouped))
	for _, r := range t.Rows {
		line(w, t.fields(r, grouped))
	}
}

func (t *Table) header(grouped bool) (h []string) {
	if grouped {
		h = append(h, "Group")
	}
	if t.class != barrier {
		h = append(h, "#bytes")
	}
	h = append(h, "#repetitions")
	if t.class == single {
		return append(h, "t[usec]", "Mbytes/sec")
	}
	h = append(h, "t_min[usec]", "t_max[usec]", "t_avg[usec]")
	if t.class == parallel {
		h = append(h, "Mbytes/sec")
	}
	return h
}

func (t *Table) fields(r Row, grouped bool) (f []string) {
	us := func(v float64) string { return fmt.Sprintf("%.2f", v) }
	if grouped {
		f = append(f, fmt.Sprint(r.Group))
	}
	if t.class != barrier {
		f = append(f, fmt.Sprint(r.Bytes))
	}
	f = append(f, fmt.Sprint(r.Repetitions))
	if t.class == single {
		return append(f, us(r.Max), us(r.Rate))
	}
	f = append(f, us(r.Min), us(r.Max), us(r.Avg))
	if t.class == parallel {
		f = append(f, us(r.Rate))
	}
	return f
}

func line(w io.Writer, fields []string) {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, " %12s", f)
	}
	fmt.Fprintln(w, b.String())
}
