package main

import (
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers/limits"
	"github.com/spf13/pflag"
)

// sizeVar defines a flag whose value is a number of bytes, with a unit or without: 8k, 64KiB, 1M.
func sizeVar(fs *pflag.FlagSet, p *int, name string, value int, usage string) {
	*p = value
	fs.Var((*sizeFlag)(p), name, usage)
}

// sizesVar defines a flag whose value is a list of such numbers.
func sizesVar(fs *pflag.FlagSet, p *[]int, name string, value []int, usage string) {
	*p = value
	fs.Var(&sizesFlag{list: p}, name, usage)
}

// mebibytesVar defines a flag whose value is a size in MiB. Numbers without a unit count MiB.
func mebibytesVar(fs *pflag.FlagSet, p *int, name string, value int, usage string) {
	*p = value
	fs.Var((*mebibytesFlag)(p), name, usage)
}

type sizeFlag int

func (f *sizeFlag) String() string { return strconv.Itoa(int(*f)) }
func (f *sizeFlag) Type() string   { return "bytes" }

func (f *sizeFlag) Set(text string) error {
	n, err := limits.ParseBytes(text)
	if err == nil {
		*f = sizeFlag(n)
	}
	return err
}

type sizesFlag struct {
	list *[]int
	set  bool // the list replaces the default once, and grows when the flag is repeated
}

func (f *sizesFlag) Type() string { return "bytes,..." }

func (f *sizesFlag) String() string {
	if f.list == nil || len(*f.list) == 0 {
		return "" // help prints no default
	}
	texts := make([]string, len(*f.list))
	for i, n := range *f.list {
		texts[i] = strconv.Itoa(n)
	}
	return "[" + strings.Join(texts, ",") + "]"
}

func (f *sizesFlag) Set(text string) error {
	var list []int
	for _, one := range strings.Split(text, ",") {
		n, err := limits.ParseBytes(strings.TrimSpace(one))
		if err != nil {
			return err
		}
		list = append(list, n)
	}
	if f.set {
		list = append(*f.list, list...)
	}
	*f.list, f.set = list, true
	return nil
}

type mebibytesFlag int

func (f *mebibytesFlag) String() string { return strconv.Itoa(int(*f)) }
func (f *mebibytesFlag) Type() string   { return "MiB" }

func (f *mebibytesFlag) Set(text string) error {
	if n, err := strconv.Atoi(text); err == nil && n <= limits.Bytes>>20 && n >= 0 {
		text += "M"
	}
	n, err := limits.ParseBytes(text)
	if err == nil {
		*f = mebibytesFlag((n + 1<<20 - 1) >> 20)
	}
	return err
}
