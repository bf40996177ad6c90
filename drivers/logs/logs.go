// Package logs gives each layer the logger that its caller has chosen.
//
// Configurations have a field Log of type *logrus.Logger. nil is the standard logger, which the
// command nicloop configures once.
package logs

import "github.com/sirupsen/logrus"

// Layer returns the log of a layer. Its lines carry the layer's name.
func Layer(log *logrus.Logger, layer string) *logrus.Entry {
	if log == nil {
		log = logrus.StandardLogger()
	}
	return log.WithField("layer", layer)
}
