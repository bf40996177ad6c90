// Package doctor says which of the tools that nicloop stands on this machine
// has, in which version, and what installs those that are missing.
//
// It promises to change nothing and to need no privileges: it looks up programs,
// asks them for their version and tries the two kernel abilities that the bridge
// needs. Each program has a few seconds to answer. The caller prints the result
// and decides what a missing tool means for it.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/nicloop/nicloop/cosim/vm"
)

// A Tool is the state of one thing that nicloop needs.
type Tool struct {
	Name    string `json:"name"`
	Need    string `json:"need"` // what it is for
	Version string `json:"version,omitempty"`
	Path    string `json:"path,omitempty"`
	OK      bool   `json:"ok"`
	Fix     string `json:"fix,omitempty"` // the command that installs it
	Problem string `json:"problem,omitempty"`
	// Optional: all but one verb works without it.
	Optional bool `json:"optional,omitempty"`
}

type program struct {
	name, need, pkg string
	args            []string
	works           *regexp.Regexp // what it prints if it works; its group, if any, is the version
}

const patience = 10 * time.Second

// What scripts/setup-debian.sh installs.
var programs = []program{
	{"verilator", "simulating the RTL", "verilator", []string{"--version"}, regexp.MustCompile(`Verilator (\S+)`)},
	{"g++", "building the simulator", "g++", []string{"--version"}, regexp.MustCompile(`\) (\d\S*)`)},
	{"make", "building the simulator", "make", []string{"--version"}, regexp.MustCompile(`GNU Make (\S+)`)},
	{"ccache", "building the simulator again in less than a second", "ccache", []string{"--version"}, regexp.MustCompile(`ccache version (\S+)`)},
	{"tshark", "tests of the packet captures", "tshark", []string{"--version"}, regexp.MustCompile(`TShark \S* ?(\d+\.\d+\.\d+)`)},
	{"yosys", "synthesis", "yosys", []string{"-V"}, regexp.MustCompile(`Yosys (\S+)`)},
	{"yosys-smtbmc", "formal proofs", "yosys", []string{"--help"}, regexp.MustCompile(`yosys_smt2_output`)},
	{"z3", "formal proofs", "z3", []string{"--version"}, regexp.MustCompile(`version (\d\S*)`)},
}

// Check looks at everything, in a fixed order.
func Check() []Tool {
	var list []Tool
	for _, p := range programs {
		list = append(list, p.check())
	}
	list = append(list, zlib(), memfd(), sockets())
	list = append(list, optional("--vm", qemu.check(), image())...)
	list = append(list, optional("--mpi", mpirun.check(), fiInfo.check())...)
	list = append(list, optional("--waves", gtkwave.check())...)
	return append(list, optional("--ice40", nextpnr.check(), icepack.check())...)
}

// optional are tools that the setup installs with an option alone.
func optional(option string, tools ...Tool) []Tool {
	for i := range tools {
		t := &tools[i]
		t.Optional = true
		if !t.OK {
			t.Fix = "scripts/setup-debian.sh " + option
		}
	}
	return tools
}

var qemu = program{vm.QEMU, "nicloop vm", "qemu-system-x86", []string{"--version"}, regexp.MustCompile(`QEMU emulator version (\S+)`)}

// What nicloop mpi needs.
var (
	mpirun = program{"mpirun", "nicloop mpi: starting programs", "openmpi-bin", []string{"--version"}, regexp.MustCompile(`\(Open MPI\) (\S+)`)}
	fiInfo = program{"fi_info", "nicloop mpi: libfabric", "libfabric-bin", []string{"--version"}, regexp.MustCompile(`libfabric: (\S+)`)}
)

// gtkwave prints its version only where it finds a display.
var gtkwave = program{"gtkwave", "viewing waveforms", "gtkwave", []string{"--version"},
	regexp.MustCompile(`GTKWave Analyzer v?(\S+)|Usage: gtkwave`)}

// What scripts/bitstream needs.
var (
	nextpnr = program{"nextpnr-ice40", "a bitstream: placing and routing", "nextpnr-ice40", []string{"--version"}, regexp.MustCompile(`\(Version ([^)\s]+)\)`)}
	icepack = program{"icepack", "a bitstream: packing it", "fpga-icestorm", []string{"--help"}, regexp.MustCompile(`Usage: \S*icepack`)}
)

// image looks for what nicloop vm boots.
func image() Tool {
	t := Tool{Name: "vm image", Need: "nicloop vm: the kernel and disk that it boots"}
	dir, err := vm.ImageDir()
	if err == nil {
		err = vm.CheckImage(dir)
	}
	if err != nil {
		return t.fail(err, "")
	}
	t.Path, t.OK = dir, true
	if kernel, err := os.ReadFile(filepath.Join(dir, "kernel")); err == nil {
		t.Version = strings.TrimSpace(string(kernel))
	}
	return t
}

func (p program) check() Tool {
	t := Tool{Name: p.name, Need: p.need}
	path, err := exec.LookPath(p.name)
	if err != nil {
		return t.fail(err, install(p.pkg))
	}
	t.Path = path
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	// The exit status does not tell: yosys-smtbmc fails after printing its help.
	out, err := exec.CommandContext(ctx, path, p.args...).CombinedOutput()
	m := p.works.FindSubmatch(out)
	if m == nil {
		err = errors.Join(fmt.Errorf("%s %s did not print what a working one prints", path, strings.Join(p.args, " ")), err)
		return t.fail(err, install(p.pkg))
	}
	if len(m) > 1 {
		t.Version = string(m[1])
	}
	t.OK = true
	return t
}

func (t Tool) fail(err error, fix string) Tool {
	t.OK, t.Problem, t.Fix = false, err.Error(), fix
	return t
}

func install(pkg string) string { return "apt-get install -y " + pkg }

var zlibVersion = regexp.MustCompile(`#define ZLIB_VERSION "([^"]+)"`)

// zlib looks for the headers that the FST writer of the simulator includes.
func zlib() Tool {
	t := Tool{Name: "zlib.h", Need: "waveforms (FST)"}
	text, err := os.ReadFile(zlibHeader)
	if err != nil {
		return t.fail(err, install("zlib1g-dev"))
	}
	t.Path, t.OK = zlibHeader, true
	if m := zlibVersion.FindSubmatch(text); m != nil {
		t.Version = string(m[1])
	}
	return t
}

var zlibHeader = "/usr/include/zlib.h"
