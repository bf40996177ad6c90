package sweep

import (
	"errors"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers/suggest"
	"go.yaml.in/yaml/v3"
)

// A cell is a value of a row: its text and its type.
type cell struct {
	text string
	kind types.BasicKind // of an untyped constant
}

// cellOf converts a value of the file.
func cellOf(n *yaml.Node) cell {
	switch n.Tag {
	case "!!int":
		return cell{n.Value, types.UntypedInt}
	case "!!float":
		return cell{n.Value, types.UntypedFloat}
	case "!!bool":
		return cell{n.Value, types.UntypedBool}
	}
	return cell{n.Value, types.UntypedString}
}

// number returns a cell as a number.
func (c cell) number() (float64, bool) {
	if c.kind != types.UntypedInt && c.kind != types.UntypedFloat {
		return 0, false
	}
	v, err := strconv.ParseFloat(c.text, 64)
	return v, err == nil
}

func (c cell) constant() constant.Value {
	switch c.kind {
	case types.UntypedInt:
		if digits, ok := strings.CutPrefix(c.text, "-"); ok {
			return constant.UnaryOp(token.SUB, constant.MakeFromLiteral(digits, token.INT, 0), 0)
		}
		return constant.MakeFromLiteral(c.text, token.INT, 0)
	case types.UntypedFloat:
		if sign, ok := strings.CutPrefix(c.text, "-"); ok {
			return constant.UnaryOp(token.SUB, constant.MakeFromLiteral(sign, token.FLOAT, 0), 0)
		}
		return constant.MakeFromLiteral(c.text, token.FLOAT, 0)
	case types.UntypedBool:
		return constant.MakeBool(c.text == "true")
	}
	return constant.MakeString(c.text)
}

// An expression is a Go expression over constants, which are the columns. It is parsed and
// evaluated by Go's type checker.
type expression struct {
	name  string // name of the resulting column
	text  string
	where position
}

// A scope holds the values of a row by column name.
type scope map[string]cell

var undefined = regexp.MustCompile(`undefined: (\w+)`)

// eval returns the value; it is empty if a column that it needs is empty.
func (x *expression) eval(s scope, known []string) (constant.Value, error) {
	pkg := types.NewPackage("row", "row")
	for name, c := range s {
		v := c.constant()
		if v.Kind() == constant.Unknown {
			return nil, x.where.errorf("%s: %q is no number", name, c.text)
		}
		pkg.Scope().Insert(types.NewConst(token.NoPos, pkg, name, types.Typ[c.kind], v))
	}
	got, err := types.Eval(token.NewFileSet(), pkg, token.NoPos, x.text)
	if err != nil {
		what := err.Error()
		if at := strings.LastIndex(what, ": "); at >= 0 && !strings.Contains(what, "undefined") {
			what = what[at+2:]
		}
		if m := undefined.FindStringSubmatch(what); m != nil {
			return nil, x.where.errorf("%s: there is no column %q%s", x.text, m[1], suggest.Nearest(m[1], known))
		}
		return nil, x.where.errorf("%s: %s", x.text, what)
	}
	if got.Value == nil {
		return nil, x.where.errorf("%s: expected a value", x.text)
	}
	return got.Value, nil
}

// isAbsent reports whether an expression could not be evaluated because a column is empty.
func isAbsent(err error) bool { return strings.Contains(err.Error(), "there is no column") }

// holds evaluates a condition.
func (x *expression) holds(s scope, known []string) (bool, error) {
	v, err := x.eval(s, known)
	if err != nil {
		return false, err
	}
	if v.Kind() != constant.Bool {
		return false, x.where.errorf("%s: expected a condition", x.text)
	}
	return constant.BoolVal(v), nil
}

// number evaluates to a cell. Integer columns are treated as floats, so that quotients are not
// truncated.
func (x *expression) number(s scope, known []string) (cell, error) {
	floats := scope{}
	for name, c := range s {
		if c.kind == types.UntypedInt {
			c.kind = types.UntypedFloat
		}
		floats[name] = c
	}
	v, err := x.eval(floats, known)
	if err != nil {
		return cell{}, err
	}
	switch v.Kind() {
	case constant.String:
		return cell{constant.StringVal(v), types.UntypedString}, nil
	case constant.Bool:
		return cell{v.String(), types.UntypedBool}, nil
	}
	f, _ := constant.Float64Val(v)
	return cell{strconv.FormatFloat(f, 'g', -1, 64), types.UntypedFloat}, nil
}

// conditions parses expressions without a name.
func (r *reader) conditions(e entry) (list []expression, err error) {
	var errs []error
	for _, n := range r.list(e.value) {
		text, err := r.text(n, e.key)
		errs = append(errs, err)
		list = append(list, expression{text: text, where: r.at(n)})
	}
	return list, errors.Join(errs...)
}

func (r *reader) derived(e entry) (list []expression, err error) {
	entries, err := r.mapping(e.value, e.key, nil)
	errs := []error{err}
	for _, x := range entries {
		text, err := r.text(x.value, x.key)
		errs = append(errs, err)
		list = append(list, expression{x.key, text, x.where})
	}
	return list, errors.Join(errs...)
}
