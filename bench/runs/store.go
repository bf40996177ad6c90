package runs

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/nicloop/nicloop/cosim/lockstep"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"
	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// A Run is one regression.
type Run struct {
	ID       uint64         `json:"id"`
	Verb     string         `json:"verb"`
	Began    time.Time      `json:"began"`
	Ended    time.Time      `json:"ended,omitzero"` // zero: in progress, or killed
	Device   string         `json:"device"`
	Commit   string         `json:"commit,omitempty"`
	Modified bool           `json:"modified,omitempty"` // the working tree differed from the commit
	Patterns []string       `json:"patterns,omitempty"`
	Seed     int64          `json:"seed"`
	Seeds    int            `json:"seeds"`
	Shard    string         `json:"shard,omitempty"`
	Machine  string         `json:"machine"`
	Dir      string         `json:"dir"`
	Build    float64        `json:"build_s"`
	Counts   map[string]int `json:"counts"`
	Slower   int            `json:"slower"`
	Coverage *Coverage      `json:"coverage,omitempty"` // of a run with coverage
	Error    string         `json:"error,omitempty"`    // why it ended early
}

// Coverage is the RTL coverage of a run. Page is the file with the annotated sources.
type Coverage struct {
	Lines   Share  `json:"lines"`
	Toggles Share  `json:"toggles"`
	Points  Share  `json:"functional_points"`
	Page    string `json:"page"`
}

// A Share is a count and its total.
type Share struct {
	Seen int `json:"seen"`
	Of   int `json:"of"`
}

// Percent is the share; 100 if the total is 0.
func (s Share) Percent() float64 {
	if s.Of == 0 {
		return 100
	}
	return 100 * float64(s.Seen) / float64(s.Of)
}

func (s Share) String() string { return fmt.Sprintf("%.1f %%", s.Percent()) }

// A Record is one test of a run with one seed.
type Record struct {
	Test     string `json:"test"`
	Seed     int64  `json:"seed"`
	Device   string `json:"device"`
	Hardware string `json:"hardware_hash,omitempty"` // of all sources of the hardware
	Status   string `json:"status"`
	Error    string `json:"error,omitempty"`
	Cycles   uint64 `json:"cycles"`
	// Simulated is the simulated time. Divided by Cycles it is the clock period of the device.
	Simulated int64     `json:"simulated_ps,omitempty"`
	Real      float64   `json:"real_s"`
	Began     time.Time `json:"began,omitzero"`
	Runs      int       `json:"runs,omitempty"`
	Log       string    `json:"log,omitempty"`
	Waves     string    `json:"waves,omitempty"`
	Rerun     string    `json:"rerun"`
	// Signature is equal for failures with the same cause; Divergence is the first difference
	// between the test and its reference.
	Signature  string               `json:"signature,omitempty"`
	Divergence *lockstep.Divergence `json:"divergence,omitempty"`
	Shortest   string               `json:"shortest,omitempty"` // reduced test line that fails in the same way
	Slower     *Green               `json:"slower_than,omitempty"`
	// Only of a run of a sweep: measurements, their exactness, and the approximate number of
	// packets.
	Figures   []Figure `json:"figures,omitempty"`
	Exactness string   `json:"exactness,omitempty"`
	Packets   uint64   `json:"packets,omitempty"`
}

// A Figure is a measurement. Its name includes the unit.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Green is the last pass of a test: its run and cycles.
type Green struct {
	Run    uint64 `json:"run"`
	Commit string `json:"commit,omitempty"`
	Cycles uint64 `json:"cycles"`
}

// A Point is an entry of a test's history.
type Point struct {
	Run    uint64  `json:"run"`
	Test   string  `json:"test"`
	Device string  `json:"device"`
	Seed   int64   `json:"seed"`
	Status string  `json:"status"`
	Cycles uint64  `json:"cycles"`
	Real   float64 `json:"real_s"`
	// Figures are the measurements of a run of a sweep.
	Figures []Figure `json:"figures,omitempty"`
}

// passed is the status of a test that passed.
const passed = "PASS"

// stopped is the status of a test that was interrupted.
const stopped = "STOP"

