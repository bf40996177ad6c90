package main

import (
	"bytes"
	"context"
	"encoding"
	"encoding/json"
	goflag "flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/bench/runs"
	"github.com/nicloop/nicloop/drivers"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

var update = goflag.Bool("update", false, "write docs/json.md anew")

// withJSON are the verbs that take --json.
func withJSON(cmd *cobra.Command) (list []string) {
	if cmd.Runnable() && !cmd.HasSubCommands() && (cmd.Flags().Lookup("json") != nil || cmd.InheritedFlags().Lookup("json") != nil) {
		list = append(list, strings.TrimPrefix(cmd.CommandPath(), "nicloop "))
	}
	for _, c := range cmd.Commands() {
		list = append(list, withJSON(c)...)
	}
	return list
}

// silent take --json from those above them, and print no document.
var silent = []string{"runs gc"}

// TestEveryVerbHasADocument: who adds --json to a verb says here what it prints.
func TestEveryVerbHasADocument(t *testing.T) {
	var documented []string
	for _, d := range documents {
		documented = append(documented, d.verbs...)
	}
	slices.Sort(documented)
	list := withJSON(newRoot())
	list = slices.DeleteFunc(list, func(verb string) bool { return slices.Contains(silent, verb) })
	slices.Sort(list)
	require.Equal(t, slices.Compact(documented), list)
}

var (
	snake    = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	withUnit = regexp.MustCompile(`(^|_)(ps|ns|us|s|cycles|bytes|mb_per_s|per_s|share|ratio)(_|$)`)
)

// A style holds the types of documents: keys in snake_case, units in those of times and of what is
// no count.
type style struct {
	t    *testing.T
	seen map[reflect.Type]bool
}

func (s *style) check(typ reflect.Type, unit bool) {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		s.check(typ.Elem(), unit)
		return
	case reflect.Struct:
	default:
		return
	}
	if s.seen[typ] && !unit || isText(typ) {
		return
	}
	s.seen[typ] = true
	for i := range typ.NumField() {
		f := typ.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case key == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && key == "":
			s.check(f.Type, unit)
			continue
		}
		require.Regexp(s.t, snake, key, "%v.%s: expected a key in snake_case", typ, f.Name)
		// The name of a figure and the text of a check have the unit.
		inText := typ == reflect.TypeFor[runs.Figure]() || typ == reflect.TypeFor[judge.Interval]()
		named := unit || withUnit.MatchString(key) || inText
		switch leaf := leafOf(f.Type); {
		case leaf == reflect.TypeFor[time.Duration]():
			s.t.Errorf("%v.%s: a time.Duration has no unit in JSON", typ, f.Name)
		case leaf == reflect.TypeFor[drivers.Time]():
			require.Regexp(s.t, `(^|_)ps$`, key, "%v.%s is in picoseconds", typ, f.Name)
		case leaf == reflect.TypeFor[drivers.Cycle]() || leaf.Kind() == reflect.Float64 || leaf.Kind() == reflect.Float32:
			require.True(s.t, named, "%v.%s: key %q names no unit", typ, f.Name, key)
		}
		s.check(f.Type, named)
	}
}

func leafOf(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t
}

// isText: a type that is written as a string.
func isText(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || t == reflect.TypeFor[time.Time]()
}

func TestDocumentStyle(t *testing.T) {
	s := &style{t, map[reflect.Type]bool{}}
	for _, d := range documents {
		require.Regexp(t, snake, d.schema)
		s.check(reflect.TypeOf(d.form), false)
	}
	require.Greater(t, len(s.seen), 30)
}

// anyCode: what somebody's cache holds is no matter of this test.
const anyCode = -1

