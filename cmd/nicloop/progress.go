package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/cheggaaa/pb/v3"
	"golang.org/x/term"
)

// progress is a progress bar. It appears on a terminal only, after two seconds.
type progress struct {
	mu    sync.Mutex
	out   io.Writer // nil: not a terminal
	lines io.Writer
	bar   *pb.ProgressBar
	begin time.Time // start of the operation
	first mark
	what  string
	shown bool
}

// A mark is the progress at a time.
type mark struct {
	at   time.Time
	done int64
}

const (
	quietFor = 2 * time.Second
	barShape = `{{string . "what"}} {{percent .}} {{bar . "[" "=" ">" " " "]"}} {{counters .}} [{{etime .}}:{{rest .}}]`
)

func newBar(out io.Writer, what string) *progress {
	p := &progress{begin: time.Now(), what: what, lines: out}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.out = out
	}
	return p
}

// describe shows what happens before the first step, such as a build, also in a log.
func (p *progress) describe(what string) {
	p.above(func() { fmt.Fprintln(p.lines, what) })
}

// above calls write, which prints above the bar, and redraws the bar.
func (p *progress) above(write func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.out, "\r\033[K")
	}
	write()
}

// set updates the bar. Its clock advances between two calls, which may be minutes apart.
func (p *progress) set(done, of int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil {
		return
	}
	if p.first.at.IsZero() {
		p.first = mark{time.Now(), int64(done)}
	}
	if p.bar == nil || p.bar.Total() != int64(of) {
		p.hide()
		p.bar = pb.New(of).SetTemplateString(barShape).SetWriter(p.out).SetMaxWidth(100).
			Set("what", p.what).Set("first", p.first).Set(pb.CleanOnFinish, true).Set(pb.TimeRound, time.Second)
	}
	p.bar.SetCurrent(int64(done))
	if !p.shown && done > 0 && time.Since(p.begin) >= quietFor {
		p.bar.Start()
		p.shown = true
	}
}

// rest is the bar's estimate of the remaining time, from the average time per step so far. The
// library's estimate uses the last moments only, in which no step may have ended.
func rest(s *pb.State, _ ...string) string {
	first, ok := s.Get("first").(mark)
	if !ok || s.Value() <= first.done {
		return "?"
	}
	each := s.Time().Sub(first.at) / time.Duration(s.Value()-first.done)
	return (each * time.Duration(s.Total()-s.Value())).Round(time.Second).String()
}

func init() { pb.RegisterElement("rest", pb.ElementFunc(rest), false) }

func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hide()
}

func (p *progress) hide() {
	if p.shown {
		p.bar.Finish()
	}
	p.shown = false
}

// withTimeout returns a context that ends after d if d is set.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("%w after %v of real time (--timeout)", errTimeUp, d))
}
