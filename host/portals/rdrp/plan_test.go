package rdrp

import (
	"reflect"
	"testing"
)

func TestPlanGets(t *testing.T) {
	for _, test := range []struct {
		name                                  string
		total, first, buffer, chunk, inFlight uint64
		want                                  []Get
	}{
		{"first chunk is all", 4, 4, 4, 4, 2, nil},
		{"one byte more", 5, 4, 5, 4, 2, []Get{{4, 1, 0}}},
		{"two in flight", 20, 4, 20, 4, 2, []Get{{4, 4, 0}, {8, 4, 0}, {12, 4, 1}, {16, 4, 2}}},
		{"short buffer", 16, 4, 10, 4, 1, []Get{{4, 4, 0}, {8, 2, 1}, {12, 0, 2}}},
		{"buffer below first chunk", 12, 4, 2, 4, 2, []Get{{4, 0, 0}, {8, 0, 0}}},
		{"no window", 16, 4, 16, 4, 0, nil},
	} {
		got := PlanGets(test.total, test.first, test.buffer, test.chunk, test.inFlight)
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: gets %v, want %v", test.name, got, test.want)
		}
	}
}
