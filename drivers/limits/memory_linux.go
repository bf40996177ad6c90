package limits

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

func init() {
	limitOfAddressSpace = func(root fs.FS) (limit, used float64, ok bool) {
		var r unix.Rlimit
		if unix.Getrlimit(unix.RLIMIT_AS, &r) != nil || r.Cur == unix.RLIM_INFINITY {
			return 0, 0, false
		}
		pages, ok := firstNumber(root, "proc/self/statm")
		return float64(r.Cur), pages * float64(unix.Getpagesize()), ok
	}
}
