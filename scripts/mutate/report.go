package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A score counts the mutants of a block.
type score struct {
	mutants, invalid, harmless, bench, proof, regress int
	survivors                                         []verdict
}

func (s *score) add(v verdict) {
	s.mutants++
	switch kind, _, _ := strings.Cut(v.Verdict, " "); kind {
	case "invalid":
		s.invalid++
	case "harmless":
		s.harmless++
	case "bench":
		s.bench++
	case "proof":
		s.proof++
	case "regress":
		s.regress++
	default:
		s.survivors = append(s.survivors, v)
	}
}

func (s *score) row(name string) string {
	counted := s.mutants - s.invalid - s.harmless
	percent := 100.0
	if counted > 0 {
		percent = 100 * float64(counted-len(s.survivors)) / float64(counted)
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %.1f |", name, s.mutants-s.invalid, s.harmless, s.bench, s.proof, s.regress,
		len(s.survivors), percent)
}

// score counts the verdicts on the chosen mutants, and how many have none.
func (j *judge) score() (s score, missing int) {
	for _, m := range j.mutants {
		if v, ok := j.known[m.key()]; ok {
			s.add(v)
		} else {
			missing++
		}
	}
	return s, missing
}

func (j *judge) report() error {
	s, missing := j.score()
	for _, v := range s.survivors {
		fmt.Printf("mutate: survivor %s:%d: %s (%s)\n", v.File, v.Line, v.Change, v.Verdict)
	}
	if missing > 0 { // no score: those that are missing may be the survivors
		fmt.Printf("mutate: %s: %d mutants were not judged before -until; run it again\n", j.name, missing)
		return nil
	}
	fmt.Println(s.row(j.name))
	return nil
}

const tableHead = `| block | mutants | harmless | bench | proof | regression | survivors | score | survivors passed |
|---|---|---|---|---|---|---|---|---|`

// stages names the stages that the survivors passed: those that have not run could still find them.
func (s *score) stages() string {
	var all []string
	for _, v := range s.survivors {
		if passed := strings.TrimPrefix(v.Verdict, "survived "); !slices.Contains(all, passed) {
			all = append(all, passed)
		}
	}
	slices.Sort(all)
	return strings.ReplaceAll(strings.Join(all, "; "), ",", ", ")
}

// printTable prints the scores of the blocks whose sources have not changed since they were
// measured. A block of which not all mutants are judged has no score: those that are missing may be
// the survivors.
func printTable(o options) error {
	fmt.Println(tableHead)
	var incomplete []string
	for _, folder := range []string{"rtl/core", "rtl/board"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.sv"))
		if err != nil {
			return err
		}
		for _, f := range files {
			b, err := readBlock(strings.TrimSuffix(filepath.Base(f), ".sv"))
			if err != nil {
				return err
			}
			j, err := newJudge(b, o)
			if err != nil {
				return err
			}
			if s, missing := j.score(); missing > 0 {
				incomplete = append(incomplete, fmt.Sprintf("%s (%d of %d)", b.name, s.mutants, s.mutants+missing))
			} else if s.mutants > 0 {
				fmt.Printf("%s %s |\n", s.row(b.name), s.stages())
			}
		}
	}
	if len(incomplete) > 0 {
		fmt.Println("not or not completely measured:", strings.Join(incomplete, ", "))
	}
	return nil
}
