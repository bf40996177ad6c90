package drivers

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
)

var logged = logrus.WithField("layer", "drivers")

// An OpenFunc opens the part of a URI behind its scheme. keys are the URI's
// query, already checked against the keys that the scheme was registered with.
type OpenFunc func(ctx context.Context, path string, keys map[string]string, opt Options) (System, error)

// A Key is one that a URI of a scheme may have: an example of its value, or its default, and what it means.
type Key struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Doc   string `json:"doc,omitempty"` // none: it is known only to be refused
}

// A Backend is a registered scheme.
type Backend struct {
	Scheme string `json:"scheme"`
	Doc    string `json:"doc"`
	Keys   []Key  `json:"keys"`
}

type backend struct {
	scheme string
	keys   []Key
	doc    string
	open   OpenFunc
	// prepare does what takes long of open and is needed once; may be nil.
	prepare PrepareFunc
	// repeats: with these keys it takes Options.Checkpoints; nil: never.
	repeats func(keys map[string]string) bool
	loops   func(path string, keys map[string]string) bool
	// found: its nodes are those that are there.
	found bool
	// around: it stands around the device of another URI, which parts finds behind something of its own.
	around *around
}

type around struct {
	form  string // of what stands in front: "FILE!"
	parts func(path string) (own, uri string, ok bool)
}

// An OpenAroundFunc opens a device that stands around that of another URI.
type OpenAroundFunc func(ctx context.Context, own, uri string, opt Options) (System, error)

// A PrepareFunc does beforehand what the first OpenFunc of a kind of machine takes long for, such as building it.
type PrepareFunc func(ctx context.Context, path string, keys map[string]string, opt Options) error

var backends []backend

// Register makes a scheme known. keys are those of the query it understands. It is
// called from init functions; a second registration of a scheme panics.
func Register(scheme, doc string, keys []Key, open OpenFunc) {
	for _, b := range backends {
		if b.scheme == scheme {
			panic("drivers: scheme registered twice: " + scheme)
		}
	}
	backends = append(backends, backend{scheme: scheme, keys: keys, doc: doc, open: open})
	slices.SortFunc(backends, func(a, b backend) int { return strings.Compare(a.scheme, b.scheme) })
}

// RegisterPrepare gives a registered scheme what Prepare calls.
func RegisterPrepare(scheme string, prepare PrepareFunc) {
	registered(scheme).prepare = prepare
}

// RegisterRepeats tells of a registered scheme with which keys Open takes Options.Checkpoints.
func RegisterRepeats(scheme string, repeats func(keys map[string]string) bool) {
	registered(scheme).repeats = repeats
}

// RegisterLoops tells of a registered scheme which of its devices are one NIC that is reached by what it sends, and whose other nodes are itself.
func RegisterLoops(scheme string, loops func(path string, keys map[string]string) bool) {
	registered(scheme).loops = loops
}

// RegisterFound tells of a registered scheme that its nodes are those that are there, so that Options.Nodes of 0 means all.
func RegisterFound(scheme string) {
	registered(scheme).found = true
}

// RegisterAround makes a scheme known whose devices stand around others: scheme:FORM and another URI, with its keys. parts cuts the two.
func RegisterAround(scheme, doc, form string, parts func(path string) (own, uri string, ok bool), open OpenAroundFunc) {
	Register(scheme, doc, nil, func(ctx context.Context, path string, _ map[string]string, opt Options) (System, error) {
		own, uri, _ := parts(path) // resolve has looked
		return open(ctx, own, uri, opt)
	})
	registered(scheme).around = &around{form, parts}
}

// within is the URI of the device that has hardware behind it.
func within(uri string) string {
	for {
		b, path, _, err := resolve(uri)
		if err != nil || b.around == nil {
			return uri
		}
		_, uri, _ = b.around.parts(path)
	}
}

func registered(scheme string) *backend {
	i := slices.IndexFunc(backends, func(b backend) bool { return b.scheme == scheme })
	if i < 0 {
		panic("drivers: no such scheme: " + scheme)
	}
	return &backends[i]
}

// Backends lists the registered schemes.
func Backends() (list []Backend) {
	for _, b := range backends {
		list = append(list, Backend{b.scheme, b.doc, b.keys})
	}
	return list
}

