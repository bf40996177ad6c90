package rendezvous

import "fmt"

// A Do is what an [Action] asks of the caller.
type Do uint8

// What there is to do.
const (
	Tell     Do = iota + 1 // send Control to Peer; an RTS in the position of End's message among those to Peer
	Register               // find and register memory for End; the answer is [Core.Registered]
	Get                    // get Bytes from Remote to Local; the answer is [Core.Posted]
	Put                    // put Bytes from Local to Remote; the answer is [Core.Posted]
	Fence                  // get a byte from Remote into any memory; the answer is [Core.Posted]
	Release                // End's memory is not needed any more; a good receive copies it out first
	Complete               // End's request is over, with Err
	Withdraw               // take Control.From's message of Peer back if it is unmatched; if so, call [Core.Withdrawn]
	Forget                 // End is over, its request goes on without it; its memory, if it had some, was released
	Unpost                 // End's receive is unmatched and must stay so; its Complete comes
)

func (d Do) String() string {
	if d >= Tell && d <= Unpost {
		return [...]string{"tell", "register", "get", "put", "fence", "release", "complete", "withdraw", "forget", "unpost"}[d-1]
	}
	return fmt.Sprintf("Do(%d)", uint8(d))
}

// A Class says how much a [Register] is worth.
type Class uint8

// The classes. Early is a send that nobody has asked for yet, or a receive whose message nobody
// knows of: it goes on without memory if there is none to spare. What is kept for Late and Received
// must not be given to it, nor what is kept for one to the other: see Register in doc.go.
const (
	Early Class = iota
	Late
	Received
	classes
)

func (c Class) String() string { return [...]string{"early", "late", "received"}[c] }

// An Action is something that the core asks its caller to do. It is valid until the core is
// called again.
type Action struct {
	Do            Do
	Class         Class
	End           *End
	Peer          int
	Control       Control
	Local, Remote uint64
	Bytes         int
	Err           error
}

// A fifo is a queue that keeps its memory.
type fifo[T any] struct {
	list []T
	head int
}

func (f *fifo[T]) len() int { return len(f.list) - f.head }

func (f *fifo[T]) push(v T) {
	if f.head > 0 && len(f.list) == cap(f.list) {
		n := copy(f.list, f.list[f.head:])
		clear(f.list[n:])
		f.list, f.head = f.list[:n], 0
	}
	f.list = append(f.list, v)
}

func (f *fifo[T]) first() T { return f.list[f.head] }

func (f *fifo[T]) pop() T {
	v := f.list[f.head]
	var none T
	f.list[f.head] = none
	if f.head++; f.head == len(f.list) {
		f.list, f.head = f.list[:0], 0
	}
	return v
}

// unpop puts a value in front of the others.
func (f *fifo[T]) unpop(v T) {
	if f.head > 0 {
		f.head--
		f.list[f.head] = v
		return
	}
	f.list = append(f.list, v)
	copy(f.list[1:], f.list)
	f.list[0] = v
}

// all are the queue's values in order.
func (f *fifo[T]) all() []T { return f.list[f.head:] }

func drop[T comparable](f *fifo[T], v T) bool {
	for i, x := range f.all() {
		if x == v {
			copy(f.list[f.head+i:], f.list[f.head+i+1:])
			var none T
			f.list[len(f.list)-1] = none
			f.list = f.list[:len(f.list)-1]
			return true
		}
	}
	return false
}
