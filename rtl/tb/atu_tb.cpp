// atu: random accesses of all clients, tables that software fills, changes and flushes at any time,
// slow memory that fails now and then.
// - every access is answered, one at a time, no client is passed over more than N times;
// - an answer is that of the table as it was at some moment of the access, and of an entry that
//   memory gave for this page, by this access or by an earlier one that no flush has met; the first
//   reason to refuse counts;
// - at most one read per access, of the entry's own quadword, and none for an access outside its
//   table;
// - hits, misses, faults and the fault register say what happened;
// - a translation that was read once is found again, as many at a time as the TLB has entries.
#include <map>

#include "Vatu.h"
#include "tb.h"

namespace {

constexpr unsigned kClients = 4, kTables = 4;  // of 16 tables, so that they are used often
constexpr unsigned kShift[] = {12, 16, 21};
constexpr unsigned kVpid[] = {1, 9, 6};  // two differ in the highest bit alone

struct Table {
  uint64_t base = 0;
  unsigned pages = 0, size = 0;
};

struct Request {
  bool pending = false;
  uint64_t nla = 0;
  unsigned vpid = 0, need = 0, passed_over = 0;
  std::vector<Table> seen;  // its table, at every moment since it began
};

struct Answer {
  unsigned error;
  uint64_t addr;
};

using Page = std::pair<unsigned, uint64_t>;  // table, number

struct Test : tb::Bench<Vatu> {
  bool after_valid = false, address_seen = false;  // of the memory: how it takes addresses
  Table table[16];
  Request request[kClients];
  std::map<uint64_t, uint64_t> memory;  // entries by address; what is not here is 0
  std::map<Page, uint64_t> kept;        // what a hit may use
  bool asked = false, read = false, spoiled = false, flushing = false;
  uint64_t read_addr = 0, read_entry = 0;
  unsigned read_resp = 0, errors_percent = 0;
  unsigned answers[16] = {}, hits = 0, found = 0, misses = 0, stale = 0;

  using Bench::Bench;

  uint64_t entry(unsigned vpid) {
    unsigned rights = random.percent(70) ? unsigned(NICLOOP_ATU_RIGHTS_RW) : random.below(4);
    return random.next() << 21 | random.below(512) << 12 | PACK(ATU_ENTRY_VPID, vpid) | PACK(ATU_ENTRY_RIGHTS, rights);
  }

  void ask(unsigned client) {
    Request& r = request[client];
    unsigned t = random.below(kTables), shift = kShift[table[t].size % 3];
    uint64_t page = random.below(table[t].pages + 2);
    if (random.percent(3)) page |= 1ull << (random.percent(50) ? 24 : random.below(32));  // far outside
    r = {true, PACK(NLA_TABLE, t) | ((page << shift | random.below(1ull << shift)) & NICLOOP_NLA_OFFSET_MASK), kVpid[random.below(3)],
         unsigned(1 + random.below(3)), 0, {table[t]}};
  }

  // What the table and entry make of the access. known is false when nobody has read the entry.
  Answer judge(const Request& r, const Table& t, bool* known) const {
    uint64_t offset = FIELD(r.nla, NLA_OFFSET), tab = FIELD(r.nla, NLA_TABLE);
    *known = true;
    if (t.pages == 0 || t.size == 3) return {NICLOOP_RMA_ERROR_TRANSLATION, 0};
    uint64_t page = offset >> kShift[t.size], e = read_entry;
    if (page >= t.pages) return {NICLOOP_RMA_ERROR_BOUNDS, 0};
    if (read) {
      *known = read_addr == t.base + page * 8;
      if (read_resp) return {NICLOOP_RMA_ERROR_DMA, 0};
    } else {
      auto it = kept.find({tab, page});
      *known = it != kept.end();
      if (!*known) return {0, 0};
      e = it->second;
    }
    unsigned rights = FIELD(e, ATU_ENTRY_RIGHTS);
    if (rights == NICLOOP_ATU_RIGHTS_NONE) return {NICLOOP_RMA_ERROR_TRANSLATION, 0};
    if (FIELD(e, ATU_ENTRY_VPID) != r.vpid) return {NICLOOP_RMA_ERROR_OWNER, 0};
    if (r.need & ~rights) return {NICLOOP_RMA_ERROR_RIGHTS, 0};
    uint64_t within = (1ull << kShift[t.size]) - 1;
    return {0, (e & ~within) | (offset & within)};
  }

  bool outside(const Request& r, const Table& t) const {
    return t.pages == 0 || t.size == 3 || FIELD(r.nla, NLA_OFFSET) >> kShift[t.size] >= t.pages;
  }

