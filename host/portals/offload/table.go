package offload

// Tags of a receive: 1 and 2, or AnyTag, which takes every tag. A send has no AnyTag.
type Tag uint8

const AnyTag Tag = 0

func (t Tag) String() string { return [...]string{"*", "t1", "t2"}[t] }

// A Case is a pair of receives and what MPI requires for the sends (t1, t2): Sends[i] is the number
// of the send that receive i takes, counted from 1; 0: none.
type Case struct {
	Receives, Sends [2]Tag
}

// Table is Table 1 of the paper. As printed, its last row demands that a receive of t2 takes the
// send of t1; corrected, it follows the rules of MPI.
func Table(printed bool) []Case {
	list := make([]Case, 0, 7)
	for _, receives := range [][2]Tag{{1, 2}, {2, 1}, {0, 0}, {0, 2}, {0, 1}, {1, 0}, {2, 0}} {
		m := Match([]Tag{1, 2}, receives[:])
		list = append(list, Case{receives, [2]Tag{Tag(m[0]), Tag(m[1])}})
	}
	if printed {
		list[6].Sends = [2]Tag{1, 2}
	}
	return list
}

// Match pairs receives with sends by the rules of MPI: each receive, in order, takes the oldest
// send that fits and is not taken. The result has the number of the send of each receive, 0: none.
func Match(sends, receives []Tag) []int {
	taken := make([]bool, len(sends))
	result := make([]int, len(receives))
	for r, tag := range receives {
		for s, have := range sends {
			if !taken[s] && (tag == AnyTag || tag == have) {
				taken[s], result[r] = true, s+1
				break
			}
		}
	}
	return result
}

// A Receive is what the receiver knows of a receive: its tag, its position (0 or 1), and the tag of
// the receive before it.
type Receive struct {
	Tag, Before Tag
	Position    int
}

// CodeBits is the length of a code of the paper.
const CodeBits = 9

// Code is the match bits that the paper gives to the get of a receive: one bit for the tag, one for
// the position and one for the tag before. From the highest bit: before *, t2, t1, none; position
// 2, 1; tag *, t2, t1.
func (r Receive) Code() uint64 {
	tag := map[Tag]int{1: 0, 2: 1, AnyTag: 2}
	before := 5
	if r.Position > 0 {
		before = 6 + tag[r.Before]
	}
	return 1<<tag[r.Tag] | 1<<(3+r.Position) | 1<<before
}

// Get is receive i of the case.
func (c Case) Get(i int) Receive {
	if i == 0 {
		return Receive{Tag: c.Receives[0]}
	}
	return Receive{c.Receives[1], c.Receives[0], 1}
}
