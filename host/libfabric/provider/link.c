/* The connection to the world: a socket that hands over the shared memory, and the rings in it. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "nicloop.h"

struct nl_region *nl_region;
bool nl_started, nl_finalized, nl_unpriced;
pthread_mutex_t nl_mutex = PTHREAD_MUTEX_INITIALIZER;

static int link_fd = -1; /* stays open: its end tells the world that the process has ended */
static uint32_t posted;

static const char *socket_name(void) { return getenv("NICLOOP_MPI_SOCKET"); }

bool nl_has_world(void) { return socket_name() != NULL; }

int nl_my_rank(void)
{
	static const char *const names[] = {"NICLOOP_MPI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *s = getenv(names[i]);
		if (s != NULL)
			return atoi(s);
	}
	return -1;
}

void nl_log_once(const char *call)
{
	static char seen[64][32];
	static int n;
	for (int i = 0; i < n; i++)
		if (strncmp(seen[i], call, sizeof seen[i] - 1) == 0)
			return;
	if (n < 64)
		strncpy(seen[n++], call, sizeof seen[0] - 1);
	fprintf(stderr, "nicloop: rank %d: %s is not supported by this provider\n", nl_my_rank(), call);
}

static int receive_memory(void)
{
	char byte;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	if (recvmsg(link_fd, &m, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (c == NULL || c->cmsg_type != SCM_RIGHTS)
		return -1;
	int fd;
	memcpy(&fd, CMSG_DATA(c), sizeof fd);
	return fd;
}

/* nl_connect asks the world for the memory of this rank, once. */
int nl_connect(void)
{
	if (nl_region != NULL)
		return 0;
	const char *name = socket_name();
	if (name == NULL)
		return -FI_ENODATA;
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	size_t n = strlen(name);
	if (n >= sizeof at.sun_path)
		return -FI_EINVAL;
	memcpy(at.sun_path + 1, name, n); /* abstract: no file is left behind */
	link_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (link_fd < 0 || connect(link_fd, (struct sockaddr *)&at, offsetof(struct sockaddr_un, sun_path) + 1 + n) != 0) {
		fprintf(stderr, "nicloop: cannot connect to the simulated world: %s\n", strerror(errno));
		return -FI_ENODEV;
	}
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* the world reads and writes long messages */
	uint32_t hello[4] = {NL_MAGIC, NL_VERSION, (uint32_t)nl_my_rank(), (uint32_t)getpid()};
	int fd;
	if (write(link_fd, hello, sizeof hello) != sizeof hello || (fd = receive_memory()) < 0) {
		fprintf(stderr, "nicloop: the simulated world refused rank %d\n", nl_my_rank());
		return -FI_ENODEV;
	}
	struct nl_region *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (r == MAP_FAILED || r->magic != NL_MAGIC || r->version != NL_VERSION)
		return -FI_EOTHER;
	nl_region = r;
	return 0;
}

/* futex_wait returns false if nothing has happened for 100 ms. */
static bool futex_wait(uint32_t *word, uint32_t value)
{
	struct timespec t = {.tv_nsec = 100 * 1000 * 1000};
	return syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0) == 0 || errno != ETIMEDOUT;
}

void nl_rest(void)
{
	struct timespec t = {.tv_nsec = 200 * 1000};
	syscall(SYS_nanosleep, &t, NULL);
}

static void sleep_really_ms(long ms)
{
	struct timespec t = {.tv_nsec = ms * 1000 * 1000};
	syscall(SYS_nanosleep, &t, NULL);
}

/* Requests that need no answer are left to the next call that does, or to the world when it looks by
 * itself. A full batch is announced, so that the ring does not fill up while the world sleeps. */
enum { BATCH = NL_SLOTS / 2 };
static int quiet; /* requests since the last announcement */

static void ring_doorbell(void)
{
	quiet = 0;
	__atomic_add_fetch(&nl_region->doorbell, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&nl_region->world_sleeps, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &nl_region->doorbell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool has_ended(void) { return __atomic_load_n(&nl_region->ended, __ATOMIC_ACQUIRE) != 0; }

/* has_world_process tells whether the process at the other end of the socket is alive. */
static bool has_world_process(void)
{
	char byte;
	return recv(link_fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) != 0;
}

/* leave_ended_world waits to be killed, so that no rank prints errors that follow from the end of the
 * world. mpirun kills all ranks; if it does not, or this process outlives the world, it exits. */
static void leave_ended_world(void)
{
	if (!has_ended())
		return;
	for (int i = 0; i < 50 && has_world_process(); i++)
		sleep_really_ms(100);
	_exit(1);
}

static void relax(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

/* The world answers soon, or after other ranks had their turn. How often it is worth looking before
 * the processor is given up follows the experience, as in spin.go. */
enum { FEWEST_LOOKS = 8, MOST_LOOKS = 512, RETRY_LOOKS = 32 };
static int looks = FEWEST_LOOKS, missed;

static bool spin_until(bool (*reached)(void))
{
	int n = missed % RETRY_LOOKS == RETRY_LOOKS - 1 ? MOST_LOOKS : looks;
	for (int i = 0; i < n; i++) {
		if (reached()) {
			looks -= looks / 8;
			looks = looks < 2 * i ? 2 * i : looks;
			looks = looks > MOST_LOOKS ? MOST_LOOKS : looks;
			missed = 0;
			return true;
		}
		relax();
	}
	looks = looks / 2 < FEWEST_LOOKS ? FEWEST_LOOKS : looks / 2;
	missed++;
	return false;
}

static void wait_until(uint32_t *word, bool (*reached)(void))
{
	if (spin_until(reached))
		return;
	while (!reached() && !has_ended()) {
		__atomic_store_n(&nl_region->rank_sleeps, 1, __ATOMIC_SEQ_CST);
		uint32_t seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
		if (!reached() && !futex_wait(word, seen) && !has_world_process())
			_exit(1);
		__atomic_store_n(&nl_region->rank_sleeps, 0, __ATOMIC_SEQ_CST);
	}
	leave_ended_world();
}

static bool all_answered(void) { return __atomic_load_n(&nl_region->answered, __ATOMIC_ACQUIRE) == posted; }

static bool has_room(void) { return posted - __atomic_load_n(&nl_region->answered, __ATOMIC_ACQUIRE) < NL_SLOTS; }

/* nl_post queues a request. Those that start an operation need no answer: they cannot fail. A rank of
 * a world that has ended does not return. */
int nl_post(struct nl_request *r, const void *bytes)
{
	nl_started = true;
	if (!has_room()) {
		ring_doorbell();
		wait_until(&nl_region->answered, has_room);
	}
	leave_ended_world();
	uint32_t slot = posted % NL_SLOTS;
	r->compute_ns = nl_take_compute();
	r->spent_ps = nl_take_skew();
	if (r->flags & NL_IS_INLINE)
		memcpy(nl_region->sent[slot], bytes, r->compares ? 2 * r->length : r->length);
	nl_region->requests[slot] = *r;
	nl_region->calls++;
	posted++;
	nl_unpriced = true;
	__atomic_store_n(&nl_region->request_head, posted, __ATOMIC_SEQ_CST);
	if (r->op < NL_PEEK && ++quiet == BATCH)
		ring_doorbell();
	return 0;
}

int nl_call(struct nl_request *r)
{
	int err = nl_post(r, NULL);
	if (err)
		return err;
	ring_doorbell();
	wait_until(&nl_region->answered, all_answered);
	nl_unpriced = false;
	nl_answered();
	return 0;
}

/* nl_poll_alone spends the time of a poll that finds nothing, without the world: the last answer said
 * that nothing reaches the rank before quiet_ps, and the rank has started no operation since. */
bool nl_poll_alone(void)
{
	struct nl_region *r = nl_region;
	if (nl_unpriced || r->poll_ps == 0 || nl_now_ps() + r->poll_ps >= r->quiet_ps)
		return false;
	leave_ended_world();
	nl_spend(r->poll_ps);
	r->local_polls++;
	return true;
}

/* nl_finalize leaves the world: from now on the rank has no time. */
void nl_finalize(void)
{
	if (nl_region == NULL || nl_finalized)
		return;
	struct nl_request r = {.op = NL_FINALIZE};
	nl_call(&r);
	nl_finalized = true;
}