  void answered(unsigned client) {
    Request& r = request[client];
    CHECK(r.pending, "client %u is answered and did not ask", client);
    bool right = false, hit = false;
    for (const Table& t : r.seen) {
      bool known = false;
      Answer a = judge(r, t, &known);
      if (!known || a.error != top.error || (!a.error && a.addr != top.addr)) continue;
      right = true;
      hit = hit || (!read && !outside(r, t));
    }
    CHECK(right, "client %u, NLA %012llx, VPID %u, need %u: error %u, address %016llx (%s): nothing allows that", client,
          (unsigned long long)r.nla, r.vpid, r.need, top.error, (unsigned long long)top.addr, read ? "read" : "not read");
    uint64_t fault = PACK(ATU_FAULT_NLA, r.nla) | PACK(ATU_FAULT_ERROR, top.error) | PACK(ATU_FAULT_VPID, r.vpid) |
                     PACK(ATU_FAULT_WRITE, r.need >> 1);
    CHECK(top.ev_fault == (top.error != 0), "fault event %u, error %u", top.ev_fault, top.error);
    CHECK(!top.ev_fault || top.fault == fault, "fault %016llx, expected %016llx", (unsigned long long)top.fault, (unsigned long long)fault);
    ++answers[top.error];
    found += hit;
    for (Request& o : request) o.passed_over += o.pending;
    r.pending = asked = read = false;
  }

  // One pulse in this cycle, or none.
  void software(unsigned percent) {
    top.flush_page = top.flush_vpid = top.flush_all = top.wr_base = top.wr_pages = 0;
    flushing = random.percent(percent);
    if (!flushing) return;
    unsigned t = random.below(kTables), what = random.below(10);
    top.flush_table = t, top.flush_number = random.below(table[t].pages + 1), top.flush_owner = kVpid[random.below(3)], top.wr_table = t;
    if (what < 4) top.flush_page = 1;
    else if (what < 7) top.flush_vpid = 1;
    else if (what == 7) top.flush_all = 1;
    else if (what == 8) top.wr_base = 1, top.wr_data = 0x100000 * (t + 1) + random.below(4) * 0x8000 + random.below(8);
    else top.wr_pages = 1, top.wr_data = PACK(ATU_PAGES_PAGES, random.below(40)) | PACK(ATU_PAGES_SIZE, random.percent(5) ? 3 : random.below(3));
  }

  void after_flush() {
    for (auto it = kept.begin(); it != kept.end();) {
      bool gone = top.flush_all || top.wr_base || top.wr_pages || (top.flush_vpid && FIELD(it->second, ATU_ENTRY_VPID) == top.flush_owner) ||
                  (top.flush_page && it->first == Page{top.flush_table, top.flush_number});
      it = gone ? kept.erase(it) : std::next(it);
    }
    Table& t = table[top.wr_table];
    if (top.wr_base) t.base = top.wr_data & ~7ull;
    if (top.wr_pages) t.pages = FIELD(top.wr_data, ATU_PAGES_PAGES), t.size = FIELD(top.wr_data, ATU_PAGES_SIZE);
    for (Request& r : request)
      if (r.pending) r.seen.push_back(table[FIELD(r.nla, NLA_TABLE)]);
  }

  void offer(unsigned ask_percent, unsigned ar, unsigned r) {
    for (unsigned c = 0; c < kClients; ++c) {
      Request& q = request[c];
      if (!q.pending && random.percent(ask_percent)) ask(c);
      top.valid = (top.valid & ~(1u << c)) | unsigned(q.pending) << c;
      top.vpid = (top.vpid & ~(15u << 4 * c)) | q.vpid << 4 * c;
      top.need = (top.need & ~(3u << 2 * c)) | q.need << 2 * c;
      for (unsigned b = 0; b < 48; ++b) {  // 48 bits each in words of 32
        unsigned at = c * 48 + b;
        top.nla[at / 32] = (top.nla[at / 32] & ~(1u << at % 32)) | uint32_t(q.nla >> b & 1) << at % 32;
      }
    }
    // A slave may assert ARREADY only after ARVALID (AXI4 A3.3.1).
    top.m_arready = random.percent(ar) && (ar == 100 || !after_valid || address_seen);
    if (!top.m_rvalid && asked && !read && random.percent(r)) {
      auto it = memory.find(read_addr);
      top.m_rvalid = 1, top.m_rdata = it == memory.end() ? 0 : it->second, top.m_rresp = random.percent(errors_percent) ? 2 : 0;
    }
  }

  void memory_moves() {
    address_seen = top.m_arvalid && !top.m_arready;
    if (top.m_arvalid && top.m_arready) {
      after_valid = random.percent(50);
      CHECK(!asked, "a second read for one access");
      asked = true, spoiled = flushing, read_addr = top.m_araddr;
      ++misses;
    }
    CHECK(top.ev_miss == (top.m_arvalid && top.m_arready), "miss event %u", top.ev_miss);
    if (!read) spoiled = spoiled || flushing;
    if (!top.m_rvalid || !top.m_rready) return;
    read = true, read_entry = top.m_rdata, read_resp = top.m_rresp;
  }

  // The entry is kept for the page that the client asked for, so that is known when the answer
  // comes.
  void keep(const Request& r) {
    if (!read || read_resp || spoiled || !FIELD(read_entry, ATU_ENTRY_RIGHTS)) return;
    for (const Table& t : r.seen) {
      uint64_t page = FIELD(r.nla, NLA_OFFSET) >> kShift[t.size % 3];
      if (!outside(r, t) && read_addr == t.base + page * 8) kept[{FIELD(r.nla, NLA_TABLE), page}] = read_entry;
    }
  }

