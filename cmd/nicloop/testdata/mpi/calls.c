/* The calls of MPI that a simulated network is most likely to get wrong. Usage: calls CASE… */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

#define CHECK(c)                                                         \
	do {                                                             \
		if (!(c)) {                                              \
			printf("rank %d: line %d: %s\n", rank, __LINE__, #c); \
			fflush(stdout);                                  \
			MPI_Abort(MPI_COMM_WORLD, 3);                    \
		}                                                        \
	} while (0)

static void alltoall(void)
{
	for (size_t n = 1; n <= 100000; n *= 10) {
		char *a = malloc(n * (size_t)size), *b = malloc(n * (size_t)size);
		for (int i = 0; i < size; i++)
			memset(a + (size_t)i * n, rank * 16 + i, n);
		MPI_Alltoall(a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, MPI_COMM_WORLD);
		for (int i = 0; i < size; i++)
			for (size_t j = 0; j < n; j++)
				CHECK(b[(size_t)i * n + j] == (char)(i * 16 + rank));
		free(a);
		free(b);
	}
}

/* A master serves workers in the order in which their messages arrive. */
static void wildcard(void)
{
	int v, order = 0;
	for (int i = 0; rank != 0 && i < 20; i++) {
		v = rank;
		MPI_Send(&v, 1, MPI_INT, 0, i % 3, MPI_COMM_WORLD);
		MPI_Recv(&v, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	for (int i = 0; rank == 0 && i < 20 * (size - 1); i++) {
		MPI_Status s;
		MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
		CHECK(v == s.MPI_SOURCE);
		order = order * 31 + v;
		MPI_Send(&v, 1, MPI_INT, s.MPI_SOURCE, 9, MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("order %08x\n", (unsigned)order);
}

static void iprobe(void)
{
	char b[300] = {1};
	int flag = 0, looks = 0, n;
	MPI_Status s;
	if (rank == 1)
		MPI_Send(b, 300, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
	if (rank != 0)
		return;
	for (; !flag; looks++)
		MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, &s);
	MPI_Get_count(&s, MPI_CHAR, &n);
	CHECK(n == 300);
	MPI_Recv(b, 300, MPI_CHAR, s.MPI_SOURCE, 5, MPI_COMM_WORLD, &s);
	printf("iprobe: %d looks\n", looks);
}

static void test(void)
{
	static char b[30000];
	int flag = 0, looks = 0;
	MPI_Request q;
	memset(b, rank, sizeof b);
	if (rank == 1)
		MPI_Send(b, sizeof b, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
	if (rank != 0)
		return;
	MPI_Irecv(b, sizeof b, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &q);
	for (; !flag; looks++)
		MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
	CHECK(b[0] == 1 && b[29999] == 1);
	printf("test: %d looks\n", looks);
}

/* Polls of a quiet network: the provider answers most of them without the world. */
static void late(void)
{
	int flag = 0, tests = 0, probes = 0, v = 0;
	MPI_Request q;
	if (rank == 1) {
		for (int i = 0; i < 2; i++) {
			usleep(150);
			MPI_Send(&rank, 1, MPI_INT, 0, 5 + i, MPI_COMM_WORLD);
		}
	}
	if (rank != 0)
		return;
	MPI_Irecv(&v, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &q);
	for (; !flag; tests++)
		MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
	for (flag = 0; !flag; probes++)
		MPI_Iprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	MPI_Recv(&v, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(v == 1);
	printf("late: %d tests and %d probes at %.3f us\n", tests, probes, MPI_Wtime() * 1e6);
}

/* The names of the profiling interface, by which the Fortran library calls. */
static void profiled(void)
{
	int flag = 0, tests = 0, v = 0;
	MPI_Request q;
	if (rank == 1) {
		usleep(150);
		PMPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
	}
	if (rank != 0)
		return;
	double began = PMPI_Wtime();
	PMPI_Irecv(&v, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &q);
	for (; !flag; tests++)
		PMPI_Test(&q, &flag, MPI_STATUS_IGNORE);
	double us = (PMPI_Wtime() - began) * 1e6;
	CHECK(v == 1 && tests > 100);
	CHECK(us > 149 && us < 160);
}

/* A synchronous send lasts until its receive, a millisecond of simulated time later. */
static void ssend(void)
{
	int v = 42;
	double began = MPI_Wtime();
	if (rank == 0) {
		MPI_Ssend(&v, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
		CHECK(MPI_Wtime() - began > 0.9e-3);
	}
	if (rank == 1) {
		usleep(1000);
		MPI_Recv(&v, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(v == 42);
	}
}

static void mprobe(void)
{
	for (int n = 10; n <= 100000; n *= 100) {
		char *b = calloc(1, (size_t)n);
		if (rank == 1)
			MPI_Send(b, n, MPI_CHAR, 0, 6, MPI_COMM_WORLD);
		if (rank == 0) {
			MPI_Message m;
			MPI_Status s;
			int count;
			MPI_Mprobe(1, 6, MPI_COMM_WORLD, &m, &s);
			MPI_Get_count(&s, MPI_CHAR, &count);
			CHECK(count == n);
			MPI_Mrecv(b, n, MPI_CHAR, &m, &s);
		}
		free(b);
	}
}

static void window(void)
{
	int *memory;
	MPI_Win w;
	MPI_Win_allocate((MPI_Aint)((size_t)size * sizeof *memory), sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
	for (int i = 0; i < size; i++)
		memory[i] = -1;
	MPI_Win_fence(0, w);
	for (int i = 0; i < size; i++)
		MPI_Put(&rank, 1, MPI_INT, i, rank, 1, MPI_INT, w);
	MPI_Win_fence(0, w);
	for (int i = 0; i < size; i++)
		CHECK(memory[i] == i);
	MPI_Win_free(&w);
}

/* A rank accumulates into a window and another one waits until it sees the sum: only the memory of the
 * waiting rank tells it. */
static void passive(void)
{
	static long memory;
	long one = 1, seen = 0;
	MPI_Win w;
	memory = 0;
	MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	MPI_Win_lock_all(0, w);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, w);
	MPI_Win_flush(0, w);
	while (rank == 0 && seen < size)
		MPI_Fetch_and_op(NULL, &seen, MPI_LONG, 0, 0, MPI_NO_OP, w), MPI_Win_flush(0, w);
	MPI_Win_unlock_all(w);
	MPI_Win_free(&w);
	CHECK(rank != 0 || memory == size);
}

/* Epochs of groups: every rank exposes its memory to the one before it. */
static void epochs(void)
{
	int *memory, next = (rank + 1) % size, previous = (rank + size - 1) % size;
	MPI_Win w;
	MPI_Group all, from, to;
	MPI_Win_allocate(10000 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
	int *values = malloc(10000 * sizeof *values);
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &previous, &from);
	MPI_Group_incl(all, 1, &next, &to);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 10000; i++)
			values[i] = rank * 100000 + i + round;
		MPI_Win_post(from, 0, w);
		MPI_Win_start(to, 0, w);
		MPI_Put(values, 10000, MPI_INT, next, 0, 10000, MPI_INT, w);
		MPI_Win_complete(w);
		MPI_Win_wait(w);
		for (int i = 0; i < 10000; i++)
			CHECK(memory[i] == previous * 100000 + i + round);
	}
	MPI_Group_free(&all);
	MPI_Group_free(&from);
	MPI_Group_free(&to);
	MPI_Win_free(&w);
	free(values);
}

/* A program sees the simulated nodes. */
static void nodes(void)
{
	char name[MPI_MAX_PROCESSOR_NAME];
	int length, on_node;
	MPI_Comm node;
	MPI_Get_processor_name(name, &length);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &on_node);
	MPI_Comm_free(&node);
	if (rank == size - 1)
		printf("rank %d: %d ranks on %.*s\n", rank, on_node, length, name);
}

static void nonblocking(void)
{
	double x = rank, sum;
	int flag = 0;
	MPI_Request q;
	MPI_Comm half;
	MPI_Iallreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	CHECK(sum == size * (size - 1) / 2);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
	MPI_Ibarrier(half, &q);
	while (!flag)
		MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
	MPI_Comm_free(&half);
}

static void cancel(void)
{
	MPI_Request q;
	MPI_Status s;
	int v, flag;
	MPI_Irecv(&v, 1, MPI_INT, (rank + 1) % size, 77, MPI_COMM_WORLD, &q);
	MPI_Cancel(&q);
	MPI_Wait(&q, &s);
	MPI_Test_cancelled(&s, &flag);
	CHECK(flag);
}

static void self(void)
{
	static char a[50000], b[50000];
	a[7] = 7;
	MPI_Sendrecv(a, sizeof a, MPI_CHAR, rank, 3, b, sizeof b, MPI_CHAR, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(b[7] == 7);
}

/* A rendezvous of two megabytes lasts longer than the patience that tells a hang. */
static void large(void)
{
	static char b[2000000];
	b[1999999] = (char)(rank + 1);
	if (rank == 0)
		MPI_Send(b, sizeof b, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(b, sizeof b, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(rank > 1 || b[1999999] == 1);
}

/* Many messages between two calls that wait fill the ring to the provider. */
static void flood(void)
{
	enum { MESSAGES = 1000 };
	static int v[MESSAGES];
	static MPI_Request q[MESSAGES];
	for (int i = 0; i < MESSAGES; i++) {
		v[i] = rank == 1 ? i : -1;
		if (rank == 1)
			MPI_Isend(&v[i], 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &q[i]);
		else if (rank == 0)
			MPI_Irecv(&v[i], 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &q[i]);
	}
	if (rank < 2)
		MPI_Waitall(MESSAGES, q, MPI_STATUSES_IGNORE);
	for (int i = 0; rank == 0 && i < MESSAGES; i++)
		CHECK(v[i] == i);
}

static void clocks(void)
{
	double began = MPI_Wtime();
	int reads = 0;
	while (MPI_Wtime() - began < 1e-4)
		reads++;
	CHECK(reads > 100);
}

static void truncate_message(void)
{
	char b[100] = {0};
	int class, err;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (rank == 1)
		MPI_Send(b, 100, MPI_CHAR, 0, 8, MPI_COMM_WORLD);
	if (rank == 0) {
		err = MPI_Recv(b, 10, MPI_CHAR, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Error_class(err, &class);
		CHECK(class == MPI_ERR_TRUNCATE);
	}
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* ---- programs with a mistake ---- */

static void hang(void)
{
	int v;
	if (rank == 0)
		MPI_Recv(&v, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void die(void)
{
	if (rank == 1)
		_exit(7);
}

static void spin(void)
{
	for (volatile int x = 0; rank == 0; x++)
		;
}

static void abort_world(void)
{
	if (rank == 2)
		MPI_Abort(MPI_COMM_WORLD, 9);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
    {"alltoall", alltoall}, {"wildcard", wildcard}, {"iprobe", iprobe}, {"test", test}, {"late", late}, {"profiled", profiled}, {"ssend", ssend},
    {"mprobe", mprobe}, {"window", window}, {"passive", passive}, {"epochs", epochs}, {"nodes", nodes}, {"nonblocking", nonblocking}, {"cancel", cancel}, {"self", self},
    {"large", large}, {"flood", flood}, {"clocks", clocks}, {"truncate", truncate_message}, {"hang", hang},
    {"die", die}, {"spin", spin}, {"abort", abort_world},
};

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int a = 1; a < argc; a++)
		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
			if (strcmp(argv[a], cases[i].name) != 0)
				continue;
			MPI_Barrier(MPI_COMM_WORLD);
			cases[i].run();
			MPI_Barrier(MPI_COMM_WORLD);
			if (rank == 0)
				printf("%s: ok at %.3f us\n", argv[a], MPI_Wtime() * 1e6);
			fflush(stdout);
		}
	MPI_Finalize();
	return 0;
}
