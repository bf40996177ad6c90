/* One-sided operations of libfabric: each rank writes to and reads from the memory of the next one. */
#include "common.h"

enum { BYTES = 200000, KEY = 7, READ_ONLY = 8, DATA = 0x1234567 };

static unsigned char memory[BYTES], constant[64], from[BYTES], into[BYTES];
static int op; /* its address is the context of an operation */

static void fill(int seed, size_t n)
{
	for (size_t i = 0; i < n; i++)
		from[i] = (unsigned char)(seed * 31 + i * 7);
}

/* A write is in the memory of the peer when it is complete; a read returns what the peer has. */
static void write_and_read(size_t n, size_t at)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	fill(rank, n);
	CHECK(fi_write(ep, from, n, NULL, peers[next], at, KEY, &op) == 0);
	struct fi_cq_tagged_entry e = completion(&op);
	CHECK((e.flags & (FI_RMA | FI_WRITE)) == (FI_RMA | FI_WRITE));
	barrier();
	fill(previous, n);
	CHECK(memcmp(memory + at, from, n) == 0);
	for (size_t i = 0; i < n; i++)
		memory[at + i] ^= 0xff; /* a local change must be seen by the read */
	barrier();
	CHECK(fi_read(ep, into, n, NULL, peers[next], at, KEY, &op) == 0);
	e = completion(&op);
	CHECK((e.flags & (FI_RMA | FI_READ)) == (FI_RMA | FI_READ));
	fill(rank, n);
	for (size_t i = 0; i < n; i++)
		CHECK(into[i] == (from[i] ^ 0xff));
	barrier();
}

/* The target of a write with data gets a completion, after the bytes. */
static void write_data(size_t n)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	fill(rank, n);
	if (rank % 2 == 0) {
		CHECK(fi_writedata(ep, from, n, NULL, DATA + (uint64_t)rank, peers[next], 0, KEY, &op) == 0);
		completion(&op);
	}
	if (previous % 2 == 0) {
		struct fi_cq_tagged_entry e = completion(NULL);
		CHECK((e.flags & (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA)) == (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA));
		CHECK(e.data == DATA + (uint64_t)previous);
		fill(previous, n);
		CHECK(memcmp(memory, from, n) == 0);
	}
	barrier();
}

static void failures(void)
{
	int next = (rank + 1) % size, error;
	CHECK(fi_write(ep, from, 8, NULL, peers[next], 0, 12345, &op) == 0);
	wait_for(&op, &error);
	CHECK(error == FI_EKEYREJECTED);
	CHECK(fi_write(ep, from, 8, NULL, peers[next], BYTES - 4, KEY, &op) == 0);
	wait_for(&op, &error);
	CHECK(error == FI_EINVAL);
	CHECK(fi_write(ep, from, 8, NULL, peers[next], 0, READ_ONLY, &op) == 0);
	wait_for(&op, &error);
	CHECK(error == FI_EACCES);
	CHECK(fi_read(ep, into, 8, NULL, peers[next], 0, READ_ONLY, &op) == 0);
	completion(&op);
}

/* More writes than there are slots and descriptors; the last one wins. */
static void flood(void)
{
	static unsigned char values[1000][8];
	int next = (rank + 1) % size;
	for (int i = 0; i < 1000; i++) {
		memset(values[i], i, sizeof values[i]);
		CHECK(fi_write(ep, values[i], sizeof values[i], NULL, peers[next], 64, KEY, &op) == 0);
	}
	for (int i = 0; i < 1000; i++)
		completion(&op);
	barrier();
	for (int i = 0; i < 8; i++)
		CHECK(memory[64 + i] == (unsigned char)999);
	barrier();
}

/* Rank 0 closes its region while reads of rank 1 wait for DMA memory: those are refused. */
static void close_early(struct fid_mr *mr)
{
	enum { READS = 240 }; /* 48 MB, of a heap of 32 MB */
	static int last;
	int error;
	if (rank == 0) {
		receive_token(1, 97);
		fi_close(&mr->fid);
	} else if (rank == 1) {
		for (int i = 1; i < READS; i++)
			CHECK(fi_read(ep, into, BYTES, NULL, peers[0], 0, KEY, &op) == 0);
		CHECK(fi_read(ep, into, BYTES, NULL, peers[0], 0, KEY, &last) == 0);
		CHECK(fi_tsend(ep, &token, sizeof token, NULL, peers[0], 97, &token) == 0);
		for (int left = READS + 1; left > 0; left--) {
			struct fi_cq_tagged_entry e = wait_for(&any, &error);
			if (e.op_context == &last)
				CHECK(error == FI_EKEYREJECTED);
		}
	}
	barrier();
	if (rank != 0)
		fi_close(&mr->fid);
}

int main(void)
{
	static const size_t lengths[] = {1, 100, 2048, 5000, 100000};
	struct fid_mr *mr, *mr2, *mr3;
	open_endpoint(FI_MSG | FI_TAGGED | FI_RMA | FI_DIRECTED_RECV);
	CHECK(fi_mr_reg(domain, memory, BYTES, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, KEY, 0, &mr, NULL) == 0);
	CHECK(fi_mr_reg(domain, constant, sizeof constant, FI_REMOTE_READ, 0, READ_ONLY, 0, &mr2, NULL) == 0);
	CHECK(fi_mr_reg(domain, memory, BYTES, FI_REMOTE_READ, 0, KEY, 0, &mr3, NULL) == -FI_ENOKEY);
	barrier();
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
		write_and_read(lengths[i], 1000 * i);
	write_data(8);
	write_data(30000);
	failures();
	flood();
	barrier();
	close_early(mr);
	fi_close(&mr2->fid);
	if (rank == 0)
		printf("rma: ok\n");
	fi_close(&ep->fid);
	return 0;
}
