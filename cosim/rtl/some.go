package rtl

import (
	"context"

	"github.com/nicloop/nicloop/cosim/bridge"
	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/drivers"
)

// Prepare builds what StartSome starts.
func Prepare(ctx context.Context, keys map[string]string, opt drivers.Options) error {
	return prepare(ctx, "", keys, opt)
}

// StartSome starts a simulator that has only some nodes of a mesh, for keys that the scheme rtl:
// knows: see bridge.Edge. The other nodes are the caller's.
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
