package regmap

import (
	"encoding/json"
	"testing"
)

// Any bytes are a register map or an error.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("registers:\n  - {name: A, offset: 0x10, access: rw, doc: a}\n"))
	f.Add([]byte("<device><peripherals><peripheral><registers><register><name>A</name><addressOffset>0x4</addressOffset></register></registers></peripheral></peripherals></device>"))
	f.Add([]byte("<component><memoryMaps/></component>"))
	f.Add([]byte(`{"registers":[{"name":"A","offset":4,"count":9223372036854775807,"stride":8}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if m, err := Decode(text); err == nil {
			for off := range uint32(64) {
				m.ByAddress(4 * off)
			}
		}
		var m Map
		if json.Unmarshal(text, &m) == nil {
			m.ByAddress(4)
		}
	})
}
