package batch

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Local runs tasks on this machine, jobs at a time. done is called as each task ends, never
// concurrently; an error of done ends all tasks.
func Local(ctx context.Context, program string, tasks []Task, jobs int, done func(i int, r Record) error) error {
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(max(1, jobs))
	var mu sync.Mutex
	for i, t := range tasks {
		g.Go(func() error {
			r, err := Perform(inner, program, t)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			return done(i, r)
		})
	}
	err := g.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
