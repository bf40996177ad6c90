package model

import (
	"github.com/nicloop/nicloop/drivers/registry"
)

// ownKeys are the keys of a URI that other meshes do not have.
var ownKeys = []registry.Key{
	{Name: "params", Value: "FILE", Doc: "cycles of the blocks, from nicloop calibrate; default: those of the RTL"},
	{Name: "topology", Value: "dragonfly:4", Doc: "instead of a mesh: dragonfly:P[,A,H] or fattree:K,LEVELS, of which the first --nodes have a NIC"},
	{Name: "clock", Value: "wall", Doc: "time passes by itself"},
}
