package dpi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The mesh, its threads and its wiring, with the sanitizers that see what each of them does wrong.
func TestMesh(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the mesh under three sanitizers")
	}
	seed := "1"
	if text := os.Getenv("MESH_SEED"); text != "" {
		seed = text
	}
	for _, sanitizer := range []string{"thread", "address,undefined"} {
		t.Run(sanitizer, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "mesh_test")
			build := exec.Command("g++", "-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fsanitize="+sanitizer,
				"-fno-sanitize-recover=all", "-o", program, "mesh_test.cpp", "wiring.cpp", "crew.cpp", "border.cpp", "-pthread")
			build.Dir = "src"
			out, err := build.CombinedOutput()
			require.NoError(t, err, string(out))
			out, err = exec.Command(program, seed).CombinedOutput()
			require.NoError(t, err, fmt.Sprintf("%s\nrepeat with: MESH_SEED=%s go test -run 'TestMesh/%s' ./cosim/dpi", out, seed, sanitizer))
			t.Log(string(out))
		})
	}
}
