package packets

import "unsafe"

// Memory estimates the bytes that New allocates for a network in which all routers have the ports
// of router 0.
func (c *Config) Memory() float64 {
	t := c.Topology
	wire := int64(1)
	for port := range t.Ports(0) {
		if w, ok := t.Wire(0, port); ok {
			wire = max(wire, int64(w.Cycles))
		}
	}
	span := int64(max(c.Flits, c.AckCycles)) + wire + int64(c.RouterCycles)
	queues := t.Ports(0) * c.Routing.VCs() * c.capacity()
	each := float64(unsafe.Sizeof(router{})) + float64(span)*float64(unsafe.Sizeof(due{})) + float64(queues)*float64(unsafe.Sizeof(packet{}))
	return float64(t.Routers())*each + float64(t.Nodes())*float64(unsafe.Sizeof(node{}))
}
