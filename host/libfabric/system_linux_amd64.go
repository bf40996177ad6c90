package libfabric

const (
	sysProcessVMReadv  = 310
	sysProcessVMWritev = 311
	sysMemfdCreate     = 319
)
