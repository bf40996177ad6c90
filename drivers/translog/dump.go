package translog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Dump writes a log as text: a line for each operation with its number and the
// cycle of the call. What is wrong with the log comes last, as the error.
func Dump(w io.Writer, data []byte) error {
	r, err := NewReader(data)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	i := &r.Meta.Info
	fmt.Fprintf(out, "# %s %d nodes, %s, description %016x\n", i.URI, i.Nodes, i.Tool, i.DescHash)
	var o Op
	for err = r.Next(&o); err == nil; err = r.Next(&o) {
		fmt.Fprintf(out, "%6d %10d  %-9s %s", r.Count()-1, o.Now, o.Kind, o.Call())
		if a := o.Answer(); a != "" {
			fmt.Fprintf(out, " -> %s", a)
		}
		fmt.Fprintln(out)
	}
	if err == io.EOF {
		err = nil
		fmt.Fprintf(out, "# complete: %d operations\n", r.Count())
	}
	return errors.Join(err, out.Flush())
}
