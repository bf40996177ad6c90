package rdrp

// A Mistake is a fault that the model checker plants. It must find each of them.
type Mistake uint8

const (
	NoMistake       Mistake = iota
	NoWindow                // all gets of a message start at once
	WindowPlusOne           // one get more than c is outstanding
	NonceEarly              // a nonce is free again when the put has been sent
	NoOrder                 // messages without a nonce are fetched at the same time
	ManageLocal             // a message without a nonce has one entry that manages its offset
	SkipEmptyGets           // chunks beyond the receive buffer are not fetched
	CompareNonce            // a receive does not ignore the nonce
	BounceLost              // an overflow buffer is not posted again
	BounceAsPosted          // the first chunk is copied from an overflow buffer in every case
	DoneEarly               // a send is done before its chunks were fetched
	SequenceNumbers         // i-th send and i-th receive use i as match bits, as the paper refutes
	AlwaysShort             // a disabled entry is never enabled again
	mistakes
)

var mistakeNames = [...]string{
	"none", "no-window", "window-plus-one", "nonce-early", "no-order", "manage-local", "skip-empty-gets",
	"compare-nonce", "bounce-lost", "bounce-as-posted", "done-early", "sequence-numbers",
	"always-short",
}

func (m Mistake) String() string { return mistakeNames[m] }

// Mistakes lists all of them.
func Mistakes() (list []Mistake) {
	for m := NoMistake + 1; m < mistakes; m++ {
		list = append(list, m)
	}
	return list
}

// Plant makes the endpoint commit a mistake from now on.
func (e *Endpoint) Plant(m Mistake) { e.mistake = m }

func (e *Endpoint) plantThreshold(threshold uint64) uint64 {
	switch {
	case e.mistake == NoWindow:
		return 0
	case e.mistake == WindowPlusOne && threshold > 0:
		return threshold - 1
	}
	return threshold
}

// plantCount is the number of gets that the receiver posts.
func (e *Endpoint) plantCount(p *plan) uint64 {
	n := p.count()
	for e.mistake == SkipEmptyGets && n > 0 && p.get(n-1).length == 0 {
		n--
	}
	return n
}

func (e *Endpoint) plantNonceEarly(r *request) {
	if e.mistake == NonceEarly {
		e.nonces = append(e.nonces, nonceOf(r.bits))
	}
}

func (e *Endpoint) plantReceiveBits(r *request, match, ignore uint64) (uint64, uint64) {
	switch e.mistake {
	case CompareNonce:
		return match, ignore &^ nonceMask
	case SequenceNumbers:
		n := e.count(r.Peer)
		e.sequences[r.Peer] = [2]int32{n[0], n[1] + 1}
		return matchBits(r.Comm, inOrder, n[1]), nonceMask
	}
	return match, ignore
}

// plantSequence replaces the tag of an eager send by the number of the send.
func (e *Endpoint) plantSequence(r *request) {
	if e.mistake == SequenceNumbers {
		n := e.count(r.Peer)
		e.sequences[r.Peer] = [2]int32{n[0] + 1, n[1]}
		r.bits = matchBits(r.Comm, inOrder, n[0])
	}
}

func (e *Endpoint) count(peer uint32) [2]int32 {
	if e.sequences == nil {
		e.sequences = map[uint32][2]int32{}
	}
	return e.sequences[peer]
}