  void step(unsigned ask_percent, unsigned ar, unsigned r, unsigned flush) {
    offer(ask_percent, ar, r);
    software(flush);
    settle();
    CHECK(top.active == (top.valid != 0), "active %u", top.active);
    CHECK((top.done & (top.done - 1)) == 0, "clients %x answered at once", top.done);
    hits += top.ev_hit;
    stale += flushing && asked && !read;
    memory_moves();
    for (unsigned c = 0; c < kClients; ++c) {
      if (!(top.done >> c & 1)) continue;
      keep(request[c]);
      answered(c);
    }
    for (const Request& q : request) CHECK(!q.pending || q.passed_over <= kClients, "a client was passed over %u times", q.passed_over);
    bool taken = top.m_rvalid && top.m_rready;
    edge();
    if (taken) top.m_rvalid = 0;
    if (flushing) after_flush();
  }

  void settle_down() {
    for (int i = 0; i == 0 || top.valid; ++i) {
      CHECK(i < 1000, "stuck");
      step(0, 100, 100, 0);
    }
    CHECK(hits == found, "%u hits counted, %u translations came without a read", hits, found);
  }
};

void write_table(Test* t, unsigned number, uint64_t base, unsigned pages, unsigned size) {
  t->top.wr_table = number;
  t->top.wr_data = base, t->top.wr_base = 1, t->tick(), t->top.wr_base = 0;
  t->top.wr_data = PACK(ATU_PAGES_PAGES, pages) | PACK(ATU_PAGES_SIZE, size), t->top.wr_pages = 1, t->tick(), t->top.wr_pages = 0;
  t->table[number] = {base, pages, size};
  t->kept.clear();
  t->top.rd_table = number;
  t->settle();
  CHECK(t->top.rd_base == base && t->top.rd_pages == (pages | size << 24), "table %u reads back %llx, %x", number,
        (unsigned long long)t->top.rd_base, t->top.rd_pages);
}

void random_traffic(Test* t) {
  for (int phase = 0; phase < 200; ++phase) {
    unsigned ask = t->random.mood(), ar = t->random.mood(), r = t->random.mood(), flush = phase % 4 == 0 ? 20 : phase % 2;
    t->errors_percent = phase % 5 == 4 ? 15 : 0;
    for (int i = 0; i < 400; ++i) {
      if (t->random.percent(20)) {
        const Table& where = t->table[t->random.below(kTables)];
        if (where.pages) t->memory[where.base + 8 * t->random.below(where.pages)] = t->entry(kVpid[t->random.below(3)]);
      }
      t->step(ask, ar, r, flush);
    }
    t->settle_down();
  }
  for (unsigned e : {NICLOOP_RMA_ERROR_NONE, NICLOOP_RMA_ERROR_TRANSLATION, NICLOOP_RMA_ERROR_RIGHTS, NICLOOP_RMA_ERROR_OWNER,
                     NICLOOP_RMA_ERROR_BOUNDS, NICLOOP_RMA_ERROR_DMA})
    CHECK(t->answers[e] > 100, "error %u came up %u times", e, t->answers[e]);
  CHECK(t->misses > 1000 && t->stale > 300, "%u misses, %u flushes met a read: the scenario lost its point", t->misses, t->stale);
}

// Reads for one access of every page of table 1.
unsigned round(Test* t, unsigned pages) {
  unsigned before = t->misses;
  for (uint64_t page = 0; page < pages; ++page) {
    t->request[0] = {true, PACK(NLA_TABLE, 1) | page << 12, kVpid[0], 3, 0, {t->table[1]}};
    do t->step(0, 100, 100, 0);
    while (t->request[0].pending);
    CHECK(t->top.error == 0, "page %llu refused with %u", (unsigned long long)page, t->top.error);
  }
  return t->misses - before;
}

}  // namespace

static void scenario(Test& t) {
  t.reset();
  for (unsigned i = 0; i < 16; ++i) {
    t.top.rd_table = i, t.settle();
    CHECK((t.top.rd_pages & 0xffffff) == 0, "table %u has %u pages after reset", i, t.top.rd_pages & 0xffffff);
  }
  for (unsigned i = 0; i < kTables; ++i) write_table(&t, i, 0x100000 * (i + 1), 10 + 10 * i, i % 3);
  random_traffic(&t);

  write_table(&t, 1, 0x4000000, 64, NICLOOP_ATU_PAGE_SIZE_K4);
  for (uint64_t page = 0; page < 64; ++page) t.memory[0x4000000 + 8 * page] = page << 12 | kVpid[0] << NICLOOP_ATU_ENTRY_VPID_LSB | NICLOOP_ATU_RIGHTS_RW;
  t.errors_percent = 0;
  unsigned first = round(&t, 32), again = round(&t, 32), more = round(&t, 64);
  CHECK(first == 32 && again == 0 && more == 32, "%u, %u, %u reads, expected 32, 0, 32", first, again, more);
}

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
