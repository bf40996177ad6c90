/* One-sided operations: puts and gets of memory that a peer has registered. */
#include <rdma/fi_rma.h>

#include "libfabric.h"

struct nl_remote {
	fi_addr_t peer;
	uint64_t addr, key; /* addr is an offset in the region */
};

static ssize_t access_any(struct fid_ep *fid, uint32_t op, const void *buf, size_t len, struct nl_remote to,
			  uint64_t data, void *context, uint32_t kind, uint64_t flags)
{
	struct nl_ep *ep = (struct nl_ep *)fid;
	struct nl_request r = {
	    .op = op, .flags = kind, .context = (uintptr_t)context, .address = (uintptr_t)buf, .length = len,
	    .tag = to.key, .ignore = to.addr, .data = data, .peer = nl_av_rank(ep->av, to.peer)};
	if (r.peer < 0 || (uint32_t)r.peer >= nl_region->size)
		return -FI_EINVAL;
	if (flags & FI_INJECT && len > NL_INLINE)
		return -FI_EMSGSIZE;
	r.flags |= nl_tx_completion(ep, flags, context);
	if (op == NL_WRITE && len <= NL_INLINE)
		r.flags |= NL_IS_INLINE;
	return nl_start(ep, &r, buf);
}

static ssize_t rma_read(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from, uint64_t addr,
			uint64_t key, void *context)
{
	(void)desc;
	return access_any(ep, NL_READ, buf, len, (struct nl_remote){from, addr, key}, 0, context, 0, nl_tx_flags(ep));
}

static ssize_t rma_readv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count, fi_addr_t from,
			 uint64_t addr, uint64_t key, void *context)
{
	(void)desc;
	if (count != 1)
		return -FI_EINVAL;
	return rma_read(ep, iov->iov_base, iov->iov_len, NULL, from, addr, key, context);
}

static ssize_t access_message(struct fid_ep *ep, uint32_t op, const struct fi_msg_rma *m, uint64_t flags)
{
	if (m->iov_count > 1 || m->rma_iov_count != 1)
		return -FI_EINVAL;
	struct nl_remote to = {m->addr, m->rma_iov->addr, m->rma_iov->key};
	return access_any(ep, op, m->iov_count ? m->msg_iov->iov_base : NULL, m->iov_count ? m->msg_iov->iov_len : 0, to,
			  m->data, m->context, flags & FI_REMOTE_CQ_DATA ? NL_HAS_DATA : 0, flags);
}

static ssize_t rma_readmsg(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
	return access_message(ep, NL_READ, m, flags & ~FI_REMOTE_CQ_DATA);
}

static ssize_t rma_write(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to, uint64_t addr,
			 uint64_t key, void *context)
{
	(void)desc;
	return access_any(ep, NL_WRITE, buf, len, (struct nl_remote){to, addr, key}, 0, context, 0, nl_tx_flags(ep));
}

static ssize_t rma_writev(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count, fi_addr_t to,
			  uint64_t addr, uint64_t key, void *context)
{
	(void)desc;
	if (count != 1)
		return -FI_EINVAL;
	return rma_write(ep, iov->iov_base, iov->iov_len, NULL, to, addr, key, context);
}

static ssize_t rma_writemsg(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
	return access_message(ep, NL_WRITE, m, flags);
}

static ssize_t rma_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t to, uint64_t addr, uint64_t key)
{
	return access_any(ep, NL_WRITE, buf, len, (struct nl_remote){to, addr, key}, 0, NULL, 0, FI_INJECT);
}

static ssize_t rma_writedata(struct fid_ep *ep, const void *buf, size_t len, void *desc, uint64_t data, fi_addr_t to,
			     uint64_t addr, uint64_t key, void *context)
{
	(void)desc;
	return access_any(ep, NL_WRITE, buf, len, (struct nl_remote){to, addr, key}, data, context, NL_HAS_DATA,
			  nl_tx_flags(ep));
}

static ssize_t rma_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data, fi_addr_t to,
			      uint64_t addr, uint64_t key)
{
	return access_any(ep, NL_WRITE, buf, len, (struct nl_remote){to, addr, key}, data, NULL, NL_HAS_DATA, FI_INJECT);
}

struct fi_ops_rma nl_rma_ops = {
    .size = sizeof nl_rma_ops, .read = rma_read, .readv = rma_readv, .readmsg = rma_readmsg, .write = rma_write,
    .writev = rma_writev, .writemsg = rma_writemsg, .inject = rma_inject, .writedata = rma_writedata,
    .injectdata = rma_injectdata};
