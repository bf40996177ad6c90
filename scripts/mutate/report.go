package main

import (
	"encoding/json"
	"fmt"
	"os"
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

func (j *judge) report() error {
	var s score
	missing := 0
	for _, m := range j.mutants {
		if v, ok := j.known[m.key()]; ok {
			s.add(v)
		} else {
			missing++
		}
	}
	for _, v := range s.survivors {
		fmt.Printf("mutate: survivor %s:%d: %s (%s)\n", v.File, v.Line, v.Change, v.Verdict)
	}
	fmt.Println(s.row(j.name))
	if missing > 0 {
		fmt.Printf("mutate: %s: %d mutants were not judged before -until; run it again\n", j.name, missing)
	}
	return nil
}

const tableHead = `| block | mutants | harmless | by the bench | by a proof | by a regression | survivors | score |
|---|---|---|---|---|---|---|---|`

// printTable tells what results say, of each block by its latest state.
func printTable(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*", "results"))
	if err != nil {
		return err
	}
	latest := map[string]os.FileInfo{}
	newest := map[string]string{}
	for _, f := range files {
		name := filepath.Base(filepath.Dir(f))
		name = name[:strings.LastIndex(name, "-")]
		info, err := os.Stat(f)
		if err != nil {
			return err
		}
		if old := latest[name]; old == nil || info.ModTime().After(old.ModTime()) {
			latest[name], newest[name] = info, f
		}
	}
	fmt.Println(tableHead)
	var names []string
	for name := range newest {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text, err := os.ReadFile(newest[name])
		if err != nil {
			return err
		}
		known := map[string]verdict{}
		for line := range strings.Lines(string(text)) {
			var v verdict
			if json.Unmarshal([]byte(line), &v) == nil {
				known[v.Key] = v
			}
		}
		var s score
		for _, v := range known {
			s.add(v)
		}
		fmt.Println(s.row(name))
	}
	return nil
}
