package bench

import (
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/host"
)

// shownRanks limits the tables of an error text; the JSON form is complete.
const shownRanks = 16

func (v *Verdict) Error() string {
	var b strings.Builder
	v.head(&b)
	for _, l := range v.Chain {
		fmt.Fprintf(&b, "  %s\n", l)
	}
	b.WriteString("ranks:\n")
	for i, r := range v.Ranks {
		if i == shownRanks {
			fmt.Fprintf(&b, "  … and %d more\n", len(v.Ranks)-i)
			break
		}
		fmt.Fprintf(&b, "  rank %-4d node %d vpid %d  %s\n", r.Rank, r.Node, r.VPID, r.Waits)
		if r.Flow != "" {
			fmt.Fprintf(&b, "            %s\n", r.Flow)
		}
		if r.Long != "" {
			fmt.Fprintf(&b, "            %s\n", r.Long)
		}
	}
	v.unmatched(&b)
	b.WriteString("hardware:\n")
	for _, n := range v.Nodes {
		fmt.Fprintf(&b, "  node %d: %d lines to send, %d flits to receive", n.Node, n.Lines, n.RxFlits)
		if n.StallVPID >= 0 {
			fmt.Fprintf(&b, ", mailbox of vpid %d full (%d of %d slots), stalled for %d cycles", n.StallVPID, n.Fill, n.Slots, n.StallCycles)
		}
		b.WriteByte('\n')
	}
	v.printHeld(&b)
	return strings.TrimRight(b.String(), "\n")
}

func (v *Verdict) head(b *strings.Builder) {
	if v.Class == Limited {
		fmt.Fprintf(b, "limit of simulated time reached at %v (--limit %v); %d ranks finished, %d did not. This is no deadlock: the run was still making progress\n",
			v.At, v.Limit, v.Finished, len(v.Ranks))
		b.WriteString("wait-for chain at that time:\n")
		return
	}
	fmt.Fprintf(b, "no progress at %v: %s; %d ranks finished, %d did not\n", v.At, v.Class, v.Finished, len(v.Ranks))
	b.WriteString("wait-for chain:\n")
}

// unmatched prints messages that have arrived and match no receive: a wrong bit in a tag looks like
// a missing message.
func (v *Verdict) unmatched(b *strings.Builder) {
	if len(v.Unmatched) == 0 {
		return
	}
	b.WriteString("messages that have arrived and match no receive:\n")
	for i, m := range v.Unmatched {
		if i == shownRanks {
			fmt.Fprintf(b, "  … and %d more\n", len(v.Unmatched)-i)
			return
		}
		fmt.Fprintf(b, "  at rank %d: from rank %d, tag %s, %d bytes", m.Rank, m.Source, tagText(m.Tag), m.Bytes)
		if m.Got < m.Bytes {
			fmt.Fprintf(b, ", of which %d have arrived", m.Got)
		}
		if m.Comm != 0 {
			fmt.Fprintf(b, ", in communicator %d", m.Comm)
		}
		b.WriteByte('\n')
	}
}

// tagText prints a tag in decimal and hexadecimal, where a flipped bit is visible.
func tagText(tag int) string {
	if tag == host.AnyTag {
		return "any"
	}
	return fmt.Sprintf("%d (0x%x)", tag, tag)
}
