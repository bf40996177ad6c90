package term

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestCodesOfDissector compares the table with the one of tshark's dissector, which was written
// from the same RFCs by other people.
func TestCodesOfDissector(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	out, err := exec.Command("tshark", "-G", "values").Output()
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string][]Code{ // error types that share a field of the dissector
		"iwarp_rdma.term_errcode_rdma":         {0x0100, 0x0200},
		"iwarp_rdma.term_errcode_ddp_tagged":   {0x1100},
		"iwarp_rdma.term_errcode_ddp_untagged": {0x1200},
		"iwarp_rdma.term_errcode_llp":          {0x2000},
	}
	found := 0
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) < 4 || fields[f[1]] == nil {
			continue
		}
		number, err := strconv.ParseUint(f[2], 0, 8)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		defined := false
		for _, c := range fields[f[1]] {
			defined = defined || (c | Code(number)).Defined()
		}
		if !defined {
			t.Errorf("the dissector has %s = %s %q, the table has no such code", f[1], f[2], f[3])
		}
		found++
	}
	if found != 11+5+6+7 {
		t.Errorf("the dissector lists %d codes, expected %d", found, 11+5+6+7)
	}
}

func TestCodeFields(t *testing.T) {
	for _, e := range Entries() {
		c := e.Code
		if got := Code(c.Layer())<<12 | Code(c.Type())<<8 | Code(c.Number()); got != c {
			t.Errorf("%v: fields compose to %#04x", c, uint16(got))
		}
		if c.Swapped().Swapped() != c || !c.Defined() || !strings.Contains(c.Error(), e.Source) {
			t.Errorf("%v: inconsistent", c)
		}
	}
	if Code(0x1207).Defined() || !Code(0x0042).Defined() {
		t.Error("0x1207 is undefined; every number of a local catastrophic error of RDMAP is defined")
	}
	if UntaggedMSNRange.Swapped() != 0x2103 || CRCMismatch.Swapped() != 0x0202 {
		t.Error("Swapped does not give the codes that siw sends")
	}
}

// TestTableOfCodes compares the table in the README with the entries.
func TestTableOfCodes(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| code | error | defined in |\n|---|---|---|\n")
	var want strings.Builder
	for _, e := range Entries() {
		fmt.Fprintf(&want, "| 0x%04x | %s | %s |\n", uint16(e.Code), e.Text, e.Source)
	}
	if table != want.String() {
		t.Errorf("host/iwarp/README.md must end with this table:\n%s", want.String())
	}
}
