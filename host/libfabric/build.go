package libfabric

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/nicloop/nicloop/drivers"
)

//go:embed provider/*.c provider/*.h
var sources embed.FS

// LibraryName is what libfabric recognises as a provider in FI_PROVIDER_PATH.
const LibraryName = "libnicloop-fi.so"

const provides = "; the packages come with scripts/setup-debian.sh --mpi"

// Build compiles the provider into a folder below cache, unless that has been done, and gives the
// folder.
func Build(ctx context.Context, cache string) (dir string, err error) {
	files, err := fs.Glob(sources, "provider/*")
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, f := range files {
		b, err := sources.ReadFile(f)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n", f, len(b))
		sum.Write(b)
	}
	dir = filepath.Join(cache, "provider-"+hex.EncodeToString(sum.Sum(nil))[:16])
	if _, err := os.Stat(filepath.Join(dir, LibraryName)); err == nil {
		return dir, nil
	}
	return dir, compile(ctx, dir, files)
}

func compile(ctx context.Context, dir string, files []string) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	args := []string{"-std=gnu11", "-O2", "-Wall", "-shared", "-fPIC", "-o", LibraryName}
	for _, f := range files {
		b, err := sources.ReadFile(f)
		if err != nil {
			return err
		}
		name := filepath.Base(f)
		if err := os.WriteFile(filepath.Join(tmp, name), b, 0o644); err != nil {
			return err
		}
		if filepath.Ext(name) == ".c" {
			args = append(args, name)
		}
	}
	cmd := exec.CommandContext(ctx, "cc", append(args, "-ldl", "-lpthread")...)
	cmd.Dir = tmp
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("%w: cannot compile the libfabric provider: no C compiler (cc)%s", drivers.ErrEnvironment, provides)
		}
		return fmt.Errorf("%w: cannot compile the libfabric provider: %w%s\n%s", drivers.ErrEnvironment, err, provides, out.Bytes())
	}
	return os.Rename(filepath.Join(tmp, LibraryName), filepath.Join(dir, LibraryName))
}
