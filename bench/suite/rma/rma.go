package regress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/rma/conformance"
)

// rmaTests are the conformance cases of RMA and tests of what no library does.
func rmaTests() []Test {
	list := append([]Test{}, rawRMA...)
	for _, c := range conformance.Cases() {
		tags := []string{"rma"}
		if c.Slow {
			tags = append(tags, "slow")
		}
		list = append(list, Test{
			Name: "rma/" + c.Name, Tags: tags, Doc: c.Doc,
			Run: func(t *T) error {
				sys, err := t.Open(c.Nodes, c.Memory, nil)
				if err != nil {
					return err
				}
				return c.Run(sys, uint64(t.Seed))
			},
		})
	}
	return list
}

// rawRMA looks at RMA through descriptors and registers alone.
var rawRMA = []Test{
	{"rma/notification", []string{"smoke", "rma"}, "every field of the notifications of one put", testNotification},
	{"rma/bad-descriptors", []string{"rma"}, "what a descriptor gets wrong is told, and refusals reach nobody", testBadDescriptors},
	{"rma/neighbours", []string{"rma"}, "bytes beside a put stay as they were, at every alignment", testNeighbours},
	{"rma/nvm-limit", []string{"smoke", "rma"}, "a memory of an eighth of line rate takes as long as it should", testNVMLimit},
	{"rma/ring-shared", []string{"rma"}, "units that wait for the same full ring get its free slots in turn", testSharedRing},
	{"rma/registers", []string{"rma"}, "every register of RMA reads, and holds what it should", testRMARegisters},
}

// Memory of a raw test: the ring, the table and the data of the one process in use.
const (
	rawVPID  = 5
	rawRing  = 0x8000
	rawSlots = 64
	rawTable = 0x9000
	rawData  = 0x10000
	rawPages = 8
)

// openRMA opens nodes on which process rawVPID may do everything with pages that
// translate NLA 0 to rawData.
func (t *T) openRMA(nodes int) ([]*nic, error) {
	nics, err := t.openNICs(nodes)
	if err != nil {
		return nil, err
	}
	for _, n := range nics {
		if err := n.enableRMA(); err != nil {
			return nil, err
		}
	}
	return nics, nil
}

// enableRMA gives a node's process a ring of notifications, and pages.
func (n *nic) enableRMA() error {
	for page := range uint64(rawPages) {
		e := regs.ATUEntryFields{Rights: regs.ATURightsRw, VPID: rawVPID, Page: n.address(rawData+page<<12) >> 12}.Pack()
		binary.LittleEndian.PutUint64(n.dev.Memory()[rawTable+8*page:], uint64(e))
	}
	return n.set(write{regs.ATUBase(0), rawTable}, write{regs.ATUPages(0), rawPages}, write{regs.PDID(rawVPID), rawDomain},
		write{regs.NotiBase(rawVPID), rawRing}, write{regs.NotiSlots(rawVPID), rawSlots},
		write{regs.NotiCtrl(rawVPID), regs.NotiCtrlEnable | regs.NotiCtrlWindow})
}

// post writes a descriptor.
func (n *nic) post(d regs.RMADescFields, w1, w2 uint64) error {
	line := binary.LittleEndian.AppendUint64(nil, uint64(d.Pack()))
	line = binary.LittleEndian.AppendUint64(line, w1)
	line = binary.LittleEndian.AppendUint64(line, w2)
	return n.dev.WritePIO(regs.Descriptors(rawVPID), line)
}

// noti is notification number i, from 0.
func (n *nic) noti(i int) (regs.RMAExt, regs.RMANotiFields) {
	at := n.dev.Memory()[rawRing+i%rawSlots*regs.NotiBytes:]
	return regs.RMAExt(binary.LittleEndian.Uint64(at)), regs.RMANoti(binary.LittleEndian.Uint64(at[8:])).Fields()
}

// told compares notification number i with what it must be.
func (n *nic) told(i int, ext regs.RMAExtFields, want regs.RMANotiFields) error {
	want.Seq = uint16(i + 1)
	gotExt, got := n.noti(i)
	if gotExt != ext.Pack() || got != want {
		return fmt.Errorf("node %d: notification %d is %+v, %+v, expected %+v, %+v", n.node, i, gotExt.Fields(), got, ext, want)
	}
	return nil
}

