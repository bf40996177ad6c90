package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/nicloop/nicloop/drivers/userfile"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/mailbox"
	"github.com/nicloop/nicloop/velo"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

type flag = pflag.Flag

func newRun() *cobra.Command {
	var names string
	for _, w := range bench.Workloads() {
		names += fmt.Sprintf("  %-15s %s\n", w.Name, w.Doc)
	}
	cmd := &cobra.Command{
		Use:   "run WORKLOAD",
		Short: "Run one workload and print its measurements",
		Long: "Run one workload on a device, verify every byte, and print the measurements.\n\nWorkloads:\n" + names + `
Latencies are simulated time; half of a round trip is broken down by block of
the hardware. The same command gives the same output, byte for byte.`,
		Example: `  nicloop run pingpong --device rtl: --nodes 2 --sizes 8,2048
  nicloop run alltoall --nodes 4 --procs 4 --size 2048 --flow dynamic --slots 16
  nicloop run alltoall --device model: --nodes 16 --procs 4 --slots 40 --overhead   cost of flow control
  nicloop run allreduce --device model: --nodes 16 --sizes 64,65536 --algorithm ring
  nicloop run hotspot --nodes 4 --flow none --slots 1     shows the stall that flow control avoids
  nicloop run hotspot --nodes 16 --nvm 5:1/8 --plot tree.png   slow memory and its victims
  nicloop run hotspot --nodes 16 --nvm 5:1/8 --rendezvous chunked --chunk 512 --outstanding 1,2,4,8
  nicloop run overlap --plot overlap.png                  overlap of computation by protocol and size
  nicloop run stencil --device model: --nodes 27 --size 65536 --eager-threshold auto   thresholds adapt per pair
  nicloop run halo --device model: --nodes 8 --eager-threshold 33792   like molecular dynamics, with a fixed threshold
  nicloop run progress --rendezvous rput --sizes 65536    progress during computation
  nicloop run pingpong --sizes 1024,8192 --rendezvous rget --reuse adapt   eager by RMA, zero-copy from buffers used often
  nicloop run pattern:bt --device model: --nodes 4 --rendezvous spec --compute 100us --jitter 20   communication pattern of BT, with computation
  nicloop run alltoall --nodes 4 --device 'rtl:?link_errors=1e-3'   links that correct bit errors
  nicloop run alltoall --device 'mixed:?rtl=5,9&nodes=64' --waves nic.fst   nodes 5 and 9 in RTL, the other 62 in the model
  nicloop run alltoall --nodes 64 --waves dump.fst --waves-node 37 --waves-from 20000 --waves-to 21000
  nicloop run alltoall --nodes 16 --iterations 500 --checkpoint 100000 --waves end.fst   waves only on failure
  nicloop run alltoall --nodes 4 --device 'rtl:?src=.' --against rtl:   the first cycle, packet and block that an edit changed
  nicloop run alltoall --sizes 64,65536 --local --reuse adapt --explain-paths   print the path of each kind of message
  nicloop run pingpong --pcap out.pcapng                  then: wireshark -X lua_script:nicloop.lua`,
		Args: checked(cobra.ExactArgs(1)),
	}
	f := addRunFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) }
	completing(cmd, 1, workloadChoices)
	return cmd
}

type runFlags struct {
	c                  bench.Config
	flow, division     string
	size               []int
	json, force        bool
	overhead           bool
	nvm                []string
	nvmDepth           int
	slotTime, compute  time.Duration
	outstanding        []int
	plot               string
	progress           string
	protocol           []string
	speculate          string
	reuse              string
	offset             time.Duration
	pcap, waves        string
	record, rendezvous string
	wavesFrom, wavesTo uint64
	wavesNodes         []int
	checkpoint, last   uint64
	limit, timeout     time.Duration
	against, same      string
	agreed             uint64 // number of events equal with --against
	eager              thresholdFlags
	explain            bool
}

