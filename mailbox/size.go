package mailbox

import "reflect"

// StateBytes returns the size in memory of a Flow's protocol state: counters, thresholds, flags and
// links. It excludes the configuration, event counters, the queue of control packets and slice
// headers, which take about 300 bytes for any number of processes.
func StateBytes(f Flow) int { return bytesOf(reflect.ValueOf(f).Elem()) }

var notState = map[string]bool{"cfg": true, "formula": true, "stats": true, "pending": true}

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
		panic("mailbox: state behind a " + v.Kind().String() + " would not be counted")
	}
	return int(v.Type().Size())
}