func testNotification(t *T) error {
	nics, err := t.openRMA(2)
	if err != nil {
		return err
	}
	mem, far := nics[0].dev.Memory(), nics[1].dev.Memory()
	t.Rand.Read(mem[rawData : rawData+700])
	err = nics[0].post(regs.RMADescFields{
		Command: regs.RMACommandPut, NotiRequester: true, NotiCompleter: true, DstVPID: rawVPID, DstNode: 1, BytesMinus1: 599, Tag: 0xbeef,
	}, 3, 0x1005)
	if err == nil {
		err = settle(nics[0].sys)
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(mem[rawData+3:rawData+603], far[rawData+0x1005:rawData+0x1005+600]) {
		return errors.New("600 bytes did not arrive as they were")
	}
	last := regs.RMANotiFields{BytesMinus1: 87, Command: regs.RMACommandPut, Last: true, PeerVPID: rawVPID}
	here, there := last, last
	here.Unit, here.PeerNode, there.Unit = regs.RMAUnitRequester, 1, regs.RMAUnitCompleter
	return errors.Join(
		nics[0].told(0, regs.RMAExtFields{NLA: 3 + 512, Tag: 0xbeef}, here),
		nics[1].told(0, regs.RMAExtFields{NLA: 0x1005 + 512, Tag: 0xbeef}, there),
		nics[0].expect(regs.NotiWP(rawVPID), 1), nics[1].expect(regs.NotiWP(rawVPID), 1),
		nics[0].expect(regs.RMATXPackets, 3), nics[1].expect(regs.RMARXPackets, 3), nics[0].expect(regs.RMAErrors, 0))
}

func testBadDescriptors(t *T) error {
	nics, err := t.openRMA(2)
	if err != nil {
		return err
	}
	if err := nics[1].set(write{regs.PDID(6), rawDomain}); err != nil {
		return err
	}
	put := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: rawVPID, DstNode: 1, BytesMinus1: 7, Tag: 1}
	for i, c := range []struct {
		change func(d *regs.RMADescFields)
		w1, w2 uint64
		unit   regs.RMAUnit
		want   regs.RMAError
	}{
		{func(d *regs.RMADescFields) { d.Command = 0 }, 0, 0, regs.RMAUnitRequester, regs.RMAErrorBadCommand},
		{func(d *regs.RMADescFields) { d.Command = 6 }, 0, 0, regs.RMAUnitRequester, regs.RMAErrorBadCommand},
		{func(d *regs.RMADescFields) { d.Command, d.BytesMinus1 = regs.RMACommandImmPut, 8 }, 0, 0, regs.RMAUnitRequester, regs.RMAErrorBadCommand},
		{func(d *regs.RMADescFields) { d.Command = regs.RMACommandFCAA }, 0, 2, regs.RMAUnitRequester, regs.RMAErrorBadCommand},
		{func(d *regs.RMADescFields) { d.DstNode = 2 }, 0, 0, regs.RMAUnitRequester, regs.RMAErrorNoSuchNode},
		{func(d *regs.RMADescFields) {}, 1 << 48, 0, regs.RMAUnitRequester, regs.RMAErrorBounds},
		{func(d *regs.RMADescFields) {}, 1<<44 - 4, 0, regs.RMAUnitRequester, regs.RMAErrorBounds},
		{func(d *regs.RMADescFields) {}, rawPages << 12, 0, regs.RMAUnitRequester, regs.RMAErrorBounds},
		{func(d *regs.RMADescFields) {}, 1 << 44, 0, regs.RMAUnitRequester, regs.RMAErrorTranslation},
		{func(d *regs.RMADescFields) {}, 0, rawPages << 12, regs.RMAUnitCompleter, regs.RMAErrorBounds},
		{func(d *regs.RMADescFields) { d.DstVPID = 4 }, 0, 0, regs.RMAUnitCompleter, regs.RMAErrorDomain},
		{func(d *regs.RMADescFields) { d.DstVPID = 6 }, 0, 0, regs.RMAUnitCompleter, regs.RMAErrorWindowOff},
		{func(d *regs.RMADescFields) { d.Command = regs.RMACommandGet }, 5 << 44, 0, regs.RMAUnitResponder, regs.RMAErrorTranslation},
		{func(d *regs.RMADescFields) { d.Command = regs.RMACommandGet }, 0, 5 << 44, regs.RMAUnitCompleter, regs.RMAErrorTranslation},
	} {
		d := put
		c.change(&d)
		if err := nics[0].post(d, c.w1, c.w2); err != nil {
			return err
		}
		if err := settle(nics[0].sys); err != nil {
			return fmt.Errorf("case %d: %w", i, err)
		}
		_, got := nics[0].noti(i)
		if got.Error != c.want || got.Unit != c.unit || got.Seq != uint16(i+1) || got.Command != d.Command || !got.Last {
			return fmt.Errorf("case %d: notification %+v, expected %v of %v", i, got, c.want, c.unit)
		}
	}
	untouched := make([]byte, rawPages<<12)
	for _, n := range nics {
		if !bytes.Equal(n.dev.Memory()[rawData:rawData+rawPages<<12], untouched) {
			return fmt.Errorf("node %d: a refused operation moved bytes", n.node)
		}
	}
	return nil
}

