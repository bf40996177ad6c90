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

// An OpenFunc opens a URI of its scheme. path is the part between scheme and query; keys are the
// query, already validated against the registered keys.
type OpenFunc func(ctx context.Context, path string, keys map[string]string, opt Options) (System, error)

// A Key is a key that a URI of a scheme accepts. Value is its default, or an example.
type Key struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Doc   string `json:"doc,omitempty"` // empty: the key exists only to be rejected
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
	// prepare does the slow part of open that is needed only once; may be nil.
	prepare PrepareFunc
	// repeats reports whether open accepts Options.Checkpoints with these keys; nil: never.
	repeats func(keys map[string]string) bool
	loops   func(path string, keys map[string]string) bool
	// found: the backend discovers its nodes; the caller does not choose their number.
	found bool
	// around: the backend wraps the device of another URI; parts splits the two.
	around *around
}

type around struct {
	form  string // of the part before the inner URI: "FILE!"
	parts func(path string) (own, uri string, ok bool)
}

// An OpenAroundFunc opens a device that wraps the device of another URI.
type OpenAroundFunc func(ctx context.Context, own, uri string, opt Options) (System, error)

// A PrepareFunc does in advance the slow part of the first Open of a kind of machine, such as
// building it.
type PrepareFunc func(ctx context.Context, path string, keys map[string]string, opt Options) error

var backends []backend

// Register adds a scheme and the query keys that it accepts. It is called from init functions and
// panics if the scheme is already registered.
func Register(scheme, doc string, keys []Key, open OpenFunc) {
	for _, b := range backends {
		if b.scheme == scheme {
			panic("drivers: scheme registered twice: " + scheme)
		}
	}
	backends = append(backends, backend{scheme: scheme, keys: keys, doc: doc, open: open})
	slices.SortFunc(backends, func(a, b backend) int { return strings.Compare(a.scheme, b.scheme) })
}

// RegisterPrepare sets the function that Prepare calls for a registered scheme.
func RegisterPrepare(scheme string, prepare PrepareFunc) {
	registered(scheme).prepare = prepare
}

// RegisterRepeats declares with which keys a registered scheme accepts Options.Checkpoints.
func RegisterRepeats(scheme string, repeats func(keys map[string]string) bool) {
	registered(scheme).repeats = repeats
}

// RegisterLoops declares which devices of a registered scheme are a single NIC in loopback: it
// receives what it sends, and all node numbers are itself.
func RegisterLoops(scheme string, loops func(path string, keys map[string]string) bool) {
	registered(scheme).loops = loops
}

// RegisterFound declares that a registered scheme discovers its nodes, so that Options.Nodes of 0
// means all.
func RegisterFound(scheme string) {
	registered(scheme).found = true
}

// RegisterAround adds a scheme whose devices wrap others: scheme:FORM, followed by another URI with
// its keys. parts splits the two.
func RegisterAround(scheme, doc, form string, parts func(path string) (own, uri string, ok bool), open OpenAroundFunc) {
	Register(scheme, doc, nil, func(ctx context.Context, path string, _ map[string]string, opt Options) (System, error) {
		own, uri, _ := parts(path) // resolve has checked it
		return open(ctx, own, uri, opt)
	})
	registered(scheme).around = &around{form, parts}
}

// innermostURI strips all wrapping schemes from a URI.
func innermostURI(uri string) string {
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
	err = checkLayout(sys, opt.Segments)
	if err == nil && opt.Needs != 0 {
		err = Require(sys, opt.Needs)
	}
	if err != nil {
		return nil, errors.Join(err, sys.Close())
	}
	return sys, nil
}

// Prepare does the slow steps of Open, such as building a simulator, in advance. It reports them to
// opt.Progress.
func Prepare(ctx context.Context, uri string, opt Options) error {
	b, path, keys, err := resolve(innermostURI(uri))
	if err != nil || b.prepare == nil {
		return err
	}
	return b.prepare(ctx, path, keys, opt)
}

// Check validates a URI as far as possible without opening it: its scheme and its keys.
func Check(uri string) error {
	_, _, _, err := resolve(uri)
	return err
}

// Prepares reports whether Prepare does anything for a URI.
func Prepares(uri string) bool {
	b, _, _, err := resolve(innermostURI(uri))
	return err == nil && b.prepare != nil
}

// Found reports whether the backend of a URI discovers its nodes, so that Options.Nodes may be 0.
func Found(uri string) bool {
	b, _, _, err := resolve(innermostURI(uri))
	return err == nil && b.found
}

// Loops reports whether a URI names a single NIC in loopback: a small board, or the only one on a
// serial line.
func Loops(uri string) bool {
	b, path, keys, err := resolve(uri)
	return err == nil && b.loops != nil && b.loops(path, keys)
}

// Repeats reports whether Open accepts Options.Checkpoints for a URI and returns a Repeater then.
func Repeats(uri string) bool {
	b, _, keys, err := resolve(uri)
	return err == nil && b.repeats != nil && b.repeats(keys)
}

// resolve finds the backend of a URI and validates its keys.
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
	return &backends[i], unescapePath.Replace(path), keys, nil
}

// unescapePath lets a path contain the character that ends it in a URI: %3F is a question mark, %25
// a percent sign.
var unescapePath = strings.NewReplacer("%3F", "?", "%3f", "?", "%25", "%")

// Names returns the names of keys.
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

// Nearest returns `, did you mean "x"?` for the candidate nearest to name, or "" if none is near.
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
