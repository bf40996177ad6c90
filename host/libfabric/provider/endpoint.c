/* Endpoints: every operation becomes a request in the ring. */
#include <rdma/fi_cm.h>
#include <rdma/fi_tagged.h>
#include <stdlib.h>
#include <string.h>

#include "libfabric.h"

struct nl_ep *nl_eps[NL_ENDPOINTS];

static struct nl_ep *endpoint_of(struct fid_ep *ep) { return (struct nl_ep *)ep; }

ssize_t nl_start(struct nl_ep *ep, struct nl_request *r, const void *bytes)
{
	pthread_mutex_lock(&nl_mutex);
	r->endpoint = ep->index;
	int err;
	if (nl_finalized)
		err = -FI_EOPBADSTATE;
	else if (r->op == NL_PEEK)
		err = nl_peek(ep, r);
	else
		err = r->op > NL_PEEK ? nl_call(r) : nl_post(r, bytes);
	pthread_mutex_unlock(&nl_mutex);
	return err;
}

/* ---- sends ---- */

static ssize_t send_any(struct nl_ep *ep, const void *buf, size_t len, fi_addr_t to, uint64_t tag, uint64_t data,
			void *context, uint32_t kind, uint64_t flags)
{
	struct nl_request r = {
	    .op = NL_SEND, .flags = kind, .context = (uintptr_t)context, .address = (uintptr_t)buf, .length = len,
	    .tag = tag, .data = data, .peer = nl_av_rank(ep->av, to)};
	if (r.peer < 0 || (uint32_t)r.peer >= nl_region->size)
		return -FI_EINVAL;
	if (flags & FI_INJECT && len > NL_INLINE)
		return -FI_EMSGSIZE;
	r.flags |= nl_tx_completion(ep, flags, context);
	if (flags & (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE))
		r.flags |= NL_MATCHED;
	if (len <= NL_INLINE)
		r.flags |= NL_IS_INLINE;
	return nl_start(ep, &r, buf);
}

#define SENDS(prefix, kind, TAGPARAM, TAG)                                                                        \
	static ssize_t prefix##_send(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to     \
				     TAGPARAM, void *context)                                                     \
	{                                                                                                         \
		(void)desc;                                                                                       \
		return send_any(endpoint_of(ep), buf, len, to, TAG, 0, context, kind, endpoint_of(ep)->tx_flags); \
	}                                                                                                         \
	static ssize_t prefix##_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,      \
				      fi_addr_t to TAGPARAM, void *context)                                       \
	{                                                                                                         \
		(void)desc;                                                                                       \
		if (count > 1)                                                                                    \
			return -FI_EINVAL;                                                                        \
		return send_any(endpoint_of(ep), count ? iov->iov_base : NULL, count ? iov->iov_len : 0, to, TAG, \
				0, context, kind, endpoint_of(ep)->tx_flags);                                     \
	}                                                                                                         \
	static ssize_t prefix##_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t to TAGPARAM)     \
	{                                                                                                         \
		return send_any(endpoint_of(ep), buf, len, to, TAG, 0, NULL, kind, FI_INJECT);                    \
	}                                                                                                         \
	static ssize_t prefix##_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,              \
					 uint64_t data, fi_addr_t to TAGPARAM, void *context)                     \
	{                                                                                                         \
		(void)desc;                                                                                       \
		return send_any(endpoint_of(ep), buf, len, to, TAG, data, context, kind | NL_HAS_DATA,            \
				endpoint_of(ep)->tx_flags);                                                       \
	}                                                                                                         \
	static ssize_t prefix##_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,         \
					   fi_addr_t to TAGPARAM)                                                 \
	{                                                                                                         \
		return send_any(endpoint_of(ep), buf, len, to, TAG, data, NULL, kind | NL_HAS_DATA, FI_INJECT);   \
	}

#define COMMA_TAG , uint64_t tag
SENDS(msg, 0, , 0)
SENDS(tagged, NL_TAGGED, COMMA_TAG, tag)

