/* The memory that a rank shares with the Go process that owns the simulated world.
 * host/libfabric/region.go has the same layout; NL_VERSION changes with it. */
#ifndef NICLOOP_RING_H
#define NICLOOP_RING_H

#include <stdint.h>

#define NL_MAGIC 0x4946494eu
#define NL_VERSION 6u
#define NL_SLOTS 256u   /* requests, and completions, that can be pending */
#define NL_INLINE 2048u /* bytes of a message that travel in a slot */

enum nl_op {
	NL_SEND = 1,
	NL_RECV = 2,
	NL_RECV_CLAIMED = 3,
	NL_WRITE = 4,
	NL_READ = 5,
	NL_ATOMIC = 6,
	NL_PEEK = 7, /* the request waits for the answer, as do those below */
	NL_CANCEL = 8,
	NL_POLL = 9,
	NL_CLOCK = 10,
	NL_FINALIZE = 11,
	NL_REGISTER = 12,
	NL_UNREGISTER = 13,
};

enum nl_flag {
	NL_TAGGED = 1 << 0,
	NL_COMPLETION = 1 << 1, /* report the end in the completion ring */
	NL_CLAIM = 1 << 2,      /* of a peek */
	NL_DISCARD = 1 << 3,    /* of a peek, or of a claimed message */
	NL_MATCHED = 1 << 4,    /* a send that ends when a receive has matched it */
	NL_MULTI = 1 << 5,      /* a buffer for several messages */
	NL_NOWAIT = 1 << 6,     /* of a poll: MPI_Test and its like do not wait */
	NL_HAS_DATA = 1 << 7,   /* a send with data for the receiver's completion */
	NL_IS_INLINE = 1 << 8,  /* the bytes are in the slot */
};

struct nl_request {
	uint32_t op, flags;
	uint64_t context; /* of the caller; identifies the operation in NL_CANCEL */
	uint64_t address, length;
	uint64_t tag, ignore, data; /* one-sided: tag is the key, ignore the offset in the region */
	int32_t peer;               /* rank, or -1: any */
	uint32_t min_multi;
	uint64_t compute_ns; /* processor time since the last answer */
	uint64_t spent_ps;   /* virtual time that the rank spent without a request */
	uint64_t result;     /* of an atomic: address of the values that it fetches, or 0 */
	uint16_t atomic_op, datatype;
	uint32_t compares; /* 1: the operands are followed by values to compare with */
	uint32_t endpoint; /* of the operation; its completion has it, too */
	uint8_t pad[128 - 100];
};

enum nl_completion_flag {
	NL_WAS_SEND = 1 << 0,
	NL_WAS_RECV = 1 << 1,
	NL_WAS_TAGGED = 1 << 2,
	NL_WITH_DATA = 1 << 3,
	NL_BUFFER_DONE = 1 << 4, /* a multi-receive buffer is the caller's again */
	NL_WAS_PEEK = 1 << 5,
	NL_SILENT = 1 << 6, /* counts, but is not reported */
	NL_WAS_WRITE = 1 << 7,
	NL_WAS_READ = 1 << 8,
	NL_WAS_ATOMIC = 1 << 9,
	NL_WAS_REMOTE_WRITE = 1 << 10, /* of a peer, with data */
	NL_ENDPOINT_SHIFT = 24,        /* the highest byte is the endpoint */
};

struct nl_completion {
	uint64_t context;
	uint32_t flags;
	int32_t error; /* a positive error number of libfabric, or 0 */
	uint64_t length, tag, data;
	int32_t source;
	uint32_t copied; /* bytes in the slot, to be copied to address */
	uint64_t address, overflow;
};

struct nl_region {
	uint32_t magic, version, rank, size;
	uint64_t now_ps; /* the rank's virtual time after the last answer */
	uint64_t quiet_ps; /* nothing reaches the rank before this virtual time; 0: unknown */
	uint64_t poll_ps;  /* cost of a read of an empty completion queue */
	uint32_t ended;    /* the world has ended: every call fails */
	uint32_t node;     /* of the rank */
	uint32_t pad0[4];
	uint32_t request_head; /* requests that were posted */
	uint32_t answered;     /* requests with an answer; futex of the rank */
	uint32_t rank_sleeps;
	uint32_t pad1[13];
	uint32_t request_tail; /* written by the world */
	uint32_t doorbell;     /* futex of the world */
	uint32_t world_sleeps;
	uint32_t pad2[13];
	uint32_t completion_head; /* written by the world */
	uint32_t pad3[15];
	uint32_t completion_tail; /* written by the rank */
	uint32_t pad4[15];
	uint64_t mpi_ps; /* virtual time inside MPI calls */
	uint64_t calls;  /* of libfabric functions that move data or read completions */
	char call[48];   /* the MPI function that the rank is in */
	uint32_t aborted, abort_code; /* of MPI_Abort */
	int32_t result;               /* of a registration: 0, or a negative error number */
	uint32_t pad5;
	uint64_t local_polls; /* polls and peeks that the provider has answered itself */
	uint8_t pad6[4096 - 5 * 64 - 88];
	struct nl_request requests[NL_SLOTS];
	struct nl_completion completions[NL_SLOTS];
	uint8_t sent[NL_SLOTS][NL_INLINE];
	uint8_t received[NL_SLOTS][NL_INLINE];
};

_Static_assert(sizeof(struct nl_request) == 128, "nl_request");
_Static_assert(sizeof(struct nl_completion) == 64, "nl_completion");
_Static_assert(__builtin_offsetof(struct nl_region, requests) == 4096, "nl_region");

#endif
