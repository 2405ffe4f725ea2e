#define _GNU_SOURCE /* memmem */
#include "runner/normal.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One connection's lines, and its watermark. Connections without a number are told apart by their link. */
struct place {
  enum place_kind { CONNECTION, READER, UNNUMBERED } kind;
  json_int_t number;
  json_int_t acknowledged;
  bool silent; /* nothing but its accept */
  struct buffer lines;
};

struct places {
  struct place *at;
  size_t count, last; /* last: where the line before belonged */
};

static void *must(void *p) {
  if (p) return p;
  fputs("out of memory\n", stderr);
  exit(3);
}

/* The bytes of the line that begins at `start`. */
static size_t line_bytes(const struct buffer *b, size_t start) {
  if (start >= b->n) return 0;
  const char *stop = memchr(b->at + start, '\n', b->n - start);
  return (stop ? (size_t)(stop - b->at) : b->n) - start;
}

static struct place *place_of(struct places *all, const json_t *line) {
  json_int_t reader = json_integer_value(json_object_get(line, "reader"));
  json_int_t conn = json_integer_value(json_object_get(line, "conn"));
  json_int_t number = reader ? reader : conn ? conn : json_integer_value(json_object_get(line, "link"));
  enum place_kind kind = reader ? READER : conn ? CONNECTION : UNNUMBERED;
  for (size_t i = 0; i < all->count; i++) {
    size_t at = (all->last + i) % all->count;
    if (all->at[at].kind == kind && all->at[at].number == number) {
      all->last = at;
      return &all->at[at];
    }
  }
  all->at = must(realloc(all->at, (all->count + 1) * sizeof *all->at));
  struct place *p = &all->at[all->last = all->count++];
  *p = (struct place){.kind = kind, .number = number, .acknowledged = -1, .silent = true};
  return p;
}

static void places_free(struct places *all) {
  for (size_t i = 0; i < all->count; i++) buffer_free(&all->at[i].lines);
  free(all->at);
}

