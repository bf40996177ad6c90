package mailbox_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers/peererror"
	"github.com/nicloop/nicloop/mailbox"
	"github.com/nicloop/nicloop/mailbox/explore"
)

// Every test here is one statement of the FC paper; its comment names the section. Statements
// about sequences of events are scenarios in testdata.

// Table 1: Equation 1 and formulae (a) and (b) for ten pairs of quota and credit slots.
func TestTable1(t *testing.T) {
	for _, row := range []struct{ quota, slots, eq1, a, b int }{
		{100, 1, 51, 101, 100},
		{100, 2, 34, 51, 50},
		{100, 3, 26, 34, 33},
		{100, 4, 21, 26, 25},
		{100, 5, 17, 21, 20},
		{60, 2, 21, 31, 30},
		{40, 2, 14, 21, 20},
		{20, 2, 7, 11, 10},
		{10, 2, 4, 6, 5},
		{3, 2, 2, 2, 1},
	} {
		for f, want := range map[mailbox.Formula]int{mailbox.Eq1: row.eq1, mailbox.FormulaA: row.a, mailbox.FormulaB: row.b} {
			require.Equal(t, want, f.Threshold(row.quota, row.slots), "formula %v, quota %d, %d credit slots", f, row.quota, row.slots)
		}
	}
}

// Section 5.2, Equation 1 for every quota up to 200: the threshold can be reached with the quota,
// and not creditSlots+1 times without a credit packet being freed in between.
func TestEquation1(t *testing.T) {
	for slots := 1; slots <= 20; slots++ {
		for quota := slots; quota <= 200; quota++ {
			threshold := mailbox.Eq1.Threshold(quota, slots)
			require.LessOrEqual(t, threshold, quota, "deadlock at quota %d, %d credit slots", quota, slots)
			require.Greater(t, threshold*(slots+1), quota, "overflow at quota %d, %d credit slots", quota, slots)
		}
	}
}

// Section 5.2, Equation 2: data region >= credit region >= 1 slot per process.
func TestEquation2(t *testing.T) {
	c := mailbox.Config{Procs: 5, DataSlots: 8, CreditSlots: 2}
	require.NoError(t, c.Validate())
	require.Equal(t, 16, c.MailboxSlots())
	c.DataSlots--
	require.ErrorContains(t, c.Validate(), "expected at least 8 (Eq. 2: data region >= credit region)")
	c.DataSlots, c.CreditSlots = 8, 0
	require.ErrorContains(t, c.Validate(), "0 credit slots per peer, expected 1..255")
}

func TestConfigErrors(t *testing.T) {
	good := mailbox.Config{Procs: 4, Self: 3, DataSlots: 30, CreditSlots: 2}
	require.NoError(t, good.Validate())
	for want, spoil := range map[string]func(*mailbox.Config){
		"procs is 1, expected at least 2":      func(c *mailbox.Config) { c.Procs, c.Self = 1, 0 },
		"65537 procs, expected at most 65536":  func(c *mailbox.Config) { c.Procs = 65537 },
		"self is rank 4, expected 0..3":        func(c *mailbox.Config) { c.Self = 4 },
		"self is rank -1, expected 0..3":       func(c *mailbox.Config) { c.Self = -1 },
		"256 credit slots per peer, expected":  func(c *mailbox.Config) { c.CreditSlots = 256 },
		"unknown division option 3, expected":  func(c *mailbox.Config) { c.Division = 3 },
		"16777216 slots, expected at most":     func(c *mailbox.Config) { c.DataSlots = 1<<24 - 6 },
		"-5 data slots for 3 peers with 2":     func(c *mailbox.Config) { c.DataSlots = -5 },
		"a static quota of 65536 slots per pe": func(c *mailbox.Config) { c.DataSlots = 3 * 65536 },
	} {
		c := good
		spoil(&c)
		_, err := mailbox.NewStatic(c)
		require.ErrorContains(t, err, want)
	}
}

// Footnotes 7 and 8: however the slots are divided, the quotas fill the data region, both ends
// agree on them, and they differ by at most one slot.
func TestDivision(t *testing.T) {
	for procs := 2; procs <= 6; procs++ {
		for slots := procs - 1; slots <= 25; slots++ {
			for _, d := range []mailbox.Division{mailbox.GrantExcess, mailbox.RoundDown, mailbox.RoundUp} {
				c := mailbox.Config{Procs: procs, DataSlots: slots, CreditSlots: 1, Division: d}
				for receiver := range procs {
					sum, least, most := 0, 1<<20, 0
					for sender := range procs {
						if sender != receiver {
							q := c.Quota(receiver, sender)
							sum, least, most = sum+q, min(least, q), max(most, q)
						}
					}
					require.Equal(t, c.DataRegion(), sum, "%+v", c)
					require.LessOrEqual(t, most-least, map[mailbox.Division]int{mailbox.GrantExcess: 1}[d], "%+v", c)
				}
			}
		}
	}
}

