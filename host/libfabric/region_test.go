package libfabric

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// The layout of the shared memory is the same in Go and in C.
func TestLayout(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler")
	}
	var r region
	var q request
	var c completion
	source := "#include \"ring.h\"\n#include <stdio.h>\n#define AT(s, f) (int)__builtin_offsetof(struct s, f)\nint main(void) { printf(\"%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\", " +
		"(int)sizeof(struct nl_region), (int)sizeof(struct nl_request), (int)sizeof(struct nl_completion), " +
		"AT(nl_region, now_ps), AT(nl_region, ended), AT(nl_region, answered), AT(nl_region, doorbell), AT(nl_region, completion_head), " +
		"AT(nl_region, completion_tail), AT(nl_region, call), AT(nl_region, requests), AT(nl_region, received), " +
		"AT(nl_request, peer), AT(nl_request, spent_ps), AT(nl_completion, overflow)); }\n"
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "layout.c"), []byte(source), 0o600))
	out, err := exec.Command("cc", "-I", "provider", "-o", filepath.Join(dir, "layout"), filepath.Join(dir, "layout.c")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(filepath.Join(dir, "layout")).Output()
	require.NoError(t, err)
	require.Equal(t, sprint(unsafe.Sizeof(r), unsafe.Sizeof(q), unsafe.Sizeof(c),
		unsafe.Offsetof(r.nowPS), unsafe.Offsetof(r.ended), unsafe.Offsetof(r.answered), unsafe.Offsetof(r.doorbell), unsafe.Offsetof(r.completionHead),
		unsafe.Offsetof(r.completionTail), unsafe.Offsetof(r.call), unsafe.Offsetof(r.requests), unsafe.Offsetof(r.received),
		unsafe.Offsetof(q.peer), unsafe.Offsetof(q.spent), unsafe.Offsetof(c.overflow)), string(out))
}

func sprint(list ...uintptr) (s string) {
	for i, v := range list {
		if i > 0 {
			s += " "
		}
		s += strconv.Itoa(int(v))
	}
	return s
}
