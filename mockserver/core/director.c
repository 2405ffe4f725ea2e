#include "core/director.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/out.h"

/* Of the rules of an entry each chooses on its own. */
static int64_t choose(const struct mock_rule *r, uint64_t draw, size_t rule) {
  if (r->n_to <= r->n) return r->n;
  uint64_t x = mock_mix(mock_mix(draw + 1) + rule + 1);
  return r->n + (int64_t)(x % ((uint64_t)(r->n_to - r->n) + 1));
}

bool mock_director_init(struct mock_director *d, const struct mock_entry *entry, bool *ever, uint64_t draw) {
  *d = (struct mock_director){.entry = entry, .ever = ever, .upgraded_ns = -1};
  if (!entry || entry->rule_count == 0) return true;
  d->turns = calloc(entry->rule_count, sizeof *d->turns);
  for (size_t i = 0; d->turns && i < entry->rule_count; i++) d->turns[i].n = choose(&entry->rules[i], draw, i);
  return d->turns != NULL;
}

void mock_director_free(struct mock_director *d) {
  free(d->turns);
  d->turns = NULL;
  d->entry = NULL;
}

int64_t mock_director_number(const struct mock_director *d, const struct mock_rule *r) {
  return d->turns[r - d->entry->rules].n;
}

static size_t rule_count(const struct mock_director *d) { return d->entry ? d->entry->rule_count : 0; }

static int64_t sum(int64_t a, int64_t b) { return b > 0 && a > INT64_MAX - b ? INT64_MAX : a + b; }

static bool nth(int64_t n, int64_t count) { return n == MOCK_ANY || count == (n < 1 ? 1 : n); }

static bool due(const struct mock_director *d, size_t i, bool is_catchup, int64_t now_ns) {
  const struct mock_rule *r = &d->entry->rules[i];
  const int64_t n = d->turns[i].n;
  switch (r->trigger) {
    case MOCK_AT_FRAME:
      if (r->only_catchup) return is_catchup && d->catchup == n;
      if (r->only_data) return !is_catchup && d->data == n;
      return d->frames == n;
    case MOCK_AT_BYTE: return d->bytes >= n;
    case MOCK_ON_UPGRADE: return true;
    case MOCK_ON_PING: return nth(n, d->pings);
    case MOCK_ON_CLOSE: return nth(n, d->closes);
    case MOCK_AT_TIME: return d->upgraded_ns >= 0 && now_ns >= sum(d->upgraded_ns, n);
  }
  return false;
}

static bool repeats(const struct mock_rule *r) {
  return r->n == MOCK_ANY && (r->trigger == MOCK_ON_PING || r->trigger == MOCK_ON_CLOSE);
}

static bool ready(const struct mock_director *d, size_t i, enum mock_trigger t, bool is_catchup, int64_t now_ns) {
  const struct mock_rule *r = &d->entry->rules[i];
  return r->trigger == t && (!d->turns[i].fired || repeats(r)) && due(d, i, is_catchup, now_ns);
}

bool mock_director_expects(const struct mock_director *d, enum mock_trigger t, bool is_catchup, int64_t now_ns,
                           bool (*want)(enum mock_action action)) {
  for (size_t i = 0; i < rule_count(d); i++)
    if (want(d->entry->rules[i].action) && ready(d, i, t, is_catchup, now_ns)) return true;
  return false;
}

const struct mock_rule *mock_director_take(struct mock_director *d, enum mock_trigger t, bool is_catchup,
                                           int64_t now_ns, size_t *at) {
  while (*at < rule_count(d)) {
    size_t i = (*at)++;
    if (!ready(d, i, t, is_catchup, now_ns)) continue;
    d->turns[i].fired = true;
    if (d->ever) d->ever[i] = true;
    return &d->entry->rules[i];
  }
  return NULL;
}

int64_t mock_director_bytes_left(const struct mock_director *d) {
  int64_t left = -1;
  for (size_t i = 0; i < rule_count(d); i++) {
    const struct mock_rule *r = &d->entry->rules[i];
    if (r->trigger != MOCK_AT_BYTE || d->turns[i].fired) continue;
    const int64_t n = d->turns[i].n, here = n > d->bytes ? n - d->bytes : 0;
    if (left < 0 || here < left) left = here;
  }
  return left;
}

int64_t mock_director_next_time(const struct mock_director *d) {
  int64_t next = INT64_MAX;
  if (d->upgraded_ns < 0) return next;
  for (size_t i = 0; i < rule_count(d); i++) {
    const struct mock_rule *r = &d->entry->rules[i];
    if (r->trigger != MOCK_AT_TIME || d->turns[i].fired) continue;
    int64_t here = sum(d->upgraded_ns, d->turns[i].n);
    if (here < next) next = here;
  }
  return next;
}

size_t mock_rule_text(const struct mock_rule *r, char *text, size_t cap) {
  static const char *const actions[] = {"nack", "close", "reset", "fin", "stall", "drain", "blackhole",
                                        "raw", "ping", "ok", "refuse", "release", "key update", "ticket"};
  static const char *const triggers[] = {"at frame ", "at byte ", "on upgrade", "on ping", "on close", "at time "};
  struct mock_out o = {0};
  mock_out_text(&o, actions[r->action]);
  mock_out_text(&o, " ");
  mock_out_text(&o, triggers[r->trigger]);
  bool counted = r->trigger == MOCK_AT_FRAME || r->trigger == MOCK_AT_BYTE || r->trigger == MOCK_AT_TIME;
  if (counted) mock_out_decimal(&o, r->n);
  if (counted && r->n_to > r->n) {
    mock_out_text(&o, "..");
    mock_out_decimal(&o, r->n_to);
  }
  if (r->trigger == MOCK_AT_TIME) mock_out_text(&o, " ns");
  if (r->only_catchup) mock_out_text(&o, " (catch-up)");
  if (r->only_data) mock_out_text(&o, " (data)");
  size_t n = o.n < cap ? o.n : cap - 1;
  if (n) memcpy(text, o.p, n);
  text[n] = '\0';
  mock_out_free(&o);
  return n;
}
