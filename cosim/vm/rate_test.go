package vm

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers/regs"
)

// rateMain alternates between reading a register of the NIC and a word of the MSI-X table, which
// does not involve the NIC.
func rateMain() error {
	dir := "/sys/bus/pci/devices/" + Slot + "/"
	if err := os.WriteFile(dir+"enable", []byte("1"), 0); err != nil {
		return err
	}
	var words [2]*uint64
	for i, bar := range []struct {
		name string
		off  uint32
	}{{"resource4", 0}, {"resource0", regs.Magic}} {
		f, err := os.OpenFile(dir+bar.name, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		m, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		words[i] = (*uint64)(unsafe.Pointer(&m[bar.off]))
	}
	const reads, rounds = 10000, 10
	var took [2]time.Duration
	for range rounds {
		for i, w := range words {
			began := time.Now()
			for range reads {
				atomic.LoadUint64(w)
			}
			took[i] += time.Since(began)
		}
	}
	fmt.Printf("empty %.0f/s, register %.0f/s\n", reads*rounds/took[0].Seconds(), reads*rounds/took[1].Seconds())
	return nil
}

// TestRate measures the rate of register reads. NICLOOP_VM_RATE=model:?clock=wall go test
// ./cosim/vm -run Rate -v
func TestRate(t *testing.T) {
	body := os.Getenv("NICLOOP_VM_RATE")
	if body == "" {
		t.Skip("measures: NICLOOP_VM_RATE=model:?clock=wall, or another body")
	}
	needGuest(t)
	var out bytes.Buffer
	_, err := Run(context.Background(), Config{System: openBody(t, body), Env: []string{inGuest + "=rate"}, Command: []string{"nicloop"}, Stdout: &out})
	require.NoError(t, err)
	t.Log(out.String())
}
