package explore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

// Script runs scenarios: one world, changed by commands.
//
//	new ranks= protocol=rget|rput|chunked|spec [chunk= window= counters= hopeless] send=FROM>TO[#TAG]:BYTES@AT[!] …
//	    receive=RANK<SOURCE[#TAG]:ROOM@AT … [ids=] [early=] [late=] [received=] [descriptors=]
//	    [impatient] [plant=]
//	    Starts a world. Messages and receives are numbered from 0; one with a ! is eager; source and
//	    tag of a receive may be *. early, late and received are the pieces of memory at each rank.
//	send RANK, receive RANK
//	    The rank starts its next send, or its next receive.
//	deliver FROM>TO
//	    The oldest control or eager message between two ranks arrives.
//	leave FROM>TO [fault]
//	    The bytes of the oldest put leave; a fault is reported to its origin.
//	perform FROM>TO [fault]
//	    The oldest operation of FROM at TO is performed there.
//	answer FROM>TO [fault]
//	    Its response, or its fault, returns to TO.
//	tick RANK
//	    Time advances to the core's next retry.
//	cancel-send NUMBER, cancel-receive NUMBER
//	state
//	    Prints all transfers.
//
// With short=N or refused=N, the Nth request of the command for memory or an operation finds no
// room, or fails for good. Commands print the actions of the cores; a violation is the last line.
type Script struct {
	w   *World
	out strings.Builder
}

// Exec runs one line and returns its output.
func (s *Script) Exec(line string) string {
	s.out.Reset()
	if err := s.command(line); err != nil {
		text := strings.TrimPrefix(err.Error(), ErrUnsafe.Error()+": ")
		if text != err.Error() {
			text = "violation: " + text
		}
		s.out.WriteString(text + "\n")
	}
	if s.out.Len() == 0 {
		return "ok\n"
	}
	return s.out.String()
}

func (s *Script) command(line string) error {
	fields := strings.Fields(line)
	switch {
	case len(fields) == 0:
		return fmt.Errorf("an empty command")
	case fields[0] == "new":
		o, err := ParseOptions(fields[1:])
		if err != nil {
			return err
		}
		// Failures are chosen by the commands, so the budgets are unlimited.
		o.Faults, o.Shortages, o.Refusals = 1<<7-1, 1<<7-1, 1<<7-1
		s.w, err = NewWorld(&o)
		if err == nil {
			s.w.say = func(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }
		}
		return err
	case s.w == nil:
		return fmt.Errorf("%s: no world, expected a new command first", fields[0])
	case fields[0] == "state":
		s.state()
		return nil
	}
	e, err := parseEvent(fields)
	if err != nil {
		return err
	}
	if !s.w.possible(e) {
		return fmt.Errorf("%s: that cannot happen now", line)
	}
	if err := s.w.Apply(e); err != nil {
		return err
	}
	return s.stuck()
}

// stuck reports an unfinished state without possible events.
func (s *Script) stuck() error {
	for _, e := range s.w.Enabled() {
		w := s.w.clone()
		w.say = func(string, ...any) {}
		if w.Apply(e) != nil || !bytes.Equal(w.AppendState(nil), s.w.AppendState(nil)) {
			return nil
		}
	}
	return s.w.Finished()
}

func (w *World) possible(e event) bool {
	e.nth, e.trouble = 0, none
	if e.act == cancelSend {
		return int(e.from) < len(w.messages) && w.messages[e.from].progress == begun
	}
	if e.act == cancelReceive {
		return int(e.from) < len(w.receives) && w.receives[e.from].progress == begun
	}
	for _, other := range w.Enabled() {
		if e == other {
			return true
		}
	}
	return false
}

func (s *Script) state() {
	for at := range s.w.ranks {
		core := s.w.ranks[at].core
		for ref := 0; ref < core.Records(); ref++ {
			if e := core.At(ref); e.Live() {
				fmt.Fprintf(&s.out, "rank %d: %v\n", at, e)
			}
		}
	}
}

