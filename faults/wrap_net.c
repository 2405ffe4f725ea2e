/* wrap_net - the net table: counts, faults and trace of every call of the client.
 *
 * Each call goes the same way: pass the gate; see what the call is (its phase, its
 * kind); count it; ask the plan; let the delay before it pass; do what the plan says, or
 * call the table below; take into account what went through; note it in the trace.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"

static const struct qwp_net_ops *under(const struct faults *f) { return f->under->net; }
static void *under_ctx(const struct faults *f) { return f->under->net_ctx; }

static void flip(uint8_t *bytes, uint64_t bit) { bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8)); }

/* ---- ends of connections ----------------------------------------------------------- */

/* Whole faults (faults.h): which errno leaves the connection alive. */
static bool is_alive_after(int err) {
  return err == EAGAIN || err == EWOULDBLOCK || err == EINTR || err == ENOBUFS || err == ENOMEM;
}

/* The connection is over for the client, and the peer is told. */
static void end_connection(struct faults *f, struct fsock *s, bool reset) {
  s->dead = true;
  s->ended = true;
  if (reset && f->o.reset) f->o.reset(f->o.reset_ctx, s->sock);
  else under(f)->shutdown(under_ctx(f), s->sock);
}

static void end_of_stream(struct faults *f, struct fsock *s) {
  if (s->ended) return;
  sock_drain(s, f->under);
  s->ended = true;
}

/* The call fails with err; if that ends the connection, whole. */
static ssize_t fail_transfer(struct faults *f, struct fsock *s, int err, bool keep_arrived) {
  if (is_alive_after(err)) return -err;
  if (keep_arrived && !s->ended) sock_drain(s, f->under);
  end_connection(f, s, err == ECONNRESET);
  return -err;
}

/* ---- connect ------------------------------------------------------------------------- */

static int net_resolve(void *ctx, const char *host, int port, struct qwp_addr *out, int max) {
  struct faults *f = ctx;
  gate_pass(&f->gate);
  return under(f)->resolve(under_ctx(f), host, port, out, max);
}

static void ask(struct faults *f, const struct call *c, struct verdict *v) {
  verdict_clear(v);
  if (!matcher_uses(&f->matcher, c->point)) return;
  match(&f->matcher, c, v);
  faults_pass_time(f, v->delay_before_ns);
}

static int begin_connection(struct faults *f, const struct qwp_addr *addr, qwp_sock *out, bool reset) {
  int result = under(f)->connect(under_ctx(f), addr, out);
  if (result != 0 && result != -EINPROGRESS) return result;
  struct fsock *s = socks_add(&f->socks, *out);
  if (!s) {
    under(f)->close(under_ctx(f), *out);
    *out = -1;
    return -ENOMEM;
  }
  s->number = ++f->connections;
  s->established = result == 0;
  counter_add(&f->counters, COUNTER_open, 1);
  if (!reset) return result;
  s->pending_err = ECONNRESET;
  end_connection(f, s, true);
  return result;
}

static int net_connect(void *ctx, const struct qwp_addr *addr, qwp_sock *out) {
  struct faults *f = ctx;
  gate_pass(&f->gate);
  counter_add(&f->counters, COUNTER_connects, 1);
  struct verdict v;
  struct call c = {.point = FAULT_CONNECT, .connection = f->connections + 1, .phase = FAULT_PHASE_UPGRADE};
  ask(f, &c, &v);
  int result;
  *out = -1;
  if (v.acts && v.act == FAULT_DO_ERRNO) result = -v.err;
  else result = begin_connection(f, addr, out, v.acts);
  faults_pass_time(f, v.delay_after_ns);
  struct fault_trace t = {.point = FAULT_CONNECT, .connection = c.connection, .result = result, .upgrade = true};
  trace_add(&f->trace, &t);
  return result;
}

/* A dial that came to nothing gives its number back, so that connection N is the N-th
 * that stood. */
static void give_number_back(struct faults *f, struct fsock *s) {
  if (s->established || s->number == 0) return;
  if (s->number == f->connections) f->connections--;
  s->number = 0;
}

