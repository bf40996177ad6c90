package vm

import (
	"fmt"
	"io"
)

// An archive writes files in the format of Linux's initial file system ("newc"). Archives can be
// concatenated.
type archive struct {
	w    io.Writer
	n    int // bytes written
	inos int
	err  error
}

// file adds a file, or a directory if mode says so.
func (a *archive) file(name string, mode uint32, data []byte) {
	a.inos++
	a.print("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", a.inos, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name)+1, 0)
	a.write(append([]byte(name), 0))
	a.pad()
	a.write(data)
	a.pad()
}

// Modes of archive members.
const (
	folder     = 0o040755
	executable = 0o100755
)

// close ends it.
func (a *archive) close() error {
	a.file("TRAILER!!!", 0, nil)
	return a.err
}

func (a *archive) print(format string, args ...any) { a.write(fmt.Appendf(nil, format, args...)) }

func (a *archive) pad() { a.write(make([]byte, -a.n&3)) }

func (a *archive) write(b []byte) {
	if a.err == nil {
		_, a.err = a.w.Write(b)
	}
	a.n += len(b)
}
