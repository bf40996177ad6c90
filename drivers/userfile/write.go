// Package userfile reads and writes the files that a user names.
//
// An input may be anything: a device that never ends, a directory, or a file larger than memory.
// [Read] gives drivers.ErrConfig then, because the user must name another file.
//
// For an output, a symbolic link is followed and stays; a regular file changes as a whole or not at
// all ([Write]); a device, a pipe or a socket is written in place and never replaced or removed;
// and the output of another run is kept unless the user gives --force ([Check], [Create]).
package userfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ErrExists: a file is there already, and --force was not given.
var ErrExists = errors.New("exists: choose another name, or --force to overwrite it")

// Resolve follows symbolic links to the file that is meant, which need not be there. info is nil if
// it is not.
func Resolve(name string) (target string, info fs.FileInfo, err error) {
	const mostLinks = 40 // as in Linux
	target = name
	for range mostLinks {
		info, err := os.Lstat(target)
		if errors.Is(err, fs.ErrNotExist) {
			return target, nil, nil
		}
		if err != nil || info.Mode().Type() != fs.ModeSymlink {
			return target, info, err
		}
		link, err := os.Readlink(target)
		if err != nil {
			return target, nil, err
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(target), link)
		}
		target = link
	}
	return target, nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("too many symbolic links")}
}

// IsReplaced tells whether Write replaces the file as a whole: it is a regular file, or is not
// there.
func IsReplaced(name string) bool {
	_, info, err := Resolve(name)
	return err == nil && (info == nil || info.Mode().IsRegular())
}

// Check refuses a regular file that is there, unless force.
func Check(name string, force bool) error {
	_, info, err := Resolve(name)
	if err == nil && info != nil && info.Mode().IsRegular() && !force {
		return fmt.Errorf("%s %w", name, ErrExists)
	}
	return err
}

// Write gives a file the content that content writes. A regular file is replaced when all of it is
// on disk: whatever fails or is interrupted, the old file stays.
func Write(name string, content func(io.Writer) error) error {
	target, info, err := Resolve(name)
	if err != nil {
		return err
	}
	if info != nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(content(f), f.Close())
	}
	mode := fs.FileMode(0o644)
	if info != nil {
		mode = info.Mode().Perm()
		// A file that may not be written is not replaced either.
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		f.Close()
	}
	part, err := create(target, mode)
	if err != nil {
		return err
	}
	err = content(part)
	if err == nil {
		err = part.Sync()
	}
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Rename(part.Name(), target)
	}
	if err != nil {
		_ = os.Remove(part.Name())
	}
	return err
}

// create makes a new file beside target, with the mode that target shall have.
func create(target string, mode fs.FileMode) (*os.File, error) {
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s.part%d-%d", target, os.Getpid(), i)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) || i == 100 {
			return f, err
		}
	}
}

// WriteBytes is Write of bytes that are there.
func WriteBytes(name string, data []byte) error {
	return Write(name, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(data))
		return err
	})
}

// Create opens a file that grows while a program runs, such as a capture: what is written can be
// read at once, also if the program is killed. It refuses what Check refuses.
func Create(name string, force bool) (*os.File, error) {
	if err := Check(name, force); err != nil {
		return nil, err
	}
	target, info, err := Resolve(name)
	switch {
	case err != nil:
		return nil, err
	case info != nil && !info.Mode().IsRegular():
		return os.OpenFile(target, os.O_WRONLY, 0)
	}
	return os.Create(target)
}

// Close closes a file that Create opened. err is the error of the command that wrote it, or nil.
// After a failure a regular file is kept, because a capture is wanted most when a run was stopped
// or has failed. It is removed if it is empty or if writing it failed; a link to it stays.
func Close(f *os.File, err error) error {
	info, serr := f.Stat()
	err = errors.Join(err, f.Close())
	if err == nil || serr != nil || !info.Mode().IsRegular() {
		return err
	}
	if info.Size() == 0 || isErrorOf(f.Name(), err) {
		_ = os.Remove(f.Name())
	}
	return err
}

// isErrorOf reports whether err or an error that it wraps is one of the file.
func isErrorOf(name string, err error) bool {
	if path, ok := err.(*fs.PathError); ok && path.Path == name {
		return true
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return isErrorOf(name, e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), func(err error) bool { return isErrorOf(name, err) })
	}
	return false
}