static int net_connected(void *ctx, qwp_sock sock) {
  struct faults *f = ctx;
  gate_pass(&f->gate);
  struct fsock *s = socks_find(&f->socks, sock);
  if (s && s->dead && s->pending_err) {
    s->established = true; /* it stood, and was reset: it keeps its number */
    return (int)sock_send_dead(s);
  }
  int result = under(f)->connected(under_ctx(f), sock);
  if (!s || result == -EINPROGRESS) return result;
  if (result == 0) s->established = true;
  else give_number_back(f, s);
  return result;
}

static int net_shutdown(void *ctx, qwp_sock sock) {
  struct faults *f = ctx;
  gate_pass(&f->gate);
  struct fsock *s = socks_find(&f->socks, sock);
  if (s && s->dead) return -ENOTCONN;
  return under(f)->shutdown(under_ctx(f), sock);
}

static void net_close(void *ctx, qwp_sock sock) {
  struct faults *f = ctx;
  struct fsock *s = socks_find(&f->socks, sock);
  struct call c = {.point = FAULT_CLOSE, .connection = s ? s->number : 0, .phase = FAULT_PHASE_ANY};
  struct verdict v;
  ask(f, &c, &v);
  if (s && v.acts && !s->dead) end_connection(f, s, true);
  under(f)->close(under_ctx(f), sock);
  faults_pass_time(f, v.delay_after_ns);
  struct fault_trace t = {.point = FAULT_CLOSE, .connection = c.connection, .upgrade = s && !s->upgraded};
  trace_add(&f->trace, &t);
  if (!s) return;
  give_number_back(f, s);
  socks_drop(&f->socks, s);
  counter_add(&f->counters, COUNTER_open, -1);
}

/* ---- send ------------------------------------------------------------------------------ */

struct sending { /* one send call, as the client made it */
  const uint8_t *bytes;
  size_t n;
  bool upgrade, control;
  struct frames_seen seen;
  struct frames after; /* the walker, if all of it goes through */
};

static void look_at_send(struct fsock *s, struct sending *d) {
  if (s->hs_out == 0 && !s->upgraded && d->n > 0) s->opaque = begins_tls(d->bytes[0]);
  d->upgrade = !s->upgraded;
  if (d->upgrade || s->opaque) return;
  d->after = s->frames;
  frames_walk(&d->after, d->bytes, d->n, 0, &d->seen);
  d->control = d->seen.control && !d->seen.data;
}

static void count_send(struct faults *f, const struct sending *d) {
  counter_add(&f->counters, d->upgrade ? COUNTER_hs_send : d->control ? COUNTER_ctl_send : COUNTER_send, 1);
}

/* Sends a copy with bits flipped. */
static ssize_t send_flipped(struct faults *f, struct fsock *s, const uint8_t *p, size_t n, const struct verdict *v) {
  uint8_t *copy = malloc(n);
  ssize_t result = -ENOMEM;
  if (copy) {
    memcpy(copy, p, n);
    for (unsigned i = 0; i < v->flip_count; i++) {
      if (v->flips[i] / 8 < n) flip(copy, v->flips[i]);
    }
    result = under(f)->send(under_ctx(f), s->sock, copy, n);
    free(copy);
  }
  return result;
}

static ssize_t do_send(struct faults *f, struct fsock *s, const struct sending *d, const struct verdict *v) {
  if (v->acts) {
    switch (v->act) {
      case FAULT_DO_AGAIN: return -EAGAIN;
      case FAULT_DO_RST: return fail_transfer(f, s, ECONNRESET, true);
      case FAULT_DO_FIN: end_of_stream(f, s); break; /* the send itself goes on */
      default: return fail_transfer(f, s, v->err, true);
    }
  }
  size_t n = d->n < v->limit ? d->n : v->limit;
  if (v->flip_count > 0) return send_flipped(f, s, d->bytes, n, v);
  return under(f)->send(under_ctx(f), s->sock, d->bytes, n);
}

static void account_sent(struct faults *f, struct fsock *s, const struct sending *d, ssize_t result) {
  if (result <= 0) return;
  size_t taken = (size_t)result;
  if (d->upgrade) {
    s->hs_out += result;
    counter_add(&f->counters, COUNTER_hs_bytes_out, result);
    return;
  }
  struct frames_seen unused;
  if (taken == d->n) s->frames = d->after;
  else if (!s->opaque) frames_walk(&s->frames, d->bytes, taken, 0, &unused);
  s->out += result;
  counter_add(&f->counters, COUNTER_bytes_out, result);
  if (taken == d->n && !d->control) counter_add(&f->counters, COUNTER_flush, 1);
}

