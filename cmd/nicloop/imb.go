package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nicloop/nicloop/bench/imb"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/userfile"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
	"github.com/spf13/cobra"
)

func newIMB() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "imb [BENCHMARK…]",
		Short: "Run the Intel MPI Benchmarks (IMB-MPI1) over the host library",
		Long: `Run IMB's benchmarks with IMB's parameters and column layout. Times
are simulated. Every byte received is verified. Without names, all run:
` + wrapped(imb.Names(), 78) + `

Each runs on npmin processes, 2 npmin, 4 npmin and so on, and on all of them;
the others wait in a barrier.`,
		Example: `  nicloop imb --nodes 4 --procs 4                            all benchmarks on 2, 4, 8 and 16 processes
  nicloop imb PingPong --msglog 3:11                         0, then 8 to 2048 bytes
  nicloop imb PingPong --nodes 2 --procs 4 --multi 0 --map 4x2    4 pairs between two nodes
  nicloop imb Alltoall Bcast --npmin 8 --nodes 8 --msglen 2048 --flow dynamic --slots 16
  nicloop imb Alltoall --nodes 64 --npmin 64 --msglen 64 --device model: -j 2
  nicloop imb Bcast --nodes 2 --procs 1 --msglen 64 --pcap bcast.pcapng --waves bcast.fst   packets and waves of one table
  nicloop imb Scatterv --nodes 8 --npmin 8 --root-shift 10 --sync=false --iter 80`,
	}
	f := &imbFlags{c: imb.Default()}
	f.add(cmd)
	cmd.RunE = f.run
	completing(cmd, 0, imbChoices)
	return cmd
}

// wrapped breaks a list of words into lines of a width.
func wrapped(words []string, width int) string {
	var b strings.Builder
	room := 0
	for _, w := range words {
		if len(w)+2 > room {
			b.WriteString("\n ")
			room = width - 1
		}
		b.WriteString(" " + w)
		room -= len(w) + 1
	}
	return b.String()
}

type imbFlags struct {
	c                imb.Config
	msglen           []int
	msglog, grid     string
	flow, rendezvous string
	multi            string
	json             bool
	limit, timeout   time.Duration
	pcap             string
	look             runFlags // waves
}

func (f *imbFlags) add(cmd *cobra.Command) {
	d, fs := imb.Default(), cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.c.Run.Device, "device", d.Run.Device, "device to run on (see nicloop device list)")
	fs.IntVar(&f.c.Run.Nodes, "nodes", d.Run.Nodes, "nodes")
	fs.IntVar(&f.c.Run.Procs, "procs", d.Run.Procs, "processes per node")
	fs.IntVar(&f.c.MinProcs, "npmin", d.MinProcs, "smallest number of processes")
	sizesVar(fs, &f.msglen, "msglen", nil, "message lengths, such as 8,2k,1M")
	fs.StringVar(&f.msglog, "msglog", "0:11", "[MIN:]MAX: lengths 0 and 2^MIN to 2^MAX")
	fs.IntVar(&f.c.Iterations, "iter", d.Iterations, "repetitions")
	fs.IntVar(&f.c.Warmup, "warmup", d.Warmup, "untimed repetitions before them")
	fs.StringVar(&f.multi, "multi", "", "run as many groups at once as fit; `0 or 1`: report the slowest group, or each (default: one group)")
	fs.StringVar(&f.grid, "map", "", "`PxQ`: number the ranks 0, P, 2P, … then 1, P+1, …; P processes per node pair up across Q nodes")
	fs.IntVar(&f.c.RootShift, "root-shift", d.RootShift, "repetitions after which the root changes; 0: never")
	fs.BoolVar(&f.c.Sync, "sync", d.Sync, "untimed barrier before every repetition")
	fs.BoolVar(&f.c.Linear, "linear", d.Linear, "linear algorithms only: each rank exchanges messages with each peer directly")
	fs.StringVar(&f.c.Algorithm, "algorithm", "", "`NAME` of the algorithm of the collectives (default: selected by processes and bytes)")
	addFlow(fs, &f.flow, &f.c.Run.Velo)
	fs.BoolVar(&f.c.Run.Local, "local", d.Run.Local, "messages between ranks of a node bypass the NIC and use no credits")
	fs.StringVar(&f.rendezvous, "rendezvous", string(d.Run.Rendezvous), "protocol of messages longer than 2048 bytes: rget, rput, chunked or spec")
	fs.Int64Var(&f.c.Run.Seed, "seed", d.Run.Seed, "seed of message contents")
	fs.BoolVar(&f.json, "json", false, "print the report as JSON")
	fs.IntVarP(&f.c.Run.Threads, "jobs", "j", 1, "cores per simulation on model: or rtl:; 2 are faster if 16 or more nodes are busy")
	fs.StringVar(&f.pcap, "pcap", "", "write every packet of one table to `FILE` (pcapng, simulated nanoseconds)")
	fs.StringVar(&f.look.waves, "waves", "", "write waveforms of one table to `FILE` (FST)")
	f.look.addWaveWindow(fs)
	fs.BoolVar(&f.look.force, "force", false, "overwrite existing output files")
	fs.DurationVar(&f.limit, "limit", 0, "abort a table after this much simulated time (default: no limit)")
	fs.DurationVar(&f.timeout, "timeout", 0, "abort after this much real time (default: no limit)")
}

