package capture

import _ "embed"

//go:embed nicloop_gen.lua
var dissectorTables string

//go:embed nicloop.lua
var dissectorCode string

//go:embed tlp.lua
var dissectorTLP string

// Dissector is the Wireshark dissector, one Lua script: the tables that are
// generated from the packet description, then the code that reads them, then that for TLPs.
func Dissector() string { return dissectorTables + "\n" + dissectorCode + dissectorTLP }
