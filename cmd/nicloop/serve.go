package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/nicloop/nicloop/bench/runs"
	"github.com/nicloop/nicloop/bench/runs/report"
	"github.com/spf13/cobra"
)

// tokenVariable names a token, for who starts the server again and again.
const tokenVariable = "NICLOOP_TOKEN"

func newServe() *cobra.Command {
	var db, listen string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Show the memory of runs in a browser",
		Long: `Show the memory of runs in a browser: runs with filters, failures in groups, the
history of every test, what sweeps measured and their figures, logs and waves.

The server only reads. It listens on this machine alone unless --listen says
otherwise; then every request needs a token, which is in the address that is
printed (or in ` + tokenVariable + `, of 16 characters or more). What it sends is not encrypted:
across networks that others share, use ssh -L.`,
		Example: `  nicloop serve
  nicloop serve --listen 127.0.0.1:0 --db night.db     any free port
  nicloop serve --listen :8080                         for others too, with a token`,
		Args: checked(cobra.NoArgs),
	}
	cmd.Flags().StringVar(&db, "db", defaultMemory, "the memory of runs")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8765", "`ADDRESS:PORT`; port 0: a free one")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		host, _, err := net.SplitHostPort(listen)
		if err != nil {
			return misused("--listen %q: expected ADDRESS:PORT, such as 127.0.0.1:8765 or :8765", listen)
		}
		if _, err := os.Stat(db); err != nil {
			return usageError{fmt.Errorf("%w: nicloop regress makes it", err)}
		}
		s := &report.Server{Store: runs.At(db), Base: "."}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			if s.Token, err = newToken(); err != nil {
				return err
			}
		}
		return serve(cmd, s, listen)
	}
	return cmd
}

func newToken() (string, error) {
	t := os.Getenv(tokenVariable)
	switch {
	case t == "":
		return rand.Text(), nil
	case len(t) < 16:
		return "", misused("%s: expected 16 characters or more", tokenVariable)
	}
	return t, nil
}

// serve answers until somebody ends it.
func serve(cmd *cobra.Command, s *report.Server, listen string) error {
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
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), where); err != nil {
		return errors.Join(err, l.Close())
	}
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: time.Minute}
	stop := context.AfterFunc(cmd.Context(), func() {
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
