package vm

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/nicloop/nicloop/drivers"
)

// A qtest tells QEMU what no device of its own would: interrupts, and reads of registers of the
// chip set. Nobody waits for an answer to what was told: QEMU may wait for us meanwhile.
type qtest struct {
	conn net.Conn
	mu   sync.Mutex
	want []chan string // one for each command under way, nil if nobody asks
	err  error
}

var errGone = errors.New("QEMU answers no more")

func newQtest(conn net.Conn) *qtest {
	q := &qtest{conn: conn}
	go q.listen()
	return q
}

// listen gives answers to who asked.
func (q *qtest) listen() {
	lines := bufio.NewScanner(q.conn)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "IRQ ") {
			continue
		}
		q.mu.Lock()
		if len(q.want) > 0 {
			if c := q.want[0]; c != nil {
				c <- lines.Text()
			}
			q.want = q.want[1:]
		}
		q.mu.Unlock()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.err = errGone
	for _, c := range q.want {
		if c != nil {
			close(c)
		}
	}
	q.want = nil
}

func (q *qtest) send(answer chan string, format string, args ...any) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return q.err
	}
	q.want = append(q.want, answer)
	_, err := fmt.Fprintf(q.conn, format+"\n", args...)
	return err
}

// store writes a word of 32 bits, which is what a message of an interrupt is.
func (q *qtest) store(address uint64, v uint32) error {
	return q.send(nil, "writel 0x%x 0x%x", address, v)
}

// line sets the input of the interrupt controller that the device's INTA ends at.
func (q *qtest) line(input int, up bool) error {
	level := 0
	if up {
		level = 1
	}
	return q.send(nil, "set_irq_in /machine/q35/ioapic unnamed-gpio-in %d %d", input, level)
}

// load reads a word of 64 bits.
func (q *qtest) load(address uint64) (uint64, error) {
	c := make(chan string, 1)
	if err := q.send(c, "readq 0x%x", address); err != nil {
		return 0, err
	}
	text, ok := <-c
	if !ok {
		return 0, errGone
	}
	word, ok := strings.CutPrefix(text, "OK ")
	v, err := strconv.ParseUint(word, 0, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("%w: qtest answers %q", drivers.ErrProtocol, text)
	}
	return v, nil
}
