/* Completion queues and counters. Reading one is what lets time pass. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "libfabric.h"

static void append(struct nl_cq *cq, const struct nl_completion *c)
{
	struct nl_entry *e = malloc(sizeof *e);
	if (e == NULL)
		abort();
	e->c = *c;
	e->next = NULL;
	if (cq->head == NULL)
		cq->head = e;
	else
		cq->tail->next = e;
	cq->tail = e;
}

static void count(struct nl_cntr *cntr, const struct nl_completion *c)
{
	if (cntr == NULL)
		return;
	if (c->error)
		cntr->errors++;
	else
		cntr->value++;
}

enum { NL_WAS_LOCAL = NL_WAS_SEND | NL_WAS_WRITE | NL_WAS_READ | NL_WAS_ATOMIC };

static struct nl_cntr *counter_of(const struct nl_ep *ep, uint32_t flags)
{
	if (flags & NL_WAS_SEND)
		return ep->sends;
	if (flags & NL_WAS_WRITE)
		return ep->writes;
	if (flags & NL_WAS_READ)
		return ep->reads;
	return flags & NL_WAS_REMOTE_WRITE ? ep->remote_writes : ep->receives;
}

/* nl_drain moves what the world has completed into the queues of the endpoint. */
void nl_drain(void)
{
	struct nl_region *r = nl_region;
	uint32_t tail = r->completion_tail, head = __atomic_load_n(&r->completion_head, __ATOMIC_ACQUIRE);
	for (; tail != head; tail++) {
		const struct nl_completion *c = &r->completions[tail % NL_SLOTS];
		if (c->copied)
			memcpy((void *)(uintptr_t)c->address, r->received[tail % NL_SLOTS], c->copied);
		struct nl_ep *ep = nl_eps[c->flags >> NL_ENDPOINT_SHIFT];
		if (ep == NULL)
			continue;
		if (!(c->flags & NL_WAS_PEEK))
			count(counter_of(ep, c->flags), c);
		struct nl_cq *cq = c->flags & NL_WAS_LOCAL ? ep->tx : ep->rx;
		if (cq != NULL && (!(c->flags & NL_SILENT) || c->error))
			append(cq, c);
	}
	__atomic_store_n(&r->completion_tail, tail, __ATOMIC_RELEASE);
}

/* The last peek, if it found nothing. The same one finds nothing as long as nothing arrives. */
static struct nl_request vain_peek;

static bool is_same_peek(const struct nl_request *a, const struct nl_request *b)
{
	return a->tag == b->tag && a->ignore == b->ignore && a->peer == b->peer &&
	       (a->flags & NL_TAGGED) == (b->flags & NL_TAGGED);
}

static bool peek_alone(struct nl_ep *ep, const struct nl_request *r)
{
	if (!(r->flags & NL_NOWAIT) || vain_peek.op != NL_PEEK || !is_same_peek(r, &vain_peek) || !nl_poll_alone())
		return false;
	struct nl_completion c = {
	    .context = r->context, .flags = NL_WAS_RECV | NL_WAS_PEEK | (r->flags & NL_TAGGED ? NL_WAS_TAGGED : 0),
	    .error = FI_ENOMSG, .tag = r->tag, .source = -1};
	if (ep->rx != NULL)
		append(ep->rx, &c);
	return true;
}

/* nl_peek looks for a message that has arrived. */
int nl_peek(struct nl_ep *ep, struct nl_request *r)
{
	if (peek_alone(ep, r))
		return 0;
	vain_peek.op = 0;
	int err = nl_call(r);
	if (err == 0 && nl_region->quiet_ps != 0)
		vain_peek = *r;
	return err;
}

/* limit_ps is how long the waits of a call with a timeout may last, or 0: such a call is no hang. */
static uint64_t limit_ps;

#define PS_PER_MS 1000000000u

