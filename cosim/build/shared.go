package build

import (
	"slices"
	"strings"
)

// sharedFlags compile what goes into a shared object that several sessions of one process load, a
// copy each.
//
// Only what inside.h declares is visible, so calls within the object are as direct as in a program,
// and the objects of two sessions never share a thing. Variables of a thread are found by
// descriptors (gnu2), which cost less than a call. VL_PRINTF names stdout, which inside.cpp has one
// of its own of.
var sharedFlags = []string{
	"-fPIC", "-fvisibility=hidden", "-fno-semantic-interposition", "-fno-gnu-unique", "-mtls-dialect=gnu2", "-DVL_PRINTF(...)=fprintf(stdout,__VA_ARGS__)",
}

// What a shared object shows of itself.
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

// quoted is a list of arguments for the shell that make starts.
func quoted(args []string) string {
	list := make([]string, len(args))
	for i, a := range args {
		if list[i] = a; strings.ContainsAny(a, "()'\"$ ") {
			list[i] = "'" + a + "'"
		}
	}
	return strings.Join(list, " ")
}
