package admission

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"

	"github.com/nicloop/nicloop/drivers"
)

// Config configures a Controller. A zero is the default.
type Config struct {
	Name       string         // of the service, in the log and in errors
	Most       int            // pending connections; 256, or a quarter of the descriptors if that is less
	PerAddress int            // of them, from one address; Most, which is right for sockets in the file system
	Patience   time.Duration  // for which accept may fail without a pause; 1 minute
	Log        *logrus.Logger // nil: the standard logger
}

// The pauses after a failed accept, as in net/http.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = time.Second
)

func (c Config) complete() Config {
	if c.Most == 0 {
		c.Most = max(1, min(256, descriptors()/4))
	}
	if c.PerAddress == 0 || c.PerAddress > c.Most {
		c.PerAddress = c.Most
	}
	if c.Patience == 0 {
		c.Patience = time.Minute
	}
	return c
}

// A Controller holds the connections that have not been admitted.
type Controller struct {
	cfg Config

	mu      sync.Mutex
	pending []*PendingConn // the oldest first
}

// descriptors is how many files this program may have open.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 1<<20 {
		return 1 << 20
	}
	return int(limit.Cur)
}

// New makes a Controller without connections.
func New(c Config) *Controller { return &Controller{cfg: c.complete()} }

// A PendingConn is a connection that has not been admitted.
type PendingConn struct {
	net.Conn
	controller *Controller
	address    string
}

// Serve accepts connections and gives each to handle, in a goroutine that start starts. The
// connection leaves the controller when handle returns, which closes it. Serve ends with nil when
// ctx ends or the listener is closed, and with an error when accept has failed for too long.
func (l *Controller) Serve(ctx context.Context, accept func() (net.Conn, error), start func(func()), handle func(*PendingConn)) error {
	var failing time.Time // since when; zero: accept works
	pause := firstPause
	for {
		c, err := accept()
		if err == nil {
			failing, pause = time.Time{}, firstPause
			g := l.enter(c)
			start(func() {
				defer l.leave(g)
				handle(g)
			})
			continue
		}
		if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			return nil
		}
		if failing.IsZero() {
			failing = time.Now()
		}
		if time.Since(failing) >= l.cfg.Patience {
			return fmt.Errorf("%w: %s: accepting connections has failed for %v: %w", drivers.ErrEnvironment, l.cfg.Name, l.cfg.Patience, err)
		}
		closed := l.evictOldest()
		logs.Layer(l.cfg.Log, l.cfg.Name).WithFields(logrus.Fields{"error": err, "retry_in": pause, "closed_silent": closed}).Warn("accept failed")
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
		pause = min(2*pause, lastPause)
	}
}

// enter takes a connection in, in place of the oldest one if there are too many.
func (l *Controller) enter(c net.Conn) *PendingConn {
	g := &PendingConn{Conn: c, controller: l, address: addressOf(c)}
	l.mu.Lock()
	defer l.mu.Unlock()
	oldest, same := -1, 0
	for i, other := range l.pending {
		if other.address == g.address {
			if same++; same == 1 {
				oldest = i
			}
		}
	}
	switch {
	case same >= l.cfg.PerAddress:
		l.evict(oldest)
	case len(l.pending) >= l.cfg.Most:
		l.evict(0)
	}
	l.pending = append(l.pending, g)
	return g
}

// addressOf is what the connections of one machine have in common.
func addressOf(c net.Conn) string {
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.IP.String()
	}
	return ""
}

// evict closes a connection; its handler sees a closed connection.
func (l *Controller) evict(i int) {
	_ = l.pending[i].Close()
	l.pending = append(l.pending[:i], l.pending[i+1:]...)
}

func (l *Controller) evictOldest() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) == 0 {
		return false
	}
	l.evict(0)
	return true
}

// remove takes a connection out of the list, if it is still there.
func (l *Controller) remove(g *PendingConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, other := range l.pending {
		if other == g {
			l.pending = append(l.pending[:i], l.pending[i+1:]...)
			return true
		}
	}
	return false
}

// leave ends the stay of a connection that its handler has not admitted.
func (l *Controller) leave(g *PendingConn) {
	if l.remove(g) {
		_ = g.Close()
	}
}

// Admit takes a connection out of the controller: it has proved who it is, is not evicted any more,
// and its connection is the handler's to close. False: it was evicted before.
func (g *PendingConn) Admit() bool { return g.controller.remove(g) }
