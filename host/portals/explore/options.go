package explore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

// anyTag is the tag of a receive that takes every tag.
const anyTag = -1

// An Op is one step of the program of a rank.
type Op struct {
	Rank   int
	Name   string // put, trig, recv
	Target int
	Tag    int
	After  int // trig: the acknowledgements that release it
}

func (o *Op) String() string {
	tag := strconv.Itoa(o.Tag)
	if o.Tag == anyTag {
		tag = "*"
	}
	switch o.Name {
	case "put":
		return fmt.Sprintf("%d:put>%d#%s", o.Rank, o.Target, tag)
	case "trig":
		return fmt.Sprintf("%d:trig>%d#%s@%d", o.Rank, o.Target, tag, o.After)
	}
	return fmt.Sprintf("%d:%s#%s", o.Rank, o.Name, tag)
}

// Options describe a world.
type Options struct {
	Ranks, Events, Headers int // events in the queue of portal table entry 0; unexpected headers
	Flow, Overflow         bool
	Late                   bool // the data of a put leave in an event of their own
	Ops                    []Op // of all ranks; each rank does its own in order
	MaxStates              int
}

// String is the command that makes the world.
func (o Options) String() string {
	s := fmt.Sprintf("new ranks=%d events=%d headers=%d", o.Ranks, o.Events, o.Headers)
	if o.Flow {
		s += " flow"
	}
	if o.Overflow {
		s += " overflow"
	}
	if o.Late {
		s += " late"
	}
	for i := range o.Ops {
		s += " " + o.Ops[i].String()
	}
	return s
}

// Parse is the inverse of String, without the word new.
func Parse(fields []string) (o Options, err error) {
	o = Options{Ranks: 2, Events: 8, Headers: 8}
	for _, f := range fields {
		key, value, _ := strings.Cut(f, "=")
		switch key {
		case "flow":
			o.Flow = true
		case "overflow":
			o.Overflow = true
		case "late":
			o.Late = true
		case "ranks":
			o.Ranks, err = strconv.Atoi(value)
		case "events":
			o.Events, err = strconv.Atoi(value)
		case "headers":
			o.Headers, err = strconv.Atoi(value)
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

func parseOp(f string) (op Op, err error) {
	bad := fmt.Errorf("expected RANK:put>TARGET#TAG, RANK:trig>TARGET#TAG@ACKS or RANK:recv#TAG")
	rank, rest, ok := strings.Cut(f, ":")
	head, tag, ok2 := strings.Cut(rest, "#")
	name, target, _ := strings.Cut(head, ">")
	tag, after, _ := strings.Cut(tag, "@")
	if !ok || !ok2 {
		return op, bad
	}
	op.Name, op.Tag = name, anyTag
	number := func(s string) (v int) {
		v, e := strconv.Atoi(s)
		if e != nil || v < 0 {
			err = bad
		}
		return v
	}
	op.Rank = number(rank)
	if tag != "*" || name != "recv" {
		op.Tag = number(tag)
	}
	switch name {
	case "put":
		op.Target = number(target)
	case "trig":
		op.Target, op.After = number(target), number(after)
	case "recv":
	default:
		return op, bad
	}
	return op, err
}

func (o *Options) validate() error {
	if o.Ranks < 1 || o.Ranks > 4 || o.Events < 1 || o.Events > 32 || o.Headers < 0 || len(o.Ops) > 16 {
		return fmt.Errorf("expected 1 to 4 ranks, 1 to 32 events, and at most 16 operations")
	}
	for i := range o.Ops {
		if op := &o.Ops[i]; op.Rank >= o.Ranks || op.Target >= o.Ranks {
			return fmt.Errorf("%v: there are ranks 0 to %d", op, o.Ranks-1)
		}
	}
	return nil
}

// Suite lists the worlds that must be proved.
func Suite() (list []Options) {
	for _, s := range []string{
		"overflow 1:put>0#1 1:put>0#1 0:recv#1 0:recv#1",
		"overflow 1:put>0#1 1:put>0#2 1:put>0#1 0:recv#* 0:recv#1",
		"ranks=3 overflow 1:put>0#1 2:put>0#1 0:recv#1 0:recv#*",
		"late overflow 0:put>0#1 0:recv#1 0:put>0#2 0:recv#*",
		"late overflow 0:put>1#1 1:put>0#1 0:recv#1 1:recv#1",
		"flow events=1 overflow 1:put>0#1 1:put>0#1 1:put>0#1 0:recv#1 0:recv#1",
		"flow events=2 headers=1 overflow 1:put>0#1 1:put>0#2 0:recv#1 0:recv#2",
		"flow events=1 1:put>0#1 1:put>0#1 0:recv#1 0:recv#1",
		"headers=1 overflow 1:put>0#1 1:put>0#1 0:recv#1 0:recv#1",
		"overflow 1:trig>0#1@1 1:trig>0#1@1 1:put>0#1 0:recv#1 0:recv#1",
		"ranks=3 1:trig>2#1@1 1:put>0#1 0:recv#1 2:recv#1",
	} {
		o, err := Parse(strings.Fields(s))
		if err != nil {
			panic(err)
		}
		list = append(list, o)
	}
	return list
}

// The verdicts.
const (
	Proved  = modelcheck.Proved
	Refuted = modelcheck.Refuted
)
