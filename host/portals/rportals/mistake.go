package rportals

// A Mistake is a fault that the model checker plants. It must find each of them.
type Mistake uint8

const (
	NoMistake           Mistake = iota
	AckBeforeAnswers            // PAUSE_ACK is sent while attempts are outstanding
	IgnorePause                 // PAUSE is acknowledged, but operations are still issued
	ResumeBeforeQuiet           // the entry is enabled before any PAUSE_ACK
	ResumeAfterFirstAck         // the entry is enabled when one PAUSE_ACK has arrived
	ForgetRefused               // a refused operation is not issued again
	RequeueLast                 // a refused operation is queued behind later ones
	OneCreditPerPut             // a put is counted as one origin event, as the paper does
	CreditTooMany               // there is one credit more than the origin queue has room
	mistakes
)

var mistakeNames = [...]string{
	"none", "ack-before-answers", "ignore-pause", "resume-before-quiet", "resume-after-first-ack", "forget-refused",
	"requeue-last", "one-credit-per-put", "credit-too-many",
}

func (m Mistake) String() string { return mistakeNames[m] }

// Mistakes lists all of them.
func Mistakes() (list []Mistake) {
	for m := NoMistake + 1; m < mistakes; m++ {
		list = append(list, m)
	}
	return list
}

// Plant makes the layer commit a mistake from now on.
func (l *Layer) Plant(m Mistake) {
	l.mistake = m
	if m == CreditTooMany {
		l.credits++
	}
}

func (l *Layer) moveLast(h uint32) {
	l.unlink(&l.ops[h])
	l.link(h)
}
