package explore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/host/portals"
	"github.com/nicloop/nicloop/host/portals/rdrp"
)

// An Op is one step of the program of a rank.
type Op struct {
	Rank   int
	Name   string // send, recv, cancel, wait
	Peer   uint32 // also portals.RankAny
	Tag    int32  // also rdrp.AnyTag
	Bytes  uint64
	Number int // cancel, wait: the operation that is meant
}

func (o *Op) String() string {
	peer, tag := strconv.Itoa(int(o.Peer)), strconv.Itoa(int(o.Tag))
	if o.Peer == portals.RankAny {
		peer = "*"
	}
	if o.Tag == rdrp.AnyTag {
		tag = "*"
	}
	switch o.Name {
	case "send":
		return fmt.Sprintf("%d:send>%s#%s/%d", o.Rank, peer, tag, o.Bytes)
	case "recv":
		return fmt.Sprintf("%d:recv<%s#%s/%d", o.Rank, peer, tag, o.Bytes)
	}
	return fmt.Sprintf("%d:%s@%d", o.Rank, o.Name, o.Number)
}

// Options describe a world.
type Options struct {
	Ranks, First, Chunk int
	InFlight, Nonces    int
	Bounces, Triggers   int
	Recovers            bool // package rportals repeats messages that find no overflow buffer
	Mistake             rdrp.Mistake
	Ops                 []Op // of all ranks; each rank does its own in order
	MaxStates           int
}

// String is the command that makes the world.
func (o Options) String() string {
	s := fmt.Sprintf("new ranks=%d first=%d chunk=%d in-flight=%d nonces=%d bounces=%d triggers=%d",
		o.Ranks, o.First, o.Chunk, o.InFlight, o.Nonces, o.Bounces, o.Triggers)
	if o.Recovers {
		s += " recover"
	}
	if o.Mistake != rdrp.NoMistake {
		s += fmt.Sprintf(" mistake=%v", o.Mistake)
	}
	for i := range o.Ops {
		s += " " + o.Ops[i].String()
	}
	return s
}

