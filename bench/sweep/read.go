package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/suggest"
	"go.yaml.in/yaml/v3"
)

// An Error describes a mistake in a file and its position.
type Error struct {
	File string
	Line int
	What string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.What) }

// Unwrap classifies it as a configuration error.
func (e *Error) Unwrap() error { return drivers.ErrConfig }

// ordered joins the mistakes of a file in order of their lines, each once.
func ordered(errs ...error) error {
	var list []*Error
	var others []error
	var walk func(err error)
	walk = func(err error) {
		var e *Error
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, err := range joined.Unwrap() {
				walk(err)
			}
		} else if errors.As(err, &e) {
			list = append(list, e)
		} else if err != nil {
			others = append(others, err)
		}
	}
	walk(errors.Join(errs...))
	slices.SortStableFunc(list, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	list = slices.CompactFunc(list, func(a, b *Error) bool { return *a == *b })
	for _, e := range list {
		others = append(others, e)
	}
	return errors.Join(others...)
}

// A position is a line of a file.
type position struct {
	file string
	line int
}

func (p position) errorf(format string, args ...any) error {
	return &Error{p.file, p.line, fmt.Sprintf(format, args...)}
}

// A reader walks the nodes of a file.
type reader struct{ file string }

func (r *reader) at(n *yaml.Node) position { return position{r.file, n.Line} }

// An entry is a key with its value.
type entry struct {
	key   string
	where position
	value *yaml.Node
}

// mapping returns the entries of a mapping in order, and all its mistakes. If known is not nil,
// keys must be listed there.
func (r *reader) mapping(n *yaml.Node, what string, known []string) (list []entry, err error) {
	if n.Kind != yaml.MappingNode {
		return nil, r.at(n).errorf("%s: expected keys with values", what)
	}
	var errs []error
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		switch {
		case known != nil && !slices.Contains(known, k.Value):
			errs = append(errs, r.at(k).errorf("unknown key %q in %s%s; known: %s", k.Value, what, suggest.Nearest(k.Value, known), strings.Join(known, ", ")))
		case slices.ContainsFunc(list, func(e entry) bool { return e.key == k.Value }):
			errs = append(errs, r.at(k).errorf("key %q stands twice in %s", k.Value, what))
		default:
			list = append(list, entry{k.Value, r.at(k), n.Content[i+1]})
		}
	}
	return list, errors.Join(errs...)
}

// list returns the elements of a list; a single value is a list of one.
func (r *reader) list(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.SequenceNode {
		return n.Content
	}
	return []*yaml.Node{n}
}

// text returns a scalar.
func (r *reader) text(n *yaml.Node, what string) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return "", r.at(n).errorf("%s: expected one value", what)
	}
	return n.Value, nil
}

func (r *reader) texts(n *yaml.Node, what string) (all []string, err error) {
	for _, x := range r.list(n) {
		s, err := r.text(x, what)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, r.at(n).errorf("%s: expected at least one value", what)
	}
	return all, nil
}

// decode decodes a scalar, for example a number.
func (r *reader) decode(n *yaml.Node, what string, to any) error {
	if err := n.Decode(to); err != nil {
		return r.at(n).errorf("%s: %q is no %T", what, n.Value, deref(to))
	}
	return nil
}

func deref(to any) any {
	switch v := to.(type) {
	case *int:
		return *v
	case *int64:
		return *v
	case *float64:
		return *v
	}
	return to
}

var lineOf = regexp.MustCompile(`line (\d+): `)

// document parses a file.
func (r *reader) document(text []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		line, what := 1, strings.TrimPrefix(err.Error(), "yaml: ")
		if m := lineOf.FindStringSubmatch(what); m != nil {
			if _, serr := fmt.Sscan(m[1], &line); serr != nil {
				return nil, errors.Join(err, serr)
			}
			what = strings.Replace(what, m[0], "", 1)
		}
		return nil, position{r.file, line}.errorf("%s", what)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, position{r.file, 1}.errorf("the file is empty")
	}
	if n := aliased(&doc); n != nil {
		return nil, r.at(n).errorf("anchors and aliases are not read: write it twice")
	}
	return doc.Content[0], nil
}

// aliased finds an alias or anchor, whose contents would appear elsewhere than written.
func aliased(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return n
	}
	for _, c := range n.Content {
		if found := aliased(c); found != nil {
			return found
		}
	}
	return nil
}