/* has_time sets the limit of the next wait to what is left of a timeout, and tells whether anything is. */
static bool has_time(uint64_t began_ps, int timeout_ms)
{
	limit_ps = 0;
	if (timeout_ms < 0)
		return true;
	uint64_t end = began_ps + (uint64_t)timeout_ms * PS_PER_MS, now = nl_now_ps();
	if (!nl_started || now >= end)
		return false;
	limit_ps = end - now;
	return true;
}

/* nl_poll looks at the network. A rank that has sent and received nothing yet has no time: how often
 * it looks meanwhile depends on the machine. */
int nl_poll(void)
{
	if (!nl_started || nl_finalized) {
		nl_rest(); /* the others, and mpirun, need the processor to get here */
		return 0;
	}
	if (nl_polling && nl_poll_alone())
		return 0;
	struct nl_request r = {.op = NL_POLL, .flags = nl_polling ? NL_NOWAIT : 0, .data = limit_ps};
	vain_peek.op = 0;
	int err = nl_call(&r);
	if (err == 0)
		nl_drain();
	return err;
}

static uint64_t flags_of(const struct nl_completion *c)
{
	uint64_t f = 0;
	if (c->flags & (NL_WAS_SEND | NL_WAS_RECV)) {
		f = c->flags & NL_WAS_TAGGED ? FI_TAGGED : FI_MSG;
		f |= c->flags & NL_WAS_SEND ? FI_SEND : FI_RECV;
	} else {
		f = c->flags & NL_WAS_ATOMIC ? FI_ATOMIC : FI_RMA;
		f |= c->flags & NL_WAS_WRITE ? FI_WRITE : c->flags & NL_WAS_READ ? FI_READ : FI_REMOTE_WRITE;
	}
	if (c->flags & NL_WITH_DATA)
		f |= FI_REMOTE_CQ_DATA;
	if (c->flags & NL_BUFFER_DONE)
		f |= FI_MULTI_RECV;
	return f;
}

static void *write_entry(enum fi_cq_format format, void *to, const struct nl_completion *c)
{
	struct fi_cq_tagged_entry e = {
	    .op_context = (void *)(uintptr_t)c->context, .flags = flags_of(c), .len = c->length,
	    .buf = (void *)(uintptr_t)c->address, .data = c->data, .tag = c->tag};
	size_t n;
	switch (format) {
	case FI_CQ_FORMAT_CONTEXT:
		n = sizeof(struct fi_cq_entry);
		break;
	case FI_CQ_FORMAT_MSG:
		n = sizeof(struct fi_cq_msg_entry);
		break;
	case FI_CQ_FORMAT_DATA:
		n = sizeof(struct fi_cq_data_entry);
		break;
	default:
		n = sizeof e;
	}
	memcpy(to, &e, n); /* each format is a prefix of the longest one */
	return (char *)to + n;
}

static uint32_t taken; /* successful reads of all queues */

static ssize_t take(struct nl_cq *cq, void *buf, size_t count, fi_addr_t *from)
{
	size_t n = 0;
	while (n < count && cq->head != NULL) {
		struct nl_entry *e = cq->head;
		if (e->c.error)
			break;
		buf = write_entry(cq->format, buf, &e->c);
		if (from != NULL)
			from[n] = e->c.source >= 0 ? nl_av_addr(cq->av, e->c.source) : FI_ADDR_NOTAVAIL;
		cq->head = e->next;
		free(e);
		n++;
	}
	if (n == 0)
		return cq->head != NULL ? -FI_EAVAIL : -FI_EAGAIN;
	taken++;
	return (ssize_t)n;
}

/* Open MPI checks what it waits for only after it has called all its progress functions. Some of them
 * read a queue until it is empty; others advance a collective or an operation of a window because of
 * what was read, one step per round. So after completions were taken from any queue, the next reads of
 * an empty queue return immediately. If they waited, the rank would sleep although its wait is over.
 * These looks take no simulated time, so more of them than necessary change nothing. */
enum { LOOKS = 8, LOOKS_OF_POLL = 1 };

