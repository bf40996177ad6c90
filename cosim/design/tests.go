package design

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/nicloop/nicloop/drivers"
)

// TestsDir is the folder of the design's tests, or "".
func (d *Description) TestsDir() string {
	if d.Tests == "" {
		return ""
	}
	return d.path(d.Tests)
}

// TestedBy returns the description whose key tests names a folder. It looks into the folder above
// and all folders in that; "" means that none does. Files that are no descriptions do not
// count.
func TestedBy(dir string) (file string, err error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("%w: tests: %w", drivers.ErrConfig, err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return "", err
	}
	var found []string
	above := filepath.Join(dir, "..")
	for _, pattern := range []string{filepath.Join(above, "*.yaml"), filepath.Join(above, "*", "*.yaml")} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			d, err := Load(name)
			if err != nil || d.Tests == "" {
				continue
			}
			tests, err := filepath.EvalSymlinks(d.TestsDir())
			if err != nil {
				continue
			}
			if tests, err = filepath.Abs(tests); err == nil && tests == real {
				found = append(found, name)
			}
		}
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%w: %s is the tests of %s: select one with --device design:FILE", drivers.ErrConfig, dir, strings.Join(found, " and "))
}
