/* The keys of the file itself: claim, cites, kills, worlds, allow, net. */
#include <ctype.h>
#include <string.h>

#include "language/reader.h"
#include "language/values.h"
#include "language/words.h"

/* One sentence: it ends with a period, and no other sentence begins in it. */
static bool read_claim(struct scn_reader *r, scn_node *root, struct scn_scenario *s) {
  scn_node *node = scn_get(r, root, "claim");
  if (!scn_text(r, node, &s->claim)) return false;
  const size_t n = strlen(s->claim);
  if (n < 2 || s->claim[n - 1] != '.') return scn_wrong(r, node, "claim", "must be a sentence that ends with a period");
  for (const char *p = s->claim; (p = strstr(p, ". ")); p += 2) {
    if (isupper((unsigned char)p[2])) return scn_wrong(r, node, "claim", "must be one sentence, this has several");
  }
  return true;
}

/* A list of at least one word made of these letters. */
static bool read_words(struct scn_reader *r, scn_node *root, const char *key, const char *letters, const char *what,
                      const char *const **out, size_t *count) {
  scn_node *list = scn_get(r, root, key);
  if (!scn_get_texts(r, root, key, out, count)) return false;
  if (*count == 0) return scn_wrong(r, list, key, "names none: a scenario says %s", what);
  for (size_t i = 0; i < *count; i++) {
    const char *word = (*out)[i];
    if (*word && !word[strspn(word, letters)]) continue;
    return scn_wrong(r, scn_item(r, list, i), key, "'%.60s' is no name of this kind", word);
  }
  return true;
}

static bool read_reasons(struct scn_reader *r, scn_node *root, struct scn_scenario *s) {
  return read_words(r, root, "cites", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", "where its claim comes from", &s->cites,
                   &s->cite_count) &&
         read_words(r, root, "kills", "abcdefghijklmnopqrstuvwxyz0123456789-", "which wrong code it finds", &s->kills,
                   &s->kill_count);
}

static bool read_worlds(struct scn_reader *r, scn_node *root, struct scn_scenario *s) {
  scn_node *list = scn_get(r, root, "worlds");
  const char *const *words = NULL;
  size_t n = 0;
  if (!scn_get_texts(r, root, "worlds", &words, &n)) return false;
  if (list && n == 0) return scn_wrong(r, list, "worlds", "names no world");
  s->worlds[SCN_SIM] = s->worlds[SCN_LIVE] = !list;
  for (size_t i = 0; i < n; i++) {
    int64_t unused;
    s->worlds[scn_value_choice(SCN_WORDS_WORLDS, words[i], &unused)] = true;
  }
  return true;
}

static bool read_allow(struct scn_reader *r, scn_node *root, struct scn_scenario *s) {
  const char *const *words = NULL;
  size_t n = 0;
  if (!scn_get_texts(r, root, "allow", &words, &n)) return false;
  for (size_t i = 0; i < n; i++) {
    int64_t unused;
    s->allow |= 1u << scn_value_choice(SCN_WORDS_ALLOW, words[i], &unused);
  }
  return true;
}

#define JITTER_MAX_NS INT64_C(3600000000000)

static bool read_jitter(struct scn_reader *r, scn_node *map, struct scn_net *net) {
  int64_t from = 0, to = 0;
  scn_node *node = scn_get(r, map, "jitter");
  if (!scn_get_durations(r, map, "jitter", &from, &to)) return false;
  if (from > 0 && from < to) return scn_wrong(r, node, "jitter", "begins at 0: what all segments share is delay");
  if (to > JITTER_MAX_NS) return scn_wrong(r, node, "jitter", "is an hour at most");
  if (to > 0 && net->peer_inside_send) return scn_wrong(r, node, "jitter", "peer_inside_send has no time on the way");
  net->jitter_ns = to;
  return true;
}

static bool read_net(struct scn_reader *r, scn_node *root, struct scn_net *net) {
  scn_node *map = scn_get(r, root, "net");
  return scn_get_duration(r, map, "delay", &net->delay_ns) &&
         scn_get_size(r, map, "send_buffer", 1, INT32_MAX, &net->send_buffer_bytes) &&
         scn_get_size(r, map, "recv_buffer", 1, INT32_MAX, &net->recv_buffer_bytes) &&
         scn_get_size(r, map, "chunk_max", 0, INT32_MAX, &net->chunk_max) &&
         scn_get_bool(r, map, "peer_inside_send", &net->peer_inside_send) && read_jitter(r, map, net);
}

/* A scenario that is exact is compared whole: the key is for those that cannot be. */
static bool read_difference(struct scn_reader *r, scn_node *root, struct scn_scenario *s) {
  if (!scn_get_text(r, root, "worlds_may_differ", &s->worlds_may_differ)) return false;
  int worlds = 0;
  for (int w = 0; w < SCN_WORLDS; w++) worlds += s->worlds[w];
  if (!s->worlds_may_differ || worlds > 1) return true;
  return scn_wrong(r, scn_get(r, root, "worlds_may_differ"), "worlds_may_differ",
                   "this scenario has one world only, so there is nothing to compare; leave it out");
}

bool scn_read_top(struct scn_reader *r, scn_node *root, struct scn_scenario *s) {
  int64_t seed = 0;
  int connections = 0;
  if (!read_claim(r, root, s) || !read_reasons(r, root, s)) return false;
  if (!read_worlds(r, root, s) || !read_allow(r, root, s) || !read_net(r, root, &s->net)) return false;
  if (!scn_get_text(r, root, "profile", &s->profile) || !scn_get_text(r, root, "disputed", &s->disputed)) return false;
  if (!read_difference(r, root, s)) return false;
  if (!scn_get_int(r, root, "seed", 0, INT64_MAX, &seed)) return false;
  if (!scn_get_choice(r, root, "connections", "scripted|any", &connections, NULL)) return false;
  s->seed = (uint64_t)seed;
  s->any_connections = connections == 1;
  return true;
}
