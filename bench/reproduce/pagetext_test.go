package reproduce

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

// pageFile is the page whose second part pageOf returns.
const pageFile = "bench/paper/README.md"

// pageMark separates the part of the page that is written by hand from that of pageOf.
const pageMark = "<!-- The rest is written by: go test ./bench/reproduce -run TestPage -update -->\n"

// pageOf returns the published verdicts as Markdown: a count for each paper, and a section for each
// experiment with the number of the paper beside ours.
func pageOf(records []Record) string {
	var b strings.Builder
	writeCounts(&b, records)
	for _, r := range records {
		i := slices.IndexFunc(All(), func(x *paper.Experiment) bool { return x.IDs[0] == r.ID })
		if i < 0 {
			continue // TestPublishedVerdicts reports it
		}
		writeSection(&b, All()[i], r)
	}
	return b.String()
}

// writeCounts writes a table with a row for each paper.
func writeCounts(b *strings.Builder, records []Record) {
	outcomes := []judge.Outcome{judge.Holds, judge.Differs, judge.Undecided}
	b.WriteString("\n## Published verdicts\n\n| paper | published |")
	for _, o := range outcomes {
		fmt.Fprintf(b, " %s |", o)
	}
	b.WriteString("\n|---|---|---|---|---|\n")
	var papers []string
	published := map[string]map[judge.Outcome]int{}
	for _, x := range All() {
		name := family(x.IDs[0])
		if !slices.Contains(papers, name) {
			papers = append(papers, name)
			published[name] = map[judge.Outcome]int{}
		}
	}
	for _, r := range records {
		for _, v := range r.Claims {
			published[family(r.ID)][v.Outcome]++
		}
	}
	for _, name := range papers {
		all := 0
		for _, n := range published[name] {
			all += n
		}
		fmt.Fprintf(b, "| %s | %d |", strings.ToUpper(name), all)
		for _, o := range outcomes {
			fmt.Fprintf(b, " %d |", published[name][o])
		}
		b.WriteString("\n")
	}
}

// family is the part of an ID that names the paper.
func family(id string) string {
	name, _, _ := strings.Cut(id, "-")
	return name
}

func writeSection(b *strings.Builder, x *paper.Experiment, r Record) {
	fmt.Fprintf(b, "\n### %s\n\n", strings.Join(x.IDs, ", "))
	where := fmt.Sprintf("Scale %s", r.place())
	if r.Device != "" {
		where += fmt.Sprintf(", `%s`", r.Device)
	}
	samples := "one sample"
	if r.Samples > 1 {
		samples = fmt.Sprintf("seeds %d to %d", r.Seed, r.Seed+int64(r.Samples)-1)
	}
	fill(b, "", fmt.Sprintf("%s. %s. %s, %s, commit %s.", x.Title, x.Paper, where, samples, cmp.Or(short(r.Commit), "unknown")))
	b.WriteString("\n")
	for _, v := range r.Claims {
		text := fmt.Sprintf("**%s**: %s. Paper: %s. Ours: %s", v.Outcome, v.Claim, v.Paper, v.Ours)
		if v.Outcome != judge.Holds || v.Samples > 1 {
			text += fmt.Sprintf("; judged: %s", interval(v))
		}
		fill(b, "- ", text+".")
	}
}

// pageColumns is the longest line of prose in this tree.
const pageColumns = 100

// fill writes a paragraph in lines of at most pageColumns. The first begins with the mark, the
// others with as many spaces.
func fill(b *strings.Builder, mark, text string) {
	indent := strings.Repeat(" ", len(mark))
	line := mark
	for _, word := range strings.Fields(escape(text)) {
		switch {
		case line == mark || line == indent:
			line += word
		case len([]rune(line))+1+len([]rune(word)) > pageColumns:
			b.WriteString(line + "\n")
			line = indent + word
		default:
			line += " " + word
		}
	}
	b.WriteString(line + "\n")
}

// escape keeps Markdown from reading signs of claims as markup.
func escape(text string) string {
	return strings.NewReplacer("<", `\<`, "|", `\|`).Replace(text)
}
