package build

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nicloop/nicloop/drivers"
)

// A receipt records the last build of some sources. A machine without tools runs that build.
type receipt struct {
	Program string `json:"program"`
	Library string `json:"library"`
	Tool    string `json:"tool"`
}

// ordered is a hash of all inputs of a build except the tools.
func (s *Spec) ordered(in, sources map[string][]byte) string {
	h := sha256.New()
	none := tools{arch: archFlag()}
	sum := s.hash(&none, in)
	h.Write(sum[:])
	for _, name := range sortedNames(sources) {
		writePart(h, []byte(name))
		writePart(h, sources[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (c cache) receiptFile(ordered string) string {
	return filepath.Join(c.dir, "receipt-"+ordered[:32]+".json")
}

// file stores a receipt. If that fails, machines without tools lack this simulator.
func (c cache) file(ordered string, r receipt) {
	if text, err := json.Marshal(r); err == nil {
		name := c.receiptFile(ordered)
		if old, err := os.ReadFile(name); err == nil && string(old) == string(text) {
			return
		}
		temporary := fmt.Sprintf("%s.%d", name, os.Getpid())
		if os.WriteFile(temporary, text, 0o644) == nil {
			_ = os.Rename(temporary, name)
		}
	}
}

// withoutTools finds a build of the same sources that was made while the tools were available.
func (c cache) withoutTools(missing error, ordered string, m *Model) (*Model, error) {
	if !errors.Is(missing, drivers.ErrEnvironment) {
		return nil, missing
	}
	var r receipt
	name := c.receiptFile(ordered)
	text, err := os.ReadFile(name)
	if err != nil || Foreign(name) != "" || json.Unmarshal(text, &r) != nil {
		return nil, missing
	}
	program, err1 := hex.DecodeString(r.Program)
	library, err2 := hex.DecodeString(r.Library)
	if err1 != nil || err2 != nil || len(program) != len(m.Hash) || len(library) != len(m.lib.hash) || strings.Contains(r.Program, ".") {
		return nil, missing
	}
	if why := c.use(r.Program); why != "" {
		return nil, fmt.Errorf("%w (one built before cannot be used: %s)", missing, why)
	}
	m.Hash, m.lib.hash, m.Tool = [32]byte(program), [32]byte(library), r.Tool
	m.lib.dir = c.path(r.Library)
	m.Program = filepath.Join(c.path(r.Program), m.lib.programName())
	return m, nil
}
