//go:build !linux

package vtime

import "runtime"

func yield() { runtime.Gosched() }
