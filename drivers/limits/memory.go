package limits

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// A MemoryError says that a request needs more memory than there is.
type MemoryError struct {
	What  string  // needs it
	Of    string  // what is short: memory, or address space
	Needs float64 // bytes, estimated
	Has   float64 // bytes
	Total bool    // Has is all memory of the machine or its limit, not what is free now
	Lower string  // the flags to lower
}

func (e *MemoryError) Error() string {
	has := "are free"
	if e.Total {
		has = "is all that this machine or its limit allows"
	}
	return fmt.Sprintf("%s needs about %s of %s, %s %s: lower %s", e.What, FormatBytes(e.Needs), e.Of, FormatBytes(e.Has), has, e.Lower)
}

// CheckMemory compares an estimate with the memory of this process: that of the machine, of its
// control group and of its address space. It returns a *MemoryError, or nil if the request fits or
// nothing is known.
func CheckMemory(what string, needs float64, lower string) error {
	total, free := memory(os.DirFS("/"))
	switch {
	case needs > total:
		return &MemoryError{What: what, Of: "memory", Needs: needs, Has: total, Total: true, Lower: lower}
	case needs > free:
		return &MemoryError{What: what, Of: "memory", Needs: needs, Has: free, Lower: lower}
	}
	return nil
}

// CheckAddressSpace compares how much a request reserves with the limit of the address space
// (ulimit -v), if there is one. It returns a *MemoryError if the request exceeds it.
func CheckAddressSpace(what string, reserves float64, lower string) error {
	limit, used, ok := limitOfAddressSpace(os.DirFS("/"))
	if !ok || reserves <= limit-used {
		return nil
	}
	return &MemoryError{What: what, Of: "address space", Needs: reserves, Has: max(0, limit-used), Total: true, Lower: lower}
}

// FormatBytes writes a number of bytes with its binary unit.
func FormatBytes(n float64) string {
	unit := 0
	for n >= 1024 && unit < len(byteUnits)-1 {
		n /= 1024
		unit++
	}
	return fmt.Sprintf("%.3g %s", n, byteUnits[unit])
}

var byteUnits = []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// limitOfAddressSpace is set where the operating system has such a limit.
var limitOfAddressSpace = func(fs.FS) (limit, used float64, ok bool) { return 0, 0, false }

// memory gives the smallest total and the smallest free memory of all that limits this process, in
// bytes; infinite if nothing is known.
func memory(root fs.FS) (total, free float64) {
	total, free = math.Inf(1), math.Inf(1)
	restrict := func(limit, used float64) {
		total, free = min(total, limit), min(free, max(0, limit-used))
	}
	if info, err := fs.ReadFile(root, "proc/meminfo"); err == nil {
		all, available := meminfo(string(info), "MemTotal:"), meminfo(string(info), "MemAvailable:")
		if all > 0 {
			restrict(all, all-available)
		}
	}
	for _, group := range memoryGroups(root) {
		limit, ok := firstNumber(root, path.Join(group, "memory.max"))
		used, known := firstNumber(root, path.Join(group, "memory.current"))
		if ok && known {
			restrict(limit, used)
		}
	}
	if limit, used, ok := limitOfAddressSpace(root); ok {
		restrict(limit, used)
	}
	return total, free
}

// memoryGroups are the directories of this process's control group (version 2) and of its
// ancestors.
func memoryGroups(root fs.FS) (list []string) {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::/")
		if !ok {
			continue
		}
		for ; ; group = path.Dir(group) {
			list = append(list, path.Join("sys/fs/cgroup", group))
			if group == "" || group == "." {
				return list
			}
		}
	}
	return nil
}

// meminfo gives an entry of /proc/meminfo in bytes, 0 if there is none.
func meminfo(text, key string) float64 {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == key {
			n, _ := strconv.ParseFloat(fields[1], 64)
			return n * 1024
		}
	}
	return 0
}

// firstNumber reads the first word of a file as a number; "max" is none.
func firstNumber(root fs.FS, name string) (float64, bool) {
	text, err := fs.ReadFile(root, name)
	fields := strings.Fields(string(text))
	if err != nil || len(fields) == 0 {
		return 0, false
	}
	n, err := strconv.ParseFloat(fields[0], 64)
	return n, err == nil
}
