// SPDX-License-Identifier: GPL-2.0
/* Linux driver of ring_eth: frames are copied from and to buffers of its own, of 2048 bytes each. */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/pci.h>

enum {
	CTRL = 0x04, STATUS = 0x08, TX_BASE = 0x0c, RX_BASE = 0x10,
	TX_TAIL = 0x14, TX_HEAD = 0x18, RX_TAIL = 0x1c, RX_HEAD = 0x20
};
enum { ENABLE = 1, IE = 2, BOTH = 3, RING_ENTRIES = 64, BUFFER = 2048 };

struct desc { __le64 addr, len; };

struct ring {
	struct desc *desc;
	u8 *buffers;
	dma_addr_t desc_dma, buffers_dma;
	u16 next; /* TX: frames queued; RX: frames taken */
};

struct ring_eth {
	void __iomem *regs;
	struct pci_dev *pci;
	struct napi_struct napi;
	struct ring tx, rx;
};

static u16 in_flight(struct ring_eth *e) { return e->tx.next - (u16)readl(e->regs + TX_HEAD); }

static netdev_tx_t ring_eth_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct ring_eth *e = netdev_priv(dev);
	int i = e->tx.next % RING_ENTRIES;

	if (skb_put_padto(skb, ETH_ZLEN))
		return NETDEV_TX_OK; /* freed */
	if (skb->len > BUFFER || skb_copy_bits(skb, 0, e->tx.buffers + i * BUFFER, skb->len)) {
		dev->stats.tx_dropped++;
	} else {
		e->tx.desc[i].len = cpu_to_le64(skb->len);
		e->tx.next++;
		dev->stats.tx_packets++;
		dev->stats.tx_bytes += skb->len;
		writel(e->tx.next, e->regs + TX_TAIL);
	}
	dev_kfree_skb_any(skb);
	if (in_flight(e) >= RING_ENTRIES) {
		netif_stop_queue(dev);
		if (in_flight(e) < RING_ENTRIES) /* sent between the two, so poll may have been before the stop */
			netif_wake_queue(dev);
	}
	return NETDEV_TX_OK;
}

static int ring_eth_poll(struct napi_struct *napi, int budget)
{
	struct ring_eth *e = container_of(napi, struct ring_eth, napi);
	struct net_device *dev = napi->dev;
	int done = 0;
	u16 head;

	writel(BOTH, e->regs + STATUS);
	if (netif_queue_stopped(dev) && in_flight(e) < RING_ENTRIES)
		netif_wake_queue(dev);
	for (head = readl(e->regs + RX_HEAD); done < budget && e->rx.next != head; done++) {
		int i = e->rx.next++ % RING_ENTRIES, len = le64_to_cpu(READ_ONCE(e->rx.desc[i].len));
		struct sk_buff *skb = napi_alloc_skb(napi, len);

		if (skb) {
			skb_put_data(skb, e->rx.buffers + i * BUFFER, len);
			skb->protocol = eth_type_trans(skb, dev);
			dev->stats.rx_packets++;
			dev->stats.rx_bytes += len;
			napi_gro_receive(napi, skb);
		} else {
			dev->stats.rx_dropped++;
		}
		writel((u16)(e->rx.next + RING_ENTRIES), e->regs + RX_TAIL);
	}
	if (done < budget && napi_complete_done(napi, done))
		writel(ENABLE | IE, e->regs + CTRL); /* STATUS raises irq if a frame came meanwhile */
	return done;
}

static irqreturn_t ring_eth_irq(int irq, void *arg)
{
	struct ring_eth *e = netdev_priv(arg);

	writel(ENABLE, e->regs + CTRL);
	napi_schedule(&e->napi);
	return IRQ_HANDLED;
}

static int ring_eth_open(struct net_device *dev)
{
	struct ring_eth *e = netdev_priv(dev);

	e->tx.next = e->rx.next = 0;
	napi_enable(&e->napi);
	writel(lower_32_bits(e->tx.desc_dma), e->regs + TX_BASE);
	writel(lower_32_bits(e->rx.desc_dma), e->regs + RX_BASE);
	writel(RING_ENTRIES, e->regs + RX_TAIL);
	writel(ENABLE | IE, e->regs + CTRL);
	netif_start_queue(dev);
	return 0;
}

static int ring_eth_stop(struct net_device *dev)
{
	struct ring_eth *e = netdev_priv(dev);

	netif_stop_queue(dev);
	writel(0, e->regs + CTRL);
	synchronize_irq(pci_irq_vector(e->pci, 0));
	napi_disable(&e->napi);
	writel(0, e->regs + CTRL); /* poll may have enabled it */
	readl(e->regs + CTRL);
	return 0;
}

static const struct net_device_ops ring_eth_ops = {
	.ndo_open = ring_eth_open, .ndo_stop = ring_eth_stop, .ndo_start_xmit = ring_eth_xmit,
	.ndo_set_mac_address = eth_mac_addr, .ndo_validate_addr = eth_validate_addr,
};

static int ring_alloc(struct pci_dev *pci, struct ring *r)
{
	int i;

	r->desc = dmam_alloc_coherent(&pci->dev, RING_ENTRIES * sizeof(*r->desc), &r->desc_dma, GFP_KERNEL);
	r->buffers = dmam_alloc_coherent(&pci->dev, RING_ENTRIES * BUFFER, &r->buffers_dma, GFP_KERNEL);
	if (!r->desc || !r->buffers)
		return -ENOMEM;
	for (i = 0; i < RING_ENTRIES; i++)
		r->desc[i].addr = cpu_to_le64(r->buffers_dma + i * BUFFER);
	return 0;
}

static int ring_eth_probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	struct net_device *dev = devm_alloc_etherdev(&pci->dev, sizeof(struct ring_eth));
	struct ring_eth *e;
	int err;

	if (!dev)
		return -ENOMEM;
	e = netdev_priv(dev);
	e->pci = pci;
	if ((err = pcim_enable_device(pci)) || (err = pcim_iomap_regions(pci, 1, "ring_eth")) ||
	    (err = dma_set_mask_and_coherent(&pci->dev, DMA_BIT_MASK(32))))
		return err;
	e->regs = pcim_iomap_table(pci)[0];
	pci_set_master(pci);
	if ((err = ring_alloc(pci, &e->tx)) || (err = ring_alloc(pci, &e->rx)))
		return err;
	writel(0, e->regs + CTRL);
	if ((err = pci_alloc_irq_vectors(pci, 1, 1, PCI_IRQ_MSIX | PCI_IRQ_LEGACY)) < 0)
		return err;
	SET_NETDEV_DEV(dev, &pci->dev);
	dev->netdev_ops = &ring_eth_ops;
	eth_hw_addr_random(dev);
	netif_napi_add(dev, &e->napi, ring_eth_poll);
	pci_set_drvdata(pci, dev);
	if ((err = devm_request_irq(&pci->dev, pci_irq_vector(pci, 0), ring_eth_irq, IRQF_SHARED, "ring_eth", dev)))
		return err;
	return register_netdev(dev);
}

static void ring_eth_remove(struct pci_dev *pci) { unregister_netdev(pci_get_drvdata(pci)); }

static const struct pci_device_id ring_eth_ids[] = { { PCI_DEVICE(0x1234, 0xe401) }, {} };
MODULE_DEVICE_TABLE(pci, ring_eth_ids);

static struct pci_driver ring_eth_driver = {
	.name = "ring_eth", .id_table = ring_eth_ids, .probe = ring_eth_probe, .remove = ring_eth_remove,
};
module_pci_driver(ring_eth_driver);
MODULE_LICENSE("GPL");