func (f *imbFlags) run(cmd *cobra.Command, names []string) (err error) {
	c := f.c
	if err := checkJobs(c.Run.Threads); err != nil {
		return err
	}
	if f.limit < 0 || f.limit > longest {
		return misused("--limit %v: expected 0 to %v of simulated time", f.limit, longest)
	}
	c.Run.Limit = drivers.Time(f.limit.Nanoseconds()) * drivers.Nanosecond
	c.Benchmarks, c.Run.Velo.Flow, c.Run.Rendezvous = names, velo.Flow(f.flow), host.Rendezvous(f.rendezvous)
	if given(cmd, "msglen") != "" && given(cmd, "msglog") != "" {
		return misused("--msglen and --msglog both set the message lengths: expected one of them")
	}
	if err := errors.Join(notNegative(cmd, "timeout"), checkFlow(cmd, c.Run.Velo.Flow)); err != nil {
		return err
	}
	if err := f.lengths(&c); err != nil {
		return err
	}
	if err := f.placement(&c); err != nil {
		return err
	}
	if err := f.one(cmd, &c); err != nil {
		return err
	}
	if f.pcap != "" {
		file, cerr := f.look.create(f.pcap)
		if cerr != nil {
			return cerr
		}
		defer func() { err = userfile.Close(file, err) }()
		c.Run.Pcap = file
	}
	ctx, cancel := withTimeout(cmd.Context(), f.timeout)
	defer cancel()
	bar := newBar(cmd.ErrOrStderr(), "imb")
	c.Run.Building, c.Step = bar.describe, bar.set
	rep, err := imb.Run(ctx, c)
	bar.finish()
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), rep)
	}
	printIMBHead(cmd, rep)
	rep.Print(cmd.OutOrStdout())
	return nil
}

func printIMBHead(cmd *cobra.Command, rep *imb.Report) {
	c := &rep.Config.Run
	fmt.Fprintf(cmd.OutOrStdout(), "# nicloop imb on %s, %d nodes (%s) x %d processes, seed %d; simulated time\n# flow control %s\n",
		c.Device, c.Nodes, network(rep.Info), c.Procs, c.Seed, flowText(c.Velo))
}

// one limits captures and waves to one table: each table is a world of its own that begins at cycle
// 0.
func (f *imbFlags) one(cmd *cobra.Command, c *imb.Config) error {
	if err := f.look.setWaves(cmd, &c.Run); err != nil || f.pcap == "" && f.look.waves == "" {
		return err
	}
	n, err := imb.Tables(*c)
	if err == nil && n != 1 {
		err = misused("--%s needs a single table, this command makes %d: select one benchmark and --npmin %d", given(cmd, "pcap", "waves"), n, c.Run.Ranks())
	}
	return err
}

// lengths parses --msglen or --msglog.
func (f *imbFlags) lengths(c *imb.Config) error {
	if len(f.msglen) > 0 {
		c.Sizes = f.msglen
		return nil
	}
	low, high, both := strings.Cut(f.msglog, ":")
	if !both {
		low, high = "0", low
	}
	a, err1 := strconv.Atoi(low)
	b, err2 := strconv.Atoi(high)
	if err1 != nil || err2 != nil || a < 0 || b < a || b > 26 {
		return usageError{fmt.Errorf("--msglog %q: expected [MIN:]MAX with 0 <= MIN <= MAX <= 26", f.msglog)}
	}
	c.Sizes = imb.Log(a, b)
	return nil
}

// placement parses --multi and --map.
func (f *imbFlags) placement(c *imb.Config) error {
	switch f.multi {
	case "", "0", "1":
		c.Multi, c.PerGroup = f.multi != "", f.multi == "1"
	default:
		return usageError{fmt.Errorf("--multi %q: expected 0 or 1", f.multi)}
	}
	if f.grid == "" {
		return nil
	}
	p, q, ok := strings.Cut(f.grid, "x")
	a, err1 := strconv.Atoi(p)
	b, err2 := strconv.Atoi(q)
	if !ok || err1 != nil || err2 != nil || a < 1 || b < 1 {
		return usageError{fmt.Errorf("--map %q: expected PxQ, such as 4x2", f.grid)}
	}
	c.Map = [2]int{a, b}
	return nil
}
