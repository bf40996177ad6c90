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
		Short: "Run one workload and print what it measured",
		Long: "Run one workload over a device, verify every byte, print what it measured.\n\nWorkloads:\n" + names + `
Latencies are simulated time; half of a round trip is broken down by block of
the hardware. The same command gives the same output, byte for byte.`,
		Example: `  nicloop run pingpong --device rtl: --nodes 2 --sizes 8,2048
  nicloop run alltoall --nodes 4 --procs 4 --size 2048 --flow dynamic --slots 16
  nicloop run alltoall --device model: --nodes 16 --procs 4 --slots 40 --overhead   what flow control costs
  nicloop run allreduce --device model: --nodes 16 --sizes 64,65536 --algorithm ring
  nicloop run hotspot --nodes 4 --flow none --slots 1     see the stall that flow control avoids
  nicloop run hotspot --nodes 16 --nvm 5:1/8 --plot tree.png   slow memory, and who suffers from it
  nicloop run hotspot --nodes 16 --nvm 5:1/8 --rendezvous chunked --chunk 512 --outstanding 1,2,4,8
  nicloop run overlap --plot overlap.png                  what either side can compute beside a message, by protocol and size
  nicloop run stencil --device model: --nodes 27 --size 65536 --eager-threshold auto   each pair of neighbours finds its threshold
  nicloop run halo --device model: --nodes 8 --eager-threshold 33792   as molecular dynamics, by a threshold that is fixed
  nicloop run progress --rendezvous rput --sizes 65536    how far a message comes while one side calls nothing
  nicloop run pingpong --sizes 1024,8192 --rendezvous rget --reuse adapt   eager by RMA, without a copy from buffers used often
  nicloop run pattern:bt --device model: --nodes 4 --rendezvous spec --compute 100us --jitter 20   how BT communicates, and computes beside it
  nicloop run alltoall --nodes 4 --device 'rtl:?link_errors=1e-3'   links repair what wires break
  nicloop run alltoall --device 'mixed:?rtl=5,9&nodes=64' --waves nic.fst   nodes 5 and 9 are RTL, the other 62 the model
  nicloop run alltoall --nodes 64 --waves dump.fst --waves-node 37 --waves-from 20000 --waves-to 21000
  nicloop run alltoall --nodes 16 --iterations 500 --checkpoint 100000 --waves end.fst   waves only if it fails
  nicloop run alltoall --nodes 4 --device 'rtl:?src=.' --against rtl:   what an edit has changed: the first cycle, packet and block
  nicloop run alltoall --sizes 64,65536 --local --reuse adapt --explain-paths   which messages move in which way
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
	agreed             uint64 // events, if --against found no difference
	eager              thresholdFlags
	explain            bool
}

func addRunFlags(cmd *cobra.Command) *runFlags {
	d := bench.Default("")
	f := &runFlags{c: d}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.c.Device, "device", d.Device, "what stands behind the driver, such as rtl:, model: or mixed:?rtl=5,9; see nicloop device list (overlap and progress: model:)")
	fs.IntVar(&f.c.Nodes, "nodes", d.Nodes, "nodes")
	fs.IntVar(&f.c.Procs, "procs", d.Procs, "processes per node")
	sizesVar(fs, &f.c.Sizes, "sizes", nil, "message sizes, such as 8,2k,1M (default: the workload's)")
	sizesVar(fs, &f.size, "size", nil, "the same as --sizes")
	fs.IntVar(&f.c.Iterations, "iterations", 0, "timed iterations (default: the workload's, fewer of messages beyond 4 MB per rank or 1 GB in all)")
	fs.IntVar(&f.c.Warmup, "warmup", 0, "iterations before the timed ones (default: the workload's)")
	fs.StringVar(&f.c.Algorithm, "algorithm", "", "`NAME` of the algorithm of a collective (default: by ranks and bytes; of alltoall linear)")
	fs.StringVar(&f.flow, "flow", string(d.Velo.Flow), "end-to-end flow control: none, static or dynamic")
	fs.IntVar(&f.c.Velo.Slots, "slots", d.Velo.Slots, "mailbox slots per peer, credit slots included")
	fs.IntVar(&f.c.Velo.CreditSlots, "credit-slots", d.Velo.CreditSlots, "of them, for credit packets")
	fs.BoolVar(&f.c.Velo.Piggyback, "piggyback", d.Velo.Piggyback, "return credits in data packets that have room")
	fs.BoolVar(&f.overhead, "overhead", false, "run without flow control too, into mailboxes that never fill up, and say what flow control costs")
	fs.BoolVar(&f.c.Local, "local", d.Local, "messages between ranks of a node bypass the NIC and take no credits")
	fs.StringVar(&f.rendezvous, "rendezvous", string(d.Rendezvous), "how messages beyond 2048 bytes travel: rget, rput, chunked or spec (overlap and progress: each)")
	fs.StringSliceVar(&f.protocol, "protocol", nil, "those of them that overlap and progress compare (default: each)")
	f.eager.add(fs)
	fs.StringVar(&f.speculate, "speculate", "", "how long spec goes on: adapt stops RTRs to peers that do not use them, always does not (default: adapt; overlap and progress: always)")
	fs.StringVar(&f.reuse, "reuse", string(host.ReuseOff), "messages of 128 to 9216 bytes go by RMA into a ring of the receiver: off, copy (through an intermediate buffer), or adapt (without a copy from buffers that are used often)")
	sizeVar(fs, &f.c.Reuse.From, "reuse-from", host.ReuseFrom, "the shortest message that does")
	sizeVar(fs, &f.c.Chunk, "chunk", d.Chunk, "bytes of one get of the chunked rendezvous")
	fs.IntSliceVar(&f.outstanding, "outstanding", []int{d.Outstanding}, "gets under way per rank of the chunked rendezvous; a list for hotspot with --nvm")
	fs.StringArrayVar(&f.nvm, "nvm", nil, "NODE:NUM/DEN: that node's memory takes long messages at NUM/DEN of line rate; repeatable")
	sizeVar(fs, &f.nvmDepth, "nvm-depth", bench.NVMDepth, "bytes of the write buffer of slow memory")
	fs.IntVar(&f.c.Hot, "hot", 0, "nodes that send to each node with slow memory in hotspot (default: a quarter)")
	fs.DurationVar(&f.offset, "offset", time.Duration(bench.DefaultOffset/drivers.Nanosecond), "how much later the later side posts in overlap and progress")
	fs.StringVar(&f.progress, "progress", progressCalls, "who makes progress in overlap and progress: calls, or a thread of every rank beside them")
	fs.DurationVar(&f.slotTime, "slot-time", 0, "what memory takes for a mailbox slot, such as 84ns (default: as fast as the NIC writes)")
	fs.DurationVar(&f.compute, "compute", 0, "what a rank computes at a time, such as 20us: of a pattern whenever it produces or consumes (0s: nothing), of stencil and halo in each step (default there: twice what a link needs for what a rank sends)")
	fs.Lookup("compute").DefValue = fmt.Sprint(time.Duration(bench.DefaultCompute / drivers.Nanosecond))
	fs.IntVar(&f.c.Jitter, "jitter", 0, "how much longer that takes, in percent at most, by the seed")
	fs.StringVar(&f.plot, "plot", "", "draw hotspot with --nvm into `FILE` (.png, .svg and .csv); overlap and progress into several, by side and sender")
	fs.StringVar(&f.division, "division", "grant-excess", "slots that do not divide: grant-excess, round-down or round-up")
	fs.Int64Var(&f.c.Seed, "seed", d.Seed, "seed of message contents and random traffic")
	fs.BoolVar(&f.c.Blocks, "blocks", false, "break packet latency down by block; costs speed (default: for pingpong)")
	fs.BoolVar(&f.json, "json", false, "print the result as JSON")
	fs.StringVar(&f.pcap, "pcap", "", "write every packet on every link to `FILE` (pcapng, simulated nanoseconds)")
	fs.StringVar(&f.record, "record", "", "write every transaction to `FILE`; play it back with --device replay:FILE")
	fs.StringVar(&f.waves, "waves", "", "write waveforms to `FILE` (FST)")
	fs.IntSliceVar(&f.wavesNodes, "waves-node", nil, "nodes that the waveforms show the inside of (default: all)")
	fs.Uint64Var(&f.wavesFrom, "waves-from", 0, "first cycle of the waveforms")
	fs.Uint64Var(&f.wavesTo, "waves-to", uint64(drivers.Forever), "cycle at which they end")
	fs.Lookup("waves-to").DefValue = "the end"
	fs.Uint64Var(&f.checkpoint, "checkpoint", 0, "keep a checkpoint every `CYCLES`; --waves is written only if the run fails, by repeating its end from one")
	fs.Uint64Var(&f.last, "waves-last", lastCycles, "cycles before the failure that it shows then")
	fs.IntVarP(&f.c.Threads, "jobs", "j", threads(threadsFrom), "cores that one simulation on model: or rtl: may use; the result does not depend on it")
	fs.Lookup("jobs").DefValue = fmt.Sprintf("%d from %d nodes on, else 1", threads(threadsFrom), threadsFrom)
	fs.DurationVar(&f.limit, "limit", 0, "give up after so much simulated time (default: never)")
	fs.DurationVar(&f.timeout, "timeout", 0, "give up after so much real time (default: never)")
	fs.StringVar(&f.against, "against", "", "run on this `DEVICE` too, side by side, and say where the two part: model:, or 'rtl:?src=../old'")
	fs.StringVar(&f.same, "same", sameCycles, "what must be the same with --against: cycles, or packets: what each flow carries, whenever it comes")
	fs.BoolVar(&f.explain, "explain-paths", false, "print which messages move in which way, and run nothing")
	fs.BoolVar(&f.force, "force", false, "overwrite existing output files")
	return f
}

// longest is the limit that 63 bits of picoseconds have room for, rounded down.
const longest = 100 * 24 * time.Hour

func (f *runFlags) run(cmd *cobra.Command, workload string) (err error) {
	c := f.c
	if bench.MeasuresOverlap(workload) && given(cmd, "device") == "" {
		c.Device = "model:"
	}
	takeNodes(cmd, c.Device, &c.Nodes)
	if c.AlwaysSpeculate, err = f.alwaysSpeculates(workload); err != nil {
		return err
	}
	c.Workload, c.Velo.Flow, c.Rendezvous = workload, velo.Flow(f.flow), host.Rendezvous(f.rendezvous)
	c.Sizes = append(c.Sizes, f.size...)
	if c.Reuse.Mode = host.ReuseMode(f.reuse); !c.Reuse.On() {
		if given(cmd, "reuse-from") != "" {
			return usageError{fmt.Errorf("--reuse-from: nothing goes by RMA before a rendezvous: add --reuse copy or adapt")}
		}
		if c.Reuse.Mode == host.ReuseOff {
			c.Reuse = host.Reuse{}
		}
	}
	if f.limit < 0 || f.limit > longest {
		return usageError{fmt.Errorf("--limit %v: expected 0 to %v of simulated time", f.limit, longest)}
	}
	c.Limit = drivers.Time(f.limit.Nanoseconds()) * drivers.Nanosecond
	c.SlotTime = drivers.Time(min(f.slotTime, time.Second).Nanoseconds()) * drivers.Nanosecond // refused if too long
	c.Compute = f.computation(cmd, workload)
	if c.NVM, err = f.parseNVM(); err != nil {
		return err
	}
	if err := errors.Join(f.idle(cmd, &c), f.eager.set(cmd, &c), f.checkAgainst()); err != nil {
		return err
	}
	if !cmd.Flags().Changed("blocks") { // a recorded log cannot look into the hardware
		c.Blocks = workload == "pingpong" && !strings.HasPrefix(c.Device, "replay:")
	}
	if c.Velo.Division, err = parseDivision(f.division); err != nil {
		return err
	}
	if !cmd.Flags().Changed("jobs") {
		c.Threads = threads(c.Nodes)
	}
	if err := checkJobs(c.Threads); err != nil {
		return err
	}
	sweep := workload == "hotspot" && len(c.NVM) > 0
	switch {
	case !sweep && len(f.outstanding) != 1:
		return usageError{fmt.Errorf("a list of --outstanding belongs to hotspot with --nvm")}
	case !sweep && f.plot != "" && !bench.MeasuresOverlap(workload):
		return usageError{fmt.Errorf("--plot belongs to hotspot with --nvm, overlap and progress")}
	case sweep && f.overhead:
		return usageError{fmt.Errorf("--overhead: hotspot with --nvm compares slow memory with fast, not flow control with none")}
	case len(f.outstanding) > 1 && c.Rendezvous != host.Chunked:
		return usageError{fmt.Errorf("a list of --outstanding: %s has no bound to sweep: add --rendezvous chunked", c.Rendezvous)}
	case sweep && len(f.outstanding) == 0:
		return usageError{fmt.Errorf("--outstanding: expected at least one number")}
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
	case sweep:
		return f.congestion(cmd, c)
	case bench.MeasuresOverlap(workload):
		return f.overlap(cmd, c)
	}
	ctx, cancel := withTimeout(cmd.Context(), f.timeout)
	defer cancel()
	bar := newBar(cmd.ErrOrStderr(), workload)
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
		f.tellAgain(cmd, cmd.ErrOrStderr(), err)
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

// writeFailure prints what a run that failed has measured before. In JSON its error goes with it,
// and its verdict if it has one.
func (f *runFlags) writeFailure(cmd *cobra.Command, failed error, res *bench.Result) error {
	var rows []bench.Row
	if res != nil {
		rows = res.Rows
	}
	if !f.json {
		if len(rows) > 0 {
			fmt.Fprintln(cmd.OutOrStdout(), "not all sizes; what was measured before it ended:")
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

// threadsFrom is the number of nodes from which two threads gain more than their meetings cost.
const threadsFrom = 16

// threads is how many simulate a world if nothing is said.
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

// mayWrite refuses to overwrite what another run wrote.
func (f *runFlags) mayWrite(name string) error {
	if err := userfile.Check(name, f.force); errors.Is(err, userfile.ErrExists) {
		return usageError{err}
	}
	return nil
}

func (f *runFlags) create(name string) (*os.File, error) {
	if err := f.mayWrite(name); err != nil {
		return nil, err
	}
	file, err := userfile.Create(name, true)
	if errors.Is(err, fs.ErrNotExist) { // a folder, mistyped
		err = usageError{err}
	}
	return file, err
}
