//go:build !linux

package scan

import "os"

func openPort(file string) (*os.File, error) { return os.OpenFile(file, os.O_RDWR, 0) }
