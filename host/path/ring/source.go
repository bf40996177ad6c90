package ring

import (
	"errors"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/reuse"
	"github.com/nicloop/nicloop/rma"
)

// A source is where the bytes of an operation lie.
type source struct {
	nla   rma.NLA
	stage int // intermediate buffer, or -1
	held  bool
	ref   reuse.Ref // if held
}

// acquire finds from where the bytes of a buffer are put, or to where they are got. It copies
// nothing. ok: there is something.
func (p *Path) acquire(buf []byte) (s source, ok bool, err error) {
	e := p.e
	if at, inside := e.DMA.Locate(buf); inside && p.Mode == Adapt {
		use := p.table.Use(at, len(buf))
		e.Proc.Spend(e.Cost.Look * drivers.Time(use.Looked))
		region := use.Region
		if use.Verdict == reuse.Register {
			if use.Verdict, region, err = p.pin(use.Ref, at, len(buf)); err != nil {
				return s, false, err
			}
		}
		p.releaseRegistrations()
		if use.Verdict == reuse.Direct {
			p.table.Hold(use.Ref)
			return source{nla: region.NLA(at), stage: -1, held: true, ref: use.Ref}, true, nil
		}
	}
	if ready, err := p.openArea(); err != nil || !ready || len(p.stages) == 0 || len(buf) > p.Longest {
		return s, false, err
	}
	i := p.stages[len(p.stages)-1]
	p.stages = p.stages[:len(p.stages)-1]
	return source{nla: p.area.NLA(p.stageAt(i)), stage: i}, true, nil
}

// pin registers a buffer that is used often. Only pages that were not mapped are pinned.
func (p *Path) pin(ref reuse.Ref, at uint64, n int) (reuse.Verdict, *rma.Region, error) {
	e := p.e
	before := e.DMA.Port.Stats().Misses
	region, err := e.DMA.Register(at, uint64(n), rma.ReadWrite)
	switch {
	case errors.Is(err, path.ErrAgain):
		p.table.Refused(ref)
		return reuse.Copy, nil, nil
	case err != nil:
		return reuse.Copy, nil, err
	}
	if e.DMA.Port.Stats().Misses > before {
		p.stats.Pins++
		pages := (at+uint64(n)+pageBytes-1)/pageBytes - at/pageBytes
		e.Proc.Spend(e.Cost.Pin + e.Cost.PinPage*drivers.Time(pages))
	}
	return p.table.Registered(ref, n, region), region, nil
}

// fill copies bytes into an intermediate buffer, if they are put from one.
func (p *Path) fill(s source, b []byte) {
	if s.held {
		return
	}
	p.e.Proc.Spend(p.e.Cost.CopyByte * drivers.Time(len(b)))
	copy(p.e.DMA.Memory[p.stageAt(s.stage):], b)
}

// count counts an operation that was posted.
func (p *Path) count(s source) {
	if s.held {
		p.stats.Direct++
	} else {
		p.stats.Copied++
	}
}

// release ends the use of a source.
func (p *Path) release(s source) {
	if s.held {
		p.table.Drop(s.ref)
	} else {
		p.stages = append(p.stages, s.stage)
	}
}

// releaseRegistrations ends registrations that the table no longer needs.
func (p *Path) releaseRegistrations() {
	for {
		region, ok := p.table.Released()
		if !ok {
			return
		}
		p.e.DMA.Port.Release(region)
	}
}

// Held implements path.RegistrationCache.
func (p *Path) Held(at, n uint64) bool { return p.table.Held(at, n) }

// Freed implements path.RegistrationCache.
func (p *Path) Freed(at, n uint64) {
	p.table.Invalidate(at, n)
	p.freed = append(p.freed, piece{at, n})
	p.releaseRegistrations()
}

// UnmapFreed implements path.RegistrationCache.
func (p *Path) UnmapFreed() error {
	for _, f := range p.freed {
		if err := p.e.DMA.Port.Forget(f.at, f.n); err != nil {
			return err
		}
	}
	p.freed = p.freed[:0]
	return nil
}

// Evict implements path.RegistrationCache.
func (p *Path) Evict() {
	if p.table.Evict() {
		p.releaseRegistrations()
	}
}
