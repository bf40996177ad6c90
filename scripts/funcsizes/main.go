// Command funcsizes reports Go functions of more than 80 lines. Tests and generated files are
// exempt: a test may be one long table.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const most = 80

func main() {
	long, err := longFunctions(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "funcsizes:", err)
		os.Exit(2)
	}
	for _, text := range long {
		fmt.Println(text)
	}
	if len(long) > 0 {
		fmt.Printf("repair: split functions of more than %d lines\n", most)
		os.Exit(1)
	}
}

// longFunctions describes each function below a folder that is too long.
func longFunctions(root string) (long []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		found, err := inFile(path)
		long = append(long, found...)
		return err
	})
	return long, err
}

func inFile(path string) (long []string, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil || ast.IsGenerated(file) {
		return nil, err
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		first := set.Position(f.Pos())
		if n := set.Position(f.End()).Line - first.Line + 1; n > most {
			long = append(long, fmt.Sprintf("%s:%d: %s has %d lines", path, first.Line, f.Name.Name, n))
		}
	}
	return long, nil
}
