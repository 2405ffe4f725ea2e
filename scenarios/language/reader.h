/* reader - how a section's reader gets at the file: nodes, texts, values, and the first error.
 *
 * A file is read in two passes. check.c walks the whole tree against the table of keys:
 * unknown and repeated keys, missing ones, forms of values. After it the section
 * readers fetch values that are known to be well formed, and add only the rules that
 * the table cannot say. Every function returns false once something is wrong; the
 * first error stays in *problem.
 */
#ifndef SCN_READER_H
#define SCN_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yaml.h>

#include "language/arena.h"
#include "language/keys.h"
#include "language/scenario.h"

#define SCN_FILE_BYTES_MAX 1048576 /* a scenario is a page; this is room for a long server script */
#define SCN_DEPTH_MAX 12           /* the language itself is 6 deep; an alias inside its own anchor is endless */
#define SCN_NODES_MAX 200000       /* nodes visited, aliases followed: bounds "a billion laughs" */
#define SCN_SCENARIOS_MAX 4096     /* lines of a matrix */
#define SCN_ARENA_BYTES_MAX ((size_t)67108864) /* all scenarios of a file together */

/* Values of one matrix line. */
struct scn_vars {
  const char *const *names;
  const char *const *values;
  size_t count;
};

struct scn_reader {
  const char *path;
  yaml_document_t *doc;
  struct scn_arena *arena;
  struct scn_vars vars;
  struct scn_problem *problem;
  bool failed;
  size_t visited;
};

typedef const yaml_node_t scn_node;

/* ---- errors ---- */

/* Notes the first problem, as "path:line: key: text"; node tells the place (NULL = line 1).
 * Returns false, so that a check can end in `return scn_wrong(...)`. */
bool scn_wrong(struct scn_reader *r, scn_node *node, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same, with ", nearest valid <kind> '<word>'" behind it if there is one. */
bool scn_wrong_near(struct scn_reader *r, scn_node *node, const char *key, const char *kind, const char *nearest,
                    const char *fmt, ...) __attribute__((format(printf, 6, 7)));
bool scn_no_memory(struct scn_reader *r);

/* ---- nodes ---- */

int scn_line(scn_node *node);
scn_node *scn_node_at(struct scn_reader *r, int index);
bool scn_is_scalar(scn_node *node);
bool scn_is_map(scn_node *node);
bool scn_is_list(scn_node *node);
size_t scn_size(scn_node *list_or_map);
scn_node *scn_item(struct scn_reader *r, scn_node *list, size_t i);
void scn_pair(struct scn_reader *r, scn_node *map, size_t i, scn_node **key, scn_node **value);
scn_node *scn_get(struct scn_reader *r, scn_node *map, const char *key); /* NULL if absent (or map is NULL) */

/* ---- values ----
 * The present matrix line's values are put in place of ${name}. A node that is NULL
 * leaves *out as it was, so that defaults are set before. */

bool scn_text(struct scn_reader *r, scn_node *node, const char **out);
bool scn_get_text(struct scn_reader *r, scn_node *map, const char *key, const char **out);
bool scn_get_int(struct scn_reader *r, scn_node *map, const char *key, int64_t min, int64_t max, int64_t *out);
bool scn_get_bool(struct scn_reader *r, scn_node *map, const char *key, bool *out);
bool scn_get_duration(struct scn_reader *r, scn_node *map, const char *key, int64_t *ns);
bool scn_get_size(struct scn_reader *r, scn_node *map, const char *key, int64_t min, int64_t max, int64_t *bytes);
/* *index stays as it was if the value is not one of the words (but a number, say). */
bool scn_get_choice(struct scn_reader *r, scn_node *map, const char *key, const char *words, int *index,
                    int64_t *param);
/* The same for a choice whose value may be a range: *param is its begin, *to its end. */
bool scn_get_choice_range(struct scn_reader *r, scn_node *map, const char *key, const char *words, int *index,
                          int64_t *param, int64_t *to);
/* A number, or a range of them: *from and *to are then as given, else both the number. */
bool scn_get_range(struct scn_reader *r, scn_node *map, const char *key, int64_t min, int64_t max, int64_t *from,
                   int64_t *to);
bool scn_get_durations(struct scn_reader *r, scn_node *map, const char *key, int64_t *from_ns, int64_t *to_ns);

bool scn_get_texts(struct scn_reader *r, scn_node *map, const char *key, const char *const **out, size_t *count);

/* ---- the two passes ---- */

/* Checks a mapping and all below it against the table. */
bool scn_check(struct scn_reader *r, scn_node *map, const char *section);

bool scn_read_top(struct scn_reader *r, scn_node *root, struct scn_scenario *s);
bool scn_read_client(struct scn_reader *r, scn_node *client, struct scn_scenario *s);
bool scn_read_server_part(struct scn_reader *r, scn_node *root, struct mock_script *script);
bool scn_read_entry(struct scn_reader *r, scn_node *node, struct mock_entry *e); /* how one connection begins */
bool scn_read_rules(struct scn_reader *r, scn_node *node, struct mock_entry *e); /* what happens on it later */
bool scn_read_faults(struct scn_reader *r, scn_node *list, struct fault_plan *plan);
/* Facts of a mapping; `skip` is a key that is none (or NULL). */
bool scn_read_facts(struct scn_reader *r, scn_node *map, const char *skip, const struct scn_fact **out, size_t *count);
/* `expect` and `expect_sim` of the file, one behind the other; after scn_read_top, which knows the worlds. */
bool scn_read_expect(struct scn_reader *r, scn_node *root, struct scn_scenario *s);
/* reader_tls.c: what an entry says about TLS; and whether what the whole file says fits the worlds it claims. */
bool scn_read_tls(struct scn_reader *r, scn_node *node, struct mock_entry *e);
bool scn_check_tls(struct scn_reader *r, scn_node *root, const struct scn_scenario *s);
/* The same for a step of the client, which sees only its own counters while it runs. */
bool scn_read_client_facts(struct scn_reader *r, scn_node *map, const char *skip, const struct scn_fact **out,
                           size_t *count);

#endif
