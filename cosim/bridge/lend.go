package bridge

import (
	"fmt"
	"os"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/sharedmem"
)

// Lends reports whether Lend can be used.
func (s *Session) Lends() bool { return s.cfg.Lent }

// Lend maps whole pages of a node's memory to a file; see drivers.Lender. The model inside uses the
// same mapping.
func (s *Session) Lend(node int, off, n uint64, file *os.File, at uint64) error {
	if !s.Lends() {
		return fmt.Errorf("%w: this session's memory is not made to be lent", drivers.ErrNotSupported)
	}
	if err := s.checkNode(node); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.mu.Unlock()
	return sharedmem.Lay(s.mem.memory(node), off, n, file, at)
}
