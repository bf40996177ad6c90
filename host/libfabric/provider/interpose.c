/* Virtual time for programs that know nothing of it. The library is preloaded: it replaces clocks and
 * sleeps, and tells MPI calls that must not wait from those that may. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "nicloop.h"

int nl_polling;

static uint64_t skew_ps;       /* spent since the last request */
static uint64_t unseen_ps;     /* spent in requests that the world has not answered */
static uint64_t compute_since; /* processor time of this thread at the last answer */

#define READ_PS 20000u /* reading a clock takes 20 ns, so a loop that waits for a time ends */

static bool is_main_thread(void)
{
	static __thread int known;
	if (known == 0)
		known = syscall(SYS_gettid) == getpid() ? 1 : 2;
	return known == 1;
}

static bool initialized; /* MPI_Init has returned: how often it reads clocks depends on the machine */

static bool is_virtual(void)
{
	return (initialized || nl_started) && nl_region != NULL && !nl_finalized && is_main_thread();
}

static uint64_t thread_ns(void)
{
	struct timespec t;
	syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool measures_compute(void)
{
	static int known;
	if (known == 0)
		known = getenv("NICLOOP_MPI_MEASURE") != NULL ? 1 : 2;
	return known == 1;
}

uint64_t nl_take_compute(void)
{
	if (!measures_compute())
		return 0;
	uint64_t now = thread_ns(), spent = compute_since ? now - compute_since : 0;
	compute_since = now;
	return spent;
}

void nl_spend(uint64_t ps) { skew_ps += ps; }

uint64_t nl_take_skew(void)
{
	uint64_t t = skew_ps;
	skew_ps = 0;
	unseen_ps += t;
	return t;
}

void nl_answered(void)
{
	unseen_ps = 0;
	if (measures_compute())
		compute_since = thread_ns();
}

uint64_t nl_now_ps(void)
{
	return nl_region == NULL ? 0 : __atomic_load_n(&nl_region->now_ps, __ATOMIC_ACQUIRE) + unseen_ps + skew_ps;
}

/* read_clock asks the world what the operations have cost that were posted before. */
static uint64_t read_clock(void)
{
	skew_ps += READ_PS;
	pthread_mutex_lock(&nl_mutex);
	if (nl_unpriced || measures_compute()) {
		struct nl_request r = {.op = NL_CLOCK};
		nl_call(&r);
	}
	uint64_t now = nl_now_ps();
	pthread_mutex_unlock(&nl_mutex);
	return now;
}

double MPI_Wtime(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double MPI_Wtick(void) { return 1e-9; }

/* Time counts from here, so that dates stay plausible. It is the same in every run. */
#define EPOCH 1700000000

int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!is_virtual() || clock == CLOCK_THREAD_CPUTIME_ID)
		return (int)syscall(SYS_clock_gettime, clock, t);
	uint64_t now = read_clock();
	t->tv_sec = (time_t)(now / 1000000000000u) + (clock == CLOCK_REALTIME ? EPOCH : 0);
	t->tv_nsec = (long)(now % 1000000000000u / 1000u);
	return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	struct timespec now;
	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &now) != 0)
		return -1;
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *at)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (at != NULL)
		*at = now.tv_sec;
	return now.tv_sec;
}

static int sleep_really(const struct timespec *t, struct timespec *left)
{
	return (int)syscall(SYS_nanosleep, t, left);
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
	if (!is_virtual())
		return sleep_really(t, left);
	skew_ps += (uint64_t)t->tv_sec * 1000000000000u + (uint64_t)t->tv_nsec * 1000u;
	return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left)
{
	if (!is_virtual() || flags != 0) {
		long r = syscall(SYS_clock_nanosleep, clock, flags, t, left);
		return r == 0 ? 0 : errno;
	}
	return nanosleep(t, left);
}

int usleep(useconds_t us)
{
	struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};
	return nanosleep(&t, NULL);
}

unsigned sleep(unsigned seconds)
{
	struct timespec t = {seconds, 0};
	return nanosleep(&t, NULL) == 0 ? 0 : seconds;
}

/* libfabric looks through the symbols of the kernel, twice, for a feature of InfiniBand. That takes a
 * tenth of a second of every rank, several times as long as everything else that it does. */
FILE *fopen(const char *restrict name, const char *restrict mode)
{
	static FILE *(*real)(const char *restrict, const char *restrict);
	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "fopen");
	if (!initialized && nl_has_world() && strcmp(name, "/proc/kallsyms") == 0) {
		errno = ENOENT;
		return NULL;
	}
	return real(name, mode);
}

/* ---- MPI ---- */

typedef long mpi_function(long, long, long, long, long, long, long, long, long, long, long, long);

static mpi_function *find(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);
	if (f == NULL) { /* Python has loaded the library later */
		void *lib = dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD);
		f = lib == NULL ? NULL : dlsym(lib, name);
	}
	if (f == NULL) {
		fprintf(stderr, "nicloop: no %s: this program has no MPI library\n", name);
		abort();
	}
	return (mpi_function *)f;
}

