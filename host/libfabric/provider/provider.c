/* The objects of libfabric above endpoints: what the provider can do, fabrics, domains, address
 * vectors, and event queues and memory regions that have nothing to do. */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_prov.h>
#include <stdlib.h>
#include <string.h>

#include "libfabric.h"

#define CAPS (FI_MSG | FI_TAGGED | FI_SEND | FI_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_DIRECTED_RECV | \
	      FI_SOURCE | FI_MULTI_RECV | FI_RMA | FI_ATOMIC | RMA_KINDS)
#define RMA_KINDS (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define ORDER (FI_ORDER_SAS)

static struct fi_info *describe(const struct fi_info *hints)
{
	struct fi_info *info = calloc(1, sizeof *info);
	if (info == NULL)
		return NULL;
	info->tx_attr = calloc(1, sizeof *info->tx_attr);
	info->rx_attr = calloc(1, sizeof *info->rx_attr);
	info->ep_attr = calloc(1, sizeof *info->ep_attr);
	info->domain_attr = calloc(1, sizeof *info->domain_attr);
	info->fabric_attr = calloc(1, sizeof *info->fabric_attr);
	uint64_t caps = hints != NULL && hints->caps != 0 ? hints->caps : CAPS;
	if (caps & (FI_MSG | FI_TAGGED) && !(caps & (FI_SEND | FI_RECV)))
		caps |= FI_SEND | FI_RECV;
	if (caps & (FI_RMA | FI_ATOMIC) && !(caps & RMA_KINDS))
		caps |= RMA_KINDS;
	info->caps = caps;
	info->addr_format = FI_FORMAT_UNSPEC;
	info->src_addrlen = sizeof(struct nl_name);
	struct nl_name *name = calloc(1, sizeof *name);
	*name = (struct nl_name){NL_MAGIC, nl_my_rank() < 0 ? 0 : (uint32_t)nl_my_rank()};
	info->src_addr = name;
	*info->tx_attr = (struct fi_tx_attr){
	    .caps = info->caps & (FI_MSG | FI_TAGGED | FI_SEND | FI_RMA | FI_ATOMIC | FI_READ | FI_WRITE),
	    .rma_iov_limit = 1, .msg_order = ORDER, .inject_size = NL_INLINE,
	    .size = 1024, .iov_limit = 1, .op_flags = hints != NULL && hints->tx_attr ? hints->tx_attr->op_flags : 0};
	*info->rx_attr = (struct fi_rx_attr){
	    .caps = info->caps & (FI_MSG | FI_TAGGED | FI_RECV | FI_DIRECTED_RECV | FI_SOURCE | FI_MULTI_RECV |
			      FI_RMA | FI_ATOMIC | FI_REMOTE_READ | FI_REMOTE_WRITE),
	    .msg_order = ORDER, .size = 1024, .iov_limit = 1,
	    .op_flags = hints != NULL && hints->rx_attr ? hints->rx_attr->op_flags : 0};
	*info->ep_attr = (struct fi_ep_attr){
	    .type = FI_EP_RDM, .protocol = FI_PROTO_UNSPEC, .protocol_version = 1, .max_msg_size = 0xffffffff,
	    .mem_tag_format = 0xaaaaaaaaaaaaaaaa, .tx_ctx_cnt = 1, .rx_ctx_cnt = 1};
	*info->domain_attr = (struct fi_domain_attr){
	    .name = strdup("nicloop"), .threading = FI_THREAD_SAFE, .control_progress = FI_PROGRESS_AUTO,
	    .data_progress = FI_PROGRESS_MANUAL, .resource_mgmt = FI_RM_ENABLED, .av_type = FI_AV_UNSPEC,
	    .mr_key_size = 8, .cq_data_size = 8, .cq_cnt = 64, .ep_cnt = 1, .tx_ctx_cnt = 1, .rx_ctx_cnt = 1,
	    .max_ep_tx_ctx = 1, .max_ep_rx_ctx = 1, .mr_iov_limit = 1, .cntr_cnt = 64,
	    .caps = FI_LOCAL_COMM | FI_REMOTE_COMM};
	if (hints != NULL && hints->domain_attr != NULL && hints->domain_attr->av_type != FI_AV_UNSPEC)
		info->domain_attr->av_type = hints->domain_attr->av_type;
	info->fabric_attr->name = strdup("nicloop");
	return info;
}

