package libfabric

const (
	sysProcessVMReadv  = 270
	sysProcessVMWritev = 271
	sysMemfdCreate     = 279
)