func addRunFlags(cmd *cobra.Command) *runFlags {
	d := bench.Default("")
	f := &runFlags{c: d}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.c.Device, "device", d.Device, "device to run on, such as rtl:, model: or mixed:?rtl=5,9; see nicloop device list (overlap and progress: model:)")
	fs.IntVar(&f.c.Nodes, "nodes", d.Nodes, "nodes")
	fs.IntVar(&f.c.Procs, "procs", d.Procs, "processes per node")
	sizesVar(fs, &f.c.Sizes, "sizes", nil, "message sizes, such as 8,2k,1M (default: the workload's)")
	sizesVar(fs, &f.size, "size", nil, "the same as --sizes")
	fs.IntVar(&f.c.Iterations, "iterations", 0, "timed iterations (default: the workload's, fewer for messages of more than 4 MB per rank or 1 GB in all)")
	fs.IntVar(&f.c.Warmup, "warmup", 0, "iterations before the timed ones (default: the workload's)")
	fs.StringVar(&f.c.Algorithm, "algorithm", "", "`NAME` of the algorithm of a collective (default: selected by ranks and bytes; alltoall: linear)")
	addFlow(fs, &f.flow, &f.c.Velo)
	fs.BoolVar(&f.overhead, "overhead", false, "also run without flow control, into mailboxes that never fill up, and report the overhead of flow control")
	fs.BoolVar(&f.c.Local, "local", d.Local, "messages between ranks of a node bypass the NIC and use no credits")
	fs.StringVar(&f.rendezvous, "rendezvous", string(d.Rendezvous), "protocol of messages longer than 2048 bytes: rget, rput, chunked or spec (overlap and progress: all)")
	fs.StringSliceVar(&f.protocol, "protocol", nil, "protocols that overlap and progress compare (default: all)")
	f.eager.add(fs)
	fs.StringVar(&f.speculate, "speculate", "", "RTRs of spec: adapt stops sending them to peers that do not use them, always never stops (default: adapt; overlap and progress: always)")
	fs.StringVar(&f.reuse, "reuse", string(host.ReuseOff), "move messages of 128 to 9216 bytes by RMA into a ring of the receiver: off, copy (through an intermediate buffer), or adapt (zero-copy from buffers that are used often)")
	sizeVar(fs, &f.c.Reuse.From, "reuse-from", host.ReuseFrom, "shortest message that --reuse moves")
	sizeVar(fs, &f.c.Chunk, "chunk", d.Chunk, "bytes of one get of the chunked rendezvous")
	fs.IntSliceVar(&f.outstanding, "outstanding", []int{d.Outstanding}, "outstanding gets per rank of the chunked rendezvous; a list for hotspot with --nvm")
	fs.StringArrayVar(&f.nvm, "nvm", nil, "NODE:NUM/DEN: memory of the node accepts long messages at NUM/DEN of line rate; repeatable")
	sizeVar(fs, &f.nvmDepth, "nvm-depth", bench.NVMDepth, "size in bytes of the write buffer of slow memory")
	fs.IntVar(&f.c.Hot, "hot", 0, "nodes that send to each node with slow memory in hotspot (default: a quarter)")
	fs.DurationVar(&f.offset, "offset", time.Duration(bench.DefaultOffset/drivers.Nanosecond), "delay of the later side in overlap and progress")
	fs.StringVar(&f.progress, "progress", progressCalls, "progress in overlap and progress: by calls, or by a thread of each rank")
	fs.DurationVar(&f.slotTime, "slot-time", 0, "time that memory takes to write a mailbox slot, such as 84ns (default: as fast as the NIC writes)")
	fs.DurationVar(&f.compute, "compute", 0, "time of one computation of a rank, such as 20us: patterns compute whenever they produce or consume (0s: never), stencil and halo in each step (default there: twice the link time of a rank's messages)")
	fs.Lookup("compute").DefValue = fmt.Sprint(time.Duration(bench.DefaultCompute / drivers.Nanosecond))
	fs.IntVar(&f.c.Jitter, "jitter", 0, "random extra time of each computation, in percent at most")
	fs.StringVar(&f.plot, "plot", "", "draw hotspot with --nvm into `FILE` (.png, .svg and .csv); overlap and progress into several, by side and sender")
	fs.StringVar(&f.division, "division", "grant-excess", "slots that do not divide evenly: grant-excess, round-down or round-up")
	fs.Int64Var(&f.c.Seed, "seed", d.Seed, "seed of message contents and random traffic")
	fs.BoolVar(&f.c.Blocks, "blocks", false, "break packet latency down by block; slower (default: on for pingpong)")
	fs.BoolVar(&f.json, "json", false, "print the result as JSON")
	fs.StringVar(&f.pcap, "pcap", "", "write every packet on every link to `FILE` (pcapng, simulated nanoseconds)")
	fs.StringVar(&f.record, "record", "", "write every transaction to `FILE`; replay it with --device replay:FILE")
	fs.StringVar(&f.waves, "waves", "", "write waveforms to `FILE` (FST)")
	f.addWaveWindow(fs)
	fs.Uint64Var(&f.checkpoint, "checkpoint", 0, "make a checkpoint every `CYCLES`; --waves is written only if the run fails, by repeating the end from a checkpoint")
	fs.Uint64Var(&f.last, "waves-last", lastCycles, "cycles before the failure that --waves shows with --checkpoint")
	fs.IntVarP(&f.c.Threads, "jobs", "j", threads(threadsFrom), "cores per simulation on model: or rtl:; the result does not depend on it")
	fs.Lookup("jobs").DefValue = fmt.Sprintf("%d from %d nodes on, else 1", threads(threadsFrom), threadsFrom)
	fs.DurationVar(&f.limit, "limit", 0, "abort after this much simulated time (default: no limit)")
	fs.DurationVar(&f.timeout, "timeout", 0, "abort after this much real time (default: no limit)")
	fs.StringVar(&f.against, "against", "", "run on this `DEVICE` too, in lockstep, and report the first difference: model:, or 'rtl:?src=../old'")
	fs.StringVar(&f.same, "same", sameCycles, "what --against compares: cycles, or packets (the contents of each flow, at any time)")
	fs.BoolVar(&f.explain, "explain-paths", false, "print the path selection table and exit")
	fs.BoolVar(&f.force, "force", false, "overwrite existing output files")
	return f
}