static bool differs(const char *wanted, const char *name) { return wanted != NULL && strcmp(wanted, name) != 0; }

static bool can(const struct fi_info *h)
{
	if (h == NULL)
		return true;
	if (h->caps & ~(uint64_t)CAPS)
		return false;
	if (h->addr_format != FI_FORMAT_UNSPEC)
		return false;
	const struct fi_ep_attr *ep = h->ep_attr;
	if (ep != NULL && ((ep->type != FI_EP_UNSPEC && ep->type != FI_EP_RDM) || ep->tx_ctx_cnt > 1 || ep->rx_ctx_cnt > 1))
		return false;
	if (ep != NULL && ep->protocol != FI_PROTO_UNSPEC)
		return false;
	if (h->tx_attr != NULL && ((h->tx_attr->msg_order & ~(uint64_t)ORDER) || h->tx_attr->inject_size > NL_INLINE))
		return false;
	if (h->rx_attr != NULL && (h->rx_attr->msg_order & ~(uint64_t)ORDER))
		return false;
	if (h->domain_attr != NULL && (differs(h->domain_attr->name, "nicloop") || h->domain_attr->cq_data_size > 8))
		return false;
	return h->fabric_attr == NULL ||
	       (!differs(h->fabric_attr->name, "nicloop") && !differs(h->fabric_attr->prov_name, "nicloop"));
}

/* Programs exchange the names of endpoints, or name a node: here, the number of a rank. */
static void add_destination(struct fi_info *info, const char *node)
{
	char *end;
	unsigned long rank = strtoul(node, &end, 10);
	struct nl_name *name = malloc(sizeof *name);
	if (name == NULL || end == node || *end != 0) {
		free(name);
		return;
	}
	*name = (struct nl_name){NL_MAGIC, (uint32_t)rank};
	info->dest_addr = name;
	info->dest_addrlen = sizeof *name;
}

static int getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		   const struct fi_info *hints, struct fi_info **info)
{
	(void)version, (void)service;
	if (!nl_has_world() || !can(hints))
		return -FI_ENODATA;
	*info = describe(hints);
	if (*info == NULL)
		return -FI_ENOMEM;
	if (node != NULL && !(flags & FI_SOURCE))
		add_destination(*info, node);
	return 0;
}

/* ---- objects that are only there ---- */

static int close_object(struct fid *fid)
{
	free(fid);
	return 0;
}

static int bind_nothing(struct fid *fid, struct fid *to, uint64_t flags)
{
	(void)fid, (void)to, (void)flags;
	return 0;
}

static int control_nothing(struct fid *fid, int command, void *arg)
{
	(void)fid, (void)command, (void)arg;
	return 0;
}

NL_STUB(fi_open_ops)
NL_STUB(fi_scalable_ep)
NL_STUB(fi_stx_context)
NL_STUB(fi_srx_context)
NL_STUB(fi_passive_ep)
NL_STUB(fi_poll_open)
NL_STUB(fi_wait_open)
NL_STUB(fi_query_collective)
NL_STUB(fi_eq_sread)

static struct fi_ops object_ops = {
    .size = sizeof(struct fi_ops), .close = close_object, .bind = bind_nothing, .control = control_nothing,
    .ops_open = NL_NO(fi_open_ops)};

static ssize_t eq_read(struct fid_eq *eq, uint32_t *event, void *buf, size_t len, uint64_t flags)
{
	(void)eq, (void)event, (void)buf, (void)len, (void)flags;
	return -FI_EAGAIN;
}

static ssize_t eq_readerr(struct fid_eq *eq, struct fi_eq_err_entry *entry, uint64_t flags)
{
	(void)eq, (void)entry, (void)flags;
	return -FI_EAGAIN;
}

static const char *eq_strerror(struct fid_eq *eq, int error, const void *data, char *buf, size_t len)
{
	(void)eq, (void)data, (void)buf, (void)len;
	return strerror(error);
}

static struct fi_ops_eq eq_ops = {
    .size = sizeof eq_ops, .read = eq_read, .readerr = eq_readerr, .write = NL_NO(fi_eq_sread),
    .sread = NL_NO(fi_eq_sread), .strerror = eq_strerror};

static int eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq, void *context)
{
	(void)fabric, (void)attr;
	*eq = calloc(1, sizeof **eq);
	(*eq)->fid = (struct fid){FI_CLASS_EQ, context, &object_ops};
	(*eq)->ops = &eq_ops;
	return 0;
}