static ssize_t send_message(struct fid_ep *fid, const struct iovec *iov, size_t count, fi_addr_t to, uint64_t tag,
			    uint64_t data, void *context, uint32_t kind, uint64_t flags)
{
	if (count > 1)
		return -FI_EINVAL;
	if (flags & FI_REMOTE_CQ_DATA)
		kind |= NL_HAS_DATA;
	return send_any(endpoint_of(fid), count ? iov->iov_base : NULL, count ? iov->iov_len : 0, to, tag, data, context,
			kind, flags);
}

static ssize_t msg_sendmsg(struct fid_ep *ep, const struct fi_msg *m, uint64_t flags)
{
	return send_message(ep, m->msg_iov, m->iov_count, m->addr, 0, m->data, m->context, 0, flags);
}

static ssize_t tagged_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *m, uint64_t flags)
{
	return send_message(ep, m->msg_iov, m->iov_count, m->addr, m->tag, m->data, m->context, NL_TAGGED, flags);
}

/* ---- receives ---- */

static ssize_t receive_any(struct nl_ep *ep, const struct iovec *iov, size_t count, fi_addr_t from, uint64_t tag,
			   uint64_t ignore, void *context, uint32_t kind, uint64_t flags)
{
	struct nl_request r = {
	    .op = NL_RECV, .flags = kind, .context = (uintptr_t)context, .tag = tag, .ignore = ignore,
	    .peer = ep->directed ? nl_av_rank(ep->av, from) : -1, .min_multi = (uint32_t)ep->min_multi};
	if (count > 1)
		return -FI_EINVAL;
	if (count == 1) {
		r.address = (uintptr_t)iov->iov_base;
		r.length = iov->iov_len;
	}
	if (!ep->rx_selective || flags & FI_COMPLETION)
		r.flags |= NL_COMPLETION;
	if (flags & FI_MULTI_RECV)
		r.flags |= NL_MULTI;
	if (flags & FI_DISCARD)
		r.flags |= NL_DISCARD;
	if (flags & FI_PEEK) {
		r.op = NL_PEEK;
		r.flags |= NL_COMPLETION | (flags & FI_CLAIM ? NL_CLAIM : 0) | (nl_polling ? NL_NOWAIT : 0);
	} else if (flags & FI_CLAIM) {
		r.op = NL_RECV_CLAIMED;
	}
	return nl_start(ep, &r, NULL);
}

static ssize_t msg_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from, void *context)
{
	struct iovec iov = {buf, len};
	(void)desc;
	return receive_any(endpoint_of(ep), &iov, 1, from, 0, 0, context, 0, endpoint_of(ep)->rx_flags);
}

static ssize_t msg_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count, fi_addr_t from,
			 void *context)
{
	(void)desc;
	return receive_any(endpoint_of(ep), iov, count, from, 0, 0, context, 0, endpoint_of(ep)->rx_flags);
}

static ssize_t msg_recvmsg(struct fid_ep *ep, const struct fi_msg *m, uint64_t flags)
{
	return receive_any(endpoint_of(ep), m->msg_iov, m->iov_count, m->addr, 0, 0, m->context, 0, flags);
}

static ssize_t tagged_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from, uint64_t tag,
			   uint64_t ignore, void *context)
{
	struct iovec iov = {buf, len};
	(void)desc;
	return receive_any(endpoint_of(ep), &iov, 1, from, tag, ignore, context, NL_TAGGED, endpoint_of(ep)->rx_flags);
}

static ssize_t tagged_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count, fi_addr_t from,
			    uint64_t tag, uint64_t ignore, void *context)
{
	(void)desc;
	return receive_any(endpoint_of(ep), iov, count, from, tag, ignore, context, NL_TAGGED, endpoint_of(ep)->rx_flags);
}

