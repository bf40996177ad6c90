package main

import (
	"strings"
	"testing"
)

const said = `{"Action":"output","Package":"m/a","Test":"TestOne","Output":"noise\n"}
{"Action":"pass","Package":"m/a","Test":"TestOne","Elapsed":1.5}
{"Action":"output","Package":"m/a","Test":"TestTwo/sub","Output":"    why\n"}
{"Action":"fail","Package":"m/a","Test":"TestTwo/sub","Elapsed":0.2}
{"Action":"output","Package":"m/a","Test":"TestTwo","Output":"--- FAIL: TestTwo\n"}
{"Action":"fail","Package":"m/a","Test":"TestTwo","Elapsed":0.25}
{"Action":"output","Package":"m/a","Test":"TestDead","Output":"panic: oh\n"}
{"Action":"output","Package":"m/a","Output":"FAIL\tm/a\t2s\n"}
{"Action":"fail","Package":"m/a","Elapsed":2}
{"Action":"build-output","ImportPath":"m/b","Output":"b.go:1: undefined\n"}
{"Action":"output","Package":"m/c","Output":"PASS\n"}
{"Action":"output","Package":"m/c","Output":"ok  \tm/c\t0.1s\n"}
go: downloading x
`

func TestCopyLog(t *testing.T) {
	var out, times strings.Builder
	if err := copyLog(strings.NewReader(said), &out, &times); err != nil {
		t.Fatal(err)
	}
	want := "    why\n--- FAIL: TestTwo\nFAIL\tm/a\t2s\npanic: oh\nb.go:1: undefined\nok  \tm/c\t0.1s\ngo: downloading x\n"
	if out.String() != want {
		t.Errorf("shown:\n%s\nexpected:\n%s", out.String(), want)
	}
	if want := "1.50 a TestOne\n0.25 a TestTwo\n"; times.String() != want {
		t.Errorf("times:\n%s\nexpected:\n%s", times.String(), want)
	}
}