// Buckets: runs by number; records by run and number; last passes and histories by test, device and
// seed.
var (
	metaBucket    = []byte("meta")
	runBucket     = []byte("runs")
	recordBucket  = []byte("records")
	greenBucket   = []byte("green")
	historyBucket = []byte("history")
	buckets       = [][]byte{metaBucket, runBucket, recordBucket, greenBucket, historyBucket}
)

// version of the file format.
const version = "1"

// A Store is a file of runs.
type Store struct {
	file string
	wait time.Duration // timeout for the lock
}

// At returns a store. The file need not exist.
func At(file string) *Store { return &Store{file: file, wait: 30 * time.Second} }

// ErrNone: the run or the store does not exist.
var ErrNone = errors.New("no such run")

// ErrDamaged: the file is not a valid database of runs.
var ErrDamaged = errors.New("damaged")

// ErrLocked: another process held the lock for too long.
var ErrLocked = bolterrors.ErrTimeout

// update runs a write transaction. A damaged file is moved aside first, so that new runs are stored
// in any case.
func (s *Store) update(f func(*bolt.Tx) error) error {
	if err := os.MkdirAll(filepath.Dir(s.file), 0o755); err != nil {
		return err
	}
	before, _ := os.Stat(s.file)
	err := s.updateOnce(f)
	if !errors.Is(err, ErrDamaged) || before == nil {
		return err
	}
	aside, failed := s.moveAside(before)
	if failed != nil {
		return errors.Join(err, failed)
	}
	logs.Layer(nil, "runs").WithFields(logrus.Fields{"file": s.file, "moved_to": aside}).Warnf("%v; a new memory of runs begins", err)
	return s.updateOnce(f)
}

// moveAside renames a damaged file, unless another process has replaced it already.
func (s *Store) moveAside(damaged os.FileInfo) (string, error) {
	for i := 1; ; i++ {
		aside := fmt.Sprintf("%s.damaged-%d", s.file, i)
		if _, err := os.Lstat(aside); err == nil {
			continue
		}
		if now, err := os.Stat(s.file); err != nil || !os.SameFile(damaged, now) {
			return aside, nil
		}
		return aside, os.Rename(s.file, aside)
	}
}

func (s *Store) updateOnce(f func(*bolt.Tx) error) error {
	return s.with(false, func(db *bolt.DB) error {
		return db.Update(func(tx *bolt.Tx) error {
			for _, b := range buckets {
				if _, err := tx.CreateBucketIfNotExists(b); err != nil {
					return err
				}
			}
			if err := checkVersion(tx); err != nil {
				return err
			}
			return f(tx)
		})
	})
}

func (s *Store) view(f func(*bolt.Tx) error) error {
	if info, err := os.Stat(s.file); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return fmt.Errorf("%w: %s does not exist; nicloop regress makes it", ErrNone, s.file)
	}
	return s.with(true, func(db *bolt.DB) error {
		return db.View(func(tx *bolt.Tx) error {
			if tx.Bucket(metaBucket) == nil { // another process is creating it
				return fmt.Errorf("%w: %s holds none yet", ErrNone, s.file)
			}
			if err := checkVersion(tx); err != nil {
				return err
			}
			return f(tx)
		})
	})
}

func (s *Store) with(read bool, f func(*bolt.DB) error) (err error) {
	// bbolt maps the file and trusts its contents: accessing a truncated page faults, and a corrupt
	// page panics. In either case the descriptor, its lock and the mapping must be released,
	// otherwise every later access blocks on them.
	var file *os.File
	var db *bolt.DB
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if db != nil {
			db.Close() // its transaction was rolled back by the panic
		} else if file != nil {
			file.Close()
		}
		err = s.damaged(p)
	}()
	options := &bolt.Options{Timeout: s.wait, ReadOnly: read, FreelistType: bolt.FreelistMapType}
	options.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		var err error
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}
	var path *fs.PathError
	db, err = bolt.Open(s.file, 0o644, options)
	switch {
	case err != nil && (errors.Is(err, ErrLocked) || errors.As(err, &path)):
		return fmt.Errorf("%w: the memory of runs: %s: %w", drivers.ErrEnvironment, s.file, err)
	case err != nil:
		return s.damaged(err)
	}
	return errors.Join(f(db), db.Close())
}

func (s *Store) damaged(why any) error {
	return fmt.Errorf("%w: the memory of runs: %s is %w: %v", drivers.ErrEnvironment, s.file, ErrDamaged, why)
}

