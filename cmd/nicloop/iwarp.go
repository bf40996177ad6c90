package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/nicloop/nicloop/bench/iwarpperf"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/spf13/cobra"
)

func newIWARP() *cobra.Command {
	return group(&cobra.Command{
		Use: "iwarp", Short: "Measure RDMA verbs over TCP (RC) and UDP (UD, RD) sockets",
	}, newIWARPServe(), newIWARPPing(), newIWARPBandwidth(), newIWARPRping())
}

// iwarpReport is the document of the measurements.
type iwarpReport struct {
	Server string          `json:"server"` // address; empty: in this program
	Rows   []iwarpperf.Row `json:"rows"`

	Network  string         `json:"network,omitempty"` // simulated
	Networks []iwarpNetwork `json:"networks,omitempty"`
}

// rpingReport is the document of iwarp rping.
type rpingReport struct {
	Role  string `json:"role"`
	Peer  string `json:"address"` // of the server
	Bytes int    `json:"verified_bytes"`
}

// iwarpServerPort is the default port of nicloop iwarp serve. The Linux tools use the same one.
const iwarpServerPort = "127.0.0.1:7174"

func newIWARPServe() *cobra.Command {
	var o iwarpperf.ServerOptions
	var allow []string
	cmd := &cobra.Command{
		Use: "serve", Short: "Answer nicloop iwarp ping and bandwidth of other programs", Args: checked(cobra.NoArgs),
		Long: `Answer nicloop iwarp ping and bandwidth: RC at a TCP port, UD at the UDP port of
the same number, RD at the next UDP port. Runs until interrupted.

Beyond the loopback device a server needs a list of the sources that it serves
(--allow) and a token of 16 characters or more, in ` + tokenVariable + ` here and for the
client. Connections carry the token in their request. Datagrams carry none, so the
list alone protects them. Nothing is encrypted.`,
		Example: `  nicloop iwarp serve
  nicloop iwarp serve --listen 10.0.0.1:7174 --allow 10.0.0.0/24      with ` + tokenVariable,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Token = os.Getenv(tokenVariable)
			if err := checkServer(&o, allow); err != nil {
				return err
			}
			s, err := iwarpperf.Listen(o)
			if err != nil {
				return err
			}
			at := s.Address()
			fmt.Fprintf(cmd.OutOrStdout(), "serving rc at tcp %v, ud at udp %v, rd at udp port %d\n", at, at, at.Port()+1)
			return s.Serve(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.Listen, "listen", iwarpServerPort, "`ADDRESS:PORT`; port 0: any free port")
	cmd.Flags().StringSliceVar(&allow, "allow", nil, "sources to serve, such as 10.0.0.0/24")
	return cmd
}

// checkServer completes the options, or explains what a server beyond the loopback device lacks.
func checkServer(o *iwarpperf.ServerOptions, allow []string) error {
	const shortestToken = 16
	for _, text := range allow {
		p, err := netip.ParsePrefix(text)
		if a, failed := netip.ParseAddr(text); failed == nil {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil || !p.Addr().Is4() {
			return misused("--allow %q: expected an address of IPv4 or a prefix, such as 10.0.0.0/24", text)
		}
		o.Allow = append(o.Allow, p)
	}
	address, err := net.ResolveTCPAddr("tcp4", o.Listen)
	switch {
	case err != nil:
		return misused("--listen %q: expected ADDRESS:PORT of IPv4, such as %s", o.Listen, iwarpServerPort)
	case address.Port == 65535:
		return misused("--listen %q: expected a port up to 65534, as rd uses the next one", o.Listen)
	case address.IP.IsLoopback():
		return nil
	case len(o.Allow) == 0:
		return misused("--listen %s can be reached by other machines: --allow must list those that are served", o.Listen)
	case len(o.Token) < shortestToken:
		return misused("--listen %s can be reached by other machines: %s must hold a token of %d characters or more",
			o.Listen, tokenVariable, shortestToken)
	}
	return nil
}

// iwarpFlags are the flags of the measurements.
type iwarpFlags struct {
	qps                        []string
	sizes                      []int
	iterations, warmup, window int
	both, baseline, json       bool
	simulation                 simulation
}

func (f *iwarpFlags) add(cmd *cobra.Command, sizes []int, iterations int) {
	cmd.Args = checked(cobra.MaximumNArgs(1))
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringSliceVar(&f.qps, "qp", iwarpperf.Kinds(), "types of queue pairs: rc, ud, rd")
	sizesVar(fs, &f.sizes, "sizes", sizes, "message sizes in bytes")
	fs.IntVar(&f.iterations, "iterations", iterations, "messages of each size")
	fs.BoolVar(&f.json, "json", false, "print as JSON")
	f.simulation.add(cmd)
}

func (f *iwarpFlags) check(cmd *cobra.Command, args []string) error {
	if err := f.checkSimulation(cmd, args); err != nil {
		return err
	}
	for _, qp := range f.qps {
		if known := iwarpperf.Kinds(); !slices.Contains(known, qp) {
			return misused("--qp %q: expected some of %v%s", qp, known, suggest.Nearest(qp, known))
		}
	}
	for _, size := range f.sizes {
		if size < 0 || size > iwarpperf.MaxBytes {
			return misused("--sizes %d: expected 0 to %d bytes", size, iwarpperf.MaxBytes)
		}
	}
	if f.iterations < 1 {
		return misused("--iterations %d: expected 1 or more", f.iterations)
	}
	if f.warmup < 0 {
		return misused("--warmup %d: expected 0 or more", f.warmup)
	}
	for _, server := range args {
		if _, err := net.ResolveTCPAddr("tcp4", server); err != nil {
			return misused("server %q: expected ADDRESS:PORT of IPv4, such as %s", server, iwarpServerPort)
		}
	}
	return nil
}

// iwarpMeasurement measures messages of one size.
type iwarpMeasurement func(ctx context.Context, c *iwarpperf.Client, size int) (iwarpperf.Row, error)

// measure calls one for every type and size, with a client of the type.
func (f *iwarpFlags) measure(ctx context.Context, args []string, one iwarpMeasurement) (*iwarpReport, error) {
	rep := &iwarpReport{Rows: []iwarpperf.Row{}}
	if len(args) == 1 {
		rep.Server = args[0]
	}
	rep.Network = f.simulation.uri
	for _, qp := range f.qps {
		if err := f.measureQP(ctx, rep, qp, one); err != nil {
			return nil, err
		}
	}
	return rep, nil
}

// measureQP calls one for every size.
func (f *iwarpFlags) measureQP(ctx context.Context, rep *iwarpReport, qp string, one iwarpMeasurement) (err error) {
	network, endNetwork, err := f.simulation.open()
	if err != nil {
		return err
	}
	if network != nil {
		defer func() { err = endNetwork(err) }()
	}
	c, err := iwarpperf.Open(ctx, iwarpperf.ClientOptions{
		QP: qp, Address: rep.Server, Token: os.Getenv(tokenVariable), Network: network,
	})
	if err != nil {
		return err
	}
	defer c.Close()
	for _, size := range f.sizes {
		row, err := one(ctx, c, size)
		if err != nil {
			return fmt.Errorf("%s, %d bytes: %w", qp, size, err)
		}
		rep.Rows = append(rep.Rows, row)
	}
	if network != nil {
		rep.Networks = append(rep.Networks, iwarpNetwork{qp, network.Counters(), network.Port(1)})
	}
	return nil
}

func newIWARPPing() *cobra.Command {
	var f iwarpFlags
	cmd := &cobra.Command{
		Use: "ping [ADDRESS:PORT]", Short: "Measure half round trips over rc, ud and rd",
		Long: longHelp(`Measure half round trips of messages, in real time, and compare every reply with its
message. Without a server's address both ends are in this program, driven in turn by
one goroutine, which measures the cost of a message without the scheduler.

A message longer than a datagram is sent in two parts. Replies of ud that do not
arrive within 200 ms count as lost.

Exit codes: 0 passed, 1 a reply differed or a connection failed, 2 usage, 3 a server or
all replies are missing, 5 interrupted.
`),
		Example: `  nicloop iwarp ping
  nicloop iwarp ping 127.0.0.1:7174 --qp ud --sizes 8,2KiB
  nicloop iwarp ping --network 'ethernet:?mtu=9000&loss=1e-3&seed=7' --qp rd --pcap rd.pcapng`,
	}
	f.add(cmd, []int{8, 256, 2048, 16384, 65536}, 2000)
	cmd.Flags().IntVar(&f.warmup, "warmup", 100, "messages before the measurement")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(cmd, args); err != nil {
			return err
		}
		one := func(ctx context.Context, c *iwarpperf.Client, size int) (iwarpperf.Row, error) {
			return c.Ping(ctx, size, f.iterations, f.warmup)
		}
		rep, err := f.measure(cmd.Context(), args, one)
		return f.print(cmd, rep, err, "half trip\tsmallest\t", func(r *iwarpperf.Row) string {
			return fmt.Sprintf("%.2f us\t%.2f us\t", r.HalfTrip, r.MinHalfTrip)
		})
	}
	return cmd
}

func newIWARPBandwidth() *cobra.Command {
	var f iwarpFlags
	cmd := &cobra.Command{
		Use: "bandwidth [ADDRESS:PORT]", Short: "Measure throughput over rc, ud and rd",
		Long: longHelp(`Measure the throughput of windows of messages, in real time. Without a server's
address both ends are in this program, driven in turn by one goroutine. Messages of
ud that the server did not receive count as lost and not as throughput.

--baseline adds rows of a plain TCP stream on the loopback device, without iWARP.
`),
		Example: `  nicloop iwarp bandwidth --sizes 2KiB --bidirectional
  nicloop iwarp bandwidth --qp rc --sizes 64KiB --baseline
  nicloop iwarp bandwidth --network 'ethernet:?rate=1G'`,
	}
	f.add(cmd, []int{2048, 16384, 65536}, 20_000)
	cmd.Flags().IntVar(&f.window, "window", 64, "messages in flight")
	cmd.Flags().BoolVar(&f.both, "bidirectional", false, "send every message back")
	cmd.Flags().BoolVar(&f.baseline, "baseline", false, "measure a plain TCP stream, too")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(cmd, args); err != nil {
			return err
		}
		if f.window < 1 || f.window > iwarpperf.MaxWindow {
			return misused("--window %d: expected 1 to %d", f.window, iwarpperf.MaxWindow)
		}
		one := func(ctx context.Context, c *iwarpperf.Client, size int) (iwarpperf.Row, error) {
			return c.Bandwidth(ctx, size, f.iterations, f.window, f.both)
		}
		rep, err := f.measure(cmd.Context(), args, one)
		if err == nil && f.baseline {
			err = f.plain(cmd.Context(), rep)
		}
		return f.print(cmd, rep, err, "MB/s\t", func(r *iwarpperf.Row) string { return fmt.Sprintf("%.1f\t", r.Bandwidth) })
	}
	return cmd
}

