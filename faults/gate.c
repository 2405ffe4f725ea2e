#include "gate.h"

void gate_init(struct gate *g) {
  atomic_init(&g->shut, false);
  atomic_init(&g->entered, false);
  pthread_mutex_init(&g->lock, NULL);
  pthread_cond_init(&g->moved, NULL);
  g->parked = 0;
}

void gate_free(struct gate *g) {
  pthread_cond_destroy(&g->moved);
  pthread_mutex_destroy(&g->lock);
}

static void park(struct gate *g) {
  pthread_mutex_lock(&g->lock);
  g->parked++;
  pthread_cond_broadcast(&g->moved);
  while (atomic_load(&g->shut)) pthread_cond_wait(&g->moved, &g->lock);
  g->parked--;
  pthread_mutex_unlock(&g->lock);
}

void gate_pass(struct gate *g) {
  /* Sequentially consistent, see gate.h; a plain load first keeps the line shared. */
  if (!atomic_load(&g->entered)) atomic_store(&g->entered, true);
  if (atomic_load(&g->shut)) park(g);
}

void gate_shut(struct gate *g) {
  pthread_mutex_lock(&g->lock);
  atomic_store(&g->shut, true);
  pthread_mutex_unlock(&g->lock);
}

void gate_await(struct gate *g) {
  if (!atomic_load(&g->entered)) return;
  pthread_mutex_lock(&g->lock);
  while (g->parked == 0) pthread_cond_wait(&g->moved, &g->lock);
  pthread_mutex_unlock(&g->lock);
}

void gate_open(struct gate *g) {
  pthread_mutex_lock(&g->lock);
  atomic_store(&g->shut, false);
  pthread_cond_broadcast(&g->moved);
  pthread_mutex_unlock(&g->lock);
}
