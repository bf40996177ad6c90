// Package registry maps URI schemes to backends and opens devices. A program imports the backends
// that it ships, or drivers/all for every one; each registers itself in its init function. An
// unknown scheme or URI key is an error that names the missing import or the nearest valid name.
package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/segment"
	"github.com/nicloop/nicloop/drivers/suggest"
)

// A Key is a key that a URI of a scheme accepts. Value is its default, or an example.
type Key struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Doc   string `json:"doc,omitempty"` // empty: the key exists only to be rejected
	// SameKind: devices that differ only in this key are of one kind. Their simulated cycles are
	// compared with each other, see Kind.
	SameKind bool `json:"-"`
}

// A Backend opens the devices of one URI scheme. Exactly one of Open and Wrapper is set; the other
// functions are optional.
type Backend struct {
	Scheme string `json:"scheme"`
	Doc    string `json:"doc"`
	Keys   []Key  `json:"keys"`

	// Open opens a device. path is the part of the URI between scheme and query; keys are the
	// query, already validated against Keys.
	Open func(ctx context.Context, path string, keys map[string]string, opt drivers.Options) (drivers.System, error) `json:"-"`
	// Wrapper is set for a scheme whose devices wrap the device of another URI.
	Wrapper *Wrapper `json:"-"`
	// Prepare does the slow part of the first Open of a kind of machine in advance, such as
	// building it.
	Prepare func(ctx context.Context, path string, keys map[string]string, opt drivers.Options) error `json:"-"`
	// Validate checks everything that is known without opening the device: the values of the keys,
	// and that the files and ports they name exist.
	Validate func(path string, keys map[string]string) error `json:"-"`
	// CanRepeat reports whether Open accepts Options.Checkpoints with these keys; nil: never.
	CanRepeat func(keys map[string]string) bool `json:"-"`
	// IsLoopback reports whether a device is a single NIC in loopback: it receives what it sends,
	// and all node numbers are itself; nil: never.
	IsLoopback func(path string, keys map[string]string) bool `json:"-"`
	// Registers returns the register map of a device without opening it; nil: that of package regs.
	Registers func(path string, keys map[string]string) (*regmap.Map, error) `json:"-"`
	// Outputs returns the names of the files that an opened device writes; nil: none.
	Outputs func(keys map[string]string) []string `json:"-"`
	// DiscoversNodes: the backend finds its nodes, so that Options.Nodes of 0 means all.
	DiscoversNodes bool `json:"-"`
}

// A Wrapper describes a scheme of URIs scheme:FORM followed by another URI with its keys.
type Wrapper struct {
	Form string // of the part before the inner URI: "FILE!"
	// Split separates the wrapper's own part of a path from the inner URI.
	Split func(path string) (own, uri string, ok bool)
	Open  func(ctx context.Context, own, uri string, opt drivers.Options) (drivers.System, error)
	// Output returns the name of the file that an opened device writes; nil: none.
	Output func(own string) string
}

var backends []Backend

// Register adds a backend. It is called from init functions and panics if the scheme is already
// registered.
func Register(b Backend) {
	if find(b.Scheme) != nil {
		panic("registry: scheme registered twice: " + b.Scheme)
	}
	backends = append(backends, b)
	slices.SortFunc(backends, func(a, b Backend) int { return strings.Compare(a.Scheme, b.Scheme) })
}

// Backends lists the registered backends in the order of their schemes.
func Backends() []Backend { return slices.Clone(backends) }

func find(scheme string) *Backend {
	i := slices.IndexFunc(backends, func(b Backend) bool { return b.Scheme == scheme })
	if i < 0 {
		return nil
	}
	return &backends[i]
}

// innermostURI strips all wrapping schemes from a URI.
func innermostURI(uri string) string {
	for {
		b, path, _, err := resolve(uri)
		if err != nil || b.Wrapper == nil {
			return uri
		}
		_, uri, _ = b.Wrapper.Split(path)
	}
}

func (b *Backend) openPath(ctx context.Context, path string, keys map[string]string, opt drivers.Options) (drivers.System, error) {
	if b.Wrapper != nil {
		own, uri, _ := b.Wrapper.Split(path) // resolve has checked it
		return b.Wrapper.Open(ctx, own, uri, opt)
	}
	return b.Open(ctx, path, keys, opt)
}

// Open opens a URI such as "rtl:" or "rtl:?vc_depth=8".
func Open(ctx context.Context, uri string, opt drivers.Options) (drivers.System, error) {
	b, path, keys, err := resolve(uri)
	if err != nil {
		return nil, err
	}
	sys, err := b.openPath(ctx, path, keys, opt)
	if err != nil {
		return nil, err
	}
	logs.Layer(opt.Log, "drivers").WithFields(logrus.Fields{"device": uri, "nodes": opt.Nodes, "memory_bytes": opt.MemoryBytes, "traced": opt.Trace != nil}).Debug("device opened")
	err = segment.CheckLayout(sys, opt.Segments)
	if err == nil && opt.Needs != 0 {
		err = drivers.Require(sys, opt.Needs)
	}
	if err != nil {
		return nil, errors.Join(err, sys.Close())
	}
	return sys, nil
}

// Prepare does the slow steps of Open, such as building a simulator, in advance. It reports them to
// opt.Progress.
func Prepare(ctx context.Context, uri string, opt drivers.Options) error {
	b, path, keys, err := resolve(innermostURI(uri))
	if err != nil || b.Prepare == nil {
		return err
	}
	return b.Prepare(ctx, path, keys, opt)
}

