/* What programs for libfabric share: an endpoint of an RDM provider, and addresses of all ranks. */
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_ep *ep;
static struct fid_cq *cq;
static struct fid_av *av;
static fi_addr_t *peers;

#define CHECK(c)                                                              \
	do {                                                                  \
		if (!(c)) {                                                   \
			printf("rank %d: line %d: %s\n", rank, __LINE__, #c); \
			fflush(stdout);                                       \
			exit(1);                                              \
		}                                                             \
	} while (0)

/* open_endpoint opens the provider, whose ranks are started by mpirun. */
static void open_endpoint(uint64_t caps)
{
	rank = atoi(getenv("OMPI_COMM_WORLD_RANK"));
	size = atoi(getenv("OMPI_COMM_WORLD_SIZE"));
	struct fi_info *hints = fi_allocinfo(), *info;
	hints->caps = caps;
	hints->ep_attr->type = FI_EP_RDM;
	CHECK(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &info) == 0);
	CHECK(fi_fabric(info->fabric_attr, &fabric, NULL) == 0);
	CHECK(fi_domain(fabric, info, &domain, NULL) == 0);
	struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED};
	struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
	CHECK(fi_cq_open(domain, &cq_attr, &cq, NULL) == 0);
	CHECK(fi_av_open(domain, &av_attr, &av, NULL) == 0);
	CHECK(fi_endpoint(domain, info, &ep, NULL) == 0);
	CHECK(fi_ep_bind(ep, &av->fid, 0) == 0);
	CHECK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV) == 0);
	CHECK(fi_enable(ep) == 0);
	peers = calloc((size_t)size, sizeof *peers);
	for (int i = 0; i < size; i++) {
		char node[16];
		struct fi_info *to;
		snprintf(node, sizeof node, "%d", i);
		CHECK(fi_getinfo(FI_VERSION(1, 15), node, NULL, 0, hints, &to) == 0);
		CHECK(to->dest_addr != NULL && fi_av_insert(av, to->dest_addr, 1, &peers[i], 0, NULL) == 1);
		fi_freeinfo(to);
	}
	fi_freeinfo(hints);
	fi_freeinfo(info);
}

static int any;

/* wait_for waits for a completion, of context unless that is &any; *error is its error number, or 0. */
static struct fi_cq_tagged_entry wait_for(void *context, int *error)
{
	struct fi_cq_tagged_entry e;
	for (;;) {
		ssize_t n = fi_cq_read(cq, &e, 1);
		*error = 0;
		if (n == -FI_EAVAIL) {
			struct fi_cq_err_entry bad = {0};
			CHECK(fi_cq_readerr(cq, &bad, 0) == 1);
			e.op_context = bad.op_context;
			e.flags = bad.flags;
			*error = bad.err;
			n = 1;
		}
		if (n == -FI_EAGAIN)
			continue;
		CHECK(n == 1);
		CHECK(context == &any || e.op_context == context);
		return e;
	}
}

static struct fi_cq_tagged_entry completion(void *context)
{
	int error;
	struct fi_cq_tagged_entry e = wait_for(context, &error);
	CHECK(error == 0);
	return e;
}

static int token;

static void send_token(int to, uint64_t tag)
{
	CHECK(fi_tsend(ep, &token, sizeof token, NULL, peers[to], tag, &token) == 0);
	completion(&token);
}

static void receive_token(int from, uint64_t tag)
{
	CHECK(fi_trecv(ep, &token, sizeof token, NULL, peers[from], tag, 0, &token) == 0);
	completion(&token);
}

/* barrier: everybody tells rank 0, which tells everybody. */
static void barrier(void)
{
	if (rank != 0) {
		send_token(0, 98);
		receive_token(0, 99);
		return;
	}
	for (int i = 1; i < size; i++)
		receive_token(i, 98);
	for (int i = 1; i < size; i++)
		send_token(i, 99);
}
