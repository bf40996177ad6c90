package usertests

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regmap"
)

var testName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*$`)

// New writes a test that passes into a folder, which it makes if necessary, and returns the file.
// registers is the map of the design under test; nil: this project's NIC. It overwrites nothing.
func New(dir, name string, registers *regmap.Map) (file string, err error) {
	if !testName.MatchString(name) {
		return "", fmt.Errorf("%w: test %q: expected AREA/NAME of lower-case letters, digits and hyphens, such as dma/copy-list", drivers.ErrConfig, name)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	pkg, err := packageIn(dir)
	if err != nil {
		return "", err
	}
	// With a hyphen, as the go command ignores files such as my_test.go and my_windows.go.
	file = filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".go")
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%w: %s exists: choose another name for the test, or remove the file", drivers.ErrConfig, file)
	}
	if err != nil {
		return "", err
	}
	text := nicSkeleton
	values := []string{"PACKAGE", pkg, "FUNCTION", functionName(name), "TEST", name}
	if registers != nil {
		text = designSkeleton
		values = append(values, "STATEMENT", firstAccess(registers))
	}
	_, err = f.WriteString(strings.NewReplacer(values...).Replace(text))
	return file, errors.Join(err, f.Close())
}

// packageIn returns the name of the package in a folder, "tests" if it is empty.
func packageIn(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly)
		if err != nil {
			return "", fmt.Errorf("%w: %w", drivers.ErrConfig, err)
		}
		if f.Name.Name == "main" {
			return "", fmt.Errorf("%w: %s is a package main: expected a package that nicloop can import", drivers.ErrConfig, dir)
		}
		return f.Name.Name, nil
	}
	return "tests", nil
}

// functionName makes testDmaCopyList of dma/copy-list.
func functionName(name string) string {
	text := "test"
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '-' }) {
		text += strings.ToUpper(word[:1]) + word[1:]
	}
	return text
}

// firstAccess is the access of the skeleton to a design: a register that the map knows the reset
// value of, or only a read.
func firstAccess(m *regmap.Map) string {
	for _, r := range m.Registers() {
		if r.Access == regmap.RO && !r.Volatile && r.Reset != 0 {
			return fmt.Sprintf("return node.Expect(%q, %#x)", nameOf(&r), r.Reset)
		}
	}
	register := "0x0" // an offset: the design has no map
	if list := m.Registers(); len(list) > 0 && !strings.HasPrefix(list[0].Name, "SIM_") {
		register = nameOf(&list[0])
	}
	return fmt.Sprintf("t.Notef(\"%s is %%#x\", node.Get(%[1]q))\n\treturn nil", register)
}

// nameOf names the first copy of a register.
func nameOf(r *regmap.Register) string {
	if r.Count > 1 {
		return r.Name + "[0]"
	}
	return r.Name
}

const designSkeleton = `package PACKAGE

import (
	"github.com/nicloop/nicloop/bench/designtest"
	"github.com/nicloop/nicloop/bench/regress"
)

func init() {
	regress.Add(regress.Test{
		Name: "TEST", Tags: []string{"smoke"},
		Doc: "the first register can be read", // replace: what the test shows
		Run: FUNCTION,
	})
}

func FUNCTION(t *regress.T) error {
	sys, err := designtest.Open(t, 1, 1<<20) // nodes, bytes of memory per node
	if err != nil {
		return err
	}
	node := sys.Node(0)
	// Draw random data from t.Rand, post writes with node.Set("REGISTER", value), and wait with
	// sys.Until(node.Interrupt(), cycles). t.Same compares bytes.
	STATEMENT
}
`

const nicSkeleton = `package PACKAGE

import (
	"errors"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers/regs"
)

func init() {
	regress.Add(regress.Test{
		Name: "TEST", Tags: []string{"smoke"},
		Doc: "a packet of random bytes arrives", // replace: what the test shows
		Run: FUNCTION,
	})
}

func FUNCTION(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	sender, receiver := nics[0], nics[1]
	if err := errors.Join(sender.Enable(1, 16), receiver.Enable(0, 16)); err != nil { // VPID, slots
		return err
	}
	payload := make([]byte, 40)
	t.Rand.Read(payload) // the same seed gives the same bytes, and the same cycles
	if err := sender.Send(regs.PioFields{SrcVPID: 1, DstNode: receiver.Number()}, payload); err != nil {
		return err
	}
	if err := nictest.Settle(sender.Sys); err != nil {
		return err
	}
	slot, err := receiver.Next(0)
	if err != nil {
		return err
	}
	return t.Same(slot.Payload, payload)
}
`