// plain adds the measurements of a plain TCP stream.
func (f *iwarpFlags) plain(ctx context.Context, rep *iwarpReport) error {
	for _, size := range f.sizes {
		row, err := iwarpperf.PlainTCP(ctx, size, f.iterations, f.both)
		if err != nil {
			return err
		}
		rep.Rows = append(rep.Rows, row)
	}
	return nil
}

func (f *iwarpFlags) print(
	cmd *cobra.Command, rep *iwarpReport, err error, head string, cells func(*iwarpperf.Row) string,
) error {
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), rep)
	}
	printIWARP(cmd.OutOrStdout(), rep, head, cells)
	return nil
}

func printIWARP(w io.Writer, rep *iwarpReport, head string, cells func(*iwarpperf.Row) string) {
	where := "both ends in this program, on the loopback device"
	if rep.Server != "" {
		where = "server at " + rep.Server
	}
	if rep.Network != "" {
		where = "two hosts on " + rep.Network + ", in simulated time"
	}
	fmt.Fprintln(w, where)
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "qp\tbytes\titerations\t"+head+"lost\t")
	for i := range rep.Rows {
		r := &rep.Rows[i]
		fmt.Fprintf(tw, "%s\t%d\t%d\t%s%d\t\n", r.QP, r.Bytes, r.Iterations, cells(r), r.Lost)
	}
	tw.Flush()
	printNetworks(w, rep.Networks)
}