static int place_order(const void *x, const void *y) {
  const struct place *a = x, *b = y;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

/* ---- one line of the journal ---- */

static const char *text(const json_t *line, const char *key) {
  const char *s = json_string_value(json_object_get(line, key));
  return s ? s : "";
}

static json_int_t number(const json_t *line, const char *key) {
  return json_integer_value(json_object_get(line, key));
}

/* " key value", where the line has the key. */
static void add_key(struct buffer *b, const json_t *line, const char *key) {
  const json_t *v = json_object_get(line, key);
  if (json_is_string(v)) buffer_printf(b, " %s %s", key, json_string_value(v));
  if (json_is_integer(v)) buffer_printf(b, " %s %" JSON_INTEGER_FORMAT, key, json_integer_value(v));
}

static bool is_ok(const json_t *line) {
  return strcmp(text(line, "event"), "reply") == 0 && strcmp(text(line, "kind"), "ok") == 0;
}

/* What the line says, without its place; nothing where scheduling decides whether, when or how often it is said. */
static void tell_line(const json_t *line, struct buffer *b) {
  const char *event = text(line, "event");
  if (strcmp(event, "frame") == 0) {
    buffer_printf(b, "frame %" JSON_INTEGER_FORMAT " %s %s%s", number(line, "seq"), text(line, "hash"),
                  text(line, "fate"), json_is_true(json_object_get(line, "catchup")) ? " catch-up" : "");
  } else if (strcmp(event, "reply") == 0 && !is_ok(line)) {
    buffer_printf(b, "%s %" JSON_INTEGER_FORMAT " status %" JSON_INTEGER_FORMAT, text(line, "kind"),
                  number(line, "seq"), number(line, "status"));
  } else if (strcmp(event, "upgrade") == 0) {
    buffer_printf(b, "upgrade %" JSON_INTEGER_FORMAT " %s", number(line, "status"), text(line, "path"));
  } else if (strcmp(event, "refuse") == 0) {
    buffer_printf(b, "refuse");
    add_key(b, line, "what");
    add_key(b, line, "status");
    add_key(b, line, "path");
  } else if (strcmp(event, "close") == 0) {
    buffer_printf(b, "close from %s %" JSON_INTEGER_FORMAT " %s", text(line, "from"), number(line, "code"),
                  text(line, "reason"));
  } else if (strcmp(event, "violation") == 0) {
    buffer_printf(b, "violation of %s at frame %" JSON_INTEGER_FORMAT, text(line, "requirement"), number(line, "seq"));
  } else if (strcmp(event, "rule") == 0) {
    buffer_printf(b, "rule of line %" JSON_INTEGER_FORMAT ": %s", number(line, "line"), text(line, "text"));
  } else if (strcmp(event, "end") == 0) {
    buffer_printf(b, "end: %s", text(line, "how"));
  }
}

static void take_line(struct places *all, const json_t *line) {
  struct place *p = place_of(all, line);
  if (is_ok(line) && number(line, "seq") > p->acknowledged) p->acknowledged = number(line, "seq");
  size_t before = p->lines.n;
  tell_line(line, &p->lines);
  if (p->lines.n == before) return;
  buffer_add(&p->lines, "\n", 1);
  p->silent = false;
}

/* ---- the journal ---- */

typedef void (*line_fn)(void *ctx, const json_t *line);

/* Calls fn with each line of the mock's; headers and the client's calls are not even parsed. */
static bool each_line(const struct buffer *journal, line_fn fn, void *ctx) {
  static const char mark[] = "\"side\":\"srv\"";
  for (size_t at = 0, n; at < journal->n; at += n + 1) {
    n = line_bytes(journal, at);
    if (!memmem(journal->at + at, n, mark, sizeof mark - 1)) continue;
    json_t *line = json_loadb(journal->at + at, n, JSON_ALLOW_NUL, NULL);
    if (!json_is_object(line)) {
      json_decref(line);
      return false;
    }
    fn(ctx, line);
    json_decref(line);
  }
  return true;
}

static void to_places(void *ctx, const json_t *line) { take_line(ctx, line); }

static void write_place(const struct place *p, size_t unnumbered, struct buffer *out) {
  static const char *const names[] = {"connection", "reader", "unnumbered"};
  char head[64];
  snprintf(head, sizeof head, "%s %" JSON_INTEGER_FORMAT ": ", names[p->kind],
           p->kind == UNNUMBERED ? (json_int_t)unnumbered : p->number);
  for (size_t at = 0, n; at < p->lines.n; at += n + 1) {
    n = line_bytes(&p->lines, at);
    buffer_printf(out, "%s", head);
    buffer_line(out, p->lines.at + at, n);
  }
  if (p->kind == CONNECTION)
    buffer_printf(out, "%sacknowledged up to %" JSON_INTEGER_FORMAT "\n", head, p->acknowledged);
}

bool normal_write(const struct observation *o, struct buffer *out) {
  struct places all = {0};
  bool whole = each_line(&o->journal, to_places, &all);
  if (all.count) qsort(all.at, all.count, sizeof *all.at, place_order);
  size_t unnumbered = 0;
  for (size_t i = 0; i < all.count; i++) {
    const struct place *p = &all.at[i];
    if (p->silent) continue;
    write_place(p, p->kind == UNNUMBERED ? ++unnumbered : 0, out);
  }
  places_free(&all);
  return whole;
}

/* ---- the union ---- */

struct strings {
  char **at;
  size_t count, cap;
};

static void to_strings(void *ctx, const json_t *line) {
  struct strings *all = ctx;
  const char *event = text(line, "event");
  bool payload = strcmp(event, "frame") == 0 && !json_is_true(json_object_get(line, "catchup"));
  bool end = strcmp(event, "end") == 0 && json_integer_value(json_object_get(line, "conn")) > 0;
  if (!payload && !end) return;
  if (all->count == all->cap) {
    all->cap = all->cap ? all->cap * 2 : 64;
    all->at = must(realloc(all->at, all->cap * sizeof *all->at));
  }
  struct buffer b = {0};
  buffer_printf(&b, "%s %s", payload ? "payload" : "an end:", text(line, payload ? "hash" : "how"));
  all->at[all->count++] = b.at;
}

static int string_order(const void *x, const void *y) { return strcmp(*(char *const *)x, *(char *const *)y); }

static void write_client(const struct facts *f, struct buffer *out) {
  const struct fact *error = facts_find(f, "client.error");
  buffer_printf(out, "the client holds acknowledged: %" PRId64 "\n", facts_get(f, "ring.acked", -1));
  buffer_printf(out, "the client's error: %s\n", error && error->is_text ? error->text : "none");
}

bool normal_write_union(const struct observation *o, struct buffer *out) {
  struct strings all = {0};
  bool whole = each_line(&o->journal, to_strings, &all);
  if (all.count) qsort(all.at, all.count, sizeof *all.at, string_order);
  for (size_t i = 0; i < all.count; i++)
    if (i == 0 || strcmp(all.at[i], all.at[i - 1]) != 0) buffer_line(out, all.at[i], strlen(all.at[i]));
  for (size_t i = 0; i < all.count; i++) free(all.at[i]);
  free(all.at);
  write_client(&o->facts, out);
  return whole;
}

/* ---- comparing ---- */

static const char *line_at(const struct buffer *b, size_t start, int *n) {
  static const char nothing[] = "nothing more";
  *n = start < b->n ? (int)line_bytes(b, start) : (int)sizeof nothing - 1;
  return start < b->n ? b->at + start : nothing;
}

bool normal_equal(const char *a_name, const struct buffer *a, const char *b_name, const struct buffer *b, char *why,
                  size_t n) {
  size_t i = 0, start = 0;
  for (; i < a->n && i < b->n && a->at[i] == b->at[i]; i++)
    if (a->at[i] == '\n') start = i + 1;
  if (i == a->n && i == b->n) return true;
  int a_bytes, b_bytes;
  const char *a_line = line_at(a, start, &a_bytes), *b_line = line_at(b, start, &b_bytes);
  snprintf(why, n, "%s: %.*s | %s: %.*s", a_name, a_bytes, a_line, b_name, b_bytes, b_line);
  return false;
}