// longest is the limit of 63 bits of picoseconds, rounded down.
const longest = 100 * 24 * time.Hour

func (f *runFlags) run(cmd *cobra.Command, workload string) (err error) {
	c, err := f.config(cmd, workload)
	if err != nil {
		return err
	}
	slowMemory := workload == "hotspot" && len(c.NVM) > 0
	if err := f.checkSweep(&c, slowMemory); err != nil {
		return err
	}
	c.Outstanding = f.outstanding[0]
	if f.explain {
		return f.explainPaths(cmd, c)
	}
	for _, out := range []struct {
		name string
		to   *io.Writer
	}{{f.pcap, &c.Pcap}, {f.record, &c.Record}} {
		if out.name == "" {
			continue
		}
		file, cerr := f.create(out.name)
		if cerr != nil {
			return cerr
		}
		defer func() { err = userfile.Close(file, err) }()
		*out.to = file
	}
	if err := f.setWaves(cmd, &c); err != nil {
		return err
	}
	switch {
	case slowMemory:
		return f.congestion(cmd, c)
	case bench.MeasuresOverlap(workload):
		return f.overlap(cmd, c)
	}
	return f.measure(cmd, c)
}

// config returns what the flags ask for, except for output files and --outstanding.
func (f *runFlags) config(cmd *cobra.Command, workload string) (c bench.Config, err error) {
	c = f.c
	if bench.MeasuresOverlap(workload) && given(cmd, "device") == "" {
		c.Device = "model:"
	}
	takeNodes(cmd, c.Device, &c.Nodes)
	if c.AlwaysSpeculate, err = f.alwaysSpeculates(workload); err != nil {
		return c, err
	}
	c.Workload, c.Velo.Flow, c.Rendezvous = workload, velo.Flow(f.flow), host.Rendezvous(f.rendezvous)
	c.Sizes = append(c.Sizes, f.size...)
	if err := f.setReuse(cmd, &c); err != nil {
		return c, err
	}
	if f.limit < 0 || f.limit > longest {
		return c, usageError{fmt.Errorf("--limit %v: expected 0 to %v of simulated time", f.limit, longest)}
	}
	c.Limit = drivers.Time(f.limit.Nanoseconds()) * drivers.Nanosecond
	c.SlotTime = drivers.Time(min(f.slotTime, time.Second).Nanoseconds()) * drivers.Nanosecond // longer times are rejected later
	c.Compute = f.computation(cmd, workload)
	if c.NVM, err = f.parseNVM(); err != nil {
		return c, err
	}
	if err := errors.Join(f.idle(cmd, &c), f.eager.set(cmd, &c), f.checkAgainst()); err != nil {
		return c, err
	}
	if !cmd.Flags().Changed("blocks") { // a recording has no block latencies
		c.Blocks = workload == "pingpong" && !strings.HasPrefix(c.Device, "replay:")
	}
	if c.Velo.Division, err = parseDivision(f.division); err != nil {
		return c, err
	}
	if !cmd.Flags().Changed("jobs") {
		c.Threads = threads(c.Nodes)
	}
	return c, checkJobs(c.Threads)
}

func (f *runFlags) setReuse(cmd *cobra.Command, c *bench.Config) error {
	if c.Reuse.Mode = host.ReuseMode(f.reuse); c.Reuse.On() {
		return nil
	}
	if given(cmd, "reuse-from") != "" {
		return usageError{fmt.Errorf("--reuse-from has no effect without --reuse: add --reuse copy or adapt")}
	}
	if c.Reuse.Mode == host.ReuseOff {
		c.Reuse = host.Reuse{}
	}
	return nil
}