// examples are verbs as they are typed, with what they print; in order, as runs are remembered
// first.
var examples = []struct {
	schema, line string
	code         int
}{
	{"run", "run pingpong --device model: --sizes 8", 0},
	{"run", "run alltoall --device model: --nodes 4 --procs 2 --slots 8 --overhead", 0},
	{"congestion", "run hotspot --device model: --nodes 9 --nvm 4:1/8 --size 4096", 0},
	{"overlap", "run overlap --device ideal: --sizes 8,4096 --rendezvous rput", 0},
	{"run_failure", "run alltoall --device ideal: --nodes 2 --procs 2 --flow none --slots 1", exitHang},
	{"ranks", "ranks pingpong --device ideal: --sizes 8 --programs 2", 0},
	{"fabric", "fabric mesh:3x3 --rate 0.2,1", 0},
	{"imb", "imb PingPong Barrier --device model: --msglog 3:4 --iter 2", 0},
	{"experiment", "reproduce fc-table3 --out rows", 0},
	{"explorations", "check mailbox --bound 1", 0},
	{"explorations", "check rendezvous --bound 1", 0},
	{"explorations", "check threshold --bound 1", 0},
	{"explorations", "check portals", 0},
	{"explorations", "check rportals", 0},
	{"explorations", "check rdrp", 0},
	{"explorations", "check portals-offload", 0},
	{"explorations", "check iwarp", 0},
	{"run", "run stencil --device ideal: --nodes 8 --size 16384 --iterations 4 --eager-threshold auto", 0},
	{"simulators", "cache list", 0},
	{"tools", "doctor", 0},
	{"version", "version", 0},
	{"device", "device info --device model: --nodes 4 --node 2", 0},
	{"device", "device dump --device model:", 0},
	{"paths", "run alltoall --sizes 64,65536 --local --reuse adapt --eager-threshold auto --explain-paths", 0},
	{"schemes", "device list", 0},
	{"devices", "device scan", 0},
	{"selftest", "device selftest --device model: --samples 8", 0},
	{"selftest", "device selftest --device model:?link_errors=0.01 --check links", exitFailed},
	{"selftest", "device selftest --device record:r.log!model: --samples 8", 0},
	{"replay", "device replay r.log --device ideal:?depth=3", anyCode}, // which has no links
	{"calibration", "calibrate --device model:", 0},
	{"regression", "regress velo/lengths --device model: --seeds 2", 0},
	{"regression", "regress velo/lengths --device ideal:", 0},
	{"regression", "conform velo/kinds --device ideal:", 0},
	{"regression", "regress --only-failed-last --device ideal:", 0},
	{"regression", "regress matching/chunked --device model: --timeout 1ms", exitFailed},
	{"regression", "runs show 1", 0},
	{"sweep", "sweep s.yaml", 0},
	{"sweep", "sweep s.yaml -o more --against nicloop-out/sweep-s", 0},
	{"runs", "runs list", 0},
	{"changes", "runs diff 1 2", 0},
	{"trend", "runs trend velo/*", 0},
	{"budget", "budget", 0},
	{"collectives", "bench collectives allgather --ranks 4 --sizes 64", 0},
	{"simulators", "cache verify", anyCode},
	{"iwarp", "iwarp ping --sizes 8,65536 --iterations 20 --warmup 1", 0},
	{"iwarp", "iwarp ping --sizes 8 --iterations 20 --network ethernet:", 0},
	{"iwarp", "iwarp bandwidth --sizes 2048 --iterations 100 --baseline", 0},
	{"bridge", "bench bridge --starts 1 --rounds 2 --transactions 2", 0},
}

// slow examples take seconds, and another prints the same document.
var slow = []string{"check mailbox --bound 1", "check iwarp", "cache verify"}

// TestEveryDocument runs every verb that has one.
func TestEveryDocument(t *testing.T) {
	t.Chdir(t.TempDir())
	self, err := os.Executable()
	require.NoError(t, err)
	nicloop := filepath.Join(t.TempDir(), "nicloop") // TestMain goes by the name
	require.NoError(t, os.Symlink(self, nicloop))
	executable = func() (string, error) { return nicloop, nil }
	require.NoError(t, os.WriteFile("s.yaml", []byte("{schema: 1, name: s, verb: version, values: {number: description_version}}"), 0o644))
	left := withJSON(newRoot())
	left = slices.DeleteFunc(left, func(verb string) bool { return slices.Contains(silent, verb) })
	left = slices.DeleteFunc(left, func(verb string) bool { return verb == "bisect" }) // TestBisect has a checkout for it
	left = slices.DeleteFunc(left, func(verb string) bool { return verb == "mpi" })    // TestMPIDocument has a program for it
	// TestRpingDocument has a server for it.
	left = slices.DeleteFunc(left, func(verb string) bool { return verb == "iwarp rping" })
	for _, x := range examples {
		left = slices.DeleteFunc(left, func(verb string) bool { return strings.HasPrefix(x.line+" ", verb+" ") })
		if testing.Short() && slices.Contains(slow, x.line) {
			continue
		}
		var out, errOut bytes.Buffer
		code := run(context.Background(), append(strings.Fields(x.line), "--json"), strings.NewReader(""), &out, &errOut)
		if x.code != anyCode {
			require.Equal(t, x.code, code, "%s: %s", x.line, errOut.String())
		}
		checkDocument(t, x.line, x.schema, out.Bytes())
	}
	require.Empty(t, left, "verbs without an example")
}