static ssize_t tagged_recvmsg(struct fid_ep *ep, const struct fi_msg_tagged *m, uint64_t flags)
{
	return receive_any(endpoint_of(ep), m->msg_iov, m->iov_count, m->addr, m->tag, m->ignore, m->context, NL_TAGGED,
			   flags);
}

static struct fi_ops_msg msg_ops = {
    .size = sizeof msg_ops, .recv = msg_recv, .recvv = msg_recvv, .recvmsg = msg_recvmsg, .send = msg_send,
    .sendv = msg_sendv, .sendmsg = msg_sendmsg, .inject = msg_inject, .senddata = msg_senddata,
    .injectdata = msg_injectdata};

static struct fi_ops_tagged tagged_ops = {
    .size = sizeof tagged_ops, .recv = tagged_recv, .recvv = tagged_recvv, .recvmsg = tagged_recvmsg,
    .send = tagged_send, .sendv = tagged_sendv, .sendmsg = tagged_sendmsg, .inject = tagged_inject,
    .senddata = tagged_senddata, .injectdata = tagged_injectdata};

/* ---- what is not supported ---- */

NL_STUB(fi_tx_context)
NL_STUB(fi_rx_context)
NL_STUB(fi_setname)
NL_STUB(fi_connect)
NL_STUB(fi_join)
NL_STUB(fi_ep_ops_open)

/* ---- the endpoint itself ---- */

static ssize_t cancel(fid_t fid, void *context)
{
	struct nl_request r = {.op = NL_CANCEL, .context = (uintptr_t)context};
	return nl_start((struct nl_ep *)fid, &r, NULL);
}

static int getopt_ep(fid_t fid, int level, int name, void *value, size_t *len)
{
	struct nl_ep *ep = (struct nl_ep *)fid;
	if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV || *len < sizeof(size_t))
		return -FI_ENOPROTOOPT;
	*(size_t *)value = ep->min_multi;
	*len = sizeof(size_t);
	return 0;
}

static int setopt_ep(fid_t fid, int level, int name, const void *value, size_t len)
{
	struct nl_ep *ep = (struct nl_ep *)fid;
	if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV || len < sizeof(size_t))
		return -FI_ENOPROTOOPT;
	ep->min_multi = *(const size_t *)value;
	return 0;
}

static ssize_t size_left(struct fid_ep *ep)
{
	(void)ep;
	return 1024;
}

static struct fi_ops_ep ep_ops = {
    .size = sizeof ep_ops, .cancel = cancel, .getopt = getopt_ep, .setopt = setopt_ep,
    .tx_ctx = NL_NO(fi_tx_context), .rx_ctx = NL_NO(fi_rx_context), .rx_size_left = size_left,
    .tx_size_left = size_left};

static int getname(fid_t fid, void *addr, size_t *len)
{
	struct nl_name name = {NL_MAGIC, nl_region->rank};
	size_t room = *len;
	(void)fid;
	memcpy(addr, &name, room < sizeof name ? room : sizeof name);
	*len = sizeof name;
	return room < sizeof name ? -FI_ETOOSMALL : 0;
}

static struct fi_ops_cm cm_ops = {
    .size = sizeof cm_ops, .setname = NL_NO(fi_setname), .getname = getname, .getpeer = NL_NO(fi_connect),
    .connect = NL_NO(fi_connect), .listen = NL_NO(fi_connect), .accept = NL_NO(fi_connect),
    .reject = NL_NO(fi_connect), .shutdown = NL_NO(fi_connect), .join = NL_NO(fi_join)};

static int ep_close(struct fid *fid)
{
	struct nl_ep *ep = (struct nl_ep *)fid;
	pthread_mutex_lock(&nl_mutex);
	nl_eps[ep->index] = NULL;
	bool others = false;
	for (int i = 0; i < NL_ENDPOINTS; i++)
		others |= nl_eps[i] != NULL;
	if (!others)
		nl_finalize();
	pthread_mutex_unlock(&nl_mutex);
	free(fid);
	return 0;
}