// Section 6.3: the state after initialization.
func TestDynamicInitialization(t *testing.T) {
	f, err := mailbox.NewDynamic(mailbox.Config{Procs: 3, Self: 1, DataSlots: 21, CreditSlots: 2})
	require.NoError(t, err)
	require.Equal(t, "rank 1 peer 0: credits=2 thresholds=[1 1 1] intended=11 retrieved=0 piggybacked=0 current=2 available=17 crossings=0 low", f.Describe(0))
	require.Equal(t, "rank 1 peer 2: credits=2 thresholds=[1 1 1] intended=10 retrieved=0 piggybacked=0 current=2 available=17 crossings=0 low", f.Describe(2))
	require.NoError(t, f.Check())
}

// Section 6.2: the lists hold each sender once; section 6.5.2: the least recently active sender of
// the low list is the victim. Sender 1 was moved there last by the initial order.
func TestVictimIsTheLastOfTheLowList(t *testing.T) {
	var s explore.Script
	s.Exec("new flow=dynamic procs=5 data=40 credit=1")
	s.Exec("exchange from=3 to=0 count=26 quiet")
	out := s.Exec("state at=0")
	require.Contains(t, out, "rank 0 peer 3: credits=1 thresholds=[6 7] intended=12")
	require.Contains(t, out, "rank 0 peer 4: credits=1 thresholds=[1 1] intended=8")
	require.Contains(t, out, "rank 0 peer 2: credits=1 thresholds=[1 1] intended=10")
}

// Section 6.4, Equation 6: max(credit slots + 1, |difference of the intended quotas| div 2), but
// never from the static slots of the victim.
func TestEquation6(t *testing.T) {
	var s explore.Script
	s.Exec("new flow=dynamic procs=3 data=60 credit=2")
	intended := regexp.MustCompile(`intended=([0-9]+)`)
	var moved []int
	for last, i := 30, 0; i < 600; i++ {
		s.Exec("exchange from=1 to=0 quiet")
		now, err := strconv.Atoi(intended.FindStringSubmatch(s.Exec("state at=0"))[1])
		require.NoError(t, err)
		if now != last {
			moved = append(moved, now-last)
		}
		last = now
	}
	// 30:30, 33:27, 36:24, 42:18, 54:6, and 4 instead of 24 that would take static slots.
	require.Equal(t, []int{3, 3, 6, 12, 4}, moved)
}

// Section 6.1: a response is owed even if there is nothing to return.
func TestEmptyResponse(t *testing.T) {
	f, err := mailbox.NewDynamic(mailbox.Config{Procs: 2, DataSlots: 4, CreditSlots: 2})
	require.NoError(t, err)
	require.NoError(t, f.Retrieve(mailbox.Retrieved{From: 1, Kind: mailbox.CreditRequest}))
	require.Equal(t, mailbox.Control{To: 1, Kind: mailbox.Credit, Credits: 2}, next(t, f))
	require.Equal(t, mailbox.Control{To: 1, Kind: mailbox.CreditResponse, Credits: 0}, next(t, f))
	require.Equal(t, 1, f.Credits(1), "static slots - 1 (section 6.5.4)")
}

// Sections 6.1 and 6.5.4: without a credit the response waits in its flag, has priority over data
// as soon as a credit arrives, and returns what is excess by then.
func TestResponseWaitsForACredit(t *testing.T) {
	f, err := mailbox.NewDynamic(mailbox.Config{Procs: 2, DataSlots: 8, CreditSlots: 1})
	require.NoError(t, err)
	require.True(t, f.Send(1, false).OK)
	require.NoError(t, f.Retrieve(mailbox.Retrieved{From: 1, Kind: mailbox.CreditRequest}))
	require.Equal(t, mailbox.Credit, next(t, f).Kind)
	_, more := f.Next()
	require.False(t, more)
	require.True(t, f.Exchange(1).Response)
	require.False(t, f.Send(1, false).OK)
	require.NoError(t, f.Retrieve(mailbox.Retrieved{From: 1, Kind: mailbox.Credit, Credits: 5}))
	require.Equal(t, mailbox.Control{To: 1, Kind: mailbox.CreditResponse, Credits: 4}, next(t, f))
	require.False(t, f.Exchange(1).Response)
	require.Equal(t, 0, f.Credits(1))
	require.NoError(t, f.Check())
}

