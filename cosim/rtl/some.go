package rtl

import (
	"context"

	"github.com/nicloop/nicloop/cosim/bridge"
	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/drivers"
)

// Prepare builds the simulator that StartSome starts.
func Prepare(ctx context.Context, keys map[string]string, opt drivers.Options) error {
	return prepare(ctx, "", keys, opt)
}

// StartSome starts a simulator with only some nodes of a mesh, for keys of the scheme rtl:; see
// bridge.Edge. The caller provides the other nodes.
func StartSome(ctx context.Context, keys map[string]string, opt drivers.Options, nodes []int) (*bridge.Session, drivers.Info, error) {
	r, err := parse("", keys, opt)
	if err != nil {
		return nil, drivers.Info{}, err
	}
	model, err := build.Build(ctx, r.spec)
	if err != nil {
		return nil, drivers.Info{}, err
	}
	r.cfg.Program, r.cfg.BuildHash, r.cfg.Only = model.Program, model.Hash, nodes
	session, err := bridge.Start(ctx, r.cfg)
	if err != nil {
		return nil, drivers.Info{}, err
	}
	return session, newSystem(session, r, model).info, nil
}
