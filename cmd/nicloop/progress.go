package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a progress bar that shows itself on a terminal only, and only when
// something takes longer than two seconds.
type progress struct {
	mu    sync.Mutex
	out   io.Writer // nil: not a terminal
	lines io.Writer
	bar   *progressbar.ProgressBar
	begin time.Time
	what  string
	total int
	drawn bool
}

const quietFor = 2 * time.Second

func newBar(out io.Writer, what string) *progress {
	p := &progress{begin: time.Now(), what: what, lines: out}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.out = out
	}
	return p
}

// describe says what goes on before the first step, such as a build: in a log too.
func (p *progress) describe(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(p.lines, what)
}

// set says how far it is. The bar's clock starts with the first call.
func (p *progress) set(done, of int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil {
		return
	}
	if p.bar == nil || p.total != of {
		p.total = of
		p.bar = progressbar.NewOptions(of, progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription(p.what),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true))
	}
	if done == 0 || time.Since(p.begin) < quietFor {
		return
	}
	// A progress bar that cannot be drawn is no reason to fail.
	_ = p.bar.Set(done)
	p.drawn = true
}

// tick lets the time go on that the bar shows, until stop is called: steps may be
// minutes apart. Before the first one there is nothing to tell the rest from.
func (p *progress) tick() (stop func()) {
	t := time.NewTicker(time.Second)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-t.C:
				p.redraw()
			}
		}
	}()
	return func() { t.Stop(); close(done) }
}

func (p *progress) redraw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		_ = p.bar.RenderBlank()
	}
}

func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		_ = p.bar.Finish()
	}
	p.drawn = false
}

// withTimeout is a context that ends after d, if d is given.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("given up after %v of real time (--timeout)", d))
}
