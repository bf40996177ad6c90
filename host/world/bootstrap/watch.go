package bootstrap

import (
	"context"
	"errors"
	"os"
	"time"
)

// Watch returns when a program of the world has died, with a *PeerError, or, with nil, when ctx
// ends. It is called between two fences, by as many programs as like to know.
func (s *Session) Watch(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link != nil {
		return s.joinWatch(ctx)
	}
	for {
		select {
		case e := <-s.listener.events:
			if _, err := s.listener.fences(s, e); err != nil { // some may be at the fence already
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

// joinWatch waits for anything that the listener says, without taking it.
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
	_, err = s.expect(kindGo) // who listens says nothing now but that somebody has died, or dies itself
	return err
}
