package rendezvous

import "fmt"

// A Do is the operation that an [Action] requests.
type Do uint8

// Operations.
const (
	Tell     Do = iota + 1 // send Control to Peer; an RTS takes the position of End's message among those to Peer
	Register               // find and register memory for End; answer with [Core.Registered]
	Get                    // get Bytes from Remote to Local; answer with [Core.Posted]
	Put                    // put Bytes from Local to Remote; answer with [Core.Posted]
	Fence                  // get a byte from Remote into any memory; answer with [Core.Posted]
	Release                // release End's memory; a successful receive first copies the message out of it
	Complete               // complete End's request with Err
	Withdraw               // withdraw message Control.From of Peer if it is unmatched; if so, call [Core.Withdrawn]
	Forget                 // forget End; its request continues without it, its memory has been released
	Unpost                 // remove End's unmatched receive from the matching queue; its Complete follows
)

func (d Do) String() string {
	if d >= Tell && d <= Unpost {
		return [...]string{"tell", "register", "get", "put", "fence", "release", "complete", "withdraw", "forget", "unpost"}[d-1]
	}
	return fmt.Sprintf("Do(%d)", uint8(d))
}

// A Class is the priority of a [Register].
type Class uint8

// The classes. Early is a send that no receive has matched yet, or an offer for a message that has
// not arrived: it continues without memory if none is available. Memory reserved for Late and
// Received must not be given to Early, nor memory reserved for one of them to the other: see
// Register in doc.go.
const (
	Early Class = iota
	Late
	Received
	classes
)

func (c Class) String() string { return [...]string{"early", "late", "received"}[c] }

// An Action is an operation that the core requests from its caller. It is valid until the next call
// of the core.
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

// A fifo is a queue that reuses its memory.
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

// unpop puts a value back in front of the others.
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

// all returns the values in order.
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
