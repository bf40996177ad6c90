package bench

import (
	"context"
	"errors"
)

// A PathRow is a row of the path selection table: the first path that accepts a message moves it.
type PathRow struct {
	Path  string `json:"path"`
	Takes string `json:"takes"`
}

// Paths returns the selection table of a configuration. It opens the world on the ideal NIC,
// because the table does not depend on the device.
func Paths(ctx context.Context, c Config) (rows []PathRow, err error) {
	c.Device, c.Record, c.Pcap, c.NVM = "ideal:", nil, nil, nil
	w, err := openWorld(ctx, c, nil, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	for _, p := range w.Ranks[0].Paths() {
		rows = append(rows, PathRow{p.Name(), p.Explain()})
	}
	return rows, nil
}
