package mailbox

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// FC paper, Equation 7: at most 4n+2 bytes of static and 150n of dynamic state for n processes.
// Counted is the protocol's state as it lies in memory: all counters, thresholds, flags and links.
// The configuration, the event counters, the queue of a call and Go's slice headers are not: they
// are about 300 bytes whatever n is.
func TestStateSize(t *testing.T) {
	for _, procs := range []int{2, 16, 1024, 1 << 16} {
		for slots := 1; slots <= 5; slots++ {
			c := Config{Procs: procs, DataSlots: (procs - 1) * 60, CreditSlots: slots}
			static, err := NewStatic(c)
			require.NoError(t, err)
			dynamic, err := NewDynamic(c)
			require.NoError(t, err)
			require.LessOrEqual(t, stateBytes(static), 4*procs+2)
			require.LessOrEqual(t, stateBytes(dynamic), 150*procs)
			t.Logf("%d processes, %d credit slots: static %d bytes, dynamic %d (%.1f per process)",
				procs, slots, stateBytes(static), stateBytes(dynamic), float64(stateBytes(dynamic))/float64(procs))
		}
	}
}

var notState = map[string]bool{"cfg": true, "rules": true, "stats": true, "pending": true}

func stateBytes(f Flow) int { return bytesOf(reflect.ValueOf(f).Elem()) }

func bytesOf(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if !notState[v.Type().Field(i).Name] {
				n += bytesOf(v.Field(i))
			}
		}
		return n
	case reflect.Slice:
		return v.Cap() * int(v.Type().Elem().Size())
	case reflect.Map, reflect.Pointer, reflect.Interface, reflect.String:
		panic("state behind a " + v.Kind().String() + " would not be counted")
	}
	return int(v.Type().Size())
}