static int depth;
static uint64_t entered_ps;

static void enter(const char *name)
{
	if (depth++ == 0 && nl_region != NULL) {
		strncpy(nl_region->call, name, sizeof nl_region->call - 1);
		entered_ps = nl_now_ps();
	}
}

static void leave(void)
{
	if (--depth == 0 && nl_region != NULL) {
		nl_region->mpi_ps += nl_now_ps() - entered_ps;
		nl_region->call[0] = 0;
	}
}

/* All arguments of these functions are integers and pointers. Twelve are passed on, as many as the
 * longest has: those that a function does not have are registers and stack that it does not read. */
#define PARAMETERS long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l
#define ARGUMENTS a, b, c, d, e, f, g, h, i, j, k, l

/* PROFILED also exports a function by its name of the profiling interface. The Fortran library calls
 * functions by these names. */
#define PROFILED(name) extern __typeof__(name) P##name __attribute__((alias(#name)));

#define WRAP(name, polls)                               \
	long name(PARAMETERS);                          \
	PROFILED(name)                                  \
	long name(PARAMETERS)                           \
	{                                               \
		static mpi_function *real;              \
		if (real == NULL)                       \
			real = find("P" #name);         \
		enter(#name);                           \
		nl_polling += polls;                    \
		long result = real(ARGUMENTS);          \
		nl_polling -= polls;                    \
		leave();                                \
		return result;                          \
	}

#define MUST_NOT_WAIT(name) WRAP(name, 1)
#define MAY_WAIT(name) WRAP(name, 0)

MUST_NOT_WAIT(MPI_Test) MUST_NOT_WAIT(MPI_Testall) MUST_NOT_WAIT(MPI_Testany) MUST_NOT_WAIT(MPI_Testsome)
MUST_NOT_WAIT(MPI_Iprobe) MUST_NOT_WAIT(MPI_Improbe) MUST_NOT_WAIT(MPI_Request_get_status)
MUST_NOT_WAIT(MPI_Cancel) MUST_NOT_WAIT(MPI_Win_test)
MAY_WAIT(MPI_Send) MAY_WAIT(MPI_Ssend) MAY_WAIT(MPI_Bsend) MAY_WAIT(MPI_Rsend) MAY_WAIT(MPI_Recv)
MAY_WAIT(MPI_Mrecv) MAY_WAIT(MPI_Sendrecv) MAY_WAIT(MPI_Sendrecv_replace) MAY_WAIT(MPI_Probe)
MAY_WAIT(MPI_Mprobe) MAY_WAIT(MPI_Wait) MAY_WAIT(MPI_Waitall) MAY_WAIT(MPI_Waitany) MAY_WAIT(MPI_Waitsome)
MAY_WAIT(MPI_Isend) MAY_WAIT(MPI_Issend) MAY_WAIT(MPI_Irecv) MAY_WAIT(MPI_Imrecv)
MAY_WAIT(MPI_Barrier) MAY_WAIT(MPI_Bcast) MAY_WAIT(MPI_Reduce) MAY_WAIT(MPI_Allreduce)
MAY_WAIT(MPI_Gather) MAY_WAIT(MPI_Gatherv) MAY_WAIT(MPI_Scatter) MAY_WAIT(MPI_Scatterv)
MAY_WAIT(MPI_Allgather) MAY_WAIT(MPI_Allgatherv) MAY_WAIT(MPI_Alltoall) MAY_WAIT(MPI_Alltoallv)
MAY_WAIT(MPI_Alltoallw) MAY_WAIT(MPI_Reduce_scatter) MAY_WAIT(MPI_Reduce_scatter_block)
MAY_WAIT(MPI_Scan) MAY_WAIT(MPI_Exscan) MAY_WAIT(MPI_Comm_dup) MAY_WAIT(MPI_Comm_split)
MAY_WAIT(MPI_Comm_create) MAY_WAIT(MPI_Comm_free) MAY_WAIT(MPI_Win_create) MAY_WAIT(MPI_Win_allocate)
MAY_WAIT(MPI_Win_fence) MAY_WAIT(MPI_Win_lock) MAY_WAIT(MPI_Win_unlock) MAY_WAIT(MPI_Win_flush)
MAY_WAIT(MPI_Win_free) MAY_WAIT(MPI_Win_start) MAY_WAIT(MPI_Win_complete) MAY_WAIT(MPI_Win_post)
MAY_WAIT(MPI_Win_wait) MAY_WAIT(MPI_Put) MAY_WAIT(MPI_Get) MAY_WAIT(MPI_Accumulate)
MAY_WAIT(MPI_Get_accumulate) MAY_WAIT(MPI_Fetch_and_op) MAY_WAIT(MPI_Compare_and_swap)
MAY_WAIT(MPI_Rput) MAY_WAIT(MPI_Rget) MAY_WAIT(MPI_Raccumulate)
MAY_WAIT(MPI_Win_lock_all) MAY_WAIT(MPI_Win_unlock_all) MAY_WAIT(MPI_Win_flush_all)
MAY_WAIT(MPI_Win_flush_local) MAY_WAIT(MPI_Win_flush_local_all)
MAY_WAIT(MPI_Start) MAY_WAIT(MPI_Startall) MAY_WAIT(MPI_Ibarrier) MAY_WAIT(MPI_Ibcast)
MAY_WAIT(MPI_Ireduce) MAY_WAIT(MPI_Iallreduce) MAY_WAIT(MPI_Iallgather) MAY_WAIT(MPI_Ialltoall)
MAY_WAIT(MPI_Neighbor_alltoall) MAY_WAIT(MPI_Neighbor_allgather)

/* ---- the simulated nodes: all ranks run on one machine, and must not notice ---- */

typedef struct ompi_communicator_t *communicator;

/* split splits a communicator by one of Open MPI's functions, which also plugins of Open MPI use. */
static int split(communicator from, int color, int key, communicator *to)
{
	static int (*real)(communicator, int, int, communicator *, _Bool);
	if (real == NULL)
		*(void **)&real = (void *)find("ompi_comm_split");
	return real(from, color, key, to, false);
}

static int type_splits; /* depth of MPI_Comm_split_type */

/* ompi_comm_split_type splits a communicator by hardware that ranks share. A program sees the
 * simulated nodes. A plugin that looks for memory to share finds none: messages through it would
 * bypass the NIC and would be invisible to the world. */
int ompi_comm_split_type(communicator from, int type, int key, void *info, communicator *to)
{
	enum { SHARED = 0, BOARD = 8, HOST = 9, CU = 10, CLUSTER = 11, UNDEFINED = -32766 };
	int color = nl_my_rank();
	(void)info;
	if (type == UNDEFINED)
		color = type;
	else if (type_splits > 0 && (type == SHARED || type == BOARD || type == HOST))
		color = nl_region != NULL ? (int)nl_region->node : 0;
	else if (type == CU || type == CLUSTER)
		color = 0;
	return split(from, color, key, to);
}

int MPI_Comm_split_type(communicator from, int type, int key, void *info, communicator *to)
{
	static int (*real)(communicator, int, int, void *, communicator *);
	if (real == NULL)
		*(void **)&real = (void *)find("PMPI_Comm_split_type");
	enter("MPI_Comm_split_type");
	type_splits++;
	int result = real(from, type, key, info, to);
	type_splits--;
	leave();
	return result;
}

int MPI_Get_processor_name(char *name, int *length)
{
	*length = sprintf(name, "node%u", nl_region != NULL ? nl_region->node : 0);
	return 0;
}

static int leave_init(long result)
{
	initialized = true;
	return (int)result;
}

int MPI_Init(int *argc, char ***argv)
{
	static mpi_function *real;
	if (real == NULL)
		real = find("PMPI_Init");
	return leave_init(real((long)argc, (long)argv, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

/* A rank has one virtual clock: of two threads that call MPI at the same time, the machine would
 * decide which one is first, and runs would not repeat. MPI lets a library provide less than the
 * program requires; the program can see that in *provided. */
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	enum { SERIALIZED = 2 };
	static mpi_function *real;
	if (real == NULL)
		real = find("PMPI_Init_thread");
	if (required > SERIALIZED) {
		if (nl_my_rank() == 0)
			fprintf(stderr, "nicloop: MPI_THREAD_MULTIPLE is not provided, because a rank has one virtual clock; "
					"the program gets MPI_THREAD_SERIALIZED\n");
		required = SERIALIZED;
	}
	return leave_init(real((long)argc, (long)argv, required, (long)provided, 0, 0, 0, 0, 0, 0, 0, 0));
}

int MPI_Finalize(void)
{
	static mpi_function *real;
	if (real == NULL)
		real = find("PMPI_Finalize");
	pthread_mutex_lock(&nl_mutex);
	nl_finalize();
	pthread_mutex_unlock(&nl_mutex);
	return (int)real(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

/* The end of the world says who aborted: the ranks that mpirun kills then are no news. */
int MPI_Abort(long comm, int code)
{
	static mpi_function *real;
	if (real == NULL)
		real = find("PMPI_Abort");
	enter("MPI_Abort");
	if (nl_region != NULL) {
		nl_region->abort_code = (uint32_t)code;
		__atomic_store_n(&nl_region->aborted, 1, __ATOMIC_RELEASE);
	}
	return (int)real(comm, code, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

PROFILED(MPI_Wtime)
PROFILED(MPI_Wtick)
PROFILED(MPI_Init)
PROFILED(MPI_Init_thread)
PROFILED(MPI_Finalize)
PROFILED(MPI_Abort)
PROFILED(MPI_Comm_split_type)
PROFILED(MPI_Get_processor_name)
