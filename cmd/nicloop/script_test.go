package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithVersion(t *testing.T) {
	for _, c := range []struct{ uri, other, want string }{
		{"design:new.yaml", "design:../old/x.yaml", "design:new.yaml?against=..%2Fold%2Fx.yaml"},
		{"design:new.yaml?stall=3", "design:old.yaml", "design:new.yaml?stall=3&against=old.yaml"},
		{"rtl:", "design:old.yaml", ""}, {"design:new.yaml", "rtl:", ""}, {"design:new.yaml", "design:old.yaml?stall=1", ""}, {"design:new.yaml", "design:", ""},
	} {
		got, err := withVersion(c.uri, c.other)
		require.Equal(t, c.want, got)
		require.Equal(t, c.want == "", err != nil)
	}
}
