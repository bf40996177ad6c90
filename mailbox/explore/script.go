package explore

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/mailbox"
)

// Script runs scenarios: one world, changed by commands.
//
//	new flow=static|dynamic procs= data= credit= [piggyback] [division=round-down|round-up]
//	    [formula=a|b] [fault=] [promises]
//	    Starts a world of procs processes with data slots in every data region and credit slots
//	    per peer. Everything after this command happens in it. With promises, only those are
//	    checked and not the flow controls' own invariants.
//	send from= to= [count=1] [room]
//	    Sends data packets; room: they leave room for credits. Stops at the first refusal.
//	deliver from= to= [count=1]
//	    Moves packets from the network into the mailbox.
//	retrieve at= [from=] [count=1]
//	    Takes packets off a mailbox. With from, the oldest packets of that process, which arrive
//	    just before; the mailbox must be empty. With count=all, until there are none.
//	exchange from= to= [count=1] [room]
//	    count times: send from one to the other and retrieve everything at both.
//	settle
//	    Retrieves everywhere until nothing is under way.
//	state [at=]
//	    Prints all that is known.
//	stats at=
//	    Prints the event counters that are not 0.
//
// Commands print packets that leave or are retrieved, as in "0>1 sent DATA 3 +2" (process 0 to
// process 1, its third data packet, piggybacking 2 credits), and then every line of flow control
// that changed. Argument quiet omits all that, but not a violation, which is the last line.
type Script struct {
	w    *World
	test func() error // what must hold after every command
	out  strings.Builder
	run  note // of packets, not yet printed
}

// Command is one parsed line of a script.
type Command struct {
	Name string
	Args map[string]string // a flag has the value ""
}

// ParseCommand splits "name key=value flag".
func ParseCommand(line string) Command {
	fields := strings.Fields(line)
	c := Command{Args: map[string]string{}}
	for i, f := range fields {
		if i == 0 {
			c.Name = f
			continue
		}
		k, v, _ := strings.Cut(f, "=")
		c.Args[k] = v
	}
	return c
}

func (c Command) has(key string) bool { _, ok := c.Args[key]; return ok }

func (c Command) int(key string, missing int) (int, error) {
	v, ok := c.Args[key]
	if !ok {
		return missing, nil
	}
	if v == "all" {
		return 1 << 30, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0, fmt.Errorf("%s: %s=%q, expected a number", c.Name, key, v)
	}
	return n, nil
}

// note is a run of packets of one pair with the same fate that differ only in their numbers.
type note struct {
	what     string
	from, to int
	first    packet
	length   int
}

func (n *note) continues(what string, from, to int, p packet) bool {
	expected := n.first
	expected.number += n.length
	return n.length > 0 && p.kind == mailbox.Data && n.what == what && n.from == from && n.to == to && p == expected
}

// note takes notice of one packet. Runs are printed as one line once they have ended.
func (s *Script) note(what string, from, to int, p packet) {
	if s.run.continues(what, from, to, p) {
		s.run.length++
		return
	}
	s.endRun()
	s.run = note{what: what, from: from, to: to, first: p, length: 1}
}

func (s *Script) endRun() {
	switch n := s.run; n.length {
	case 0:
	case 1:
		fmt.Fprintf(&s.out, "%d>%d %s %v\n", n.from, n.to, n.what, n.first)
	default:
		fmt.Fprintf(&s.out, "%d>%d %s %v (and the next %d)\n", n.from, n.to, n.what, n.first, n.length-1)
	}
	s.run = note{}
}

// say prints a line behind what has been noted so far.
func (s *Script) say(format string, args ...any) {
	s.endRun()
	fmt.Fprintf(&s.out, format+"\n", args...)
}

// Exec runs one line and returns its output.
func (s *Script) Exec(line string) string {
	s.out.Reset()
	c := ParseCommand(line)
	before := s.snapshot()
	err := s.guarded(c)
	s.endRun()
	text := s.out.String()
	if c.has("quiet") {
		text = ""
	} else if c.Name != "state" && c.Name != "stats" && c.Name != "new" {
		text += s.changes(before)
	}
	if err != nil {
		text += err.Error() + "\n"
	}
	if text == "" {
		return "ok\n"
	}
	return text
}

// guarded turns the panic of a flow control and a failed check into output.
func (s *Script) guarded(c Command) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("violation: %v", p)
		}
	}()
	if s.w == nil && c.Name != "new" {
		return fmt.Errorf("%s: no world, expected a new command first", c.Name)
	}
	if err := s.command(c); err != nil {
		return err
	}
	if c.Name == "state" || c.Name == "stats" {
		return nil // they must be able to show a broken world
	}
	if err := s.test(); err != nil {
		return fmt.Errorf("violation: %v", strings.TrimPrefix(err.Error(), ErrUnsafe.Error()+": "))
	}
	return nil
}

