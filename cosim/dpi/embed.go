package dpi

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
)

//go:embed src/*.h src/*.cpp
var embedded embed.FS

// Sources are the C++ files, headers included.
var Sources = sub(embedded, "src")

// SimulatorFiles are those that make the simulator, besides the headers.
var SimulatorFiles = []string{
	"main.cpp", "arguments.cpp", "checkpoint.cpp", "simulation.cpp", "wiring.cpp", "border.cpp", "crew.cpp", "transport.cpp", "decode.cpp", "bridge.cpp",
	"dpi.cpp", "log.cpp",
}

// BoardFiles are those that make the program of boards on serial lines, besides the headers.
var BoardFiles = []string{"board.cpp", "wiring.cpp"}

// InsideFiles are those that make the model for the host's own process, besides the headers.
var InsideFiles = insideFiles()

// insideFiles replaces what deals with a process and a socket.
func insideFiles() []string {
	outside := []string{"main.cpp", "transport.cpp", "checkpoint.cpp"}
	files := slices.DeleteFunc(slices.Clone(SimulatorFiles), func(name string) bool { return slices.Contains(outside, name) })
	return append(files, "inside.cpp")
}

// Files gives all headers and the named files.
func Files(names ...string) (map[string][]byte, error) {
	headers, err := fs.Glob(Sources, "*.h")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range append(headers, names...) {
		if files[name], err = fs.ReadFile(Sources, name); err != nil {
			return nil, fmt.Errorf("package dpi: %w", err)
		}
	}
	return files, nil
}

func sub(all embed.FS, dir string) fs.FS {
	f, err := fs.Sub(all, dir)
	if err != nil {
		panic(err) // dir is a constant of this file
	}
	return f
}
