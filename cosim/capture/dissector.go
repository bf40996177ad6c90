package capture

import _ "embed"

//go:embed nicloop_gen.lua
var dissectorTables string

//go:embed nicloop.lua
var dissectorCode string

// Dissector is the Wireshark dissector, one Lua script: the tables that are
// generated from the packet description, then the code that reads them.
func Dissector() string { return dissectorTables + "\n" + dissectorCode }