static bool must_return(struct nl_cq *cq)
{
	if (cq->taken != taken) {
		cq->taken = taken;
		cq->looks = 0;
	}
	if (cq->looks >= (nl_polling ? LOOKS_OF_POLL : LOOKS))
		return false;
	cq->looks++;
	return true;
}

static ssize_t cq_readfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *from)
{
	struct nl_cq *cq = (struct nl_cq *)fid;
	pthread_mutex_lock(&nl_mutex);
	ssize_t n = 0;
	nl_drain();
	if (cq->head == NULL)
		n = must_return(cq) ? -FI_EAGAIN : nl_poll();
	if (n == 0)
		n = take(cq, buf, count, from);
	pthread_mutex_unlock(&nl_mutex);
	return n;
}

static ssize_t cq_read(struct fid_cq *fid, void *buf, size_t count) { return cq_readfrom(fid, buf, count, NULL); }

static ssize_t cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *to, uint64_t flags)
{
	struct nl_cq *cq = (struct nl_cq *)fid;
	(void)flags;
	pthread_mutex_lock(&nl_mutex);
	struct nl_entry *e = cq->head;
	ssize_t n = -FI_EAGAIN;
	if (e != NULL && e->c.error) {
		const struct nl_completion *c = &e->c;
		to->op_context = (void *)(uintptr_t)c->context;
		to->flags = flags_of(c);
		to->len = c->length;
		to->buf = (void *)(uintptr_t)c->address;
		to->data = c->data;
		to->tag = c->tag;
		to->olen = c->overflow;
		to->err = c->error;
		to->prov_errno = c->error;
		cq->head = e->next;
		taken++;
		free(e);
		n = 1;
	}
	pthread_mutex_unlock(&nl_mutex);
	return n;
}

static ssize_t cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *from, const void *cond, int timeout)
{
	(void)cond;
	uint64_t began = nl_now_ps();
	for (;;) {
		bool time = has_time(began, timeout);
		ssize_t n = cq_readfrom(fid, buf, count, from);
		limit_ps = 0;
		if (n != -FI_EAGAIN || !time)
			return n;
	}
}

static ssize_t cq_sread(struct fid_cq *fid, void *buf, size_t count, const void *cond, int timeout)
{
	return cq_sreadfrom(fid, buf, count, NULL, cond, timeout);
}

static int cq_signal(struct fid_cq *fid)
{
	(void)fid;
	return 0;
}

static const char *cq_strerror(struct fid_cq *fid, int error, const void *data, char *buf, size_t len)
{
	(void)fid, (void)data;
	const char *s = error == FI_ETRUNC ? "message longer than the buffer" : strerror(error);
	if (buf != NULL && len > 0)
		snprintf(buf, len, "%s", s);
	return s;
}

static struct fi_ops_cq cq_ops = {
    .size = sizeof cq_ops, .read = cq_read, .readfrom = cq_readfrom, .readerr = cq_readerr, .sread = cq_sread,
    .sreadfrom = cq_sreadfrom, .signal = cq_signal, .strerror = cq_strerror};

static int cq_close(struct fid *fid)
{
	struct nl_cq *cq = (struct nl_cq *)fid;
	while (cq->head != NULL) {
		struct nl_entry *e = cq->head;
		cq->head = e->next;
		free(e);
	}
	free(cq);
	return 0;
}

NL_STUB(fi_cq_control)
NL_STUB(fi_cntr_control)

static struct fi_ops cq_fid_ops = {
    .size = sizeof(struct fi_ops), .close = cq_close, .bind = NL_NO(fi_cq_control), .control = NL_NO(fi_cq_control),
    .ops_open = NL_NO(fi_cq_control)};

/* Waiting is a call: nothing of the operating system becomes ready when virtual time passes. */
static bool is_supported(enum fi_wait_obj wait)
{
	if (wait == FI_WAIT_NONE || wait == FI_WAIT_UNSPEC || wait == FI_WAIT_YIELD)
		return true;
	nl_log_once("a queue with a descriptor to wait for");
	return false;
}

