package batch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// shell is a task that runs a shell script.
func shell(script string) Task { return Task{Args: []string{"-c", script}} }

const sh = "/bin/sh"

func TestRecords(t *testing.T) {
	tasks := []Task{
		shell(`echo '{"a": 1}'`), shell(`echo '{"a": 2}'; echo "it broke" >&2; exit 4`), shell(`echo no JSON; exit 3`), shell(`exit 0`),
	}
	got := make([]Record, len(tasks))
	require.NoError(t, Local(t.Context(), sh, tasks, 2, func(i int, r Record) error { got[i] = r; return nil }))
	require.Equal(t, `{"a":1}`, string(got[0].Result))
	require.Empty(t, got[0].Error)
	require.Equal(t, 4, got[1].Exit)
	require.Equal(t, `{"a":2}`, string(got[1].Result))
	require.Equal(t, "it broke", got[1].Error)
	require.Nil(t, got[2].Result)
	require.Nil(t, got[3].Result)
	require.Equal(t, Machine(), got[0].Machine)

	_, err := Perform(t.Context(), sh, shell("kill -9 $$"))
	require.ErrorContains(t, err, "killed", "what did not come to its end is no record")
	_, err = Perform(t.Context(), "/nowhere", Task{})
	require.Error(t, err)
}

// TestLocalEnds: an error of the callback and the end of the context both end all tasks.
func TestLocalEnds(t *testing.T) {
	full := errors.New("the disk is full")
	begin := time.Now()
	err := Local(t.Context(), sh, []Task{shell("exit 0"), shell("exec sleep 60")}, 2, func(int, Record) error { return full })
	require.ErrorIs(t, err, full)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err = Local(ctx, sh, []Task{shell("exec sleep 60"), shell("exec sleep 60"), shell("exec sleep 60")}, 2, func(int, Record) error { return nil })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(begin), 20*time.Second)
}

// stand creates replacements for the programs of Slurm. Its sbatch runs tasks immediately and drops
// those of the first array whose numbers are in $LOSE, like a node that dies.
func stand(t *testing.T) (dir string) {
	bin, dir := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"sbatch": `#!/bin/sh
cat >"$STATE/script"
id=$(cat "$STATE/last" 2>/dev/null || echo 0); id=$((id + 1)); echo "$id" >"$STATE/last"
for a in "$@"; do case "$a" in --array=*) list=${a#--array=0-} ;; --no-requeue) echo yes >"$STATE/no-requeue" ;; esac; done
last=${list%%%*}
k=0
while [ "$k" -le "$last" ]; do
  state=COMPLETED
  case " $LOSE " in *" $k "*) [ "$id" = 1 ] || [ "$ALWAYS" ] && state=NODE_FAIL ;; esac
  [ "$state" = NODE_FAIL ] || SLURM_ARRAY_TASK_ID=$k sh "$STATE/script" || state=FAILED
  echo "JobId=1 JobState=$state Reason=None" >"$STATE/${id}_$k"
  k=$((k + 1))
done
echo "$id;cluster"
`,
		"squeue":   "#!/bin/sh\n[ -z \"$BUSY\" ] || echo '0 R'\n",
		"scontrol": "#!/bin/sh\nfor a; do :; done\ncat \"$STATE/$a\"\n",
		"scancel":  "#!/bin/sh\necho \"$@\" >>\"$STATE/cancelled\"\n",
		// program replaces nicloop task LIST INDEX: the record of task N contains N.
		"program": `#!/bin/sh
[ "$1" = task ] && [ -f "$2" ] || exit 2
n=$(grep -c . "$2"); record=$(sed -n 's/.*"record": "\(.*\)".*/\1/p' "$2" | sed -n "$(($3 + 1))p")
[ "$n" -gt 0 ] && [ -z "$SILENT" ] && echo '{"exit":0,"result":{"n":"'"$(basename "$record")"'"},"machine":"m","real_s":1}' >"$record"
exit 0
`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755))
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("STATE", t.TempDir())
	was := pollEvery
	pollEvery = 20 * time.Millisecond
	t.Cleanup(func() { pollEvery = was })
	return dir
}

func slurm(dir string) *Slurm {
	program, err := filepath.Abs(filepath.Join(filepath.SplitList(os.Getenv("PATH"))[0], "program"))
	if err != nil {
		panic(err)
	}
	return &Slurm{Program: program, Dir: dir, Jobs: 3}
}

