#include "send/endpoints.h"

bool qwp_endpoints_init(struct qwp_endpoints *e, const struct qwp_ops *ops, size_t count) {
  if (count > SIZE_MAX / sizeof *e->states) return false;
  *e = (struct qwp_endpoints){.count = count, .last_healthy = -1, .ops = ops};
  e->states = ops->mem->alloc(ops->mem_ctx, count * sizeof *e->states);
  if (!e->states) return false;
  for (size_t i = 0; i < count; i++) e->states[i] = (struct qwp_endpoint_state){.health = QWP_UNKNOWN};
  return true;
}

void qwp_endpoints_free(struct qwp_endpoints *e) {
  if (e->states) e->ops->mem->free(e->ops->mem_ctx, e->states);
  e->states = NULL;
}

int qwp_endpoints_pick(struct qwp_endpoints *e) {
  int best = -1;
  for (size_t i = 0; i < e->count; i++) {
    if (e->states[i].tried) continue;
    if (best < 0 || e->states[i].health < e->states[best].health) best = (int)i;
  }
  if (best >= 0) e->states[best].tried = true;
  return best;
}

static void clear_tried(struct qwp_endpoints *e) {
  for (size_t i = 0; i < e->count; i++) e->states[i].tried = false;
}

void qwp_endpoints_mark(struct qwp_endpoints *e, int index, enum qwp_health health) {
  e->states[index].health = health;
  if (health != QWP_HEALTHY) return;
  e->last_healthy = index;
  clear_tried(e);
}

void qwp_endpoints_lost(struct qwp_endpoints *e, int index) {
  if (e->states[index].health == QWP_HEALTHY) e->states[index].health = QWP_TRANSPORT_ERROR;
  clear_tried(e);
}

void qwp_endpoints_new_round(struct qwp_endpoints *e) {
  clear_tried(e);
  for (size_t i = 0; i < e->count; i++) {
    bool keep = (int)i == e->last_healthy && e->states[i].health == QWP_HEALTHY;
    if (!keep) e->states[i].health = QWP_UNKNOWN;
  }
}
