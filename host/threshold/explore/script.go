package explore

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/host/threshold"
	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

// A Script runs the commands of a scenario, one a line:
//
//	new [handshake=full|partial|notready] memory=U,U… [stocks=N] [first=N] [ticks=N] [send=F>T:BYTES[/TAG]…] [lose=R>P:BYTES…]
//	    [gates=N] [post=R<F:ROOM/TAG…] [cancel=I…] [plant=NAME]; F and TAG of a receive may be -1: any
//	send R         the next message of rank R
//	lose I         loss I: a rank observes a loss of overlap
//	deliver F>T    the first packet of a pair; with a number: the packet that overtakes that many
//	land F>T       the bytes of the next message of a pair
//	read I         a receive takes message I
//	post R         the next receive of rank R, under notready
//	cancel I       receive I
//	land F>T       … and under notready the next fragment or the response of an attempt; miss: it finds a mapping that is being dropped
//	forget I       the hardware drops its cached mapping of gate I
//	retry R        the time of a retry has come
//	tick R         rank R's buffers become idle
//	state          prints the state of the ranks
type Script struct {
	w   world
	out strings.Builder
}

// Exec runs a command and returns its output.
func (s *Script) Exec(line string) string {
	s.out.Reset()
	if err := s.exec(line); err != nil {
		prefix := "error: "
		if errors.Is(err, ErrUnsafe) {
			prefix = ""
		}
		fmt.Fprintf(&s.out, "%s%v\n", prefix, err)
	}
	if s.out.Len() == 0 {
		return "ok\n"
	}
	return s.out.String()
}

func (s *Script) exec(line string) error {
	f := strings.Fields(line)
	if f[0] == "new" {
		o, err := parse(f[1:])
		if err != nil {
			return err
		}
		if s.w, err = newWorld(o); err != nil {
			return err
		}
		s.w.tellTo(func(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) })
		return nil
	}
	if s.w == nil {
		return errors.New("no world: begin with new")
	}
	if f[0] == "state" {
		s.state()
		return nil
	}
	for _, e := range s.w.Enabled() {
		if e.String() == strings.Join(f, " ") {
			return s.w.Apply(e)
		}
	}
	return fmt.Errorf("%q cannot happen now, expected one of %v", line, s.w.Enabled())
}

func (s *Script) state() {
	s.w.print(&s.out)
	if len(s.w.Enabled()) == 0 {
		if err := s.w.Finished(); err != nil {
			fmt.Fprintln(&s.out, err)
		} else {
			s.out.WriteString("all is over\n")
		}
	}
}

func (w *World) print(out *strings.Builder) {
	for at, c := range w.cores {
		for peer := range w.cores {
			if at == peer || len(c.Here(peer))+len(c.There(peer))+c.Threshold(peer) == 0 {
				continue
			}
			fmt.Fprintf(out, "%d with %d: threshold %d, there %v, here", at, peer, c.Threshold(peer), c.There(peer))
			for _, b := range c.Here(peer) {
				fmt.Fprintf(out, " %d+%d", b.At, b.Bytes)
				if b.Full {
					out.WriteString(" full")
				}
				if b.Gone {
					out.WriteString(" old")
				}
			}
			out.WriteString("\n")
		}
	}
}

func parse(words []string) (*Options, error) {
	o := &Options{}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		var err error
		switch name {
		case "handshake":
			switch value {
			case threshold.Partial.String():
				o.Handshake = threshold.Partial
			case threshold.NotReady.String():
				o.Handshake = threshold.NotReady
			case threshold.Full.String():
			default:
				err = fmt.Errorf("handshake %q: expected full, partial or notready", value)
			}
		case "memory":
			for _, v := range strings.Split(value, ",") {
				n, bad := strconv.Atoi(v)
				err = errors.Join(err, bad)
				o.Units = append(o.Units, n)
			}
			o.Ranks = len(o.Units)
		case "stocks":
			o.Stocks, err = strconv.Atoi(value)
		case "first":
			o.First, err = strconv.Atoi(value)
		case "pool":
			o.Pool, err = strconv.Atoi(value)
		case "oneway":
			o.OneWay, err = strconv.ParseBool(value)
		case "ticks":
			o.Ticks, err = strconv.Atoi(value)
		case "plant":
			o.Plant = value
		case "send":
			var m Message
			pair, tag, tagged := strings.Cut(value, "/")
			if _, err = fmt.Sscanf(pair, "%d>%d:%d", &m.From, &m.To, &m.Bytes); err == nil && tagged {
				m.Tag, err = strconv.Atoi(tag)
			}
			o.Messages = append(o.Messages, m)
		case "post":
			var v Receive
			_, err = fmt.Sscanf(value, "%d<%d:%d/%d", &v.At, &v.From, &v.Room, &v.Tag)
			o.Receives = append(o.Receives, v)
		case "gates":
			o.Gates, err = strconv.Atoi(value)
		case "cancel":
			var i int
			i, err = strconv.Atoi(value)
			o.Cancels = append(o.Cancels, i)
		case "lose":
			var l Loss
			_, err = fmt.Sscanf(value, "%d>%d:%d", &l.Rank, &l.Peer, &l.Bytes)
			o.Losses = append(o.Losses, l)
		default:
			err = fmt.Errorf("%q: expected handshake, memory, stocks, first, pool, oneway, ticks, send, gates, post, cancel, lose or plant", name)
		}
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}

// String returns the command that creates this world.
func (o *Options) String() string {
	s := "new handshake=" + o.Handshake.String() + " memory="
	for i, u := range o.Units {
		if i > 0 {
			s += ","
		}
		s += strconv.Itoa(u)
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"stocks", o.Stocks}, {"first", o.First}, {"pool", o.Pool}, {"ticks", o.Ticks}, {"gates", o.Gates}} {
		if n.value != 0 {
			s += fmt.Sprintf(" %s=%d", n.name, n.value)
		}
	}
	if o.OneWay {
		s += " oneway=true"
	}
	for _, m := range o.Messages {
		s += fmt.Sprintf(" send=%d>%d:%d", m.From, m.To, m.Bytes)
		if m.Tag != 0 {
			s += fmt.Sprintf("/%d", m.Tag)
		}
	}
	for _, v := range o.Receives {
		s += fmt.Sprintf(" post=%d<%d:%d/%d", v.At, v.From, v.Room, v.Tag)
	}
	for _, i := range o.Cancels {
		s += fmt.Sprintf(" cancel=%d", i)
	}
	for _, l := range o.Losses {
		s += fmt.Sprintf(" lose=%d>%d:%d", l.Rank, l.Peer, l.Bytes)
	}
	if o.Plant != "" {
		s += " plant=" + o.Plant
	}
	return s
}

// script formats events as a scenario with their output.
func script(o *Options, path []event) string {
	commands := []string{o.String()}
	for _, e := range path {
		commands = append(commands, e.String())
	}
	return modelcheck.Transcript("", commands, new(Script).Exec)
}
