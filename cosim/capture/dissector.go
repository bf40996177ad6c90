package capture

import _ "embed"

//go:embed nicloop_gen.lua
var dissectorTables string

//go:embed nicloop.lua
var dissectorCode string

//go:embed tlp.lua
var dissectorTLP string

// Dissector returns the Wireshark dissector as one Lua script: tables generated from the packet
// description, the code that uses them, and the dissector of TLPs.
func Dissector() string { return dissectorTables + "\n" + dissectorCode + dissectorTLP }