// Section 6.5.4: "first the request flag is analyzed, and then the response flag. In case only one
// credit has been received, and both flags are set, then flushing the request has higher priority."
func TestRequestBeforeResponse(t *testing.T) {
	for credits, kinds := range map[uint16][]mailbox.Kind{
		1: {mailbox.CreditRequest},
		2: {mailbox.CreditRequest, mailbox.CreditResponse},
	} {
		f, err := mailbox.NewDynamic(mailbox.Config{Procs: 3, DataSlots: 8, CreditSlots: 1})
		require.NoError(t, err)
		retrieve := func(from int, kind mailbox.Kind) {
			require.NoError(t, f.Retrieve(mailbox.Retrieved{From: from, Kind: kind}))
			drain(f)
		}
		require.True(t, f.Send(1, false).OK, "the only credit")
		retrieve(1, mailbox.Data) // peer 1 becomes rich,
		retrieve(1, mailbox.Data)
		retrieve(1, mailbox.CreditRequest)        // asks for our excess,
		for i := 0; !f.Exchange(1).Blocked; i++ { // and is stolen from until we ask for its
			require.Less(t, i, 100)
			retrieve(2, mailbox.Data)
		}
		require.Equal(t, mailbox.Exchange{Blocked: true, Request: true, Response: true}, f.Exchange(1))

		require.NoError(t, f.Retrieve(mailbox.Retrieved{From: 1, Kind: mailbox.Credit, Credits: credits}))
		for _, kind := range kinds {
			require.Equal(t, mailbox.Control{To: 1, Kind: kind}, next(t, f))
		}
		_, more := f.Next()
		require.False(t, more)
		require.Equal(t, len(kinds) == 1, f.Exchange(1).Response)
		require.NoError(t, f.Check())
	}
}

func next(t *testing.T, f mailbox.Flow) mailbox.Control {
	t.Helper()
	c, ok := f.Next()
	require.True(t, ok, "a control packet was expected")
	return c
}

// A packet that the protocol does not allow is an error that names the peer and the field, and
// changes nothing: it came from outside this process.
func TestIllegalPackets(t *testing.T) {
	c := mailbox.Config{Procs: 3, DataSlots: 8, CreditSlots: 2}
	for _, test := range []struct {
		want  string
		start func(mailbox.Config) (mailbox.Flow, error)
		r     mailbox.Retrieved
	}{
		{"kind = CREDIT_REQUEST, expected DATA or CREDIT under static", mailbox.NewStatic, mailbox.Retrieved{Kind: mailbox.CreditRequest}},
		{"piggyback mark of a CREDIT packet", mailbox.NewStatic, mailbox.Retrieved{Kind: mailbox.Credit, Credits: 1, Piggyback: true}},
		{"CREDIT packet = 1, expected 1..0; rank 0 peer 1: credits=4", mailbox.NewStatic, mailbox.Retrieved{Kind: mailbox.Credit, Credits: 1}},
		{"piggybacked credits = 9, expected 1..0", mailbox.NewStatic, mailbox.Retrieved{Piggyback: true, Credits: 9}},
		{"CREDIT packet = 7, expected 1..6; rank 0 peer 1", mailbox.NewDynamic, mailbox.Retrieved{Kind: mailbox.Credit, Credits: 7}},
		{"CREDIT packet = 65535, expected 1..6", mailbox.NewDynamic, mailbox.Retrieved{Kind: mailbox.Credit, Credits: 65535}},
		{"CREDIT packet = 0, expected 1..6; rank 0 peer 1", mailbox.NewDynamic, mailbox.Retrieved{Kind: mailbox.Credit}},
		{"expected the answer to a request", mailbox.NewDynamic, mailbox.Retrieved{Kind: mailbox.CreditResponse}},
		{"piggyback mark of a CREDIT packet", mailbox.NewDynamic, mailbox.Retrieved{Kind: mailbox.Credit, Piggyback: true}},
		{"expected kind 0..3", mailbox.NewDynamic, mailbox.Retrieved{Kind: 4}},
	} {
		f, err := test.start(c)
		require.NoError(t, err)
		before := f.AppendState(nil)
		test.r.From = 1
		err = f.Retrieve(test.r)
		var peer *peererror.Error
		require.ErrorAs(t, err, &peer, test.want)
		require.Equal(t, "rank 1", peer.Peer)
		require.ErrorContains(t, err, test.want)
		require.Equal(t, before, f.AppendState(nil), test.want)
		require.NoError(t, f.Check())
		_, more := f.Next()
		require.False(t, more)
	}
}

// Calls that break the rules of the package panic.
func TestMisusePanics(t *testing.T) {
	c := mailbox.Config{Procs: 3, DataSlots: 8, CreditSlots: 2}
	for want, do := range map[string]func(mailbox.Flow){
		"rank 0 is no peer of rank 0":                                func(f mailbox.Flow) { f.Send(0, false) },
		"rank 3 is no peer of rank 0, expected another rank in 0..2": func(f mailbox.Flow) { f.Send(3, false) },
		"control packets not taken; call Next": func(f mailbox.Flow) {
			_ = f.Retrieve(mailbox.Retrieved{From: 1})
			f.Send(1, false)
		},
	} {
		t.Run(want, func(t *testing.T) {
			f, err := mailbox.NewDynamic(c)
			require.NoError(t, err)
			defer func() { require.Contains(t, fmt.Sprint(recover()), want) }()
			do(f)
		})
	}
}
