/* Atomic operations on memory that a peer has registered. The world performs them. */
#include <rdma/fi_atomic.h>
#include <string.h>

#include "libfabric.h"

enum { NL_ATOMIC_BYTES = NL_INLINE - 32 }; /* of operands and values to compare with: atomics.go */

static size_t size_of(enum fi_datatype type)
{
	static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
	return (unsigned)type < sizeof sizes / sizeof *sizes ? sizes[type] : 0;
}

static bool has_operation(enum fi_datatype type, enum fi_op op)
{
	bool bitwise = op == FI_BOR || op == FI_BAND || op == FI_BXOR || op == FI_MSWAP;
	return size_of(type) != 0 && (unsigned)op <= FI_MSWAP && !(bitwise && (type == FI_FLOAT || type == FI_DOUBLE));
}

static bool compares(enum fi_op op) { return op >= FI_CSWAP; }

struct nl_operands {
	const void *buf, *compare;
	void *result;
	size_t count;
	enum fi_datatype type;
	enum fi_op op;
};

static ssize_t start_atomic(struct fid_ep *fid, struct nl_operands o, fi_addr_t to, uint64_t addr, uint64_t key,
			    void *context, uint64_t flags)
{
	struct nl_ep *ep = (struct nl_ep *)fid;
	size_t n = o.count * size_of(o.type);
	if (!has_operation(o.type, o.op) || compares(o.op) != (o.compare != NULL))
		return -FI_EOPNOTSUPP;
	if (n == 0 || n * (o.compare != NULL ? 2 : 1) > NL_ATOMIC_BYTES)
		return -FI_EMSGSIZE;
	struct nl_request r = {
	    .op = NL_ATOMIC, .flags = NL_IS_INLINE, .context = (uintptr_t)context, .address = (uintptr_t)o.buf,
	    .length = n, .tag = key, .ignore = addr, .peer = nl_av_rank(ep->av, to), .result = (uintptr_t)o.result,
	    .atomic_op = (uint16_t)o.op, .datatype = (uint16_t)o.type, .compares = o.compare != NULL};
	if (r.peer < 0 || (uint32_t)r.peer >= nl_region->size)
		return -FI_EINVAL;
	r.flags |= nl_tx_completion(ep, flags, context);
	char bytes[NL_INLINE] = {0}; /* FI_ATOMIC_READ has no operands */
	if (o.buf != NULL)
		memcpy(bytes, o.buf, n);
	if (o.compare != NULL)
		memcpy(bytes + n, o.compare, n);
	return nl_start(ep, &r, bytes);
}

/* first is the only element of a vector; vectors of more are not supported (iov_limit is 1). */
static const void *first(const struct fi_ioc *iov, size_t count) { return count > 0 ? iov->addr : NULL; }

/* ---- without a result ---- */

static ssize_t atomic_write(struct fid_ep *ep, const void *buf, size_t count, void *desc, fi_addr_t to, uint64_t addr,
			    uint64_t key, enum fi_datatype type, enum fi_op op, void *context)
{
	(void)desc;
	return start_atomic(ep, (struct nl_operands){buf, NULL, NULL, count, type, op}, to, addr, key, context,
			    nl_tx_flags(ep));
}

static ssize_t atomic_writev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc, size_t count, fi_addr_t to,
			     uint64_t addr, uint64_t key, enum fi_datatype type, enum fi_op op, void *context)
{
	(void)desc;
	if (count != 1)
		return -FI_EINVAL;
	return atomic_write(ep, iov->addr, iov->count, NULL, to, addr, key, type, op, context);
}

static ssize_t atomic_writemsg(struct fid_ep *ep, const struct fi_msg_atomic *m, uint64_t flags)
{
	if (m->iov_count > 1 || m->rma_iov_count != 1)
		return -FI_EINVAL;
	struct nl_operands o = {first(m->msg_iov, m->iov_count), NULL, NULL, m->rma_iov->count, m->datatype, m->op};
	return start_atomic(ep, o, m->addr, m->rma_iov->addr, m->rma_iov->key, m->context, flags);
}

static ssize_t atomic_inject(struct fid_ep *ep, const void *buf, size_t count, fi_addr_t to, uint64_t addr,
			     uint64_t key, enum fi_datatype type, enum fi_op op)
{
	return start_atomic(ep, (struct nl_operands){buf, NULL, NULL, count, type, op}, to, addr, key, NULL, FI_INJECT);
}

/* ---- with the values that were there before ---- */

static ssize_t atomic_readwrite(struct fid_ep *ep, const void *buf, size_t count, void *desc, void *result,
				void *result_desc, fi_addr_t to, uint64_t addr, uint64_t key, enum fi_datatype type,
				enum fi_op op, void *context)
{
	(void)desc, (void)result_desc;
	return start_atomic(ep, (struct nl_operands){buf, NULL, result, count, type, op}, to, addr, key, context,
			    nl_tx_flags(ep));
}

