/* layer - the fault layer from inside: what the four wrapped tables share. */
#ifndef FAULT_LAYER_H
#define FAULT_LAYER_H

#include "counters.h"
#include "gate.h"
#include "match.h"
#include "sock.h"
#include "trace.h"

struct faults {
  struct faults_options o;
  struct qwp_ops ops;   /* handed to the client */
  const struct qwp_ops *under;
  struct counters counters;
  struct matcher matcher;
  struct gate gate;
  struct trace trace;
  struct fsocks socks;
  int connections;      /* numbers given out */
};

extern const struct qwp_net_ops faults_net_ops;
extern const struct qwp_clock_ops faults_clock_ops;
extern const struct qwp_mem_ops faults_mem_ops;
extern const struct qwp_file_ops faults_file_ops;

void faults_pass_time(const struct faults *f, int64_t ns); /* 0 = nothing */

/* A call that can only fail or be late: lets the delay before it pass and says what to
 * fail it with, -errno, or 0 = make the call, then let v->delay_after_ns pass. n: bytes
 * of an allocation, else 0. */
int faults_plain_call(struct faults *f, enum fault_point point, size_t n, struct verdict *v);

#endif
