package rma

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// CacheConfig limits the regions that stay mapped. Regions in use may exceed the limits; then no
// unused region stays.
type CacheConfig struct {
	Regions int    // default 64
	Bytes   uint64 // default 1 GB
}

func (c CacheConfig) withDefaults() CacheConfig {
	if c.Regions == 0 {
		c.Regions = 64
	}
	if c.Bytes == 0 {
		c.Bytes = 1 << 30
	}
	return c
}

// A Region is registered memory of this process.
type Region struct {
	low, high  uint64 // offsets in memory, whole pages
	rights     Rights
	nla        NLA // of low
	refs       int
	prev, next *Region
}

// NLA returns the network logical address of the byte at offset off, which must lie in the region.
func (r *Region) NLA(off uint64) NLA {
	if off < r.low || off > r.high {
		panic(fmt.Sprintf("rma: offset 0x%x is not in the region 0x%x..0x%x", off, r.low, r.high))
	}
	return r.nla + NLA(off-r.low)
}

// cache holds the mapped regions of a port in a ring, most recently used first.
type cache struct {
	CacheConfig
	list                   Region // list.next is the most recently used one
	count                  int
	bytes                  uint64
	hits, misses, evictees uint64
}

func (c *cache) init(cfg CacheConfig) {
	c.CacheConfig = cfg.withDefaults()
	c.list.prev, c.list.next = &c.list, &c.list
}

func (r *Region) unlink() { r.prev.next, r.next.prev = r.next, r.prev }

func (c *cache) front(r *Region) {
	r.prev, r.next = &c.list, c.list.next
	r.prev.next, r.next.prev = r, r
}

// find returns a region that covers [low, high) with the required rights. A linear search is fast
// enough: the list is short and the region is usually near its head.
func (c *cache) find(low, high uint64, want Rights) *Region {
	for r := c.list.next; r != &c.list; r = r.next {
		if r.low <= low && high <= r.high && r.rights&want == want {
			return r
		}
	}
	return nil
}

// oldest returns the least recently used region that is not in use, or nil.
func (c *cache) oldest() *Region {
	for r := c.list.prev; r != &c.list; r = r.prev {
		if r.refs == 0 {
			return r
		}
	}
	return nil
}

// Register makes [off, off+n) of the node's DMA memory reachable for this process and its peers
// until Release. It reuses a mapped region that covers the range. On ErrTryAgain, call Poll first.
func (p *Port) Register(off, n uint64, want Rights) (*Region, error) {
	if err := p.atu.checkRange(off, n); err != nil {
		return nil, err
	}
	low, high := off&^(pageBytes-1), (off+n+pageBytes-1)&^(pageBytes-1)
	c := &p.cache
	if r := c.find(low, high, want); r != nil {
		c.hits++
		r.refs++
		r.unlink()
		c.front(r)
		return r, nil
	}
	if err := p.makeRoom(high - low); err != nil {
		return nil, err
	}
	nla, err := p.atu.mapPages(p.dev, p.self.VPID, low, min(high, uint64(len(p.dev.Memory())))-low, want)
	if err != nil {
		return nil, p.tablesFull(err)
	}
	c.misses++
	r := &Region{low: low, high: high, rights: want, nla: nla, refs: 1}
	c.front(r)
	c.count++
	c.bytes += high - low
	return r, nil
}

// makeRoom evicts regions until the cache is within its limits or all remaining regions are in use.
func (p *Port) makeRoom(bytes uint64) error {
	c := &p.cache
	for c.count >= c.Regions || c.bytes+bytes > c.Bytes {
		if gone, err := p.evict(); !gone || err != nil {
			return err
		}
	}
	return nil
}

// tablesFull evicts a region when the tables have no free entries. The entries become free when the
// NIC has dropped its cached translations.
func (p *Port) tablesFull(err error) error {
	if !errors.Is(err, drivers.ErrTablesFull) {
		return err
	}
	gone, evictErr := p.evict()
	switch {
	case evictErr != nil:
		return evictErr
	case gone:
		return ErrTryAgain
	}
	return err
}

// evict unmaps the least recently used region, if there is one.
func (p *Port) evict() (bool, error) {
	r := p.cache.oldest()
	if r == nil {
		return false, nil
	}
	p.cache.evictees++
	return true, p.drop(r)
}

// drop unmaps a region that is not in use.
func (p *Port) drop(r *Region) error {
	r.unlink()
	p.cache.count--
	p.cache.bytes -= r.high - r.low
	return p.atu.unmap(p.dev, r.nla)
}

// Forget unmaps every unused region that overlaps [off, off+n), so that the next owner of that
// memory has exclusive access.
func (p *Port) Forget(off, n uint64) error {
	for r := p.cache.list.next; r != &p.cache.list; {
		next := r.next
		if r.refs == 0 && r.low < off+n && off < r.high {
			if err := p.drop(r); err != nil {
				return err
			}
		}
		r = next
	}
	return nil
}

// Release ends the use that one Register began. The region stays mapped until its entries are
// needed.
func (p *Port) Release(r *Region) {
	if r.refs--; r.refs < 0 {
		panic("rma: region released more often than registered")
	}
}