// Parse is the inverse of String, without the word new.
func Parse(fields []string) (o Options, err error) {
	o = Options{Ranks: 2, First: 2, Chunk: 2, InFlight: 1, Nonces: 4, Bounces: 2, Triggers: 8}
	numbers := map[string]*int{
		"ranks": &o.Ranks, "first": &o.First, "chunk": &o.Chunk, "in-flight": &o.InFlight, "nonces": &o.Nonces,
		"bounces": &o.Bounces, "triggers": &o.Triggers,
	}
	for _, f := range fields {
		key, value, _ := strings.Cut(f, "=")
		switch n := numbers[key]; {
		case n != nil:
			*n, err = strconv.Atoi(value)
		case key == "recover":
			o.Recovers = true
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

func parseMistake(name string) (rdrp.Mistake, error) {
	for _, m := range rdrp.Mistakes() {
		if m.String() == name {
			return m, nil
		}
	}
	return 0, fmt.Errorf("expected one of %v", rdrp.Mistakes())
}

func parseOp(f string) (op Op, err error) {
	number := func(s string, wildcard int64) int64 {
		if s == "*" && wildcard != 0 {
			return wildcard
		}
		v, e := strconv.Atoi(s)
		if e != nil || v < 0 {
			err = fmt.Errorf("expected RANK:send>PEER#TAG/BYTES, RANK:recv<PEER#TAG/BYTES, RANK:cancel@OPERATION or RANK:wait@OPERATION")
		}
		return int64(v)
	}
	rank, rest, _ := strings.Cut(f, ":")
	op.Rank = int(number(rank, 0))
	if name, meant, ok := strings.Cut(rest, "@"); ok && (name == "cancel" || name == "wait") {
		op.Name, op.Number = name, int(number(meant, 0))
		return op, err
	}
	op.Name = "send"
	name, rest, isSend := strings.Cut(rest, ">")
	if !isSend {
		op.Name = "recv"
		name, rest, _ = strings.Cut(name, "<")
	}
	peer, rest, _ := strings.Cut(rest, "#")
	tag, bytes, _ := strings.Cut(rest, "/")
	var anyPeer, anyTag int64
	if !isSend {
		anyPeer, anyTag = int64(portals.RankAny), int64(rdrp.AnyTag)
	}
	op.Peer, op.Tag, op.Bytes = uint32(number(peer, anyPeer)), int32(number(tag, anyTag)), uint64(number(bytes, 0))
	if name != op.Name {
		return op, fmt.Errorf("operation %q: expected send, recv, cancel or wait", name)
	}
	return op, err
}

func (o *Options) validate() error {
	if o.Ranks < 1 || o.Ranks > 4 || len(o.Ops) > 16 || o.First > opBytes || o.Bounces > 16 {
		return fmt.Errorf("expected 1 to 4 ranks, at most 16 operations, 16 overflow buffers and a first chunk of %d bytes", opBytes)
	}
	for i := range o.Ops {
		op := &o.Ops[i]
		switch {
		case op.Rank >= o.Ranks || op.Peer != portals.RankAny && int(op.Peer) >= o.Ranks:
			return fmt.Errorf("%v: there are ranks 0 to %d", op, o.Ranks-1)
		case op.Bytes > opBytes:
			return fmt.Errorf("%v: expected at most %d bytes", op, opBytes)
		case op.Number > 0 && (op.Number >= i || o.Ops[op.Number].Rank != op.Rank):
			return fmt.Errorf("%v: expected an earlier operation of rank %d", op, op.Rank)
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

// oneBounce uses an overflow buffer twice: the second message is sent after the first was received.
const oneBounce = "bounces=1 0:send>1#1/2 1:recv<0#1/2 1:wait@1 1:send>0#1/0 0:recv<1#1/0 0:wait@4 0:send>1#1/2 1:recv<0#1/2"

// Suite lists the worlds that must be proved.
func Suite() []Options {
	return parseAll(
		"0:send>1#1/0 0:send>1#1/2 1:recv<0#1/2 1:recv<0#1/2",                   // eager
		"0:send>1#1/3 1:recv<0#1/3",                                             // a byte more than the first chunk
		"in-flight=2 0:send>1#1/9 1:recv<0#1/9",                                 // four gets, two in flight
		"in-flight=3 0:send>1#1/8 1:recv<0#1/12",                                // a long buffer
		"0:send>1#1/8 1:recv<0#1/5",                                             // a short buffer
		"in-flight=2 0:send>1#1/8 1:recv<0#1/0",                                 // no buffer
		"0:send>1#1/4 0:send>1#1/4 1:recv<0#1/4 1:recv<0#*/4",                   // equal tags
		"0:send>1#1/4 0:send>1#2/4 1:recv<0#2/4 1:recv<0#1/4",                   // receives in another order
		"0:send>1#1/5 0:send>1#2/2 1:recv<0#*/5 1:recv<*#*/5",                   // any tag, any source
		"ranks=3 0:send>1#1/4 2:send>1#1/4 1:recv<*#1/4 1:recv<*#1/4",           // two senders
		"0:send>1#1/4 1:send>0#1/4 0:recv<1#1/4 1:recv<0#1/4",                   // both directions
		"ranks=1 0:recv<0#1/5 0:send>0#1/5 0:send>0#2/3 0:recv<*#*/3",           // to itself
		"nonces=1 0:send>1#1/6 0:send>1#1/4 1:recv<0#1/6 1:recv<0#1/6",          // the second has no nonce
		"nonces=1 0:send>1#1/4 0:wait@0 0:send>1#1/4 1:recv<0#1/4 1:recv<0#1/4", // a nonce is used again
		"nonces=0 0:send>1#1/6 0:send>1#1/6 1:recv<0#1/6 1:recv<0#1/6",          // in order
		"nonces=0 in-flight=2 0:send>1#1/6 0:send>1#1/4 1:recv<0#1/3 1:recv<0#*/4",
		"nonces=0 0:send>1#1/6 0:send>1#2/6 1:recv<0#2/6 1:recv<0#*/6", // other tags need not wait
		"triggers=1 0:send>1#1/10 1:recv<0#1/10",                       // one triggered operation
		"triggers=1 in-flight=2 0:send>1#1/6 0:send>1#1/8 1:recv<0#1/6 1:recv<0#1/8",
		"0:send>1#1/4 1:recv<0#1/4 0:send>1#2/4 1:recv<0#*/4 1:cancel@3",
		oneBounce,
		"recover bounces=1 0:send>1#1/1 0:send>1#1/4 1:recv<0#1/4 1:recv<0#1/4", // the second finds no buffer
		"recover bounces=0 0:send>1#1/3 1:recv<0#1/3",                           // no overflow buffers
		"1:recv<0#1/4 1:cancel@0 0:send>1#1/4 1:recv<0#1/4",
	)
}

// Deep lists larger worlds, which take a minute.
func Deep() []Options {
	return parseAll(
		"bounces=3 0:send>1#1/0 0:send>1#1/1 0:send>1#1/2 1:recv<0#1/2 1:recv<0#1/2 1:recv<0#1/2",
		"bounces=3 nonces=1 0:send>1#1/4 0:send>1#1/4 0:send>1#1/3 1:recv<0#1/4 1:recv<0#*/4 1:recv<0#1/4",
		"recover bounces=1 ranks=3 0:send>1#1/1 2:send>1#1/2 1:recv<*#1/2 1:recv<*#1/2",
	)
}

// Planted lists worlds with a mistake, each of which must be refuted.
func Planted() []Options {
	return parseAll(
		"mistake=no-window 0:send>1#1/6 1:recv<0#1/6",
		"mistake=window-plus-one 0:send>1#1/8 1:recv<0#1/8",
		"mistake=nonce-early nonces=1 in-flight=2 0:send>1#1/6 0:send>1#1/6 1:recv<0#1/6 1:recv<0#1/6",
		"mistake=no-order nonces=0 0:send>1#1/6 0:send>1#1/6 1:recv<0#1/6 1:recv<0#1/6",
		"mistake=manage-local nonces=0 0:send>1#1/6 0:send>1#1/6 1:recv<0#1/3 1:recv<0#1/6",
		"mistake=skip-empty-gets 0:send>1#1/6 1:recv<0#1/3",
		"mistake=compare-nonce 0:send>1#1/4 1:recv<0#1/4",
		"mistake=bounce-lost "+oneBounce,
		"mistake=bounce-as-posted 0:send>1#1/2 1:recv<0#1/2",
		"mistake=done-early 0:send>1#1/4 1:recv<0#1/4",
		"mistake=sequence-numbers 0:send>1#1/1 0:send>1#2/1 1:recv<0#2/1 1:recv<0#1/1",
		"mistake=always-short recover bounces=1 0:send>1#1/1 0:send>1#1/2 1:recv<0#1/2 1:recv<0#1/2",
	)
}
