package regress

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// TestWithoutDeep: a glob or another tag does not select deep tests; their name and their tag do.
func TestWithoutDeep(t *testing.T) {
	list := []Test{{Name: "x/quick", Tags: []string{"x"}}, {Name: "x/deep", Tags: []string{"x", Deep}}}
	for pattern, want := range map[string][]string{
		"x/*": {"x/quick"}, "x": {"x/quick"}, "x/deep": {"x/deep"}, "deep": {"x/deep"}, "*/deep": nil,
	} {
		picked, err := Select(list, []string{pattern})
		require.NoError(t, err)
		kept, removed := WithoutDeep(picked, []string{pattern})
		require.Equal(t, want, names(kept), pattern)
		require.Len(t, removed, len(picked)-len(want), pattern)
	}
}

// TestReasonsOnce: a reason that many tests share is printed once.
func TestReasonsOnce(t *testing.T) {
	same := errors.New("no root complex")
	list := []Outcome{
		{Test: Test{Name: "x/a"}, Status: Skipped, Err: same, finished: true},
		{Test: Test{Name: "x/b"}, Status: Skipped, Err: same, finished: true},
		{Test: Test{Name: "x/a"}, Seed: 2, Status: Skipped, Err: same, finished: true},
		{Test: Test{Name: "x/c"}, Status: Skipped, Err: drivers.ErrNotSupported, finished: true},
	}
	var text strings.Builder
	NewTable(&text, nil).Close(list)
	require.Equal(t, 1, strings.Count(text.String(), "no root complex"))
	require.Contains(t, text.String(), "SKIP 2 tests: x/a x/b\n  no root complex\n")
	require.Contains(t, text.String(), "SKIP x/c: not supported by this backend\n")
}
