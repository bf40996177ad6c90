package path

import "slices"

// A registry is the table of an engine's paths, in the order in which a send is offered to them,
// and who of them has the optional interfaces.
type registry struct {
	paths       []Path
	fallback    Path
	byKind      [kinds]Path
	progressers []Progresser // in reverse order: the longest messages first
	flushers    []Flusher    // likewise
	wakers      []Waker
	notified    []Notified
	claimants   []Claimant
	onSend      []SendObserver
	onArrival   []ArrivalObserver
	onMatch     []MatchObserver
	glancers    []Glancer
	offerers    []Offerer
	profilers   []Profiler
	deferrers   []Deferrer
	limiters    []Limiter
	local       Shortcut
}

// Add adds a path behind the others; messages of the given kinds are delivered to it.
func (e *Engine) Add(p Path, kinds ...Kind) {
	e.paths = append(e.paths, p)
	e.enter(p, kinds)
}

// AddFallback adds the path to which a send is offered when no other has taken it.
func (e *Engine) AddFallback(p Path, kinds ...Kind) {
	e.fallback = p
	e.enter(p, kinds)
}

func (e *Engine) enter(p Path, kinds []Kind) {
	for _, k := range kinds {
		e.byKind[k] = p
	}
	if x, ok := p.(Assembler); ok {
		e.eager = x
	}
	if x, ok := p.(Shortcut); ok {
		e.local = x
	}
	if x, ok := p.(Progresser); ok {
		e.progressers = append([]Progresser{x}, e.progressers...)
	}
	if x, ok := p.(Flusher); ok {
		e.flushers = append([]Flusher{x}, e.flushers...)
	}
	enlist(p, &e.wakers)
	enlist(p, &e.notified)
	enlist(p, &e.claimants)
	enlist(p, &e.onSend)
	enlist(p, &e.onArrival)
	enlist(p, &e.onMatch)
	enlist(p, &e.glancers)
	enlist(p, &e.offerers)
	enlist(p, &e.profilers)
	enlist(p, &e.deferrers)
	enlist(p, &e.limiters)
}

// enlist appends p to a list if it has the interface of its elements.
func enlist[T any](p Path, list *[]T) {
	if x, ok := p.(T); ok {
		*list = append(*list, x)
	}
}

// Paths lists the paths in the order in which a send is offered to them.
func (e *Engine) Paths() []Path { return append(slices.Clone(e.paths), e.fallback) }