func checkVersion(tx *bolt.Tx) error {
	b := tx.Bucket(metaBucket)
	switch v := string(b.Get([]byte("version"))); {
	case v == version:
		return nil
	case v == "" && tx.Writable():
		return b.Put([]byte("version"), []byte(version))
	default:
		return fmt.Errorf("%w: the memory of runs has version %q, this program reads %s: name another with --db", drivers.ErrConfig, v, version)
	}
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func put(b *bolt.Bucket, key []byte, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Put(key, text)
}

// subject is the key of a test with a seed on a device; the entries of a test are adjacent.
func subject(test, device string, seed int64) []byte {
	return []byte(test + "\x00" + device + "\x00" + strconv.FormatInt(seed, 10) + "\x00")
}

// Begin adds a run and returns its number.
func (s *Store) Begin(r Run) (id uint64, err error) {
	err = s.update(func(tx *bolt.Tx) error {
		b := tx.Bucket(runBucket)
		if id, err = b.NextSequence(); err != nil {
			return err
		}
		r.ID = id
		return put(b, number(id), r)
	})
	return id, err
}

// Add adds tests of a run. It sets Slower for those that passed with more cycles than at their last
// pass, and returns them.
func (s *Store) Add(id uint64, list []Record) (slower []Record, err error) {
	err = s.update(func(tx *bolt.Tx) error {
		slower = nil
		run, err := getRun(tx, id)
		if err != nil {
			return err
		}
		if run.Counts == nil {
			run.Counts = map[string]int{}
		}
		for i := range list {
			r := list[i]
			if err := add(tx, &run, &r); err != nil {
				return err
			}
			run.Counts[r.Status]++
			if r.Slower != nil {
				slower = append(slower, r)
			}
		}
		run.Slower += len(slower)
		return put(tx.Bucket(runBucket), number(id), run)
	})
	return slower, err
}

func add(tx *bolt.Tx, run *Run, r *Record) error {
	key := subject(r.Test, r.Device, r.Seed)
	if r.Status == passed {
		greens := tx.Bucket(greenBucket)
		green, err := reference(tx, r.Test, r.Device, r.Seed, run.Commit)
		if err == nil && green.Run > 0 && green.Cycles < r.Cycles {
			r.Slower = &green
		}
		if err := put(greens, key, Green{Run: run.ID, Commit: run.Commit, Cycles: r.Cycles}); err != nil {
			return err
		}
	}
	point := Point{Run: run.ID, Test: r.Test, Device: r.Device, Seed: r.Seed, Status: r.Status, Cycles: r.Cycles, Real: r.Real, Figures: r.Figures}
	records := tx.Bucket(recordBucket)
	n, err := records.NextSequence()
	if err != nil {
		return err
	}
	return errors.Join(
		put(records, append(number(run.ID), number(n)...), r),
		put(tx.Bucket(historyBucket), append(key, number(run.ID)...), point))
}

// Cover stores the coverage of a run.
func (s *Store) Cover(id uint64, c Coverage) error {
	return s.update(func(tx *bolt.Tx) error {
		run, err := getRun(tx, id)
		if err != nil {
			return err
		}
		run.Coverage = &c
		return put(tx.Bucket(runBucket), number(id), run)
	})
}

// End marks a run as ended.
func (s *Store) End(id uint64, build float64, failure error) error {
	return s.update(func(tx *bolt.Tx) error {
		run, err := getRun(tx, id)
		if err != nil {
			return err
		}
		run.Ended, run.Build = time.Now().UTC().Truncate(time.Millisecond), build
		if failure != nil {
			run.Error = failure.Error()
		}
		return put(tx.Bucket(runBucket), number(id), run)
	})
}

func getRun(tx *bolt.Tx, id uint64) (r Run, err error) {
	text := tx.Bucket(runBucket).Get(number(id))
	if text == nil {
		return r, fmt.Errorf("%w: number %d; nicloop runs list shows which there are", ErrNone, id)
	}
	return r, decode(text, &r)
}

// decode reads a value of the store. Invalid JSON is damage.
func decode(text []byte, v any) error {
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%w: the memory of runs: %w: a record: %w", drivers.ErrEnvironment, ErrDamaged, err)
	}
	return nil
}
