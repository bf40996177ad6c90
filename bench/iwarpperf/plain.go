package iwarpperf

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// PlainTCP measures a stream of Go's package net on the loopback device: one goroutine writes
// messages, another reads them and, with both, sends them back.
func PlainTCP(ctx context.Context, size, iterations int, both bool) (Row, error) {
	row := Row{QP: "tcp", Bytes: size, Iterations: iterations}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return row, fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	defer l.Close()
	var d net.Dialer
	a, err := d.DialContext(ctx, "tcp4", l.Addr().String())
	if err != nil {
		return row, fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	defer a.Close()
	b, err := l.Accept()
	if err != nil {
		return row, fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	defer b.Close()
	defer context.AfterFunc(ctx, func() { _, _ = a.Close(), b.Close() })()
	begin := time.Now()
	moved := size * iterations
	errs := make(chan error, 3)
	go func() { errs <- writeMessages(a, size, iterations) }()
	running := 2
	if both {
		running, moved = 3, 2*moved
		go func() { errs <- reflectMessages(b, size, iterations) }()
		go func() { errs <- readMessages(a, size, iterations) }()
	} else {
		go func() { errs <- readMessages(b, size, iterations) }()
	}
	for range running {
		if err := <-errs; err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return row, err
		}
	}
	row.Bandwidth = float64(moved) / 1e6 / time.Since(begin).Seconds()
	return row, nil
}

func writeMessages(c net.Conn, size, n int) error {
	b := make([]byte, size)
	for range n {
		if _, err := c.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func readMessages(c net.Conn, size, n int) error {
	b := make([]byte, size)
	for range n {
		if _, err := io.ReadFull(c, b); err != nil {
			return err
		}
	}
	return nil
}

func reflectMessages(c net.Conn, size, n int) error {
	b := make([]byte, size)
	for range n {
		if _, err := io.ReadFull(c, b); err != nil {
			return err
		}
		if _, err := c.Write(b); err != nil {
			return err
		}
	}
	return nil
}