func newIWARPRping() *cobra.Command {
	var o iwarpperf.RpingOptions
	var server, asJSON bool
	cmd := &cobra.Command{
		Use: "rping ADDRESS:PORT", Short: "Play either role of rping of the Linux RDMA tools",
		Long: `Talk to rping of rdmacm-utils over RC. The client announces a buffer, which the server
reads (RDMA Read) and writes into a second one (RDMA Write); the client compares both.
With --server this program is the server, and ends with the first client's connection.

The protocol has no token: a server listens on the loopback device only.`,
		Example: `  nicloop iwarp rping 127.0.0.1:7175                   for rping -s -p 7175
  nicloop iwarp rping --server 127.0.0.1:7175          for rping -c -a ADDRESS -p 7175`,
		Args: checked(cobra.ExactArgs(1)),
	}
	sizeVar(cmd.Flags(), &o.Bytes, "size", 64, "bytes of the buffers")
	cmd.Flags().IntVar(&o.Rounds, "iterations", 10, "rounds of the client")
	cmd.Flags().BoolVar(&server, "server", false, "be the server")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Address = args[0]
		if err := checkRping(&o, server); err != nil {
			return err
		}
		n, err := runRping(cmd, o, server)
		if err != nil {
			return err
		}
		role := "client"
		if server {
			role = "server"
		}
		if asJSON {
			return writeJSON(cmd.OutOrStdout(), &rpingReport{role, o.Address, n})
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes were read, written back and, by the client, compared\n", role, n)
		return nil
	}
	return cmd
}

func checkRping(o *iwarpperf.RpingOptions, server bool) error {
	address, err := net.ResolveTCPAddr("tcp4", o.Address)
	switch {
	case err != nil:
		return misused("%q: expected ADDRESS:PORT of IPv4, such as 127.0.0.1:7175", o.Address)
	case server && !address.IP.IsLoopback():
		return misused("--server %s: expected an address of the loopback device", o.Address)
	case o.Bytes < iwarpperf.MinRping || o.Bytes > iwarpperf.MaxBytes:
		return misused("--size %d: expected %d to %d bytes", o.Bytes, iwarpperf.MinRping, iwarpperf.MaxBytes)
	case o.Rounds < 1:
		return misused("--iterations %d: expected 1 or more", o.Rounds)
	}
	return nil
}

func runRping(cmd *cobra.Command, o iwarpperf.RpingOptions, server bool) (int, error) {
	if !server {
		return iwarpperf.RpingClient(cmd.Context(), o)
	}
	return iwarpperf.RpingServer(cmd.Context(), o, func(a net.Addr) {
		fmt.Fprintf(cmd.ErrOrStderr(), "waiting for rping -c at %v\n", a)
	})
}
