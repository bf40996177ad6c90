// Package all registers every backend of this module, for programs that let their user choose the
// device: import _ "github.com/nicloop/nicloop/drivers/all".
package all

import (
	_ "github.com/nicloop/nicloop/cosim/harness"
	_ "github.com/nicloop/nicloop/cosim/ideal"
	_ "github.com/nicloop/nicloop/cosim/mixed"
	_ "github.com/nicloop/nicloop/cosim/model"
	_ "github.com/nicloop/nicloop/cosim/rtl"
	_ "github.com/nicloop/nicloop/drivers/pcie"
	_ "github.com/nicloop/nicloop/drivers/record"
	_ "github.com/nicloop/nicloop/drivers/replay"
	_ "github.com/nicloop/nicloop/drivers/shared"
	_ "github.com/nicloop/nicloop/drivers/uart"
)
