package rportals

import (
	"fmt"

	"github.com/nicloop/nicloop/host/portals"
)

type targetState uint8

const (
	active targetState = iota
	awaiting
	draining
)

// A target is a protected portal table entry of this process.
type target struct {
	eq      portals.EQ
	state   targetState
	missing int // PAUSE_ACKs
	epoch   uint16
	isShort bool // the program lacks buffers
}

type controlKind uint8

const (
	pause controlKind = iota + 1
	pauseAck
	unpause
)

func (k controlKind) String() string { return [...]string{"", "PAUSE", "PAUSE_ACK", "UNPAUSE"}[k] }

// encode packs a control message into the header data of its put.
func encode(k controlKind, pt uint8, epoch uint16, rank int) uint64 {
	return uint64(k)<<56 | uint64(pt)<<48 | uint64(epoch)<<32 | uint64(uint32(rank))
}

// DescribeControl describes a control message by its header data.
func DescribeControl(data uint64) string {
	k := controlKind(data >> 56)
	if k < pause || k > unpause {
		return fmt.Sprintf("control message %#x", data)
	}
	return fmt.Sprintf("%v of portal table entry %d, epoch %d", k, uint8(data>>48), uint16(data>>32))
}

func (l *Layer) sendControl(k controlKind, peer, entry int, epoch uint16) error {
	l.stats.Control++
	_, err := l.ni.Put(&portals.Request{
		MD: l.controlMD, Target: l.config.Peers[peer], PT: uint8(l.config.Control),
		HdrData: encode(k, l.config.Protected[entry], epoch, l.self),
	})
	if err != nil {
		return fmt.Errorf("rportals: %v to peer %d: %w", k, peer, err)
	}
	return nil
}

// EQGet returns the next event of a protected entry, or EQEmpty. It handles PT_DISABLED itself.
func (l *Layer) EQGet(pt uint8, e *portals.Event) error {
	at := l.entry(pt)
	if at < 0 || l.targets[at].eq == 0 {
		return fmt.Errorf("rportals: portal table entry %d was not allocated", pt)
	}
	for {
		err := l.ni.EQGet(l.targets[at].eq, e)
		switch {
		case err == portals.EQEmpty:
			if err := l.resume(at); err != nil {
				return err
			}
			return portals.EQEmpty
		case err != nil:
			return fmt.Errorf("rportals: events of portal table entry %d: %w", pt, err)
		case e.Kind != portals.EventPTDisabled:
			return nil
		}
		if err := l.pauseAll(at); err != nil {
			return err
		}
	}
}

// pauseAll begins the recovery of an entry.
func (l *Layer) pauseAll(at int) error {
	t := &l.targets[at]
	if t.state != active {
		return fmt.Errorf("rportals: portal table entry %d is disabled twice", l.config.Protected[at])
	}
	t.state, t.missing, t.epoch = awaiting, len(l.config.Peers), t.epoch+1
	l.stats.Recoveries++
	for peer := range l.config.Peers {
		if err := l.sendControl(pause, peer, at, t.epoch); err != nil {
			return err
		}
	}
	return nil
}

// SetShort reports whether the program lacks buffers for an entry. While it does, a disabled entry
// stays disabled: enabled again, it would refuse the next message. EQGet resumes.
func (l *Layer) SetShort(pt uint8, isShort bool) error {
	at := l.entry(pt)
	if at < 0 {
		return l.notProtected(pt)
	}
	l.targets[at].isShort = isShort
	return nil
}

// resume enables an entry again if all processes are quiet, its events are read (EQGet has found
// none) and its buffers are posted.
func (l *Layer) resume(at int) error {
	t := &l.targets[at]
	if t.state != draining && !(l.mistake == ResumeBeforeQuiet && t.state == awaiting) || t.isShort {
		return nil
	}
	t.state = active
	if err := l.ni.PTEnable(l.config.Protected[at]); err != nil {
		return err
	}
	for peer := range l.config.Peers {
		if err := l.sendControl(unpause, peer, at, t.epoch); err != nil {
			return err
		}
	}
	return nil
}

// PollControl handles one control message and reports whether there was one.
func (l *Layer) PollControl() (bool, error) {
	var e portals.Event
	if err := l.ni.EQGet(l.control, &e); err == portals.EQEmpty {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("rportals: control messages: %w", err)
	}
	kind, pt, epoch, rank := controlKind(e.HdrData>>56), uint8(e.HdrData>>48), uint16(e.HdrData>>32), int(uint32(e.HdrData))
	entry, peer := l.entry(pt), l.peer(e.Initiator)
	if kind < pause || kind > unpause || entry < 0 || peer < 0 || peer != rank {
		return false, fmt.Errorf("rportals: control message %#x from %v: expected PAUSE, PAUSE_ACK or UNPAUSE about one of %v",
			e.HdrData, e.Initiator, l.config.Protected)
	}
	return true, l.handleControl(kind, peer, entry, epoch)
}

func (l *Layer) handleControl(kind controlKind, peer, entry int, epoch uint16) error {
	t, at := &l.targets[entry], l.channel(peer, entry)
	c := &l.channels[at]
	unexpected := func(expected string) error {
		return fmt.Errorf("rportals: %v with epoch %d from peer %d about portal table entry %d: expected %s",
			kind, epoch, peer, l.config.Protected[entry], expected)
	}
	switch kind {
	case pause:
		if c.isPaused {
			return unexpected("UNPAUSE first")
		}
		c.isPaused, c.ackPending, c.epoch = l.mistake != IgnorePause, true, epoch
		return l.acknowledgePause(at)
	case pauseAck:
		if t.state != awaiting || epoch != t.epoch {
			return unexpected("one per recovery")
		}
		if t.missing--; t.missing == 0 || l.mistake == ResumeAfterFirstAck {
			t.state = draining
		}
		return nil
	}
	if !c.isPaused && l.mistake != IgnorePause || c.ackPending || epoch != c.epoch {
		return unexpected("a PAUSE that was acknowledged")
	}
	// No attempt was outstanding at PAUSE_ACK, so all operations of the channel are queued.
	c.isPaused, c.isHeld, c.unissued = false, false, c.first
	l.markReady(at)
	return l.issueReady()
}

// acknowledgePause sends a PAUSE_ACK that is owed once no attempt is outstanding.
func (l *Layer) acknowledgePause(at uint32) error {
	c := &l.channels[at]
	if !c.ackPending || c.outstanding > 0 && l.mistake != AckBeforeAnswers {
		return nil
	}
	c.ackPending = false
	n := uint32(len(l.config.Protected))
	return l.sendControl(pauseAck, int(at/n), int(at%n), c.epoch)
}

// Progress handles all control messages and events of operations that have arrived.
func (l *Layer) Progress() error {
	for {
		control, err := l.PollControl()
		if err != nil {
			return err
		}
		origin, err := l.PollOrigin()
		if err != nil {
			return err
		}
		if !control && !origin {
			return nil
		}
	}
}
