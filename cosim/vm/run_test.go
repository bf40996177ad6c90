package vm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/model"
	_ "github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers"
	_ "github.com/nicloop/nicloop/drivers/pcie"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/selftest"
)

// inGuest makes the test binary act as the program in the guest.
const inGuest = "NICLOOP_VM_TEST"

func TestMain(m *testing.M) {
	if uri := os.Getenv(inGuest); uri != "" {
		if uri == "rate" {
			fmt.Println(rateMain())
			os.Exit(0)
		}
		if os.Getenv(inGuest+"_ECHO") != "" {
			if err := echoMain(uri); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			os.Exit(0)
		}
		os.Exit(guestMain(uri))
	}
	os.Exit(m.Run())
}

// guestMain tests the device in the slot.
func guestMain(uri string) int {
	sys, err := registry.Open(context.Background(), uri, drivers.Options{MemoryBytes: selftest.MemoryBytes, Needs: drivers.CanDMA | drivers.CanInterrupt})
	if err != nil {
		fmt.Println(err)
		return 3
	}
	defer sys.Close()
	results, err := selftest.Run(context.Background(), sys, selftest.Config{Samples: 16})
	if err != nil {
		fmt.Println(err)
		return 3
	}
	came, vectors := interruptsCame()
	fmt.Println("interrupts", came, "vectors", vectors)
	code := 0
	for _, r := range results {
		fmt.Println(r.Outcome, r.Check, r.Fault)
		if r.Outcome == selftest.Failed {
			code = 1
		}
	}
	return code
}

// interruptsCame returns the interrupts counted by the guest's kernel, and the number of vectors
// involved.
func interruptsCame() (n, vectors int) {
	text, _ := os.ReadFile("/proc/interrupts")
	for _, l := range strings.Split(string(text), "\n") {
		if w := strings.Fields(l); strings.Contains(l, "vfio-msix") || strings.Contains(l, "uio_pci_generic") {
			each, _ := strconv.Atoi(w[1])
			n += each
			vectors += min(each, 1)
		}
	}
	return n, vectors
}

// needAll skips tests that boot many guests and take a minute in total, unless run by
// NICLOOP_VM=all go test ./cosim/vm
func needAll(t *testing.T) {
	t.Helper()
	if os.Getenv("NICLOOP_VM") != "all" {
		t.Skip("boots several virtual machines: NICLOOP_VM=all")
	}
	needGuest(t)
}

func needGuest(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("boots a virtual machine")
	}
	if _, err := exec.LookPath(QEMU); err != nil {
		t.Skip("no QEMU here: scripts/setup-debian.sh --vm")
	}
	dir, err := ImageDir()
	require.NoError(t, err)
	if err := CheckImage(dir); err != nil {
		t.Skip(err)
	}
}

func openModel(t *testing.T) drivers.System { return openBody(t, "model:?clock=wall") }

func openBody(t *testing.T, uri string) drivers.System {
	sys, err := registry.Open(context.Background(), uri, drivers.Options{Nodes: 1, MemoryBytes: DefaultMemory})
	require.NoError(t, err)
	t.Cleanup(func() { sys.Close() })
	return sys
}

// TestGuest: drivers in an unmodified kernel find the device, its registers, DMA in both directions
// and every interrupt: INTA with physical addresses, and MSI-X behind an IOMMU.
func TestGuest(t *testing.T) {
	needGuest(t)
	for _, x := range []struct{ driver, uri string }{{"uio_pci_generic", "pcie:" + Slot + "?dma=hugepage"}, {"vfio-pci", "pcie:" + Slot}} {
		t.Run(x.driver, func(t *testing.T) {
			sys := openModel(t)
			files := openFiles(t)
			var out, said bytes.Buffer
			res, err := Run(context.Background(), Config{
				System: sys, IOMMU: x.driver == "vfio-pci", Driver: x.driver, Env: []string{inGuest + "=" + x.uri}, Command: []string{"nicloop"}, Stdout: &out, Stderr: &said,
			})
			require.NoError(t, err)
			t.Logf("%+v\n%s%s", res, &out, &said)
			require.Zero(t, res.Code)
			for _, c := range []string{"identity", "velo", "dma", "interrupts", "counters"} {
				require.Contains(t, out.String(), "passed "+c+" ")
			}
			require.NotContains(t, out.String(), "failed")
			require.NotZero(t, res.FirstRegister)
			var came, used int
			_, err = fmt.Sscanf(out.String(), "interrupts %d vectors %d", &came, &used)
			require.NoError(t, err)
			require.GreaterOrEqual(t, came, 34, "one for each cause")
			if x.driver == "vfio-pci" {
				require.Equal(t, nicFunction().Vectors, used)
			}
			require.Equal(t, files, openFiles(t), "files left open")
		})
	}
}

