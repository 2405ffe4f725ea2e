/* point - one place of a life where one thing goes wrong, and its name.
 *
 *   send/1/u17/rst            client.send, connection 1, byte 17 of its upgrade request
 *   send/2/d340/EPIPE         ... byte 340 behind the 101
 *   recv/1/d2/again           client.recv, byte 2 of what follows the 101
 *   recv/1/d2@189/fin         the same where it arrives in the call that also brings the end of the 101, 189 bytes long
 *   server/2/77/fin           the server reads 77 bytes of its connection 2, from the first byte on, then ends it
 *   call/send/12/ENOBUFS      the 12th send of the life, whichever connection
 *   call/wait/3/EINTR/ever    the third wait and each later one
 *   alloc/45, alloc/45/ever   the 45th allocation; each from the 45th on
 *
 * What goes wrong: rst, fin, short, again, or an errno.
 */
#ifndef SWEEP_POINT_H
#define SWEEP_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan.h"

enum sweep_site { SWEEP_SEND, SWEEP_RECV, SWEEP_SERVER, SWEEP_CALL, SWEEP_ALLOC };

struct sweep_point {
  enum sweep_site site;
  enum fault_point call; /* of SWEEP_CALL */
  enum fault_do act;     /* RST, FIN, SHORT, AGAIN, ERRNO */
  int err;               /* of ERRNO */
  bool ever;
  int connection;
  bool upgrade;          /* the byte lies before the end of the 101 */
  bool by_turns;         /* it lies inside a long payload, and no other fault has it: no part of its name */
  int64_t head_bytes;    /* > 0: the call that brings the byte brings the end of the 101 too, so many bytes long */
  int64_t at;            /* the byte, from 0; the bytes the server reads; or the call or allocation, from 1 */
};

#define SWEEP_POINT_TEXT 64
void sweep_point_text(const struct sweep_point *p, char out[SWEEP_POINT_TEXT]);
/* The reverse. false: no point has this name. */
bool sweep_point_parse(const char *text, struct sweep_point *out);

/* Kinds of points, the columns of the report. */
#define SWEEP_KINDS(X) \
  X(RST, "rst") X(FIN, "fin") X(ERRNO, "errno") X(SHORT, "short") X(AGAIN, "again") X(SERVER_RST, "srv rst") \
  X(SERVER_FIN, "srv fin") X(CALL, "call") X(CALL_EVER, "call ever") X(ALLOC, "alloc") X(ALLOC_EVER, "alloc ever")
enum sweep_kind {
#define SWEEP_KIND(id, name) SWEEP_KIND_##id,
  SWEEP_KINDS(SWEEP_KIND)
#undef SWEEP_KIND
  SWEEP_KIND_COUNT
};
const char *sweep_kind_name(enum sweep_kind k);
enum sweep_kind sweep_point_kind(const struct sweep_point *p);

/* May the connection live on? Then the fault must not cost it. */
bool sweep_point_harmless(const struct sweep_point *p);

/* The rules that make it happen; the first one is the point itself. Returns how many; 0 = it is not the fault layer's
 * to do (SWEEP_SERVER). A call that fails for ever without letting time pass (an interrupted one, a wait) is given a
 * millisecond each time: a world in which no time passes has no end. */
#define SWEEP_RULES_MAX 2
size_t sweep_point_rules(const struct sweep_point *p, struct fault_rule out[SWEEP_RULES_MAX]);

#endif