/* ---- memory regions: peers name them by the keys that the program chose ---- */

struct nl_mr {
	struct fid_mr mr;
	bool registered; /* with the world */
};

static int world_registration(uint32_t op, uint64_t key, const void *buf, size_t len, uint64_t access)
{
	struct nl_request r = {.op = op, .tag = key, .address = (uintptr_t)buf, .length = len, .data = access};
	pthread_mutex_lock(&nl_mutex);
	bool started = nl_started;
	int err = nl_finalized ? 0 : nl_call(&r);
	nl_started = started; /* a registration moves no data */
	if (err == 0)
		err = nl_region->result;
	pthread_mutex_unlock(&nl_mutex);
	return err;
}

static int mr_close(struct fid *fid)
{
	struct nl_mr *mr = (struct nl_mr *)fid;
	if (mr->registered)
		world_registration(NL_UNREGISTER, mr->mr.key, NULL, 0, 0);
	free(mr);
	return 0;
}

static struct fi_ops mr_fid_ops = {
    .size = sizeof(struct fi_ops), .close = mr_close, .bind = bind_nothing, .control = control_nothing,
    .ops_open = NL_NO(fi_open_ops)};

/* The world reaches all memory of the process: only what peers access is registered with it. */
static int mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset, uint64_t key,
		  uint64_t flags, struct fid_mr **fid_mr, void *context)
{
	(void)fid, (void)offset, (void)flags;
	struct nl_mr *mr = calloc(1, sizeof *mr);
	if (mr == NULL)
		return -FI_ENOMEM;
	mr->mr.fid = (struct fid){FI_CLASS_MR, context, &mr_fid_ops};
	mr->mr.key = key;
	mr->mr.mem_desc = mr;
	if (access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) {
		int err = world_registration(NL_REGISTER, key, buf, len, access);
		if (err) {
			free(mr);
			return err;
		}
		mr->registered = true;
	}
	*fid_mr = &mr->mr;
	return 0;
}

static int mr_regv(struct fid *fid, const struct iovec *iov, size_t count, uint64_t access, uint64_t offset,
		   uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
	if (count > 1)
		return -FI_EINVAL;
	return mr_reg(fid, count ? iov->iov_base : NULL, count ? iov->iov_len : 0, access, offset, key, flags, mr, context);
}

static int mr_regattr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags, struct fid_mr **mr)
{
	return mr_regv(fid, attr->mr_iov, attr->iov_count, attr->access, attr->offset, attr->requested_key, flags, mr,
		       attr->context);
}

static struct fi_ops_mr mr_ops = {.size = sizeof mr_ops, .reg = mr_reg, .regv = mr_regv, .regattr = mr_regattr};

/* ---- address vectors: an address is a rank, or an index of a table of ranks ---- */

struct nl_av {
	struct fid_av av;
	enum fi_av_type type;
	uint32_t *ranks; /* of a table */
	size_t count, room;
};

int nl_av_rank(const struct nl_av *av, uint64_t addr)
{
	if (addr == FI_ADDR_UNSPEC)
		return -1;
	if (av == NULL || av->type != FI_AV_TABLE)
		return (int)addr;
	return addr < av->count ? (int)av->ranks[addr] : -1;
}

uint64_t nl_av_addr(const struct nl_av *av, int rank)
{
	if (av == NULL || av->type != FI_AV_TABLE)
		return (uint64_t)rank;
	for (size_t i = 0; i < av->count; i++)
		if (av->ranks[i] == (uint32_t)rank)
			return i;
	return FI_ADDR_NOTAVAIL;
}

static bool add_to_table(struct nl_av *av, uint32_t rank)
{
	if (av->count == av->room) {
		size_t room = av->room ? 2 * av->room : 64;
		uint32_t *ranks = realloc(av->ranks, room * sizeof *ranks);
		if (ranks == NULL)
			return false;
		av->ranks = ranks;
		av->room = room;
	}
	av->ranks[av->count++] = rank;
	return true;
}

static int av_insert(struct fid_av *fid, const void *addr, size_t count, fi_addr_t *to, uint64_t flags, void *context)
{
	struct nl_av *av = (struct nl_av *)fid;
	const struct nl_name *names = addr;
	int done = 0;
	(void)flags, (void)context;
	for (size_t i = 0; i < count; i++) {
		fi_addr_t at = FI_ADDR_NOTAVAIL;
		if (names[i].magic == NL_MAGIC && (av->type != FI_AV_TABLE || add_to_table(av, names[i].rank))) {
			at = av->type == FI_AV_TABLE ? av->count - 1 : names[i].rank;
			done++;
		}
		if (to != NULL)
			to[i] = at;
	}
	return done;
}

