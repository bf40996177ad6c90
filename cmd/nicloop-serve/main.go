// Command nicloop-serve is the server behind nicloop serve. It is a program of its own because a
// server over HTTP is a third of what there is to compile, and nobody should wait for that who only
// runs a test (docs/decisions/0010).
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/nicloop/nicloop/bench/runs"
	"github.com/nicloop/nicloop/bench/runs/serve"
	"github.com/nicloop/nicloop/cmd/signals"
)

// tokenVariable names a token, for who starts the server again and again, and for who shares this
// machine with users who must not read: without it an address of this machine's own needs none.
const tokenVariable = "NICLOOP_TOKEN"

// Exit codes, those of nicloop.
const (
	exitUsage       = 2
	exitEnvironment = 3
)

var errUsage = errors.New("usage")

func main() {
	db := flag.String("db", "", "the memory of runs")
	listen := flag.String("listen", "127.0.0.1:8765", "ADDRESS:PORT; port 0: a free one")
	flag.Parse()
	if err := run(signals.Context(), *db, *listen, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "nicloop-serve:", err)
		if errors.Is(err, errUsage) {
			os.Exit(exitUsage)
		}
		os.Exit(exitEnvironment)
	}
}

func run(ctx context.Context, db, listen string, out io.Writer) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("%w: -listen %q: expected ADDRESS:PORT", errUsage, listen)
	}
	s := &serve.Server{Store: runs.At(db), Base: "."}
	if ip := net.ParseIP(host); os.Getenv(tokenVariable) != "" || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		if s.Token, err = newToken(); err != nil {
			return err
		}
	}
	return answer(ctx, s, listen, out)
}

func newToken() (string, error) {
	t := os.Getenv(tokenVariable)
	switch {
	case t == "":
		return rand.Text(), nil
	case len(t) < 16:
		return "", fmt.Errorf("%w: %s: expected 16 characters or more", errUsage, tokenVariable)
	}
	return t, nil
}

// answer answers until somebody ends it.
func answer(ctx context.Context, s *serve.Server, listen string, out io.Writer) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	address := l.Addr().(*net.TCPAddr)
	host := address.IP.String()
	if address.IP.IsUnspecified() {
		if host, err = os.Hostname(); err != nil {
			host = address.IP.String()
		}
	}
	where := "http://" + net.JoinHostPort(host, fmt.Sprint(address.Port)) + "/"
	if s.Token != "" {
		where += "?token=" + s.Token
	}
	if _, err := fmt.Fprintln(out, where); err != nil {
		return errors.Join(err, l.Close())
	}
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(ctx) // Serve says how it ended
	})
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil // Ctrl-C is how it is meant to end
}
