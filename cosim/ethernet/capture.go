package ethernet

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/nicloop/nicloop/drivers"
)

// capture writes frames as pcapng, with an interface per host. A nil capture writes nothing.
type capture struct {
	ng  *pcapgo.NgWriter
	err error // the first one
}

func captureInterface(host int) pcapgo.NgInterface {
	return pcapgo.NgInterface{
		Name: fmt.Sprintf("host%d", host), LinkType: layers.LinkTypeEthernet,
		SnapLength: maxMTU + etherBytes, TimestampResolution: 9,
	}
}

func newCapture(w io.Writer, hosts int) (*capture, error) {
	if w == nil {
		return nil, nil
	}
	section := pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "nicloop"}}
	ng, err := pcapgo.NewNgWriterInterface(w, captureInterface(0), section)
	for i := 1; err == nil && i < hosts; i++ {
		_, err = ng.AddInterface(captureInterface(i))
	}
	if err != nil {
		return nil, fmt.Errorf("ethernet: capture: %w", err)
	}
	return &capture{ng: ng}, nil
}

func (c *capture) write(at drivers.Time, host int, data []byte) {
	if c == nil || c.err != nil {
		return
	}
	c.err = c.ng.WritePacket(gopacket.CaptureInfo{
		Timestamp:      time.Unix(0, int64(at/drivers.Nanosecond)),
		InterfaceIndex: host, CaptureLength: len(data), Length: len(data),
	}, data)
}

func (c *capture) close() error {
	if c == nil {
		return nil
	}
	return errors.Join(c.err, c.ng.Flush())
}

func closeCaptures(list ...*capture) (err error) {
	for _, c := range list {
		err = errors.Join(err, c.close())
	}
	return err
}
