module example.org/dma/tests

go 1.26.0

require github.com/nicloop/nicloop v0.0.0

require (
	github.com/google/gopacket v1.1.19 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/sirupsen/logrus v1.10.2 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/net v0.59.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/nicloop/nicloop => ../../../..
