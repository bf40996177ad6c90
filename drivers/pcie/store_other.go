//go:build !amd64

package pcie

import "sync/atomic"

// store posts a quadword, behind all stores before it.
func store(p *uint64, v uint64) { atomic.StoreUint64(p, v) }
