package logs

import (
	"bytes"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"
)

func TestLayer(t *testing.T) {
	var b bytes.Buffer
	log := logrus.New()
	log.SetOutput(&b)
	Layer(log, "bridge").Warn("lost")
	require.Contains(t, b.String(), "layer=bridge")
	require.Same(t, logrus.StandardLogger(), Layer(nil, "bridge").Logger)
}
