package explore

// Suite lists the explorations that together make the case for the flow controls, for quotas up to
// bound; 6 is what is run routinely, in ten seconds on one core. Two processes are explored without
// a bound on messages wherever that ends: what two processes do to each other does not depend on
// others in a static world, and in a dynamic one it is all but the stealing. Three processes add
// the stealing and the compulsory exchange.
func Suite(bound int) []Options {
	var all []Options
	for slots := 1; slots <= 3; slots++ {
		for quota := slots; quota <= bound; quota++ {
			all = append(all, pairOfProcesses(quota, slots)...)
		}
	}
	for _, o := range threeProcesses {
		if o.Quota <= bound {
			all = append(all, o)
		}
	}
	return all
}

// Deep lists explorations that go further and take minutes and gigabytes. All have been seen to end
// in a proof: with the first three, whatever two processes with quotas up to 6 and up to 3 credit
// slots can do is proved without any bound. The last one has 13.4 million states and 34 million
// transitions. All of them with the suite, two at a time, took a minute of processor time, 4 on a
// machine that others used, and 4.9 GB; the last one alone 3.7 GB.
func Deep() []Options {
	const most = 20 << 20
	return []Options{
		{Procs: 2, Quota: 6, CreditSlots: 1, Flow: Dynamic, Piggyback: true, MaxStates: most},
		{Procs: 2, Quota: 6, CreditSlots: 2, Flow: Dynamic, Piggyback: true, MaxStates: most},
		{Procs: 2, Quota: 6, CreditSlots: 3, Flow: Dynamic, Piggyback: true, MaxStates: most},
		{Procs: 3, Quota: 2, CreditSlots: 1, Flow: Dynamic, Piggyback: true, Senders: incast, MaxStates: most},
		{Procs: 3, Quota: 2, CreditSlots: 1, Flow: Dynamic, Piggyback: true, Messages: 9, Senders: answered, MaxStates: most},
	}
}

// endless is the largest quota for which a dynamic pair with piggybacking is explored without a
// bound on messages: every credit more means five times the states.
const endless = 5

func pairOfProcesses(quota, slots int) []Options {
	var all []Options
	for _, flow := range []Protocol{Static, Dynamic} {
		for _, piggyback := range []bool{false, true} {
			o := Options{Procs: 2, Quota: quota, CreditSlots: slots, Flow: flow, Piggyback: piggyback}
			if flow == Dynamic && piggyback && quota > endless {
				o.Messages = 10
			}
			all = append(all, o)
		}
	}
	return all
}

var (
	incast   = [][2]int{{1, 0}, {2, 0}}         // two senders compete for one mailbox
	answered = [][2]int{{1, 0}, {2, 0}, {0, 1}} // and one of them gets data back, with piggybacks
)

var threeProcesses = []Options{
	{Procs: 3, Quota: 1, CreditSlots: 1, Flow: Static, Piggyback: true, Messages: 2},
	{Procs: 3, Quota: 2, CreditSlots: 1, Flow: Static, Messages: 2},
	{Procs: 3, Quota: 2, CreditSlots: 1, Flow: Static, Piggyback: true, Messages: 1},
	{Procs: 3, Quota: 1, CreditSlots: 1, Flow: Dynamic, Senders: incast},
	{Procs: 3, Quota: 1, CreditSlots: 1, Flow: Dynamic, Piggyback: true, Senders: answered},
	{Procs: 3, Quota: 2, CreditSlots: 1, Flow: Dynamic, Senders: incast},
	{Procs: 3, Quota: 2, CreditSlots: 1, Flow: Dynamic, Piggyback: true, Messages: 2},
	{Procs: 3, Quota: 2, CreditSlots: 1, Flow: Dynamic, Piggyback: true, Messages: 6, Senders: answered},
	{Procs: 3, Quota: 2, CreditSlots: 2, Flow: Dynamic, Piggyback: true, Senders: answered},
	{Procs: 3, Quota: 3, CreditSlots: 1, Flow: Dynamic, Messages: 12, Senders: incast},
	{Procs: 3, Quota: 3, CreditSlots: 1, Flow: Dynamic, Piggyback: true, Messages: 6, Senders: answered},
	{Procs: 3, Quota: 3, CreditSlots: 2, Flow: Dynamic, Messages: 11, Senders: incast},
	{Procs: 3, Quota: 4, CreditSlots: 2, Flow: Dynamic, Messages: 12, Senders: incast},
}

// Planted lists an exploration for each deliberate mistake that explorations find, and that finds
// it by the promises alone. LoseExcess needs more events than an exploration can take.
func Planted() []Options {
	all := []Options{
		{Fault: EarlyThreshold, Procs: 2, Quota: 2, CreditSlots: 1},
		{Fault: LateThreshold, Procs: 2, Quota: 1, CreditSlots: 1},
		{Fault: KeepThreshold, Procs: 2, Quota: 2, CreditSlots: 1, Flow: Dynamic},
		{Fault: LoseCarry, Procs: 2, Quota: 4, CreditSlots: 1, Flow: Dynamic, Piggyback: true},
		{Fault: LiteralThreshold, Procs: 3, Quota: 2, CreditSlots: 1, Flow: Dynamic, Senders: incast},
		{Fault: GrantUnavailable, Procs: 2, Quota: 2, CreditSlots: 1, Flow: Dynamic},
		{Fault: ForgetPiggyback, Procs: 2, Quota: 2, CreditSlots: 1, Piggyback: true},
		{Fault: NoShrink, Procs: 3, Quota: 2, CreditSlots: 1, Flow: Dynamic, Senders: incast},
		{Fault: FreeRequest, Procs: 3, Quota: 2, CreditSlots: 1, Flow: Dynamic, Senders: incast},
		{Fault: EagerResponse, Procs: 3, Quota: 3, CreditSlots: 2, Flow: Dynamic, Senders: incast},
		{Fault: BlockedStarves, Procs: 3, Quota: 2, CreditSlots: 1, Flow: Dynamic, Senders: incast},
		{Fault: CountCredits, Procs: 2, Quota: 1, CreditSlots: 1},
		{Fault: StealStatic, Procs: 3, Quota: 2, CreditSlots: 1, Flow: Dynamic, Senders: incast},
		{Fault: DropRequest, Procs: 3, Quota: 2, CreditSlots: 1, Flow: Dynamic, Senders: answered},
		{Fault: DropResponse, Procs: 3, Quota: 2, CreditSlots: 1, Flow: Dynamic, Senders: incast},
	}
	for i := range all {
		all[i].Promises = true
	}
	return all
}
