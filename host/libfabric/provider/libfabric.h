/* What the files that implement libfabric share. */
#ifndef NICLOOP_LIBFABRIC_H
#define NICLOOP_LIBFABRIC_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <stdio.h>

#include "nicloop.h"

/* A name of an endpoint, as fi_getname gives it. */
struct nl_name {
	uint32_t magic, rank;
};

/* NL_STUB makes a function that is not supported. It stands for functions of any parameters, which
 * it does not read. */
#define NL_STUB(name)                    \
	static long no_##name(void)      \
	{                                \
		nl_log_once(#name);      \
		return -FI_ENOSYS;       \
	}
#define NL_NO(name) ((void *)no_##name)

struct nl_cntr {
	struct fid_cntr cntr;
	uint64_t value, errors;
};

/* An entry of a completion queue. */
struct nl_entry {
	struct nl_completion c;
	struct nl_entry *next;
};

struct nl_cq {
	struct fid_cq cq;
	enum fi_cq_format format;
	struct nl_entry *head, *tail;
	struct nl_av *av; /* of the endpoint, for the addresses of senders */
	uint32_t taken;   /* successful reads of all queues when this one was last empty */
	uint32_t looks;   /* reads since then that returned immediately */
};

struct nl_ep {
	struct fid_ep ep;
	struct nl_cq *tx, *rx;
	bool tx_selective, rx_selective;
	struct nl_cntr *sends, *receives, *writes, *reads, *remote_writes;
	struct nl_av *av;
	bool directed; /* receives may name their source */
	size_t min_multi;
	uint64_t tx_flags, rx_flags;
	uint64_t caps;
	uint32_t index; /* in nl_eps */
};

/* The flags of operations that are started without flags of their own. */
static inline uint64_t nl_tx_flags(struct fid_ep *ep) { return ((struct nl_ep *)ep)->tx_flags; }

/* NL_COMPLETION, or 0 for an operation whose completion the program does not want. */
static inline uint32_t nl_tx_completion(const struct nl_ep *ep, uint64_t flags, const void *context)
{
	if (flags & FI_INJECT && context == NULL)
		return 0;
	return !ep->tx_selective || flags & FI_COMPLETION ? NL_COMPLETION : 0;
}

/* The endpoints of the process. All have the name of its rank, and messages are matched per rank: at
 * most one of them receives messages with tags, and one those without. */
enum { NL_ENDPOINTS = 8 };
extern struct nl_ep *nl_eps[NL_ENDPOINTS];

extern struct fi_ops_rma nl_rma_ops;
extern struct fi_ops_atomic nl_atomic_ops;

ssize_t nl_start(struct nl_ep *ep, struct nl_request *r, const void *bytes); /* of an operation of the endpoint */
void nl_drain(void); /* moves completions from the ring into their queues */
int nl_peek(struct nl_ep *ep, struct nl_request *r);
int nl_poll(void); /* one look at the network, which may wait; 0 or a negative error number */

struct fi_atomic_attr;
int nl_query_atomic(struct fid_domain *domain, enum fi_datatype type, enum fi_op op, struct fi_atomic_attr *attr,
		    uint64_t flags);
int nl_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq, void *context);
int nl_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr, struct fid_cntr **cntr, void *context);
int nl_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context);

#endif
