package usertests

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// released matches versions that the go command can fetch. A version of a modified checkout ends
// with +dirty.
var released = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+[-.0-9A-Za-z]*$`)

// EnsureModule writes a go.mod for the folder of tests if neither it nor a folder above has one.
// It returns the file, or "" if there was one. required is false if the version of this program
// cannot be fetched, so that the user must name one.
func EnsureModule(dir string) (file string, required bool, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", false, err
	}
	for d := abs; ; d = filepath.Dir(d) {
		switch _, err := os.Stat(filepath.Join(d, "go.mod")); {
		case err == nil:
			return "", true, nil
		case !errors.Is(err, os.ErrNotExist):
			return "", false, err
		}
		if d == filepath.Dir(d) {
			break
		}
	}
	text := "module tests\n\ngo 1.26.0\n"
	info, ok := debug.ReadBuildInfo()
	switch src := checkout(); {
	case src != "":
		text += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %[1]s => %s\n", module, quoted(src))
		required = true
	case ok && info.Main.Path == module && released.MatchString(info.Main.Version):
		text += fmt.Sprintf("\nrequire %s %s\n", module, info.Main.Version)
		required = true
	}
	file = filepath.Join(dir, "go.mod")
	return file, required, os.WriteFile(file, []byte(text), 0o666)
}

// checkout is the folder of the sources that this program was built from, or "" if they are not on
// this machine or belong to the module cache.
func checkout() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) { // built with -trimpath
		return ""
	}
	root := filepath.Join(filepath.Dir(file), "..", "..")
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || !bytes.HasPrefix(text, []byte("module "+module+"\n")) || strings.Contains(root, "@") {
		return ""
	}
	return root
}

// quoted is a path for go.mod.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t\"'`,()") {
		return strconv.Quote(path)
	}
	return path
}