func testNeighbours(t *T) error {
	nics, err := t.openRMA(2)
	if err != nil {
		return err
	}
	mem, far := nics[0].dev.Memory()[rawData:], nics[1].dev.Memory()[rawData:]
	t.Rand.Read(mem[:4096])
	model := make([]byte, 8192)
	t.Rand.Read(model)
	copy(far, model)
	for i := range 150 {
		from, to, n := t.Rand.Intn(64), 4096-80+t.Rand.Intn(160), 1+t.Rand.Intn(i+1)
		d := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: rawVPID, DstNode: 1, BytesMinus1: uint32(n - 1)}
		if err := nics[0].post(d, uint64(from), uint64(to)); err != nil {
			return err
		}
		copy(model[to:], mem[from:from+n])
	}
	if err := settle(nics[0].sys); err != nil {
		return err
	}
	if !bytes.Equal(model, far[:len(model)]) {
		return fmt.Errorf("memory differs from what 150 puts must leave (seed %d)", t.Seed)
	}
	return nil
}

// testNVMLimit puts 16 KB into memory of line rate / 8 with a buffer of 1 KB.
func testNVMLimit(t *T) error {
	nics, err := t.openRMA(2)
	if err != nil {
		return err
	}
	if err := nics[1].needs(regs.NVMRate(0), "a write limiter"); err != nil {
		return err
	}
	const bytes, buffer = 16384, 1024
	if err := nics[1].set(write{regs.NVMBase(2), rawData}, write{regs.NVMEnd(2), rawData + bytes},
		write{regs.NVMRate(2), 65536 / 8}, write{regs.NVMDepth(2), buffer}); err != nil {
		return err
	}
	start := nics[0].sys.Now()
	d := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: rawVPID, DstNode: 1, BytesMinus1: bytes - 1}
	if err := nics[0].post(d, 0, 0); err != nil {
		return err
	}
	if err := settle(nics[0].sys); err != nil {
		return err
	}
	took := int(nics[0].sys.Now() - start)
	if took < bytes || took > bytes+bytes/16 { // one byte per cycle, and settle waits for the buffer
		return fmt.Errorf("%d bytes at one byte per cycle took %d cycles", bytes, took)
	}
	stall, err := nics[1].dev.ReadReg(regs.NVMStall(2))
	if err == nil && stall == 0 {
		err = errors.New("NVM_STALL is 0, expected writes to have waited")
	}
	return errors.Join(err, nics[1].expect(regs.NVMBytes(2), bytes), nics[1].expect(regs.NVMLevel(2), 0), nics[1].expect(regs.NVMStall(1), 0))
}

func testRMARegisters(t *T) error {
	nics, err := t.openRMA(2)
	if err != nil {
		return err
	}
	n := nics[1]
	if err := n.needs(regs.NVMRate(0), "a write limiter"); err != nil {
		return err
	}
	for i := range regs.Registers() {
		r := &regs.Registers()[i]
		routers := r.Name == "ROUTE" && n.sys.Info().Topology != "" // which are not the nodes'
		if r.Name[:3] != "WIR" && r.Name[:3] != "LIN" && !routers {
			if _, err := n.dev.ReadReg(r.Address(int(r.Count) - 1)); err != nil {
				return err
			}
		}
	}
	if err := n.set(write{regs.ATUBase(15), 0x1234567890abcde8}, write{regs.ATUPages(15), 1<<24 + 77}, write{regs.NVMBase(3), 99},
		write{regs.NotiSlots(15), 8191}, write{regs.NotiBase(15), 0xfff0}, write{regs.NotiRP(15), 1<<32 - 7}, write{regs.ATUDone, 0x4000}); err != nil {
		return err
	}
	return errors.Join(n.expect(regs.ATUBase(15), 0x1234567890abcde8), n.expect(regs.ATUPages(15), 1<<24+77), n.expect(regs.NVMBase(3), 99),
		n.expect(regs.NVMRate(3), 65536), n.expect(regs.NotiSlots(15), 8191), n.expect(regs.NotiBase(15), 0xfff0),
		n.expect(regs.NotiRP(15), 1<<32-7), n.expect(regs.ATUDone, 0x4000), n.expect(regs.BadAccess, 0))
}
