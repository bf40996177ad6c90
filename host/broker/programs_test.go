package broker

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/shared/wire"
	"github.com/nicloop/nicloop/drivers/usersock"
)

const onIdeal = "ideal:?clock=wall"

// TestProgramsShareADevice: two and four programs, with ranks on both nodes or on one, exchange
// short and long messages and verify every byte.
func TestProgramsShareADevice(t *testing.T) {
	for _, programs := range []int{2, 4} {
		b, _ := serve(t, onIdeal, testNodes*testProcs, lentBytes(t))
		run(t, b.cfg.Socket, programs)
	}
}

// TestProgramsShareADeviceFarAway: DMA memory at a high address.
func TestProgramsShareADeviceFarAway(t *testing.T) {
	b, _ := serve(t, onIdeal+"&dma_base=0x7f0000000000", testNodes*testProcs, lentBytes(t))
	run(t, b.cfg.Socket, 2)
}

func run(t *testing.T, socket string, programs int) {
	t.Helper()
	meet := "unix:" + filepath.Join(t.TempDir(), "m")
	var all []*child
	for i := range programs {
		all = append(all, start(t, socket, meet, i, programs, 2))
	}
	for i, c := range all {
		require.Equal(t, "passed", c.end(t), "program %d of %d", i, programs)
	}
}

// TestKilledProgram: when one of three programs is killed, the others are notified soon; its claims
// are freed, and another world can claim all processes.
func TestKilledProgram(t *testing.T) {
	b, _ := serve(t, onIdeal, testNodes*testProcs, lentBytes(t))
	for victim := range 3 {
		meet := "unix:" + filepath.Join(t.TempDir(), "m")
		var all []*child
		for i := range 3 {
			all = append(all, start(t, b.cfg.Socket, meet, i, 3, 1<<30))
		}
		for all[0].out.Scan() && !strings.HasPrefix(all[0].out.Text(), "round 3") {
		}
		require.NoError(t, all[victim].cmd.Process.Kill())
		for i, c := range all {
			if i != victim {
				require.Contains(t, c.end(t), "failed: a program died", "program %d, and %d was killed", i, victim)
			}
		}
		require.Eventually(t, func() bool { return free(b) }, 10*time.Second, time.Millisecond, "processes are still somebody's")
	}
	run(t, b.cfg.Socket, 2)
}

// free reports whether no process and no memory is claimed.
func free(b *Broker) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	pieces := 0
	for i := range b.nodes {
		pieces += len(b.nodes[i].pieces)
	}
	return len(b.owners)+len(b.domains)+len(b.clients)+pieces == 0
}

// TestBrokerEnds: every program is notified when the broker or its device ends.
func TestBrokerEnds(t *testing.T) {
	for what, end := range map[string]func(b *Broker, sys drivers.System) error{
		"broker": func(b *Broker, _ drivers.System) error { return b.Close() },
		"device": func(_ *Broker, sys drivers.System) error { return sys.Close() },
	} {
		b, sys := serve(t, onIdeal, testNodes*testProcs, lentBytes(t))
		meet := "unix:" + filepath.Join(t.TempDir(), "m")
		all := []*child{start(t, b.cfg.Socket, meet, 0, 2, 1<<30), start(t, b.cfg.Socket, meet, 1, 2, 1<<30)}
		for all[0].out.Scan() && !strings.HasPrefix(all[0].out.Text(), "round 3") {
		}
		require.NoError(t, end(b, sys))
		for i, c := range all {
			last := c.end(t)
			if !strings.Contains(last, "failed: a program died") { // depends on which failure a program sees first
				require.Contains(t, last, "failed: the device died", "%s, program %d", what, i)
			}
		}
		<-b.Done()
		require.ErrorIs(t, b.Err(), drivers.ErrPeerDied)
	}
}

// TestClaims: a process cannot be claimed twice, and a domain not by two worlds.
func TestClaims(t *testing.T) {
	b, _ := serve(t, onIdeal, 4, 1<<16)
	open := func(query string, memory int) (drivers.System, error) {
		return registry.Open(context.Background(), "shared:"+b.cfg.Socket+"?"+query, drivers.Options{MemoryBytes: memory})
	}
	first, err := open("claim=0.1,1.1&domain=7&world=a", 1<<16)
	require.NoError(t, err)
	for _, c := range []struct {
		query  string
		memory int
		want   error
		text   string
	}{
		{"claim=0.0,1.1&world=a&domain=7", 1 << 12, wire.ErrClaimed, "process 1 of node 1"},
		{"claim=0.0&world=b&domain=7", 1 << 12, wire.ErrDomain, "domain 7"},
		{"claim=0.0,0.0", 1 << 12, drivers.ErrConfig, "each once"},
		{"claim=2.0", 1 << 12, drivers.ErrConfig, "expected nodes 0..1"},
		{"claim=0.0", 1 << 30, drivers.ErrConfig, "serve the device with more"},
		{"claim=0", 1 << 12, drivers.ErrConfig, "NODE.PROCESS"},
		{"domain=0", 1 << 12, drivers.ErrConfig, "1 to 65535"},
	} {
		_, err := open(c.query, c.memory)
		require.ErrorIs(t, err, c.want, c.query)
		require.ErrorContains(t, err, c.text)
	}
	require.Len(t, b.ownersOf(), 2, "a claim that was refused takes nothing")
	second, err := open("claim=0.2&domain=7&world=a", 1<<12)
	require.NoError(t, err)
	require.NotEqual(t, first.Device(0).Segments(), second.Device(0).Segments())
	looker, err := open("", 0)
	require.NoError(t, err)
	v, err := looker.Device(1).ReadReg(regs.Magic)
	require.NoError(t, err)
	require.EqualValues(t, regs.MagicValue, v)
	require.NoError(t, looker.Close())
	require.NoError(t, first.Close())
	require.NoError(t, first.Close())
	_, err = first.Device(0).ReadReg(regs.Magic)
	require.ErrorIs(t, err, drivers.ErrClosed)
	require.NoError(t, second.Close())
	require.Eventually(t, func() bool { return free(b) }, 10*time.Second, time.Millisecond)
	again, err := open("claim=0.1,1.1&domain=7&world=b", 1<<16)
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

func (b *Broker) ownersOf() []wire.Process {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []wire.Process
	for at := range b.owners {
		list = append(list, at)
	}
	return list
}

// TestOtherUsers: the socket is accessible to its user only, and a connection of another user is
// refused.
func TestOtherUsers(t *testing.T) {
	b, _ := serve(t, onIdeal, 1, 4096, func(c *Config) { c.uid = os.Geteuid() + 1 }) // acts as another user
	info, err := os.Lstat(b.cfg.Socket)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	_, err = registry.Open(context.Background(), "shared:"+b.cfg.Socket+"?claim=0.0", drivers.Options{})
	require.ErrorIs(t, err, drivers.ErrPeerDied, "it hangs up before anything is said")
	require.Empty(t, b.ownersOf())
	_, err = usersock.Dial(context.Background(), b.cfg.Socket, os.Geteuid()+1)
	require.ErrorIs(t, err, usersock.ErrForeign)
}

// TestWhatCannotBeServed: an unsuitable device is refused by New.
func TestWhatCannotBeServed(t *testing.T) {
	sys, err := registry.Open(context.Background(), "ideal:", drivers.Options{Nodes: 2})
	require.NoError(t, err)
	defer sys.Close()
	_, err = New(Config{System: sys, Socket: filepath.Join(t.TempDir(), "s")})
	require.ErrorIs(t, err, drivers.ErrNotSupported)
	require.ErrorContains(t, err, "memory that can be shared")
}