// Open opens a URI such as "rtl:" or "rtl:?vc_depth=8".
func Open(ctx context.Context, uri string, opt Options) (System, error) {
	b, path, keys, err := resolve(uri)
	if err != nil {
		return nil, err
	}
	sys, err := b.open(ctx, path, keys, opt)
	if err != nil {
		return nil, err
	}
	logged.WithFields(logrus.Fields{"device": uri, "nodes": opt.Nodes, "memory_bytes": opt.MemoryBytes, "traced": opt.Trace != nil}).Debug("device opened")
	err = laid(sys, opt.Segments)
	if err == nil && opt.Needs != 0 {
		err = Require(sys, opt.Needs)
	}
	if err != nil {
		return nil, errors.Join(err, sys.Close())
	}
	return sys, nil
}

// Prepare makes sure that Open takes no longer than it must: it builds what has to be built. opt.Progress hears of it.
func Prepare(ctx context.Context, uri string, opt Options) error {
	b, path, keys, err := resolve(within(uri))
	if err != nil || b.prepare == nil {
		return err
	}
	return b.prepare(ctx, path, keys, opt)
}

// Check tells what is wrong with a URI as far as that can be known without opening it: its scheme and its keys.
func Check(uri string) error {
	_, _, _, err := resolve(uri)
	return err
}

// Prepares tells whether Prepare does anything for a URI.
func Prepares(uri string) bool {
	b, _, _, err := resolve(within(uri))
	return err == nil && b.prepare != nil
}

// Found tells whether a URI's nodes are those that are there, and Options.Nodes may be 0.
func Found(uri string) bool {
	b, _, _, err := resolve(within(uri))
	return err == nil && b.found
}

// Loops tells whether a URI names one NIC that is reached by what it sends alone: a small board, or the only one on a serial line.
func Loops(uri string) bool {
	b, path, keys, err := resolve(uri)
	return err == nil && b.loops != nil && b.loops(path, keys)
}

// Repeats tells whether Open takes Options.Checkpoints for a URI, and what it opens is a Repeater then.
func Repeats(uri string) bool {
	b, _, keys, err := resolve(uri)
	return err == nil && b.repeats != nil && b.repeats(keys)
}

// resolve finds the backend of a URI and checks the keys.
func resolve(uri string) (b *backend, path string, keys map[string]string, err error) {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok {
		return nil, "", nil, fmt.Errorf("%w: device %q: expected SCHEME:[PATH][?KEY=VALUE&…], such as rtl:?vc_depth=8", ErrConfig, uri)
	}
	i := slices.IndexFunc(backends, func(b backend) bool { return b.scheme == scheme })
	if i < 0 {
		var names []string
		for _, b := range backends {
			names = append(names, b.scheme+":")
		}
		return nil, "", nil, fmt.Errorf("%w: device %q: unknown scheme %q%s; known: %s",
			ErrConfig, uri, scheme, Nearest(scheme+":", names), strings.Join(names, " "))
	}
	if a := backends[i].around; a != nil {
		_, inner, ok := a.parts(rest)
		if !ok {
			return nil, "", nil, fmt.Errorf("%w: device %q: expected %s:%sDEVICE, for example %q", ErrConfig, uri, scheme, a.form, scheme+":"+a.form+"rtl:")
		}
		return &backends[i], rest, nil, Check(inner)
	}
	path, query, _ := strings.Cut(rest, "?")
	if keys, err = parseKeys(query, Names(backends[i].keys)); err != nil {
		return nil, "", nil, fmt.Errorf("%w: device %q: %v", ErrConfig, uri, err)
	}
	return &backends[i], path, keys, nil
}

// Names are those of keys.
func Names(keys []Key) (names []string) {
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return names
}

func parseKeys(query string, known []string) (map[string]string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for k, v := range values {
		if !slices.Contains(known, k) {
			return nil, fmt.Errorf("unknown key %q%s; known: %s", k, Nearest(k, known), strings.Join(known, " "))
		}
		if len(v) != 1 {
			return nil, fmt.Errorf("key %q is given %d times", k, len(v))
		}
		keys[k] = v[0]
	}
	return keys, nil
}

// Nearest gives `, did you mean "x"?` for the candidate nearest to name, or
// nothing when none is near.
func Nearest(name string, candidates []string) string {
	best, dist := "", 3
	for _, c := range candidates {
		if d := editDistance(name, c); d < dist {
			best, dist = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diag, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diag+cost)
		}
	}
	return row[len(b)]
}
