package offload

// An Edge orders two events: From happens before To.
type Edge struct{ From, To, Why string }

// Events is the graph of an expected message whose receive does not block, with the names of the
// paper: t1 the send is posted, t2 the receive is posted, t3 the receive call returns, t4 the
// ready-to-send message (RTS) arrives, t5 the get starts, tx the get is posted to the interface.
func Events(bitsFromRTS bool) []Edge {
	list := []Edge{
		{"t1", "t4", "the RTS follows the send"},
		{"t2", "t3", "the receive call returns after it was made"},
		{"t2", "tx", "the get is posted by the receive call"},
		{"t3", "t4", "the message is expected, and the receive returns without waiting for the sender"},
		{"tx", "t3", "full offload: no call of the interface after the receive has returned"},
		{"tx", "t5", "a get starts after it was posted"},
		{"t4", "t5", "the get is triggered by the RTS"},
	}
	if bitsFromRTS {
		list = append(list, Edge{"t4", "tx", "the match bits of the get come from the RTS"})
	}
	return list
}

// Cycle returns the edges of a cycle, or nil.
func Cycle(edges []Edge) []Edge {
	const visiting, done = 1, 2
	state := map[string]int{}
	var path, found []Edge
	var visit func(node string) bool
	visit = func(node string) bool {
		state[node] = visiting
		for _, e := range edges {
			if e.From != node {
				continue
			}
			path = append(path, e)
			if state[e.To] == visiting {
				for i := range path {
					if path[i].From == e.To {
						found = append(found, path[i:]...)
						return true
					}
				}
			}
			if state[e.To] == 0 && visit(e.To) {
				return true
			}
			path = path[:len(path)-1]
		}
		state[node] = done
		return false
	}
	for _, e := range edges {
		if state[e.From] == 0 && visit(e.From) {
			return found
		}
	}
	return nil
}
