package regress

import (
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// Mistakes in calls of Add are errors with the place of the call; tests without them are added.
func TestAdd(t *testing.T) {
	defer func() { added.tests, added.from, added.errs = nil, nil, nil }()
	run := func(*T) error { return nil }
	Add(Test{Name: "mine/first", Run: run}, Test{Name: "mine/second", Run: run})
	require.NoError(t, AddError())
	require.Equal(t, []string{"mine/first", "mine/second"}, names(Added()))
	list, err := Select(Added(), []string{"mine/sec*"})
	require.NoError(t, err)
	require.Equal(t, []string{"mine/second"}, names(list))

	Add(Test{Name: "mine/first", Run: run}, Test{Name: "mine/third"}, Test{Name: "mine/fourth", Run: run})
	for _, name := range []string{"", "mine", "mine/", "-mine/x", "mine/../x", "mine/a b", "a/b/c"} {
		Add(Test{Name: name, Run: run})
		require.ErrorContains(t, AddError(), `: expected a name of the form AREA/NAME`, name)
	}
	require.ErrorIs(t, AddError(), drivers.ErrConfig)
	require.Regexp(t, `: add_test.go:\d+: test "mine/first": this name is taken by the test added in add_test.go:\d+\n`, AddError().Error())
	require.Regexp(t, `: add_test.go:\d+: test "mine/third": it has no function: set Run\n`, AddError().Error())
	require.Equal(t, []string{"mine/first", "mine/second", "mine/fourth"}, names(Added()))
}
