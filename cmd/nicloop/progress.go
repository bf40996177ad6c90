package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a progress bar that shows itself on a terminal only, and only when
// something takes longer than two seconds.
type progress struct {
	out   io.Writer
	bar   *progressbar.ProgressBar
	begin time.Time
	what  string
	total int
}

const quietFor = 2 * time.Second

func newBar(out io.Writer, what string) *progress {
	p := &progress{begin: time.Now(), what: what}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.out = out
	}
	return p
}

// describe says what goes on before the first step, such as a build.
func (p *progress) describe(what string) {
	if p.out != nil {
		fmt.Fprintf(p.out, "%s\n", what)
	}
}

func (p *progress) set(done, of int) {
	if p.out == nil || time.Since(p.begin) < quietFor {
		return
	}
	if p.bar == nil || p.total != of {
		p.total = of
		p.bar = progressbar.NewOptions(of, progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription(p.what),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true))
	}
	// A progress bar that cannot be drawn is no reason to fail.
	_ = p.bar.Set(done)
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// withTimeout is a context that ends after d, if d is given.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("given up after %v of real time (--timeout)", d))
}
