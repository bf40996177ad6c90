package regress

import (
	"bytes"
	"fmt"
)

// Fail makes the test fail with this error, whatever its function returns. The first call counts:
// errors that follow are consequences. Helpers whose calls return no error use it.
func (t *T) Fail(err error) {
	if t.failed == nil {
		t.failed = err
	}
}

// Failed returns the error of the first call of Fail, or nil.
func (t *T) Failed() error { return t.failed }

// Same compares bytes. The error names the first difference and counts all of them.
func (t *T) Same(found, expected []byte) error {
	if len(found) != len(expected) {
		return fmt.Errorf("found %d bytes, expected %d", len(found), len(expected))
	}
	if bytes.Equal(found, expected) {
		return nil
	}
	first, count := -1, 0
	for i := range found {
		if found[i] != expected[i] {
			if first < 0 {
				first = i
			}
			count++
		}
	}
	return fmt.Errorf("byte %#x of %#x is %#02x, expected %#02x; %d bytes differ", first, len(found), found[first], expected[first], count)
}
