package build

import (
	"slices"
	"strings"
)

// sharedFlags compile the code of a shared object that several sessions of one process load, each
// as a separate copy.
//
// Only the declarations of inside.h are exported, so internal calls are as direct as in a program,
// and the objects of two sessions share nothing. Thread-local variables use descriptors (gnu2),
// which cost less than a call. VL_PRINTF refers to stdout, for which inside.cpp substitutes its
// own.
var sharedFlags = []string{
	"-fPIC", "-fvisibility=hidden", "-fno-semantic-interposition", "-fno-gnu-unique", "-mtls-dialect=gnu2", "-DVL_PRINTF(...)=fprintf(stdout,__VA_ARGS__)",
}

// Exports of the shared object.
const (
	exportsFile = "exports.map"
	exports     = "{ global: nicloop_inside; local: *; };\n"
)

func (l library) programName() string {
	if l.shared {
		return "inside.so"
	}
	return "program"
}

func (l library) flags() []string {
	if l.shared {
		return append(slices.Clone(programFlags), sharedFlags...)
	}
	flags := slices.Clone(programFlags)
	if l.counts {
		flags = append(flags, "-DVM_COVERAGE=1")
	}
	return flags
}

func (l library) linkFlags() []string {
	if l.shared {
		return []string{"-shared", "-Wl,--version-script=" + exportsFile, "-Wl,-Bsymbolic", "-Wl,--no-undefined", "-Wl,-z,now"}
	}
	return nil
}

// quoted is a list of arguments for the shell started by make.
func quoted(args []string) string {
	list := make([]string, len(args))
	for i, a := range args {
		if list[i] = a; strings.ContainsAny(a, "()'\"$ ") {
			list[i] = "'" + a + "'"
		}
	}
	return strings.Join(list, " ")
}
