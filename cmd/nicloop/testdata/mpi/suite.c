/* Measurements that use MPI as the OSU and Intel benchmarks do: windows of nonblocking messages, one-
 * sided epochs, and collectives whose times are reduced over all ranks. Usage: suite TEST BYTES… */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 16, WARMUP = 2, ROUNDS = 10, LONGEST = 1 << 20 };

static int rank, size;
static char *out, *in;

#define CHECK(c)                                                              \
	do {                                                                  \
		if (!(c)) {                                                   \
			printf("rank %d: line %d: %s\n", rank, __LINE__, #c); \
			fflush(stdout);                                       \
			MPI_Abort(MPI_COMM_WORLD, 3);                         \
		}                                                             \
	} while (0)

/* report prints the least, mean and largest of the times of all ranks, in microseconds. */
static void report(const char *name, int n, double us)
{
	double least, most, sum;
	MPI_Reduce(&us, &least, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
	MPI_Reduce(&us, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Reduce(&us, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%s %d bytes: %.3f us (%.3f to %.3f)\n", name, n, sum / size, least, most);
}

/* ---- messages: ranks of the lower half send to those of the upper half ---- */

static int partner(void) { return rank < size / 2 ? rank + size / 2 : rank - size / 2; }

static double window(int n, int sends, int receives)
{
	MPI_Request q[2 * WINDOW];
	char ack = 0;
	double began = 0;
	for (int i = 0; i < WARMUP + ROUNDS; i++) {
		int count = 0;
		if (i == WARMUP)
			began = MPI_Wtime();
		for (int k = 0; receives && k < WINDOW; k++)
			MPI_Irecv(in, n, MPI_CHAR, partner(), 10, MPI_COMM_WORLD, &q[count++]);
		for (int k = 0; sends && k < WINDOW; k++)
			MPI_Isend(out, n, MPI_CHAR, partner(), 10, MPI_COMM_WORLD, &q[count++]);
		MPI_Waitall(count, q, MPI_STATUSES_IGNORE);
		if (receives && !sends)
			MPI_Send(&ack, 1, MPI_CHAR, partner(), 11, MPI_COMM_WORLD);
		else if (!receives)
			MPI_Recv(&ack, 1, MPI_CHAR, partner(), 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	return (MPI_Wtime() - began) * 1e6 / ROUNDS;
}

static double bandwidth(int n) { return window(n, rank < size / 2, rank >= size / 2); }
static double both_directions(int n) { return window(n, 1, 1); }

static double sendrecv(int n)
{
	double began = MPI_Wtime();
	for (int i = 0; i < ROUNDS; i++)
		MPI_Sendrecv(out, n, MPI_CHAR, (rank + 1) % size, 1, in, n, MPI_CHAR, (rank + size - 1) % size, 1,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return (MPI_Wtime() - began) * 1e6 / ROUNDS;
}

static double exchange(int n)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	MPI_Request q[2];
	double began = MPI_Wtime();
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Isend(out, n, MPI_CHAR, previous, 1, MPI_COMM_WORLD, &q[0]);
		MPI_Isend(out, n, MPI_CHAR, next, 2, MPI_COMM_WORLD, &q[1]);
		MPI_Recv(in, n, MPI_CHAR, next, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(in, n, MPI_CHAR, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	}
	return (MPI_Wtime() - began) * 1e6 / ROUNDS;
}

static double persistent(int n)
{
	MPI_Request q[2];
	MPI_Send_init(out, n, MPI_CHAR, partner(), 3, MPI_COMM_WORLD, &q[0]);
	MPI_Recv_init(in, n, MPI_CHAR, partner(), 3, MPI_COMM_WORLD, &q[1]);
	double began = MPI_Wtime();
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Startall(2, q);
		MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	}
	double us = (MPI_Wtime() - began) * 1e6 / ROUNDS;
	MPI_Request_free(&q[0]);
	MPI_Request_free(&q[1]);
	return us;
}

/* ---- one-sided ---- */

static double put(int n)
{
	char *memory;
	MPI_Win w;
	MPI_Win_allocate(n + 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
	memset(memory, 0, (size_t)n + 1);
	MPI_Barrier(MPI_COMM_WORLD);
	double began = MPI_Wtime();
	MPI_Win_lock(MPI_LOCK_SHARED, partner(), 0, w);
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Put(out, n, MPI_CHAR, partner(), 0, n, MPI_CHAR, w);
		MPI_Win_flush(partner(), w);
	}
	MPI_Win_unlock(partner(), w);
	double us = (MPI_Wtime() - began) * 1e6 / ROUNDS;
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(n == 0 || memory[n - 1] == (char)partner());
	MPI_Win_free(&w);
	return us;
}

static double accumulate(int n)
{
	long *memory, one = 1, sum = 0;
	MPI_Win w;
	MPI_Win_allocate((MPI_Aint)sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
	*memory = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	double began = MPI_Wtime();
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);
		MPI_Fetch_and_op(&one, &sum, MPI_LONG, 0, 0, MPI_SUM, w);
		MPI_Win_unlock(0, w);
	}
	double us = (MPI_Wtime() - began) * 1e6 / ROUNDS;
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(rank != 0 || *memory == ROUNDS * size);
	MPI_Win_free(&w);
	(void)n;
	return us;
}

/* ---- collectives ---- */

static double barrier(int n)
{
	double began = MPI_Wtime();
	for (int i = 0; i < ROUNDS; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	(void)n;
	return (MPI_Wtime() - began) * 1e6 / ROUNDS;
}

/* Each round starts together, as in the OSU benchmarks. */
#define COLLECTIVE(name, call)                              \
	static double name(int n)                           \
	{                                                   \
		double us = 0;                              \
		for (int i = 0; i < WARMUP + ROUNDS; i++) { \
			double began = MPI_Wtime();         \
			call;                               \
			if (i >= WARMUP)                    \
				us += MPI_Wtime() - began;  \
			MPI_Barrier(MPI_COMM_WORLD);        \
		}                                           \
		return us * 1e6 / ROUNDS;                   \
	}

COLLECTIVE(bcast, MPI_Bcast(out, n, MPI_CHAR, 0, MPI_COMM_WORLD))
COLLECTIVE(allreduce, MPI_Allreduce(out, in, n / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD))
COLLECTIVE(reduce, MPI_Reduce(out, in, n / 4, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD))
COLLECTIVE(allgather, MPI_Allgather(out, n, MPI_CHAR, in, n, MPI_CHAR, MPI_COMM_WORLD))
COLLECTIVE(alltoall, MPI_Alltoall(out, n, MPI_CHAR, in, n, MPI_CHAR, MPI_COMM_WORLD))
COLLECTIVE(gather, MPI_Gather(out, n, MPI_CHAR, in, n, MPI_CHAR, 0, MPI_COMM_WORLD))
COLLECTIVE(scatter, MPI_Scatter(out, n, MPI_CHAR, in, n, MPI_CHAR, 0, MPI_COMM_WORLD))

static const struct {
	const char *name;
	double (*run)(int n);
} tests[] = {
    {"bandwidth", bandwidth}, {"both_directions", both_directions}, {"sendrecv", sendrecv}, {"exchange", exchange},
    {"persistent", persistent}, {"put", put}, {"accumulate", accumulate}, {"barrier", barrier}, {"bcast", bcast},
    {"allreduce", allreduce}, {"reduce", reduce}, {"allgather", allgather}, {"alltoall", alltoall}, {"gather", gather},
    {"scatter", scatter},
};

static void run_all(const char *name, int n)
{
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		if (strcmp(name, "all") != 0 && strcmp(name, tests[i].name) != 0)
			continue;
		memset(out, rank, (size_t)n * (size_t)size);
		MPI_Barrier(MPI_COMM_WORLD);
		report(tests[i].name, n, tests[i].run(n));
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	CHECK(argc > 2 && size % 2 == 0);
	for (int a = 2; a < argc; a++) {
		int n = atoi(argv[a]);
		CHECK(n >= 0 && n <= LONGEST);
		out = calloc((size_t)n * (size_t)size + 1, 1);
		in = calloc((size_t)n * (size_t)size + 1, 1);
		run_all(argv[1], n);
		free(out);
		free(in);
	}
	MPI_Finalize();
	return 0;
}
