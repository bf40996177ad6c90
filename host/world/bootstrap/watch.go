package bootstrap

import (
	"context"
	"errors"
	"os"
	"time"
)

// Watch blocks until a program of the world dies and returns a *PeerError, or returns nil when ctx
// ends. Any number of programs may call it, between two fences.
func (s *Session) Watch(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link != nil {
		return s.joinWatch(ctx)
	}
	for {
		select {
		case e := <-s.listener.events:
			if _, err := s.listener.fences(s, e); err != nil { // others may have arrived at the fence already
				s.giveUp(err)
				return err
			}
		case <-s.listener.over:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// joinWatch waits for a frame of the listener without consuming it.
func (s *Session) joinWatch(ctx context.Context) error {
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		s.link.SetReadDeadline(time.Unix(1, 0))
		close(stopped)
	})
	_, err := s.link.from.Peek(1)
	if !stop() {
		<-stopped
		if e := s.link.SetReadDeadline(time.Time{}); e != nil && err == nil {
			err = e
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	_, err = s.expect(kindGo) // between fences the listener only reports a death, or dies itself
	return err
}
