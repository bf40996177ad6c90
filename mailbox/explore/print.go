package explore

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/nicloop/nicloop/mailbox"
)

// line is one line of a world's printed state. Its key says what it describes.
type line struct{ key, text string }

// snapshot prints a whole world: per process its peers and its mailbox, then the network.
func (s *Script) snapshot() []line {
	if s.w == nil {
		return nil
	}
	var lines []line
	for at, f := range s.w.flows {
		for peer := range s.w.procs {
			if peer != at {
				text := f.Describe(peer)
				key, _, _ := strings.Cut(text, ":")
				lines = append(lines, line{key, text})
			}
		}
	}
	for at := range s.w.procs {
		lines = append(lines, mailboxLine(at, s.w.mailbox[at]))
	}
	for from := range s.w.procs {
		for to := range s.w.procs {
			if from != to {
				lines = append(lines, networkLine(from, to, s.w.network[s.w.pair(from, to)]))
			}
		}
	}
	return lines
}

func mailboxLine(at int, q []packet) line {
	key := fmt.Sprintf("mailbox %d", at)
	text := key + ":"
	for _, p := range q {
		text += fmt.Sprintf(" [%d>%d %v]", p.from, at, p)
	}
	return line{key, text}
}

func networkLine(from, to int, q []packet) line {
	key := fmt.Sprintf("network %d>%d", from, to)
	text := key + ":"
	for _, p := range q {
		text += fmt.Sprintf(" [%v]", p)
	}
	return line{key, text}
}

// available is in the line of every peer of a process; a change of it alone is not one of the peer.
var available = regexp.MustCompile(` available=-?[0-9]+`)

// changes prints the lines about the flow controls that differ from an earlier snapshot.
func (s *Script) changes(before []line) string {
	var b strings.Builder
	for i, l := range s.snapshot() {
		if i < len(before) && !same(l, before[i]) && strings.HasPrefix(l.key, "rank") {
			b.WriteString(l.text + "\n")
		}
	}
	return b.String()
}

func same(a, b line) bool {
	return available.ReplaceAllString(a.text, "") == available.ReplaceAllString(b.text, "")
}

// state prints everything, without the empty queues; with at=, one process only.
func (s *Script) state(c Command) {
	for _, l := range s.snapshot() {
		switch at, only := c.Args["at"]; {
		case strings.HasSuffix(l.text, ":"):
		case only && !strings.HasPrefix(l.key, "rank "+at+" ") && l.key != "mailbox "+at:
		default:
			s.say("%s", l.text)
		}
	}
}

func (p packet) String() string {
	s := p.kind.String()
	if p.kind == mailbox.Data {
		s += fmt.Sprintf(" %d", p.number)
	}
	if carries(p.kind, p.piggyback) {
		s += fmt.Sprintf(" +%d", p.credits)
	}
	return s
}
