package dpi

import (
	"embed"
	"io/fs"
)

//go:embed src/*.h src/*.cpp
var embedded embed.FS

// Sources are the C++ files, headers included.
var Sources = sub(embedded, "src")

// SimulatorFiles are those that make the simulator, in link order.
var SimulatorFiles = []string{"main.cpp", "transport.cpp", "decode.cpp", "bridge.cpp", "dpi.cpp", "log.cpp"}

func sub(all embed.FS, dir string) fs.FS {
	f, err := fs.Sub(all, dir)
	if err != nil {
		panic(err) // dir is a constant of this file
	}
	return f
}