func parseEvent(fields []string) (e event, err error) {
	known := false
	for i, name := range actionNames {
		if fields[0] == name {
			e.act, known = action(i), true
		}
	}
	if !known || len(fields) < 2 {
		return e, fmt.Errorf("%s: expected new, state or one of %s, with its ranks or number", fields[0], strings.Join(actionNames[:], ", "))
	}
	number := func(into *uint8, text string) {
		if n, bad := strconv.Atoi(text); bad != nil || n != int(uint8(n)) {
			err = errors.Join(err, fmt.Errorf("%s: %w", fields[0], cmp.Or(bad, strconv.ErrRange)))
		} else {
			*into = uint8(n)
		}
	}
	from, to, pair := strings.Cut(fields[1], ">")
	number(&e.from, from)
	if pair {
		number(&e.to, to)
	}
	for _, f := range fields[2:] {
		key, value, _ := strings.Cut(f, "=")
		switch key {
		case "fault":
			e.trouble = faulty
			continue
		case "short":
			e.trouble = shortage
		case "refused":
			e.trouble = refused
		default:
			return e, fmt.Errorf("%s: found %q, expected fault, short= or refused=", fields[0], f)
		}
		number(&e.nth, value)
	}
	return e, err
}

// ParseOptions parses the output of String without "new".
func ParseOptions(fields []string) (o Options, err error) {
	numbers := map[string]*int{
		"ranks": &o.Ranks, "chunk": &o.Chunk, "window": &o.Window, "counters": &o.Counters, "ids": &o.IDs, "descriptors": &o.Descriptors,
		"early": &o.Registrations[rendezvous.Early], "late": &o.Registrations[rendezvous.Late], "received": &o.Registrations[rendezvous.Received],
	}
	for _, f := range fields {
		key, value, _ := strings.Cut(f, "=")
		switch n := numbers[key]; {
		case n != nil:
			*n, err = strconv.Atoi(value)
		case key == "protocol":
			o.Protocol = value
		case key == "plant":
			o.Plant = value
		case key == "impatient":
			o.Impatient = true
		case key == "hopeless":
			o.Hopeless = true
		case key == "send":
			var m Message
			m, err = parseMessage(value)
			o.Messages = append(o.Messages, m)
		case key == "receive":
			var r Receive
			r, err = parseReceive(value)
			o.Receives = append(o.Receives, r)
		default:
			err = fmt.Errorf("found %q", f)
		}
		if err != nil {
			return o, fmt.Errorf("new: %w; expected what doc of Script says", err)
		}
	}
	return o, nil
}

func parseMessage(s string) (m Message, err error) {
	s, m.Eager = strings.CutSuffix(s, "!")
	m.From, m.To, m.Tag, m.Bytes, m.At, err = parseEnvelope(s, ">")
	return m, err
}

func parseReceive(s string) (r Receive, err error) {
	r.Rank, r.Source, r.Tag, r.Room, r.At, err = parseEnvelope(s, "<")
	return r, err
}

// parseEnvelope parses "A>B#TAG:BYTES@AT".
func parseEnvelope(s, arrow string) (a, b, tag, bytes, at int, err error) {
	number := func(s string) (n int) {
		if s == "*" {
			return Any
		}
		n, e := strconv.Atoi(s)
		if e != nil && err == nil {
			err = e
		}
		return n
	}
	ranks, rest, _ := strings.Cut(s, ":")
	first, second, _ := strings.Cut(ranks, arrow)
	second, tagText, tagged := strings.Cut(second, "#")
	size, offset, _ := strings.Cut(rest, "@")
	if tagged {
		tag = number(tagText)
	}
	return number(first), number(second), tag, number(size), number(offset), err
}

// script formats events as a scenario with their output.
func script(o *Options, trace []event, violation string) string {
	commands := []string{o.String()}
	for _, e := range trace {
		commands = append(commands, e.String())
	}
	return modelcheck.Transcript(violation, commands, new(Script).Exec)
}
