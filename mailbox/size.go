package mailbox

import "reflect"

// StateBytes is the protocol's state of a Flow as it lies in memory: all counters,
// thresholds, flags and links. The configuration, the event counters, the queue of
// a call and Go's slice headers are not counted: they are about 300 bytes however
// many processes there are.
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
