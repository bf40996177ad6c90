/* What fabtests need beside data transfer: counters, waits with a limit, multi-receive buffers, peeks
 * and claims, cancellation, options, and errors of what is not supported. */
#include "common.h"

static int op, op2; /* addresses are contexts of operations */

static void counters(void)
{
	struct fid_cntr *sends, *receives;
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP};
	CHECK(fi_cntr_open(domain, &attr, &sends, NULL) == 0);
	CHECK(fi_cntr_open(domain, &attr, &receives, NULL) == 0);
	CHECK(fi_ep_bind(ep, &sends->fid, FI_SEND) == 0);
	CHECK(fi_ep_bind(ep, &receives->fid, FI_RECV) == 0);
	if (rank == 0) {
		CHECK(fi_tsend(ep, &op, 4, NULL, peers[1], 1, &op) == 0);
		CHECK(fi_cntr_wait(sends, 1, -1) == 0);
		completion(&op);
		CHECK(fi_cntr_read(sends) == 1);
	} else if (rank == 1) {
		CHECK(fi_cntr_wait(receives, 1, 1) == -FI_ETIMEDOUT); /* after a simulated millisecond */
		CHECK(fi_trecv(ep, &op, 4, NULL, peers[0], 1, 0, &op) == 0);
		CHECK(fi_cntr_wait(receives, 1, -1) == 0);
		completion(&op);
	}
	CHECK(fi_cntr_set(sends, 7) == 0 && fi_cntr_add(sends, 3) == 0 && fi_cntr_read(sends) == 10);
	barrier();
}

static void waits(void)
{
	struct fi_cq_tagged_entry e;
	CHECK(fi_cq_sread(cq, &e, 1, NULL, 1) == -FI_EAGAIN);
	barrier();
}

/* One buffer receives messages one behind the other, until less than the minimum is left. */
static void multi_receive(void)
{
	static char buffer[300];
	size_t least = 100, n = sizeof least;
	CHECK(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least) == 0);
	least = 0;
	CHECK(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, &n) == 0 && least == 100);
	if (rank == 1) {
		struct iovec iov = {buffer, sizeof buffer};
		struct fi_msg m = {.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &op2};
		CHECK(fi_recvmsg(ep, &m, FI_MULTI_RECV) == 0);
	}
	barrier();
	for (int i = 0; rank == 0 && i < 3; i++) {
		char text[90];
		memset(text, 'a' + i, sizeof text);
		CHECK(fi_send(ep, text, sizeof text, NULL, peers[1], &op) == 0);
		completion(&op);
	}
	for (int i = 0; rank == 1 && i < 3; i++) {
		struct fi_cq_tagged_entry e = completion(&op2);
		CHECK(e.buf == buffer + 90 * i && e.len == 90 && *(char *)e.buf == 'a' + i);
		CHECK(((e.flags & FI_MULTI_RECV) != 0) == (i == 2));
	}
	barrier();
}

static void peek_and_claim(void)
{
	char text[5000];
	if (rank == 0) {
		memset(text, 'x', sizeof text);
		CHECK(fi_tsend(ep, text, sizeof text, NULL, peers[1], 0x55, &op) == 0);
		completion(&op);
	} else if (rank == 1) {
		struct fi_msg_tagged m = {.addr = FI_ADDR_UNSPEC, .tag = 0x50, .ignore = 0xf, .context = &op2};
		int error;
		struct fi_cq_tagged_entry e;
		do {
			CHECK(fi_trecvmsg(ep, &m, FI_PEEK | FI_CLAIM) == 0);
			e = wait_for(&op2, &error);
			CHECK(error == 0 || error == FI_ENOMSG);
		} while (error != 0);
		CHECK(e.len == sizeof text && e.tag == 0x55);
		struct iovec iov = {text, sizeof text};
		m.msg_iov = &iov;
		m.iov_count = 1;
		CHECK(fi_trecvmsg(ep, &m, FI_CLAIM) == 0);
		completion(&op2);
		CHECK(text[4999] == 'x');
	}
	barrier();
}

static void cancellation(void)
{
	int error;
	CHECK(fi_trecv(ep, &op, 4, NULL, FI_ADDR_UNSPEC, 77, 0, &op2) == 0);
	CHECK(fi_cancel(&ep->fid, &op2) == 0);
	wait_for(&op2, &error);
	CHECK(error == FI_ECANCELED);
	barrier();
}

static void unsupported(void)
{
	struct fid_ep *other;
	struct fid_cq *queue;
	struct fi_info *hints = fi_allocinfo(), *info;
	hints->caps = FI_TAGGED;
	CHECK(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &info) == 0);
	CHECK(fi_scalable_ep(domain, info, &other, NULL) == -FI_ENOSYS);
	CHECK(fi_endpoint(domain, info, &other, NULL) == -FI_EBUSY);
	struct fi_cq_attr attr = {.wait_obj = FI_WAIT_FD};
	CHECK(fi_cq_open(domain, &attr, &queue, NULL) == -FI_ENOSYS);
	hints->caps = FI_RMA;
	fi_freeinfo(info);
	CHECK(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &info) == 0);
	CHECK(fi_endpoint(domain, info, &other, NULL) == 0 && fi_close(&other->fid) == 0);
	fi_freeinfo(info);
	hints->caps = FI_COLLECTIVE;
	CHECK(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &info) == -FI_ENODATA);
	fi_freeinfo(hints);
}

int main(void)
{
	open_endpoint(FI_MSG | FI_TAGGED | FI_DIRECTED_RECV | FI_MULTI_RECV);
	barrier();
	counters();
	waits();
	multi_receive();
	peek_and_claim();
	cancellation();
	unsupported();
	barrier();
	if (rank == 0)
		printf("queues: ok\n");
	fi_close(&ep->fid);
	return 0;
}
