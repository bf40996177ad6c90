package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite"
	"github.com/nicloop/nicloop/docs"
	"github.com/stretchr/testify/require"
)

// A block is code between two fences of a page.
type block struct {
	page       string
	line       int
	annotation string // of the HTML comment before it
	language   string
	code       string
}

func blocksOf(page, text string) (list []block) {
	var b *block
	before := ""
	for i, line := range strings.Split(text, "\n") {
		language, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && b == nil:
			b = &block{page: page, line: i + 2, language: language}
			if note, ok := strings.CutPrefix(before, "<!-- "); ok {
				b.annotation = strings.TrimSuffix(note, " -->")
			}
		case isFence:
			list = append(list, *b)
			b = nil
		case b != nil:
			b.code += line + "\n"
		}
		before = line
	}
	return list
}

// pages are the README and the book, by their paths.
func pages(t *testing.T) map[string]string {
	list := map[string]string{}
	names, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	require.Greater(t, len(names), 10)
	for _, name := range append(names, "../../README.md") {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		list[strings.TrimPrefix(name, "../../")] = string(text)
	}
	return list
}

var exitsWith = regexp.MustCompile(`^run(: exit ([0-5]))?$`)

// TestCommandsOfPages runs the blocks that are marked with <!-- run -->, and lists those that are
// marked with <!-- not run: REASON -->. Without a mark a block must be data in a named language.
func TestCommandsOfPages(t *testing.T) {
	if testing.Short() {
		t.Skip("runs commands of all pages: with -short none")
	}
	ran, folder := 0, treeOfLinks(t)
	for page, text := range pages(t) {
		for _, b := range blocksOf(page, text) {
			at := fmt.Sprintf("%s:%d", b.page, b.line)
			if reason, ok := strings.CutPrefix(b.annotation, "not run: "); ok {
				t.Logf("%s is not run: %s\n%s", at, reason, b.code)
				continue
			}
			if b.annotation == "" && (b.language == "go" || b.language == "yaml" || b.language == "text") {
				continue
			}
			mark := exitsWith.FindStringSubmatch(b.annotation)
			require.NotNil(t, mark, "%s: expected <!-- run -->, <!-- run: exit N --> or <!-- not run: REASON --> before it, found %q", at, b.annotation)
			want := 0
			if mark[2] != "" {
				want = int(mark[2][0] - '0')
			}
			ran++
			t.Run(at, func(t *testing.T) { runBlock(t, b, folder(t), want) })
		}
	}
	require.Greater(t, ran, 10)
}

// treeOfLinks returns what makes a folder with links to everything in the repository, so that what
// commands write does not land there.
func treeOfLinks(t *testing.T) func(*testing.T) string {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	return func(t *testing.T) string {
		dir := t.TempDir()
		for _, entry := range entries {
			if name := entry.Name(); name != "nicloop-out" && !strings.HasPrefix(name, ".") {
				require.NoError(t, os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)))
			}
		}
		return dir
	}
}

func runBlock(t *testing.T, b block, dir string, want int) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // twice, for a busy machine
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", b.code)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != want {
		t.Fatalf("exit code %d, expected %d (%v) of\n%s\nwhich printed\n%s", code, want, err, b.code, out)
	}
}

// TestFirstProgram compiles and runs the program of docs/first-program.md in a module of its own.
func TestFirstProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	text := pages(t)["docs/first-program.md"]
	var program string
	for _, b := range blocksOf("", text) {
		if b.language == "go" {
			program = b.code
		}
	}
	require.Contains(t, program, "package main")
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := t.TempDir()
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	module := "module first\n\ngo 1.26\n\nrequire github.com/nicloop/nicloop v0.0.0\n\nreplace github.com/nicloop/nicloop => " + root + "\n"
	for name, text := range map[string]string{"main.go": program, "go.mod": module, "go.sum": string(sums)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	cmd := exec.Command("go", "run", "-mod=mod", ".")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "the sum is 10\n", string(out))
}

var (
	evidence = regexp.MustCompile("`(regress|rtl-test|formal|go test|scripts/[a-z-]+) ?([^`]*)`")
	goTest   = regexp.MustCompile(`func Test\w*`)
)

// TestStatusNamesWhatExists: regressions, benches, proofs, packages and scripts in docs/status.md.
func TestStatusNamesWhatExists(t *testing.T) {
	found := evidence.FindAllStringSubmatch(pages(t)["docs/status.md"], -1)
	require.Greater(t, len(found), 40)
	proofs, err := os.ReadFile("../../rtl/formal/list")
	require.NoError(t, err)
	benches, err := os.ReadFile("../../scripts/rtl-test")
	require.NoError(t, err)
	for _, f := range found {
		verb, rest := f[1], strings.Fields(strings.ReplaceAll(f[2], "'", ""))
		switch verb {
		case "regress":
			if strings.HasPrefix(f[2], "--") {
				continue
			}
			_, err := regress.Select(suite.List(), rest)
			require.NoError(t, err, f[0])
		case "rtl-test":
			require.Regexp(t, `(?m)^\s*"?`+rest[0]+`\b`, string(benches), f[0])
		case "formal":
			require.Regexp(t, `(?m)^`+rest[0]+` \|`, string(proofs), f[0])
		case "go test":
			namesTests(t, f[0], rest)
		default:
			require.FileExists(t, "../../"+verb, f[0])
		}
	}
}

func namesTests(t *testing.T, text string, words []string) {
	pattern := regexp.MustCompile("")
	var tests []byte
	for i, word := range words {
		switch {
		case strings.HasPrefix(word, "./"):
			files, err := filepath.Glob("../../" + strings.TrimSuffix(word, "/...") + "/*_test.go")
			require.NoError(t, err)
			require.NotEmpty(t, files, text)
			for _, file := range files {
				code, err := os.ReadFile(file)
				require.NoError(t, err)
				tests = append(tests, bytes.Join(goTest.FindAll(code, -1), nil)...)
			}
		case word == "-run":
			pattern = regexp.MustCompile(words[i+1])
		}
	}
	require.Regexp(t, pattern, string(tests), text)
}

// TestHelpHasTopics: every page can be printed, fits a terminal, and is completed.
func TestHelpHasTopics(t *testing.T) {
	require.Len(t, docs.Topics(), len(pages(t))-2, "all but the README and the book's index")
	var out, errOut bytes.Buffer
	require.Zero(t, run(context.Background(), []string{"help"}, nil, &out, &errOut))
	all := out.String()
	for _, topic := range docs.Topics() {
		require.Contains(t, all, "\n  "+topic.Name)
		out.Reset()
		require.Zero(t, run(context.Background(), []string{"help", topic.Name}, nil, &out, &errOut))
		require.Greater(t, out.Len(), 500, topic.Name)
		for _, mark := range []string{"](", "```", "|---", "<!--", "\n#"} {
			require.NotContains(t, out.String(), mark, topic.Name)
		}
		out.Reset()
		require.Zero(t, run(context.Background(), []string{"__complete", "help", topic.Name}, nil, &out, &errOut))
		require.Contains(t, out.String(), topic.Name)
	}
	require.Equal(t, exitUsage, run(context.Background(), []string{"help", "getting-startd"}, nil, &out, &errOut))
	require.Contains(t, errOut.String(), "getting-started")
}