static int ep_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
	struct nl_ep *ep = (struct nl_ep *)fid;
	switch (to->fclass) {
	case FI_CLASS_AV:
		ep->av = (struct nl_av *)to;
		break;
	case FI_CLASS_CQ:
		if (flags & FI_TRANSMIT) {
			ep->tx = (struct nl_cq *)to;
			ep->tx_selective = (flags & FI_SELECTIVE_COMPLETION) != 0;
		}
		if (flags & FI_RECV) {
			ep->rx = (struct nl_cq *)to;
			ep->rx_selective = (flags & FI_SELECTIVE_COMPLETION) != 0;
		}
		break;
	case FI_CLASS_CNTR:
		if (flags & FI_SEND)
			ep->sends = (struct nl_cntr *)to;
		if (flags & FI_RECV)
			ep->receives = (struct nl_cntr *)to;
		if (flags & FI_WRITE)
			ep->writes = (struct nl_cntr *)to;
		if (flags & FI_READ)
			ep->reads = (struct nl_cntr *)to;
		if (flags & FI_REMOTE_WRITE)
			ep->remote_writes = (struct nl_cntr *)to;
		break;
	case FI_CLASS_EQ:
		break;
	default:
		return -FI_ENOSYS;
	}
	if (ep->tx != NULL)
		ep->tx->av = ep->av;
	if (ep->rx != NULL)
		ep->rx->av = ep->av;
	return 0;
}

static int ep_control(struct fid *fid, int command, void *arg)
{
	struct nl_ep *ep = (struct nl_ep *)fid;
	uint64_t *flags = arg;
	switch (command) {
	case FI_ENABLE:
		return 0;
	case FI_GETOPSFLAG:
		*flags = *flags & FI_TRANSMIT ? ep->tx_flags : ep->rx_flags;
		return 0;
	case FI_SETOPSFLAG:
		*(*flags & FI_TRANSMIT ? &ep->tx_flags : &ep->rx_flags) = *flags & ~(FI_TRANSMIT | FI_RECV);
		return 0;
	}
	return -FI_ENOSYS;
}

static struct fi_ops ep_fid_ops = {
    .size = sizeof(struct fi_ops), .close = ep_close, .bind = ep_bind, .control = ep_control,
    .ops_open = NL_NO(fi_ep_ops_open)};

/* free_endpoint returns the index for a new endpoint, or -1: another one receives its messages. */
static int free_endpoint(uint64_t caps)
{
	int index = -1;
	for (int i = NL_ENDPOINTS - 1; i >= 0; i--) {
		if (nl_eps[i] == NULL)
			index = i;
		else if (nl_eps[i]->caps & caps & (FI_MSG | FI_TAGGED))
			return -1;
	}
	return index;
}

int nl_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **fid, void *context)
{
	(void)domain;
	int index = free_endpoint(info->caps);
	if (index < 0 || nl_finalized)
		return -FI_EBUSY;
	struct nl_ep *ep = calloc(1, sizeof *ep);
	if (ep == NULL)
		return -FI_ENOMEM;
	ep->ep.fid = (struct fid){FI_CLASS_EP, context, &ep_fid_ops};
	ep->ep.ops = &ep_ops;
	ep->ep.cm = &cm_ops;
	ep->ep.msg = &msg_ops;
	ep->ep.tagged = &tagged_ops;
	ep->ep.rma = &nl_rma_ops;
	ep->ep.atomic = &nl_atomic_ops;
	ep->directed = (info->caps & FI_DIRECTED_RECV) != 0;
	ep->min_multi = NL_INLINE;
	ep->tx_flags = info->tx_attr != NULL ? info->tx_attr->op_flags : 0;
	ep->rx_flags = info->rx_attr != NULL ? info->rx_attr->op_flags : 0;
	ep->caps = info->caps;
	ep->index = (uint32_t)index;
	nl_eps[index] = ep;
	*fid = &ep->ep;
	return 0;
}
