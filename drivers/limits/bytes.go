package limits

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ParseBytes reads a number of bytes with an optional unit: k, M or G, in either case, alone or
// followed by B or iB. All have base 1024, as the sizes of messages and buffers do.
func ParseBytes(text string) (int, error) {
	digits := strings.TrimRight(text, "kKmMgGiIbB")
	shift, ok := shiftOf[strings.ToLower(text[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case !ok, err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%q: expected a number of bytes, such as 512, 8k, 64KiB or 1M", text)
	case err != nil, n > Bytes>>shift, n < -Bytes>>shift:
		return 0, fmt.Errorf("%s: expected at most %d bytes", text, int64(Bytes))
	}
	return int(n << shift), nil
}

var shiftOf = map[string]int{
	"": 0, "b": 0,
	"k": 10, "kb": 10, "kib": 10,
	"m": 20, "mb": 20, "mib": 20,
	"g": 30, "gb": 30, "gib": 30,
}
