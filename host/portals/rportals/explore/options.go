package explore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/host/portals/rportals"
)

// An Op is an operation of the program of a process.
type Op struct {
	Rank, Target, PT int
	IsGet            bool
	NoAck            bool
}

func (o *Op) String() string {
	name := "put"
	switch {
	case o.IsGet:
		name = "get"
	case o.NoAck:
		name = "send"
	}
	return fmt.Sprintf("%d:%s>%d.%d", o.Rank, name, o.Target, o.PT)
}

// Options describe a world.
type Options struct {
	Ranks, PTs int
	Events     int  // in the queue of each portal table entry
	Origin     int  // events in the origin queue
	Buffers    int  // entries for one use that each portal table entry has; 0: one for all messages
	Late       bool // the data of a put leave in an event of their own
	Prompt     bool // control messages and events of operations are handled as they arrive
	Ops        []Op // of all processes; each starts its own in order
	Mistake    rportals.Mistake
	MaxStates  int
}

// String is the command that makes the world.
func (o Options) String() string {
	s := fmt.Sprintf("new ranks=%d pts=%d events=%d origin=%d", o.Ranks, o.PTs, o.Events, o.Origin)
	if o.Buffers > 0 {
		s += fmt.Sprintf(" buffers=%d", o.Buffers)
	}
	if o.Late {
		s += " late"
	}
	if o.Prompt {
		s += " prompt"
	}
	if o.Mistake != rportals.NoMistake {
		s += fmt.Sprintf(" mistake=%v", o.Mistake)
	}
	for i := range o.Ops {
		s += " " + o.Ops[i].String()
	}
	return s
}

// Parse is the inverse of String, without the word new.
func Parse(fields []string) (o Options, err error) {
	o = Options{Ranks: 2, PTs: 1, Events: 1, Origin: 4}
	numbers := map[string]*int{
		"ranks": &o.Ranks, "pts": &o.PTs, "events": &o.Events, "origin": &o.Origin, "buffers": &o.Buffers,
	}
	for _, f := range fields {
		key, value, _ := strings.Cut(f, "=")
		switch n := numbers[key]; {
		case n != nil:
			*n, err = strconv.Atoi(value)
		case key == "late":
			o.Late = true
		case key == "prompt":
			o.Prompt = true
		case key == "mistake":
			o.Mistake, err = parseMistake(value)
		default:
			var op Op
			if op, err = parseOp(f); err == nil {
				o.Ops = append(o.Ops, op)
			}
		}
		if err != nil {
			return o, fmt.Errorf("%s: %w", f, err)
		}
	}
	return o, o.validate()
}

func parseMistake(name string) (rportals.Mistake, error) {
	for _, m := range rportals.Mistakes() {
		if m.String() == name {
			return m, nil
		}
	}
	return 0, fmt.Errorf("expected one of %v", rportals.Mistakes())
}

func parseOp(f string) (op Op, err error) {
	head, target, _ := strings.Cut(f, ">")
	rank, name, _ := strings.Cut(head, ":")
	to, pt, _ := strings.Cut(target, ".")
	for _, n := range []struct {
		text string
		to   *int
	}{{rank, &op.Rank}, {to, &op.Target}, {pt, &op.PT}} {
		if *n.to, err = strconv.Atoi(n.text); err != nil || *n.to < 0 {
			return op, fmt.Errorf("expected RANK:put>TARGET.PT, RANK:send>TARGET.PT or RANK:get>TARGET.PT")
		}
	}
	op.IsGet, op.NoAck = name == "get", name == "send"
	if name != "put" && !op.IsGet && !op.NoAck {
		return op, fmt.Errorf("operation %q: expected put, send or get", name)
	}
	return op, nil
}

func (o *Options) validate() error {
	if o.Ranks < 1 || o.Ranks > 4 || o.PTs < 1 || o.PTs > 4 || o.Events < 1 || o.Events > 32 || len(o.Ops) > 16 {
		return fmt.Errorf("expected 1 to 4 ranks and entries, 1 to 32 events, and at most 16 operations")
	}
	for i := range o.Ops {
		if op := &o.Ops[i]; op.Rank >= o.Ranks || op.Target >= o.Ranks || op.PT >= o.PTs {
			return fmt.Errorf("%v: there are ranks 0 to %d and entries 0 to %d", op, o.Ranks-1, o.PTs-1)
		}
	}
	return nil
}

func parseAll(worlds ...string) (list []Options) {
	for _, s := range worlds {
		o, err := Parse(strings.Fields(s))
		if err != nil {
			panic(err)
		}
		list = append(list, o)
	}
	return list
}

// Suite lists the worlds that must be proved.
func Suite() []Options {
	return parseAll(
		"1:put>0.0 1:put>0.0 1:put>0.0",           // one sender, one event
		"origin=2 1:put>0.0 1:send>0.0 1:get>0.0", // credits for one put
		"origin=3 late 1:put>0.0 1:get>0.0",       // SEND after ACK
		"buffers=1 events=4 1:put>0.0 1:put>0.0",  // entries instead of events
		"prompt buffers=1 events=4 1:put>0.0 1:put>0.0 1:put>0.0",
		"prompt 0:put>0.0 0:put>0.0 1:put>0.0",                 // a process that sends to itself
		"prompt 0:put>1.0 1:put>0.0 1:put>0.0",                 // both can be disabled and pause each other
		"prompt pts=2 1:put>0.0 1:put>0.1 1:put>0.0 1:put>0.1", // two entries of one process
		"prompt ranks=3 1:put>0.0 1:put>0.0 2:put>0.0",         // two senders
		"prompt ranks=3 events=2 origin=2 1:put>0.0 1:put>0.0 2:get>0.0 2:put>0.0",
	)
}

// Deep lists larger worlds, which take a minute.
func Deep() []Options {
	return parseAll(
		"origin=3 late 1:put>0.0 1:get>0.0 1:put>0.0",
		"buffers=1 events=4 1:put>0.0 1:put>0.0 1:put>0.0",
		"0:put>0.0 0:put>0.0 1:put>0.0",
		"prompt 0:put>1.0 0:put>1.0 1:put>0.0 1:put>0.0",
	)
}

// Planted lists worlds with a mistake, each of which must be refuted.
func Planted() []Options {
	return parseAll(
		"mistake=ack-before-answers 1:put>0.0 1:put>0.0 1:put>0.0",
		"mistake=ignore-pause prompt ranks=3 1:put>0.0 2:put>0.0 2:put>0.0",
		"mistake=resume-before-quiet 1:put>0.0 1:put>0.0 1:put>0.0",
		"mistake=resume-after-first-ack 1:put>0.0 1:put>0.0 1:put>0.0",
		"mistake=forget-refused 1:put>0.0 1:put>0.0 1:put>0.0",
		"mistake=requeue-last 1:put>0.0 1:put>0.0 1:put>0.0",
		"mistake=one-credit-per-put origin=2 1:put>0.0 1:put>0.0",
		"mistake=credit-too-many origin=2 1:get>0.0 1:put>0.0",
	)
}
