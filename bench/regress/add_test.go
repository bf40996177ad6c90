package regress

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAdd(t *testing.T) {
	defer func() { added.tests = nil }()
	run := func(*T) error { return nil }
	Add(Test{Name: "mine/first", Run: run}, Test{Name: "mine/second", Run: run})
	require.Equal(t, []string{"mine/first", "mine/second"}, names(Added()))
	require.PanicsWithValue(t, `regress: test "mine/first" is added twice`, func() { Add(Test{Name: "mine/first", Run: run}) })
	require.Panics(t, func() { Add(Test{Name: "mine/third"}) })
	list, err := Select(Added(), []string{"mine/sec*"})
	require.NoError(t, err)
	require.Equal(t, []string{"mine/second"}, names(list))
}
