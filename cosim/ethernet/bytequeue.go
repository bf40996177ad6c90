package ethernet

// byteQueue is a queue of bytes. Removing does not move the bytes behind; space in front is used
// again before the memory grows.
type byteQueue struct {
	data []byte
	head int
}

func (q *byteQueue) bytes() []byte { return q.data[q.head:] }
func (q *byteQueue) len() int      { return len(q.data) - q.head }

func (q *byteQueue) add(b []byte) {
	if len(q.data)+len(b) > cap(q.data) && q.head > 0 {
		q.data, q.head = q.data[:copy(q.data, q.bytes())], 0
	}
	q.data = append(q.data, b...)
}

// remove removes the first n bytes.
func (q *byteQueue) remove(n int) {
	if q.head += n; q.head == len(q.data) {
		q.data, q.head = q.data[:0], 0
	}
}