func (s *Script) command(c Command) error {
	from, to, err := s.pairOf(c)
	if err != nil {
		return err
	}
	count, err := c.int("count", 1)
	if err != nil {
		return err
	}
	switch c.Name {
	case "new":
		return s.start(c)
	case "send":
		for range count {
			if !s.send(from, to, c.has("room")) {
				break
			}
		}
	case "deliver":
		for range count {
			if !s.w.Deliver(from, to) {
				s.say("nothing under way from %d to %d", from, to)
				break
			}
		}
	case "retrieve":
		return s.retrieve(c, to, count)
	case "exchange":
		for range count {
			if !s.send(from, to, c.has("room")) {
				break
			}
			s.w.Settle()
		}
	case "settle":
		s.w.Settle()
	case "state":
		s.state(c)
	case "stats":
		s.stats(to)
	default:
		return fmt.Errorf("unknown command %q, expected new, send, deliver, retrieve, exchange, settle, state or stats", c.Name)
	}
	return nil
}

// pairOf reads from and to; at is another name for to.
func (s *Script) pairOf(c Command) (from, to int, err error) {
	if from, err = c.int("from", 0); err != nil {
		return
	}
	key := "to"
	if c.has("at") {
		key = "at"
	}
	if to, err = c.int(key, 0); err != nil {
		return
	}
	if s.w != nil && c.Name != "new" && (min(from, to) < 0 || max(from, to) >= s.w.procs) {
		err = fmt.Errorf("%s: ranks %d and %d, expected 0..%d", c.Name, from, to, s.w.procs-1)
	}
	return
}

func (s *Script) start(c Command) error {
	config := mailbox.Config{Piggyback: c.has("piggyback")}
	for _, field := range []struct {
		key string
		v   *int
	}{{"procs", &config.Procs}, {"data", &config.DataSlots}, {"credit", &config.CreditSlots}} {
		var err error
		if *field.v, err = c.int(field.key, 0); err != nil {
			return err
		}
	}
	var flow Protocol
	var formula mailbox.Formula
	var fault Fault
	if err := errors.Join(
		choose(c, "flow", &flow, Static, Dynamic),
		choose(c, "division", &config.Division, mailbox.GrantExcess, mailbox.RoundDown, mailbox.RoundUp),
		choose(c, "formula", &formula, mailbox.Eq1, mailbox.FormulaA, mailbox.FormulaB),
		choose(c, "fault", &fault, append(Faults(), NoFault)...),
	); err != nil {
		return err
	}
	w, err := NewWorld(config, func(c mailbox.Config) (mailbox.Flow, error) {
		return flow.Start(c, formula, fault)
	})
	if err != nil {
		return err
	}
	s.w, s.test = w, w.Check
	if c.has("promises") {
		s.test = w.checkPromises
	}
	w.watch = s.note
	s.say("%d slots per mailbox", config.MailboxSlots())
	return nil
}

// choose sets v to the value that an argument names; without the argument v stays.
func choose[T fmt.Stringer](c Command, key string, v *T, values ...T) error {
	name, ok := c.Args[key]
	if !ok {
		return nil
	}
	for _, value := range values {
		if value.String() == name {
			*v = value
			return nil
		}
	}
	return fmt.Errorf("%s: %s=%q, expected one of %v", c.Name, key, name, values)
}

func (s *Script) send(from, to int, room bool) bool {
	if !s.w.Send(from, to, room) {
		s.say("refused")
		return false
	}
	return true
}

func (s *Script) retrieve(c Command, at, count int) error {
	from, err := c.int("from", -1)
	if err != nil {
		return err
	}
	if from >= 0 && len(s.w.mailbox[at]) > 0 {
		return fmt.Errorf("retrieve: from needs an empty mailbox, %d packets are in that of process %d", len(s.w.mailbox[at]), at)
	}
	for range count {
		if from >= 0 {
			s.w.Deliver(from, at)
		}
		if _, ok := s.w.Retrieve(at); !ok {
			if !c.has("count") {
				s.say("nothing to retrieve")
			}
			break
		}
	}
	return nil
}

func (s *Script) stats(at int) {
	for _, f := range strings.Fields(strings.Trim(fmt.Sprintf("%+v", s.w.flows[at].Stats()), "{}")) {
		if !strings.HasSuffix(f, ":0") {
			s.say("%s", f)
		}
	}
}