// openFiles counts the open descriptors of this process.
func openFiles(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(list)
}

// TestEnds: the command's exit code is returned; reasons for an early end are distinguished, and
// nothing is left behind.
func TestEnds(t *testing.T) {
	needAll(t)
	sys := openModel(t)
	for _, x := range []struct {
		name, command string
		begun         func(pid int, cancel func())
		code          int
		want          error
	}{
		{"code", "echo out; echo err >&2; exit 42", nil, 42, nil},
		{"panic", "echo c >/proc/sysrq-trigger", nil, 0, ErrPanic},
		{"killed", "echo go; sleep 100", func(pid int, _ func()) { _ = syscall.Kill(pid, syscall.SIGKILL) }, 0, ErrQEMU},
		{"interrupted", "echo go; sleep 100", func(_ int, cancel func()) { cancel() }, 0, context.Canceled},
	} {
		t.Run(x.name, func(t *testing.T) {
			files := openFiles(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var pid atomic.Int64
			out := &firstWrite{}
			if x.begun != nil {
				out.first = func() { x.begun(int(pid.Load()), cancel) }
			}
			var said bytes.Buffer
			res, err := Run(ctx, Config{System: sys, Command: []string{"sh", "-c", x.command}, Stdout: out, Stderr: &said, Started: func(p int) { pid.Store(int64(p)) }})
			if x.want == nil {
				require.NoError(t, err)
				require.Equal(t, "out\n", out.String())
				require.Equal(t, "err\n", said.String())
			} else {
				require.ErrorIs(t, err, x.want)
				if !errors.Is(x.want, context.Canceled) {
					require.ErrorIs(t, err, drivers.ErrPeerDied)
					require.ErrorContains(t, err, "while the command ran")
				}
			}
			require.Equal(t, x.code, res.Code)
			require.ErrorIs(t, syscall.Kill(int(pid.Load()), 0), syscall.ESRCH, "QEMU is still there")
			require.Equal(t, files, openFiles(t), "files left open")
		})
	}
}

// firstWrite calls a function at the first write.
type firstWrite struct {
	bytes.Buffer
	first func()
}

func (o *firstWrite) Write(b []byte) (int, error) {
	if o.first != nil {
		o.first()
		o.first = nil
	}
	return o.Buffer.Write(b)
}

// dying is a device whose simulator dies after some reads.
type dying struct {
	drivers.Lender
	left atomic.Int64
}

func (d *dying) Device(n int) drivers.Device { return &dyingDevice{d.Lender.Device(n), d} }

type dyingDevice struct {
	drivers.Device
	d *dying
}

func (d *dyingDevice) ReadReg(off uint32) (uint64, error) {
	if d.d.left.Add(-1) < 0 {
		return 0, fmt.Errorf("%w: the simulator was killed", drivers.ErrPeerDied)
	}
	return d.Device.ReadReg(off)
}

func TestDeviceDies(t *testing.T) {
	needAll(t)
	d := &dying{Lender: openModel(t).(drivers.Lender)}
	d.left.Store(300)
	var out bytes.Buffer
	began := time.Now()
	_, err := Run(context.Background(), Config{System: d, Driver: "uio_pci_generic", Env: []string{inGuest + "=pcie:" + Slot + "?dma=hugepage"},
		Command: []string{"nicloop"}, Stdout: &out})
	require.ErrorIs(t, err, drivers.ErrPeerDied)
	require.ErrorContains(t, err, "the simulator was killed")
	require.Less(t, time.Since(began), time.Minute)
}

func TestRefused(t *testing.T) {
	_, err := findQEMU("no-such-program")
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "setup-debian.sh --vm")
	require.ErrorIs(t, CheckImage(t.TempDir()), drivers.ErrEnvironment)
	sys, err := registry.Open(context.Background(), "model:?clock=wall", drivers.Options{Nodes: 1, MemoryBytes: 1 << 20})
	require.NoError(t, err)
	defer sys.Close()
	_, err = Run(context.Background(), Config{System: sys, Command: []string{"true"}})
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.True(t, strings.Contains(err.Error(), "memory is the guest's"), "%v", err)
}