static ssize_t net_send(void *ctx, qwp_sock sock, const void *buf, size_t n) {
  struct faults *f = ctx;
  gate_pass(&f->gate);
  struct fsock *s = socks_find(&f->socks, sock);
  if (!s) return under(f)->send(under_ctx(f), sock, buf, n);
  struct sending d = {.bytes = buf, .n = n};
  look_at_send(s, &d);
  count_send(f, &d);
  struct verdict v;
  verdict_clear(&v);
  ssize_t result;
  if (s->dead) {
    result = sock_send_dead(s);
  } else {
    struct call c = {.point = FAULT_SEND, .connection = s->number, .control = d.control, .n = n, .bytes = buf,
                     .phase = d.upgrade ? FAULT_PHASE_UPGRADE : FAULT_PHASE_DATA,
                     .offset = d.upgrade ? s->hs_out : s->out, .opaque = s->opaque,
                     .frames = d.upgrade || s->opaque ? NULL : &s->frames};
    ask(f, &c, &v);
    result = do_send(f, s, &d, &v);
    match_settle(&f->matcher, &v, result);
    account_sent(f, s, &d, result);
    faults_pass_time(f, v.delay_after_ns);
  }
  struct fault_trace t = {.point = FAULT_SEND, .connection = s->number, .asked = n, .result = result,
                          .first_frame = d.seen.first_data, .control = d.control, .upgrade = d.upgrade};
  trace_add(&f->trace, &t);
  return result;
}

/* ---- recv -------------------------------------------------------------------------------- */

/* The plan's second look at a recv: bytes are there, bits may be flipped. */
static void flip_received(struct faults *f, const struct call *before, uint8_t *buf, size_t got) {
  struct call c = *before;
  struct verdict v;
  c.received = true;
  c.n = got;
  match(&f->matcher, &c, &v);
  for (unsigned i = 0; i < v.flip_count; i++) flip(buf, v.flips[i]);
}

static ssize_t do_recv(struct faults *f, struct fsock *s, void *buf, size_t n, struct verdict *v) {
  struct call c = {.point = FAULT_RECV, .connection = s->number, .n = n,
                   .phase = s->upgraded ? FAULT_PHASE_DATA : FAULT_PHASE_UPGRADE,
                   .offset = s->upgraded ? s->in : s->hs_in};
  ask(f, &c, v);
  if (v->acts) {
    switch (v->act) {
      case FAULT_DO_AGAIN: return -EAGAIN;
      case FAULT_DO_RST: return fail_transfer(f, s, ECONNRESET, false);
      case FAULT_DO_FIN: s->ended = true; return 0;
      default: return fail_transfer(f, s, v->err, false);
    }
  }
  ssize_t got = under(f)->recv(under_ctx(f), s->sock, buf, n < v->limit ? n : v->limit);
  if (got > 0 && matcher_uses(&f->matcher, FAULT_RECV)) flip_received(f, &c, buf, (size_t)got);
  return got;
}

/* Counts what came, and finds the end of the upgrade in it. */
static void account_received(struct faults *f, struct fsock *s, const uint8_t *p, size_t got) {
  size_t data = got;
  if (!s->upgraded && s->opaque) {
    s->hs_in += (int64_t)got;
    return;
  }
  if (!s->upgraded) {
    size_t head = head_scan(&s->head, p, got);
    s->upgraded = head_is_101(&s->head);
    s->hs_in += s->upgraded ? (int64_t)head : (int64_t)got;
    if (!s->upgraded) return;
    data = got - head;
    matcher_event(&f->matcher, "connected");
  }
  s->in += (int64_t)data;
  counter_add(&f->counters, COUNTER_bytes_in, (int64_t)data);
}

static ssize_t net_recv(void *ctx, qwp_sock sock, void *buf, size_t n) {
  struct faults *f = ctx;
  gate_pass(&f->gate);
  struct fsock *s = socks_find(&f->socks, sock);
  if (!s) return under(f)->recv(under_ctx(f), sock, buf, n);
  bool upgrade = !s->upgraded;
  counter_add(&f->counters, upgrade ? COUNTER_hs_recv : COUNTER_recv, 1);
  struct verdict v;
  verdict_clear(&v);
  ssize_t result = s->ended ? sock_recv_ended(s, buf, n) : do_recv(f, s, buf, n, &v);
  match_settle(&f->matcher, &v, result);
  if (result > 0) account_received(f, s, buf, (size_t)result);
  faults_pass_time(f, v.delay_after_ns);
  struct fault_trace t = {.point = FAULT_RECV, .connection = s->number, .asked = n, .result = result,
                          .upgrade = upgrade};
  trace_add(&f->trace, &t);
  return result;
}

