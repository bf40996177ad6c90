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

// A qtest gives QEMU commands for which there is no device: interrupts, and reads of chip set
// registers. Commands without a result are not awaited, because QEMU may be waiting for this
// program.
type qtest struct {
	conn net.Conn
	mu   sync.Mutex
	want []chan string // one per outstanding command; nil if the answer is not needed
	err  error
}

var errGone = errors.New("QEMU answers no more")

func newQtest(conn net.Conn) *qtest {
	q := &qtest{conn: conn}
	go q.listen()
	return q
}

// listen delivers answers.
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

// store writes a 32-bit word, which is how an interrupt message is sent.
func (q *qtest) store(address uint64, v uint32) error {
	return q.send(nil, "writel 0x%x 0x%x", address, v)
}

// line sets the interrupt controller input of the device's INTA.
func (q *qtest) line(input int, up bool) error {
	level := 0
	if up {
		level = 1
	}
	return q.send(nil, "set_irq_in /machine/q35/ioapic unnamed-gpio-in %d %d", input, level)
}

// load reads a 64-bit word.
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