// checkSweep checks flags that only some sweeps have: hotspot with slow memory, overlap, progress.
func (f *runFlags) checkSweep(c *bench.Config, slowMemory bool) error {
	switch {
	case !slowMemory && len(f.outstanding) != 1:
		return usageError{fmt.Errorf("a list of --outstanding applies to hotspot with --nvm only")}
	case !slowMemory && f.plot != "" && !bench.MeasuresOverlap(c.Workload):
		return usageError{fmt.Errorf("--plot applies to hotspot with --nvm, overlap and progress only")}
	case slowMemory && f.overhead:
		return usageError{fmt.Errorf("--overhead does not apply to hotspot with --nvm, which compares slow with fast memory: remove it")}
	case len(f.outstanding) > 1 && c.Rendezvous != host.Chunked:
		return usageError{fmt.Errorf("a list of --outstanding needs the chunked rendezvous, not %s: add --rendezvous chunked", c.Rendezvous)}
	case slowMemory && len(f.outstanding) == 0:
		return usageError{fmt.Errorf("--outstanding: expected at least one number")}
	}
	return nil
}

// measure runs the workload and prints its result.
func (f *runFlags) measure(cmd *cobra.Command, c bench.Config) error {
	ctx, cancel := withTimeout(cmd.Context(), f.timeout)
	defer cancel()
	bar := newBar(cmd.ErrOrStderr(), c.Workload)
	c.Building, c.Step = bar.describe, bar.set
	begin := time.Now()
	run := bench.Run
	if f.overhead {
		run = bench.RunWithReference
	}
	if f.against != "" {
		run = f.beside
	}
	res, err := run(ctx, c)
	bar.finish()
	if err != nil {
		f.printRerun(cmd, cmd.ErrOrStderr(), err)
		return errors.Join(err, f.writeFailure(cmd, err, res))
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), res)
	}
	printResult(cmd.OutOrStdout(), res, time.Since(begin))
	if f.against != "" {
		f.printAgreed(cmd.OutOrStdout())
	}
	return nil
}

// writeFailure prints the measurements of a failed run up to its failure. The JSON document also
// has its error, and its verdict if there is one.
func (f *runFlags) writeFailure(cmd *cobra.Command, failed error, res *bench.Result) error {
	var rows []bench.Row
	if res != nil {
		rows = res.Rows
	}
	if !f.json {
		if len(rows) > 0 {
			fmt.Fprintln(cmd.OutOrStdout(), "incomplete: the sizes measured before the failure:")
			printRows(cmd.OutOrStdout(), res)
		}
		return nil
	}
	report := &runFailure{Error: failed.Error(), Rows: rows}
	errors.As(failed, &report.Verdict)
	var differs *differsError
	if errors.As(failed, &differs) {
		report.Differs = differs.div
	}
	return writeJSON(cmd.OutOrStdout(), report)
}

// threadsFrom is the number of nodes from which a second thread pays for its synchronization.
const threadsFrom = 16

// threads returns the default number of threads.
func threads(nodes int) int {
	if nodes < threadsFrom {
		return 1
	}
	return min(2, runtime.NumCPU())
}

func checkJobs(n int) error {
	if n < 1 {
		return usageError{fmt.Errorf("--jobs %d: expected at least 1", n)}
	}
	return nil
}

func parseDivision(s string) (mailbox.Division, error) {
	all := []mailbox.Division{mailbox.GrantExcess, mailbox.RoundDown, mailbox.RoundUp}
	var known []string
	for _, d := range all {
		if d.String() == s {
			return d, nil
		}
		known = append(known, d.String())
	}
	return 0, usageError{fmt.Errorf("--division %q: expected one of %v%s", s, known, suggest.Nearest(s, known))}
}

// mayWrite returns an error if the file exists, unless --force is set.
func (f *runFlags) mayWrite(name string) error { return mayWrite(name, f.force) }

func (f *runFlags) create(name string) (*os.File, error) { return createOutput(name, f.force) }

func mayWrite(name string, force bool) error {
	if err := userfile.Check(name, force); errors.Is(err, userfile.ErrExists) {
		return usageError{err}
	}
	return nil
}

// createOutput opens a file that grows while the command runs. userfile.Close ends it.
func createOutput(name string, force bool) (*os.File, error) {
	if err := mayWrite(name, force); err != nil {
		return nil, err
	}
	file, err := userfile.Create(name, true)
	if errors.Is(err, fs.ErrNotExist) { // the folder does not exist
		err = usageError{err}
	}
	return file, err
}
