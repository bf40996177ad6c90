//go:build cgo

package inside

/*
#cgo CFLAGS: -I${SRCDIR}/../dpi/src
#cgo LDFLAGS: -ldl
#cgo noescape nl_exchange
#include <dlfcn.h>
#include <stdlib.h>
#include "inside.h"

static struct nl_inside *nl_open(const struct nl_inside_api *api, int argc, char **argv, void *welcome, void *memory, int log, const char **error) {
	return api->open(argc, argv, welcome, memory, log, error);
}
static int nl_exchange(const struct nl_inside_api *api, struct nl_inside *model, const uint8_t *message, size_t bytes) {
	return api->exchange(model, message, bytes);
}
static void nl_stop(const struct nl_inside_api *api, struct nl_inside *model) { api->stop(model); }
static void nl_close(const struct nl_inside_api *api, struct nl_inside *model) { api->close(model); }
*/
import "C"

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
)

// Supported says whether this program can load a model, and what to do if not.
func Supported() error { return nil }

// A Model is a loaded model.
type Model struct {
	image  *os.File // its copy, kept open: the loader tells objects apart by their names, which is the descriptor's number
	handle unsafe.Pointer
	api    *C.struct_nl_inside_api
	model  *C.struct_nl_inside
}

// Open loads a copy of object and makes its model, which stands at cycle 0 then. args are the
// simulator's, welcome the frame that describes memory, which stays in place until Close. log may
// be nil, and stays open until Close too.
func Open(object string, args []string, welcome, memory []byte, log *os.File) (*Model, error) {
	m := &Model{}
	err := m.load(object)
	if err == nil {
		err = m.open(args, welcome, memory, log)
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// load maps a copy of the object. The loader knows a file that it has loaded, even by another name:
// so the copy is a file of its own, in memory.
func (m *Model) load(object string) error {
	fd, err := unix.MemfdCreate("nicloop-model", unix.MFD_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("memfd_create", err)
	}
	m.image = os.NewFile(uintptr(fd), "copy of "+object)
	from, err := os.Open(object)
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	defer from.Close()
	if _, err := io.Copy(m.image, from); err != nil {
		return fmt.Errorf("copying the model: %w", err)
	}
	name := C.CString(fmt.Sprintf("/proc/self/fd/%d", fd))
	defer C.free(unsafe.Pointer(name))
	symbol := C.CString(C.NL_INSIDE_SYMBOL)
	defer C.free(unsafe.Pointer(symbol))
	// What went wrong is known to the thread on which it did.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if m.handle = C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL); m.handle == nil {
		return fmt.Errorf("%w: loading the model %s: %s", drivers.ErrEnvironment, object, C.GoString(C.dlerror()))
	}
	if m.api = (*C.struct_nl_inside_api)(C.dlsym(m.handle, symbol)); m.api == nil {
		return fmt.Errorf("%w: %s is no model: %s", drivers.ErrProtocol, object, C.GoString(C.dlerror()))
	}
	if m.api.version != C.NL_INSIDE_VERSION {
		return fmt.Errorf("%w: %s: expected version %d of its interface, found %d", drivers.ErrProtocol, object, C.NL_INSIDE_VERSION, m.api.version)
	}
	return nil
}

func (m *Model) open(args []string, welcome, memory []byte, log *os.File) error {
	pointer := C.size_t(unsafe.Sizeof(uintptr(0)))
	argv := (**C.char)(C.calloc(C.size_t(len(args)+1), pointer))
	defer C.free(unsafe.Pointer(argv))
	for i, text := range args {
		s := C.CString(text)
		defer C.free(unsafe.Pointer(s))
		unsafe.Slice(argv, len(args))[i] = s
	}
	frame := C.CBytes(welcome)
	defer C.free(frame)
	fd := -1
	if log != nil {
		fd = int(log.Fd())
	}
	var why *C.char
	m.model = C.nl_open(m.api, C.int(len(args)), argv, frame, unsafe.Pointer(unsafe.SliceData(memory)), C.int(fd), &why)
	if m.model == nil {
		return fmt.Errorf("the model cannot start: %s", C.GoString(why))
	}
	return nil
}

// Hello is the frame with which the model says what it is.
func (m *Model) Hello() []byte { return C.GoBytes(unsafe.Pointer(&m.model.hello), C.NL_HELLO_BYTES) }

// Reply is what the model had to say at Open or to the last Exchange; good until the next.
func (m *Model) Reply() []byte {
	return unsafe.Slice((*byte)(m.model.reply), int(m.model.reply_bytes))
}

// Exchange has the model execute a message. drivers.ErrClosed: it was stopped. io.EOF: it is over,
// and Reply may say why.
func (m *Model) Exchange(message []byte) error {
	switch C.nl_exchange(m.api, m.model, (*C.uint8_t)(unsafe.SliceData(message)), C.size_t(len(message))) {
	case C.NL_INSIDE_GOES_ON:
		return nil
	case C.NL_INSIDE_OVER:
		return io.EOF
	case C.NL_INSIDE_STOPPED:
		return drivers.ErrClosed
	}
	return fmt.Errorf("%w: %s", drivers.ErrPeerDied, m.Reply())
}

// Stop makes an Exchange in another goroutine end soon, and every later one.
func (m *Model) Stop() { C.nl_stop(m.api, m.model) }

// Close finishes the model and unloads it.
func (m *Model) Close() {
	if m.model != nil {
		C.nl_close(m.api, m.model)
	}
	if m.handle != nil {
		C.dlclose(m.handle)
	}
	m.image.Close()
	*m = Model{}
}
