/* What the files of the provider share. */
#ifndef NICLOOP_H
#define NICLOOP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring.h"

/* link.c: the connection to the world. */
extern struct nl_region *nl_region; /* NULL: not connected */
extern bool nl_started;             /* the rank has moved data: its time is virtual from then on */
extern bool nl_finalized;           /* the rank has left the world */
extern bool nl_unpriced;            /* requests were posted whose time now_ps does not contain */
extern pthread_mutex_t nl_mutex;

int nl_connect(void); /* 0, or a negative error number */
bool nl_has_world(void);
int nl_my_rank(void);
void nl_log_once(const char *call);
int nl_post(struct nl_request *r, const void *bytes); /* 0, or -FI_EOTHER: the world has ended */
int nl_call(struct nl_request *r);                    /* nl_post, and waits for the answer */
bool nl_poll_alone(void);                             /* false: the world must be asked */
void nl_finalize(void);
void nl_rest(void); /* a moment of real time */

/* interpose.c: virtual time. */
extern int nl_polling; /* depth of MPI calls that must not wait */
void nl_spend(uint64_t ps);
uint64_t nl_take_skew(void);
uint64_t nl_take_compute(void);
void nl_answered(void);
uint64_t nl_now_ps(void);

/* provider.c, endpoint.c, cq.c: libfabric. */
struct fi_info;
struct fid_fabric;
struct fid_domain;
struct fi_domain_attr;
struct nl_ep;

struct nl_av;
int nl_av_rank(const struct nl_av *av, uint64_t addr);
uint64_t nl_av_addr(const struct nl_av *av, int rank);

#endif