/* ---- wait ---------------------------------------------------------------------------------- */

static enum counter counter_of_wait(const struct fsock *s, unsigned interest) {
  if (!s || interest == 0) return COUNTER_idle;
  if (!s->upgraded) return COUNTER_hs_wait;
  return (interest & QWP_WRITABLE) ? COUNTER_poll_w : COUNTER_poll_r;
}

/* What a fault has made ready, so that the table below need not be asked. */
static unsigned ready_by_fault(const struct fsock *s, unsigned interest) {
  if (!s) return 0;
  if (s->dead) return interest & (QWP_READABLE | QWP_WRITABLE);
  return s->ended ? interest & QWP_READABLE : 0;
}

static int do_wait(struct faults *f, struct fsock *s, qwp_sock sock, unsigned interest, int64_t timeout_ns,
                   const struct verdict *v) {
  if (v->acts) {
    switch (v->act) {
      case FAULT_DO_AGAIN: return 0;
      case FAULT_DO_ERRNO: return -v->err;
      case FAULT_DO_FIN:
        if (s) end_of_stream(f, s);
        break;
      default:
        if (!s) break;
        s->pending_err = ECONNRESET;
        fail_transfer(f, s, ECONNRESET, true);
        break;
    }
  }
  unsigned ready = ready_by_fault(s, interest);
  return ready ? (int)ready : under(f)->wait(under_ctx(f), sock, interest, timeout_ns);
}

static int net_wait(void *ctx, qwp_sock sock, unsigned interest, int64_t timeout_ns) {
  struct faults *f = ctx;
  gate_pass(&f->gate);
  struct fsock *s = sock == -1 ? NULL : socks_find(&f->socks, sock);
  counter_add(&f->counters, counter_of_wait(s, interest), 1);
  struct verdict v;
  verdict_clear(&v);
  if (!s || !s->dead) {
    struct call c = {.point = FAULT_WAIT, .connection = s ? s->number : 0,
                     .phase = !s ? FAULT_PHASE_ANY : s->upgraded ? FAULT_PHASE_DATA : FAULT_PHASE_UPGRADE};
    ask(f, &c, &v);
  }
  int result = do_wait(f, s, sock, interest, timeout_ns, &v);
  faults_pass_time(f, v.delay_after_ns);
  struct fault_trace t = {.point = FAULT_WAIT, .interest = s ? interest : 0, .connection = s ? s->number : 0,
                          .result = result, .upgrade = s && !s->upgraded};
  trace_add(&f->trace, &t);
  return result;
}

static void net_wake(void *ctx) {
  struct faults *f = ctx;
  under(f)->wake(under_ctx(f));
}

/* ---- what a layer between tells and asks ----------------------------------------------------- */

/* Of a connection that a fault ended the errno says it all: the table below knows of nothing. */
static enum qwp_status net_explain(void *ctx, qwp_sock sock, char *text, size_t n) {
  struct faults *f = ctx;
  const struct fsock *s = socks_find(&f->socks, sock);
  if (!under(f)->explain || (s && s->dead)) return QWP_OK;
  return under(f)->explain(under_ctx(f), sock, text, n);
}

/* A plain connection shows the end of its upgrade in its bytes; an opaque one is told it. */
static void net_opened(void *ctx, qwp_sock sock) {
  struct faults *f = ctx;
  struct fsock *s = socks_find(&f->socks, sock);
  if (s && s->opaque && !s->upgraded) {
    s->upgraded = true;
    matcher_event(&f->matcher, "connected");
  }
  if (under(f)->opened) under(f)->opened(under_ctx(f), sock);
}

const struct qwp_net_ops faults_net_ops = {
    .resolve = net_resolve, .connect = net_connect, .connected = net_connected, .send = net_send, .recv = net_recv,
    .shutdown = net_shutdown, .close = net_close, .wait = net_wait, .wake = net_wake, .explain = net_explain,
    .opened = net_opened,
};
