package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nicloop/nicloop/cosim/ethernet"
	"github.com/nicloop/nicloop/drivers/userfile"
	"github.com/spf13/cobra"
)

// ethernetHelp is the part of the help about --network.
const ethernetHelp = `
With --network ethernet:[?KEY=VALUE&…] both ends are hosts on a simulated Ethernet switch.
Times are simulated then, and equal in every run of the same seed. rc uses streams in
the format of TCP, with a fixed window. Every type of queue pair has a network of its
own. --pcap writes the frames as their hosts send them. Keys:

`

func longHelp(text string) string {
	var b strings.Builder
	b.WriteString(text + ethernetHelp)
	for _, k := range ethernet.Keys() {
		fmt.Fprintf(&b, "  %-26s %s\n", k.Name+"="+k.Value, k.Doc)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// iwarpNetwork describes the simulated network of one type of queue pair after its measurements.
type iwarpNetwork struct {
	QP       string                `json:"qp"`
	Counters ethernet.Counters     `json:"counters"`
	Server   ethernet.PortCounters `json:"port_of_server"` // of the switch
}

// simulation is the simulated network of a measurement.
type simulation struct {
	uri, pcap string
	force     bool
	config    ethernet.Config // of the URI, if there is one
}

func (s *simulation) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&s.uri, "network", "", "simulated network: ethernet:[?KEY=VALUE&…]")
	fs.StringVar(&s.pcap, "pcap", "", "write the frames of the simulated network to `FILE` (pcapng)")
	fs.BoolVar(&s.force, "force", false, "overwrite existing output files")
}

// checkSimulation parses the URI of the network and refuses what a simulated network does not have.
func (f *iwarpFlags) checkSimulation(cmd *cobra.Command, args []string) (err error) {
	s := &f.simulation
	switch {
	case s.uri == "" && s.pcap != "":
		return misused("--pcap needs a simulated network: --network ethernet:")
	case s.uri == "":
		return nil
	case len(args) > 0:
		return misused("--network has both ends in this program: it excludes the address of a server")
	case f.baseline:
		return misused("--baseline is a TCP stream on the loopback device: it excludes --network")
	}
	if s.pcap != "" && len(f.qps) > 1 {
		return misused("--pcap needs a single type of queue pair: --qp rc, --qp ud or --qp rd")
	}
	if s.config, err = ethernet.Parse(s.uri); err != nil {
		return misused("--network: %w", err)
	}
	return nil
}

// open returns a network, and a function that ends its capture after a measurement that failed with
// err, if any. Without --network both are nil.
func (s *simulation) open() (n *ethernet.Network, end func(err error) error, err error) {
	if s.uri == "" {
		return nil, nil, nil
	}
	config := s.config
	closeCapture := func(err error) error { return err }
	if s.pcap != "" {
		file, err := createOutput(s.pcap, s.force)
		if err != nil {
			return nil, nil, err
		}
		config.Sent = file
		closeCapture = func(err error) error { return userfile.Close(file, err) }
	}
	if n, err = ethernet.New(config); err != nil {
		return nil, nil, closeCapture(err)
	}
	return n, func(err error) error { return closeCapture(errors.Join(err, n.Close())) }, nil
}

// printNetworks prints what the switch and the hosts have dropped.
func printNetworks(w io.Writer, list []iwarpNetwork) {
	for _, x := range list {
		c := &x.Counters
		fmt.Fprintf(w, "%s: %d frames sent, %d lost, %d duplicated, %d reordered, %d corrupted, %d dropped by full queues\n",
			x.QP, c.FramesSent, c.Lost, c.Duplicated, c.Reordered, c.Corrupted, c.QueueFull)
	}
}