static ssize_t atomic_readwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc, size_t count,
				 struct fi_ioc *resultv, void **result_desc, size_t result_count, fi_addr_t to,
				 uint64_t addr, uint64_t key, enum fi_datatype type, enum fi_op op, void *context)
{
	(void)desc, (void)result_desc;
	if (count > 1 || result_count != 1)
		return -FI_EINVAL;
	return atomic_readwrite(ep, first(iov, count), resultv->count, NULL, resultv->addr, NULL, to, addr, key, type, op,
				context);
}

static ssize_t atomic_readwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *m, struct fi_ioc *resultv,
				   void **result_desc, size_t result_count, uint64_t flags)
{
	(void)result_desc;
	if (m->iov_count > 1 || m->rma_iov_count != 1 || result_count != 1)
		return -FI_EINVAL;
	struct nl_operands o = {
	    first(m->msg_iov, m->iov_count), NULL, resultv->addr, m->rma_iov->count, m->datatype, m->op};
	return start_atomic(ep, o, m->addr, m->rma_iov->addr, m->rma_iov->key, m->context, flags);
}

static ssize_t atomic_compwrite(struct fid_ep *ep, const void *buf, size_t count, void *desc, const void *compare,
				void *compare_desc, void *result, void *result_desc, fi_addr_t to, uint64_t addr,
				uint64_t key, enum fi_datatype type, enum fi_op op, void *context)
{
	(void)desc, (void)compare_desc, (void)result_desc;
	return start_atomic(ep, (struct nl_operands){buf, compare, result, count, type, op}, to, addr, key, context,
			    nl_tx_flags(ep));
}

static ssize_t atomic_compwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc, size_t count,
				 const struct fi_ioc *comparev, void **compare_desc, size_t compare_count,
				 struct fi_ioc *resultv, void **result_desc, size_t result_count, fi_addr_t to,
				 uint64_t addr, uint64_t key, enum fi_datatype type, enum fi_op op, void *context)
{
	(void)desc, (void)compare_desc, (void)result_desc;
	if (count != 1 || compare_count != 1 || result_count != 1)
		return -FI_EINVAL;
	return atomic_compwrite(ep, iov->addr, iov->count, NULL, comparev->addr, NULL, resultv->addr, NULL, to, addr, key,
				type, op, context);
}

static ssize_t atomic_compwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *m, const struct fi_ioc *comparev,
				   void **compare_desc, size_t compare_count, struct fi_ioc *resultv, void **result_desc,
				   size_t result_count, uint64_t flags)
{
	(void)compare_desc, (void)result_desc;
	if (m->iov_count != 1 || m->rma_iov_count != 1 || compare_count != 1 || result_count != 1)
		return -FI_EINVAL;
	struct nl_operands o = {
	    m->msg_iov->addr, comparev->addr, resultv->addr, m->msg_iov->count, m->datatype, m->op};
	return start_atomic(ep, o, m->addr, m->rma_iov->addr, m->rma_iov->key, m->context, flags);
}

/* ---- what there is ---- */

static int valid(enum fi_datatype type, enum fi_op op, bool compare, size_t *count)
{
	if (!has_operation(type, op) || compares(op) != compare)
		return -FI_EOPNOTSUPP;
	*count = NL_ATOMIC_BYTES / size_of(type) / (compare ? 2 : 1);
	return 0;
}

static int writevalid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op, size_t *count)
{
	(void)ep;
	return op == FI_ATOMIC_READ ? -FI_EOPNOTSUPP : valid(type, op, false, count);
}

static int readwritevalid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op, size_t *count)
{
	(void)ep;
	return valid(type, op, false, count);
}

static int compwritevalid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op, size_t *count)
{
	(void)ep;
	return valid(type, op, true, count);
}

int nl_query_atomic(struct fid_domain *domain, enum fi_datatype type, enum fi_op op, struct fi_atomic_attr *attr,
		    uint64_t flags)
{
	(void)domain;
	if (flags & ~(FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC))
		return -FI_EINVAL;
	int err = valid(type, op, (flags & FI_COMPARE_ATOMIC) != 0, &attr->count);
	if (err == 0 && flags == 0 && op == FI_ATOMIC_READ)
		err = -FI_EOPNOTSUPP;
	attr->size = size_of(type);
	return err;
}

struct fi_ops_atomic nl_atomic_ops = {
    .size = sizeof nl_atomic_ops, .write = atomic_write, .writev = atomic_writev, .writemsg = atomic_writemsg,
    .inject = atomic_inject, .readwrite = atomic_readwrite, .readwritev = atomic_readwritev,
    .readwritemsg = atomic_readwritemsg, .compwrite = atomic_compwrite, .compwritev = atomic_compwritev,
    .compwritemsg = atomic_compwritemsg, .writevalid = writevalid, .readwritevalid = readwritevalid,
    .compwritevalid = compwritevalid};