int nl_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **fid, void *context)
{
	(void)domain;
	if (attr != NULL && !is_supported(attr->wait_obj))
		return -FI_ENOSYS;
	struct nl_cq *cq = calloc(1, sizeof *cq);
	if (cq == NULL)
		return -FI_ENOMEM;
	cq->cq.fid = (struct fid){FI_CLASS_CQ, context, &cq_fid_ops};
	cq->cq.ops = &cq_ops;
	cq->taken = taken;
	cq->looks = LOOKS;
	cq->format = attr != NULL && attr->format != FI_CQ_FORMAT_UNSPEC ? attr->format : FI_CQ_FORMAT_TAGGED;
	*fid = &cq->cq;
	return 0;
}

/* ---- counters ---- */

static uint64_t cntr_read(struct fid_cntr *fid)
{
	struct nl_cntr *cntr = (struct nl_cntr *)fid;
	pthread_mutex_lock(&nl_mutex);
	nl_drain();
	nl_polling++; /* a program reads a counter to go on with something else */
	nl_poll();
	nl_polling--;
	uint64_t value = cntr->value;
	pthread_mutex_unlock(&nl_mutex);
	return value;
}

static uint64_t cntr_readerr(struct fid_cntr *fid) { return ((struct nl_cntr *)fid)->errors; }

static int cntr_add(struct fid_cntr *fid, uint64_t value)
{
	((struct nl_cntr *)fid)->value += value;
	return 0;
}

static int cntr_set(struct fid_cntr *fid, uint64_t value)
{
	((struct nl_cntr *)fid)->value = value;
	return 0;
}

static int cntr_adderr(struct fid_cntr *fid, uint64_t value)
{
	((struct nl_cntr *)fid)->errors += value;
	return 0;
}

static int cntr_seterr(struct fid_cntr *fid, uint64_t value)
{
	((struct nl_cntr *)fid)->errors = value;
	return 0;
}

static int cntr_wait(struct fid_cntr *fid, uint64_t threshold, int timeout)
{
	struct nl_cntr *cntr = (struct nl_cntr *)fid;
	uint64_t began = nl_now_ps(), errors = cntr->errors;
	for (;;) {
		bool time = has_time(began, timeout);
		pthread_mutex_lock(&nl_mutex);
		nl_drain();
		int err = cntr->value >= threshold || cntr->errors != errors ? 0 : nl_poll();
		limit_ps = 0;
		pthread_mutex_unlock(&nl_mutex);
		if (err)
			return err;
		if (cntr->value >= threshold)
			return 0;
		if (cntr->errors != errors)
			return -FI_EAVAIL;
		if (!time)
			return -FI_ETIMEDOUT;
	}
}

static struct fi_ops_cntr cntr_ops = {
    .size = sizeof cntr_ops, .read = cntr_read, .readerr = cntr_readerr, .add = cntr_add, .set = cntr_set,
    .wait = cntr_wait, .adderr = cntr_adderr, .seterr = cntr_seterr};

static int cntr_close(struct fid *fid)
{
	free(fid);
	return 0;
}

static struct fi_ops cntr_fid_ops = {
    .size = sizeof(struct fi_ops), .close = cntr_close, .bind = NL_NO(fi_cntr_control),
    .control = NL_NO(fi_cntr_control), .ops_open = NL_NO(fi_cntr_control)};

int nl_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr, struct fid_cntr **fid, void *context)
{
	(void)domain;
	if (attr != NULL && !is_supported(attr->wait_obj))
		return -FI_ENOSYS;
	struct nl_cntr *cntr = calloc(1, sizeof *cntr);
	if (cntr == NULL)
		return -FI_ENOMEM;
	cntr->cntr.fid = (struct fid){FI_CLASS_CNTR, context, &cntr_fid_ops};
	cntr->cntr.ops = &cntr_ops;
	*fid = &cntr->cntr;
	return 0;
}
