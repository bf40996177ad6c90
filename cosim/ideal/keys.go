package ideal

import (
	"github.com/nicloop/nicloop/drivers/registry"
)

var keys = []registry.Key{
	{Name: "latency", Value: "CYCLES", Doc: "of a packet from NIC to NIC"},
	{Name: "depth", Value: "PACKETS", Doc: "that may be on their way to a node"},
	{Name: "dma_base", Value: "ADDRESS", Doc: "the NIC finds the memory from there on instead of from 0, as behind an IOMMU"},
	{Name: "dma_segment", Value: "BYTES", Doc: "it finds it in pieces of so many bytes, the last one first and as much again between two of them, as without an IOMMU"},
	{Name: "clock", Value: "wall", Doc: "time passes by itself: the NICs are driven whenever there is something to do"},
}
