//go:build !linux

package packets

func slab[T any](n int) []T { return make([]T, n) }
