/* Atomic operations of libfabric: all ranks count at rank 0, and take a lock there. */
#include "common.h"

enum { KEY = 5, ROUNDS = 20 };

static uint64_t memory[8];
static int op; /* its address is the context of an operation */

static uint64_t fetch(enum fi_op what, uint64_t operand, uint64_t offset)
{
	uint64_t old;
	CHECK(fi_fetch_atomic(ep, &operand, 1, NULL, &old, NULL, peers[0], offset, KEY, FI_UINT64, what, &op) == 0);
	struct fi_cq_tagged_entry e = completion(&op);
	CHECK((e.flags & (FI_ATOMIC | FI_READ)) == (FI_ATOMIC | FI_READ));
	return old;
}

static uint64_t compare_swap(uint64_t compare, uint64_t operand, uint64_t offset)
{
	uint64_t old;
	CHECK(fi_compare_atomic(ep, &operand, 1, NULL, &compare, NULL, &old, NULL, peers[0], offset, KEY, FI_UINT64,
				FI_CSWAP, &op) == 0);
	completion(&op);
	return old;
}

/* Every value of the counter is fetched once. */
static void count(void)
{
	uint64_t last = 0;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t old = fetch(FI_SUM, 1, 0);
		CHECK(i == 0 || old > last);
		last = old;
		uint64_t bit = 1;
		CHECK(fi_atomic(ep, &bit, 1, NULL, peers[0], 8, KEY, FI_UINT64, FI_SUM, &op) == 0);
		completion(&op);
	}
	barrier();
	CHECK(fetch(FI_ATOMIC_READ, 0, 0) == (uint64_t)(ROUNDS * size));
	CHECK(fetch(FI_ATOMIC_READ, 0, 8) == (uint64_t)(ROUNDS * size));
	barrier();
}

/* A lock: what is read and written under it without atomics is consistent. */
static void lock(void)
{
	for (int i = 0; i < 5; i++) {
		while (compare_swap(0, (uint64_t)rank + 1, 16) != 0)
			;
		uint64_t v;
		CHECK(fi_read(ep, &v, sizeof v, NULL, peers[0], 24, KEY, &op) == 0);
		completion(&op);
		v++;
		CHECK(fi_write(ep, &v, sizeof v, NULL, peers[0], 24, KEY, &op) == 0);
		completion(&op);
		CHECK(compare_swap((uint64_t)rank + 1, 0, 16) == (uint64_t)rank + 1);
	}
	barrier();
	CHECK(fetch(FI_ATOMIC_READ, 0, 24) == (uint64_t)(5 * size));
	barrier();
}

static void validity(void)
{
	size_t n = 0;
	CHECK(fi_atomicvalid(ep, FI_DOUBLE, FI_SUM, &n) == 0 && n >= 1);
	CHECK(fi_atomicvalid(ep, FI_DOUBLE, FI_BOR, &n) == -FI_EOPNOTSUPP);
	CHECK(fi_compare_atomicvalid(ep, FI_INT32, FI_MSWAP, &n) == 0 && n >= 1);
	CHECK(fi_fetch_atomicvalid(ep, FI_LONG_DOUBLE, FI_SUM, &n) == -FI_EOPNOTSUPP);
	uint64_t v = 1;
	int error;
	CHECK(fi_atomic(ep, &v, 1, NULL, peers[0], 0, 999, FI_UINT64, FI_SUM, &op) == 0);
	struct fi_cq_tagged_entry e = wait_for(&op, &error);
	CHECK(error == FI_EKEYREJECTED);
	CHECK((e.flags & (FI_ATOMIC | FI_WRITE)) == (FI_ATOMIC | FI_WRITE));
}

int main(void)
{
	struct fid_mr *mr;
	open_endpoint(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_DIRECTED_RECV);
	CHECK(fi_mr_reg(domain, memory, sizeof memory, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, KEY, 0, &mr, NULL) == 0);
	barrier();
	count();
	lock();
	validity();
	barrier();
	fi_close(&mr->fid);
	if (rank == 0)
		printf("atomic: ok\n");
	fi_close(&ep->fid);
	return 0;
}