// Check validates a URI as far as possible without opening it: its scheme and its keys.
func Check(uri string) error {
	_, _, _, err := resolve(uri)
	return err
}

// Validate checks a URI as Check does, and the values of its keys.
func Validate(uri string) error {
	b, path, keys, err := resolve(innermostURI(uri))
	if err != nil || b.Validate == nil {
		return err
	}
	if err := b.Validate(path, keys); err != nil {
		return fmt.Errorf("device %q: %w", uri, err)
	}
	return nil
}

// NeedsPreparation reports whether Prepare does anything for a URI.
func NeedsPreparation(uri string) bool {
	b, _, _, err := resolve(innermostURI(uri))
	return err == nil && b.Prepare != nil
}

// DiscoversNodes reports whether the backend of a URI discovers its nodes, so that Options.Nodes
// may be 0.
func DiscoversNodes(uri string) bool {
	b, _, _, err := resolve(innermostURI(uri))
	return err == nil && b.DiscoversNodes
}

// Registers returns the register map of the device of a URI without opening it.
func Registers(uri string) (*regmap.Map, error) {
	b, path, keys, err := resolve(innermostURI(uri))
	if err != nil {
		return nil, err
	}
	if b.Registers == nil {
		return regs.Map(), nil
	}
	return b.Registers(path, keys)
}

// Outputs lists the files that the device of a URI writes. Open overwrites them.
func Outputs(uri string) (files []string) {
	for {
		b, path, keys, err := resolve(uri)
		if err != nil {
			return files
		}
		if b.Wrapper == nil {
			if b.Outputs != nil {
				files = append(files, b.Outputs(keys)...)
			}
			return files
		}
		own, inner, _ := b.Wrapper.Split(path)
		if b.Wrapper.Output != nil {
			files = append(files, b.Wrapper.Output(own))
		}
		uri = inner
	}
}

// IsLoopback reports whether a URI names a single NIC in loopback: a small board, or the only one
// on a serial line.
func IsLoopback(uri string) bool {
	b, path, keys, err := resolve(uri)
	return err == nil && b.IsLoopback != nil && b.IsLoopback(path, keys)
}

// CanRepeat reports whether Open accepts Options.Checkpoints for a URI and returns a Repeater then.
func CanRepeat(uri string) bool {
	b, _, keys, err := resolve(uri)
	return err == nil && b.CanRepeat != nil && b.CanRepeat(keys)
}

// resolve finds the backend of a URI and validates its keys.
func resolve(uri string) (b *Backend, path string, keys map[string]string, err error) {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok {
		return nil, "", nil, fmt.Errorf("%w: device %q: expected SCHEME:[PATH][?KEY=VALUE&…], such as rtl:?vc_depth=8", drivers.ErrConfig, uri)
	}
	if b = find(scheme); b == nil {
		return nil, "", nil, fmt.Errorf("%w: device %q: unknown scheme %q%s", drivers.ErrConfig, uri, scheme, remedy(scheme))
	}
	if b.Wrapper != nil {
		_, inner, ok := b.Wrapper.Split(rest)
		if !ok {
			return nil, "", nil, fmt.Errorf("%w: device %q: expected %s:%sDEVICE, for example %q",
				drivers.ErrConfig, uri, scheme, b.Wrapper.Form, scheme+":"+b.Wrapper.Form+"rtl:")
		}
		return b, rest, nil, Check(inner)
	}
	path, query, _ := strings.Cut(rest, "?")
	if keys, err = parseKeys(query, KeyNames(b.Keys)); err != nil {
		return nil, "", nil, fmt.Errorf("%w: device %q: %v", drivers.ErrConfig, uri, err)
	}
	return b, unescapePath.Replace(path), keys, nil
}

const module = "github.com/nicloop/nicloop/"

// packageOf gives the package that registers each scheme of this module, for the error of a program
// that does not import it.
var packageOf = map[string]string{
	"design": "cosim/harness", "ideal": "cosim/ideal", "mixed": "cosim/mixed", "model": "cosim/model", "rtl": "cosim/rtl",
	"pcie": "drivers/pcie", "record": "drivers/record", "replay": "drivers/replay",
	"shared": "drivers/shared", "uart": "drivers/uart",
}

// KnownSchemes lists the schemes of this module, whether or not the program imports their backends.
func KnownSchemes() []string { return slices.Sorted(maps.Keys(packageOf)) }

// remedy completes the error about an unknown scheme: the missing import, or the nearest scheme.
func remedy(scheme string) string {
	if pkg, ok := packageOf[scheme]; ok {
		return fmt.Sprintf(": this program does not import its backend; add import _ %q (or %q, which imports every backend)", module+pkg, module+"drivers/all")
	}
	if len(backends) == 0 {
		return fmt.Sprintf(": this program imports no backend; add import _ %q", module+"drivers/all")
	}
	var names []string
	for _, b := range backends {
		names = append(names, b.Scheme+":")
	}
	return suggest.Nearest(scheme+":", names) + "; known: " + strings.Join(names, " ")
}

// unescapePath lets a path contain the character that ends it in a URI: %3F is a question mark, %25
// a percent sign.
var unescapePath = strings.NewReplacer("%3F", "?", "%3f", "?", "%25", "%")

// KeyNames returns the names of keys.
func KeyNames(keys []Key) (names []string) {
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
			return nil, fmt.Errorf("unknown key %q%s; known: %s", k, suggest.Nearest(k, known), strings.Join(known, " "))
		}
		if len(v) != 1 {
			return nil, fmt.Errorf("key %q is given %d times", k, len(v))
		}
		keys[k] = v[0]
	}
	return keys, nil
}
