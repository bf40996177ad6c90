package search

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// counter goes up to most and, if it may, back to 0.
type counter struct {
	at, most, wrong, badEnd int
	back                    bool
}

var errWrong = errors.New("wrong")

func (c *counter) Enabled() (list []string) {
	if c.at < c.most {
		list = append(list, "inc")
	}
	if c.back && c.at > 0 {
		list = append(list, "back")
	}
	return list
}

func (c *counter) Apply(e string) error {
	if e == "back" {
		c.at = 0
		return nil
	}
	if c.at++; c.at == c.wrong {
		return errWrong
	}
	return nil
}

func (c *counter) Clone() *counter { n := *c; return &n }
func (c *counter) Key() Key        { return Sum(fmt.Append(nil, c.at)) }
func (c *counter) Finished() error {
	if c.at == c.badEnd {
		return errWrong
	}
	return nil
}

func TestRun(t *testing.T) {
	run := func(c counter, limit int) Result[string] {
		r, err := Run(context.Background(), &c, limit)
		require.NoError(t, err)
		return r
	}
	require.Equal(t, Result[string]{States: 4, Transitions: 3, Depth: 4, Ends: 1}, run(counter{most: 3}, 100))
	r := run(counter{most: 3, wrong: 2, back: true}, 100)
	require.ErrorIs(t, r.Violation, errWrong)
	require.Equal(t, []string{"inc", "inc"}, r.Path)
	r = run(counter{most: 3, badEnd: 3}, 100)
	require.ErrorIs(t, r.Violation, errWrong)
	require.Len(t, r.Path, 3)
	r = run(counter{most: 3, back: true}, 100)
	require.ErrorIs(t, r.Violation, ErrEndless)
	require.Empty(t, r.Path)
	require.Equal(t, 4, r.States)
	require.True(t, run(counter{most: 3}, 2).Limited)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Run(ctx, &counter{most: 3}, 100)
	require.ErrorIs(t, err, context.Canceled)
}