static int av_remove(struct fid_av *fid, fi_addr_t *addr, size_t count, uint64_t flags)
{
	(void)fid, (void)addr, (void)count, (void)flags;
	return 0;
}

static int av_lookup(struct fid_av *fid, fi_addr_t addr, void *to, size_t *len)
{
	struct nl_name name = {NL_MAGIC, (uint32_t)nl_av_rank((struct nl_av *)fid, addr)};
	memcpy(to, &name, *len < sizeof name ? *len : sizeof name);
	*len = sizeof name;
	return 0;
}

static const char *av_straddr(struct fid_av *fid, const void *addr, char *buf, size_t *len)
{
	(void)fid;
	int n = snprintf(buf, *len, "nicloop://rank/%u", ((const struct nl_name *)addr)->rank);
	*len = (size_t)n + 1;
	return buf;
}

NL_STUB(fi_av_insertsvc)
NL_STUB(fi_av_insertsym)

static struct fi_ops_av av_ops = {
    .size = sizeof av_ops, .insert = av_insert, .insertsvc = NL_NO(fi_av_insertsvc),
    .insertsym = NL_NO(fi_av_insertsym), .remove = av_remove, .lookup = av_lookup, .straddr = av_straddr};

static int av_close(struct fid *fid)
{
	free(((struct nl_av *)fid)->ranks);
	free(fid);
	return 0;
}

static struct fi_ops av_fid_ops = {
    .size = sizeof(struct fi_ops), .close = av_close, .bind = bind_nothing, .control = control_nothing,
    .ops_open = NL_NO(fi_open_ops)};

static int av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **fid, void *context)
{
	(void)domain;
	struct nl_av *av = calloc(1, sizeof *av);
	if (attr->type == FI_AV_UNSPEC)
		attr->type = FI_AV_MAP;
	av->type = attr->type;
	av->av.fid = (struct fid){FI_CLASS_AV, context, &av_fid_ops};
	av->av.ops = &av_ops;
	*fid = &av->av;
	return 0;
}

/* ---- domains and fabrics ---- */

static struct fi_ops_domain domain_ops = {
    .size = sizeof domain_ops, .av_open = av_open, .cq_open = nl_cq_open, .endpoint = nl_endpoint,
    .scalable_ep = NL_NO(fi_scalable_ep), .cntr_open = nl_cntr_open, .poll_open = NL_NO(fi_poll_open),
    .stx_ctx = NL_NO(fi_stx_context), .srx_ctx = NL_NO(fi_srx_context),
    .endpoint2 = NL_NO(fi_scalable_ep), .query_atomic = nl_query_atomic, .query_collective = NL_NO(fi_query_collective)};

static int domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain, void *context)
{
	(void)fabric, (void)info;
	int err = nl_connect();
	if (err)
		return err;
	*domain = calloc(1, sizeof **domain);
	(*domain)->fid = (struct fid){FI_CLASS_DOMAIN, context, &object_ops};
	(*domain)->ops = &domain_ops;
	(*domain)->mr = &mr_ops;
	return 0;
}

static int trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	(void)fabric, (void)fids, (void)count;
	return 0;
}

static struct fi_ops_fabric fabric_ops = {
    .size = sizeof fabric_ops, .domain = domain, .passive_ep = NL_NO(fi_passive_ep), .eq_open = eq_open,
    .wait_open = NL_NO(fi_wait_open), .trywait = trywait};

static int fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	(void)attr;
	*fabric = calloc(1, sizeof **fabric);
	(*fabric)->fid = (struct fid){FI_CLASS_FABRIC, context, &object_ops};
	(*fabric)->ops = &fabric_ops;
	(*fabric)->api_version = FI_VERSION(1, 17);
	return 0;
}

static void cleanup(void) {}

static struct fi_provider provider = {
    .version = FI_VERSION(1, 0), .fi_version = FI_VERSION(1, 17), .name = "nicloop", .getinfo = getinfo,
    .fabric = fabric, .cleanup = cleanup};

__attribute__((visibility("default"))) struct fi_provider *fi_prov_ini(void) { return &provider; }