// TestLostNode: only the tasks of a lost node are submitted again, and each task is reported once.
func TestLostNode(t *testing.T) {
	dir := stand(t)
	t.Setenv("LOSE", "1 4")
	s := slurm(dir)
	var told []string
	s.Tell = func(what string) { told = append(told, what) }
	got := map[int]string{}
	require.NoError(t, s.Run(t.Context(), make([]Task, 6), func(i int, r Record) error {
		require.NotContains(t, got, i)
		got[i] = string(r.Result)
		return nil
	}))
	require.Len(t, got, 6)
	require.Equal(t, `{"n":"record-00004.json"}`, got[4])
	require.Equal(t, []string{"Slurm job 1: 6 tasks, 3 at a time", "2 tasks are submitted again: their nodes are lost", "Slurm job 2: 2 tasks, 3 at a time"}, told)
	_, err := os.Stat(filepath.Join(os.Getenv("STATE"), "no-requeue"))
	require.NoError(t, err)
	_, err = os.Stat(filepath.Join(os.Getenv("STATE"), "cancelled"))
	require.ErrorIs(t, err, os.ErrNotExist)

	t.Setenv("ALWAYS", "1")
	t.Setenv("LOSE", "0")
	err = slurm(t.TempDir()).Run(t.Context(), make([]Task, 1), func(int, Record) error { return nil })
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "which Slurm calls NODE_FAIL", "not for ever")
}

// TestNoRecord: COMPLETED without a record is a failure; the other tasks are reported.
func TestNoRecord(t *testing.T) {
	dir := stand(t)
	t.Setenv("SILENT", "1")
	err := slurm(dir).Run(t.Context(), make([]Task, 8), func(int, Record) error { return nil })
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "a record of task 1_0, which Slurm calls COMPLETED: see "+dir+"/slurm-1_0.out")
	require.ErrorContains(t, err, "and 3 more")
}

// TestCancelled: no job stays in the cluster when the caller is cancelled or a record cannot be
// stored.
func TestCancelled(t *testing.T) {
	dir := stand(t)
	t.Setenv("BUSY", "1")
	t.Setenv("SILENT", "1")
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	err := slurm(dir).Run(ctx, make([]Task, 2), func(int, Record) error { return nil })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	t.Setenv("SILENT", "")
	full := errors.New("the disk is full")
	require.ErrorIs(t, slurm(t.TempDir()).Run(t.Context(), make([]Task, 2), func(int, Record) error { return full }), full)
	text, err := os.ReadFile(filepath.Join(os.Getenv("STATE"), "cancelled"))
	require.NoError(t, err)
	require.Equal(t, "--quiet 1\n--quiet 2\n", string(text))
}

// TestArrays: more tasks than fit in one array are submitted in several.
func TestArrays(t *testing.T) {
	dir := stand(t)
	var n atomic.Int64
	defer func(was int) { arraySize = was }(arraySize)
	arraySize = 4
	require.NoError(t, slurm(dir).Run(t.Context(), make([]Task, 9), func(int, Record) error { n.Add(1); return nil }))
	require.EqualValues(t, 9, n.Load())
	last, err := os.ReadFile(filepath.Join(os.Getenv("STATE"), "last"))
	require.NoError(t, err)
	require.Equal(t, "3\n", string(last))
}

func TestRunTask(t *testing.T) {
	dir := t.TempDir()
	record, left := filepath.Join(dir, "record.json"), filepath.Join(dir, "left")
	require.NoError(t, os.MkdirAll(filepath.Join(left, "more"), 0o755))
	list := filepath.Join(dir, "list.json")
	require.NoError(t, os.WriteFile(list, []byte(`[{"args":["-c","echo 7"],"clean":"`+left+`","record":"`+record+`"}]`), 0o644))
	require.NoError(t, RunTask(t.Context(), sh, list, 0))
	r, ok, err := load(record)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "7", string(r.Result))
	_, err = os.Stat(left)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorIs(t, RunTask(t.Context(), sh, list, 1), drivers.ErrConfig)
	require.NoError(t, os.WriteFile(record, []byte(`{"exit":`), 0o644))
	_, _, err = load(record)
	require.Error(t, err, "half a record is none")
}
