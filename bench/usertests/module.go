package usertests

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
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
	if ok && info.Main.Path == module && released.MatchString(info.Main.Version) {
		text += fmt.Sprintf("\nrequire %s %s\n", module, info.Main.Version)
		required = true
	}
	file = filepath.Join(dir, "go.mod")
	return file, required, os.WriteFile(file, []byte(text), 0o666)
}