func checkDocument(t *testing.T, line, schema string, text []byte) {
	var keys map[string]json.RawMessage
	d := json.NewDecoder(bytes.NewReader(text))
	require.NoError(t, d.Decode(&keys), "%s: %s", line, text)
	require.False(t, d.More(), "%s prints more than one document", line)
	require.Equal(t, fmt.Sprintf("%q", schema), string(keys["schema"]), line)
	require.Equal(t, fmt.Sprint(documentVersion), string(keys["schema_version"]), line)
	delete(keys, "schema")
	delete(keys, "schema_version")
	i := slices.IndexFunc(documents, func(x document) bool { return x.schema == schema })
	back, err := json.Marshal(keys)
	require.NoError(t, err)
	form := reflect.New(reflect.TypeOf(documents[i].form).Elem())
	strict := json.NewDecoder(bytes.NewReader(back))
	strict.DisallowUnknownFields()
	require.NoError(t, strict.Decode(form.Interface()), "%s: read again", line)
	again, err := json.Marshal(form.Interface())
	require.NoError(t, err)
	require.JSONEq(t, string(back), string(again), "%s: written again", line)
}

// TestDocs holds docs/json.md, which is made of the types and of the comments beside their fields.
func TestDocs(t *testing.T) {
	const file = "../../docs/json.md"
	want := newBook(t).text()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
	}
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, want == string(got), "docs/json.md is not what the types say; repair: go test ./cmd/nicloop -run TestDocs -update")
}

// A book is the text of docs/json.md in the making.
type book struct {
	t        *testing.T
	b        strings.Builder
	comments map[string]string // of package.Type.Field
	parsed   map[string]bool
	types    []reflect.Type
}

func newBook(t *testing.T) *book {
	return &book{t: t, comments: map[string]string{}, parsed: map[string]bool{}}
}

func (k *book) text() string {
	intro, err := os.ReadFile("testdata/json.md")
	require.NoError(k.t, err)
	fmt.Fprintf(&k.b, "%s", intro)
	for _, d := range documents {
		fmt.Fprintf(&k.b, "\n## %s\n%s\nPrinted by `%s`.\n\n", d.schema, d.what, strings.Join(d.verbs, "`, `"))
		k.table(reflect.TypeOf(d.form).Elem())
	}
	fmt.Fprintf(&k.b, "\n## Parts of documents\n")
	for i := 0; i < len(k.types); i++ { // a part brings others
		fmt.Fprintf(&k.b, "\n### %s\n", k.types[i])
		k.table(k.types[i])
	}
	return k.b.String()
}

func (k *book) table(t reflect.Type) {
	fmt.Fprintf(&k.b, "| key | type | |\n|---|---|---|\n")
	k.rows(t)
}

func (k *book) rows(t reflect.Type) {
	k.read(t.PkgPath())
	for i := range t.NumField() {
		f := t.Field(i)
		key, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case key == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && key == "":
			k.rows(f.Type)
			continue
		}
		name := k.typeName(f.Type)
		if strings.Contains(option, "string") {
			name = "string of a number"
		}
		if strings.Contains(option, "omit") {
			name += ", may be absent"
		}
		fmt.Fprintf(&k.b, "| `%s` | %s | %s |\n", key, name, strings.ReplaceAll(k.comments[t.PkgPath()+"."+t.Name()+"."+f.Name], "|", `\|`))
	}
}

func (k *book) typeName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "time, RFC 3339"
	case isText(t):
		return "string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return k.typeName(t.Elem())
	case reflect.Slice:
		return "list of " + k.typeName(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("list of %d %ss", t.Len(), k.typeName(t.Elem()))
	case reflect.Map:
		return "object of " + k.typeName(t.Elem()) + "s"
	case reflect.Struct:
		if !slices.Contains(k.types, t) {
			k.types = append(k.types, t)
		}
		return "[" + t.String() + "](#" + strings.ToLower(strings.ReplaceAll(t.String(), ".", "")) + ")"
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float64:
		return "number"
	case reflect.Interface:
		return "string or number"
	}
	return "integer"
}

// read takes the comments of a package in.
func (k *book) read(path string) {
	if k.parsed[path] {
		return
	}
	k.parsed[path] = true
	dir := "."
	if path != "github.com/nicloop/nicloop/cmd/nicloop" && path != "main" {
		dir = filepath.Join("../..", strings.TrimPrefix(path, "github.com/nicloop/nicloop/"))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(k.t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(k.t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if fields, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range fields.Fields.List {
					text := strings.TrimSpace(f.Doc.Text() + " " + f.Comment.Text())
					for _, name := range f.Names {
						k.comments[path+"."+spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(text), " ")
					}
				}
			}
			return true
		})
	}
}
