#include "runner/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool world_exists(enum scn_world world) { return (unsigned)world < SCN_WORLDS; }

void world_run_in(enum scn_world world, const struct scn_scenario *s, const struct world_options *w,
                  struct observation *o) {
  switch (world) {
    case SCN_SIM: world_sim_run(s, w, o); return;
    case SCN_LIVE: world_live_run(s, w, o); return;
    case SCN_TLS: world_tls_run(s, w, o); return;
    case SCN_WORLDS: break;
  }
  snprintf(o->unsupported, sizeof o->unsupported, "there is no world %s in this build", scn_world_name(world));
}

uint64_t world_seed(const struct scn_scenario *s, const struct world_options *w) {
  if (w->seed) return w->seed;
  if (s->seed) return s->seed;
  uint64_t h = 14695981039346656037u; /* FNV-1a: any fixed spread of names over seeds will do */
  for (const char *p = s->name; *p; p++) h = (h ^ (unsigned char)*p) * 1099511628211u;
  return h ? h : 1;
}

void world_journal_header(const struct scn_scenario *s, const struct world_options *w, const char *world,
                          struct buffer *out) {
  buffer_printf(out, "{\"journal\":\"qwp-scenario\",\"version\":1,\"scenario\":");
  buffer_json_text(out, s->name);
  buffer_printf(out, ",\"world\":\"%s\",\"seed\":%" PRIu64 "}\n", world, world_seed(s, w));
}

static bool append(char *out, size_t n, size_t *len, const char *text, size_t take) {
  if (take >= n - *len) return false;
  memcpy(out + *len, text, take);
  *len += take;
  out[*len] = '\0';
  return true;
}

static bool append_text(char *out, size_t n, size_t *len, const char *text) {
  return append(out, n, len, text, strlen(text));
}

bool world_config(const char *config, const char *server, const char *ca, char *out, size_t n) {
  const char *colon = strrchr(server, ':');
  const struct {
    const char *mark, *value;
  } names[] = {{"${server}", server}, {"${port}", colon ? colon + 1 : ""}, {"${ca}", ca ? ca : ""}};
  size_t len = 0;
  if (ca && strncmp(config, "ws::", 4) == 0) {
    const char *const parts[] = {"wss::tls_roots=", ca, ";"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
      if (!append_text(out, n, &len, parts[i])) return false;
    config += 4;
  }
  while (*config) {
    const char *value = NULL;
    size_t used = 1;
    for (size_t i = 0; !value && i < sizeof names / sizeof *names; i++) {
      if (strncmp(config, names[i].mark, strlen(names[i].mark)) != 0) continue;
      value = names[i].value;
      used = strlen(names[i].mark);
    }
    if (!(value ? append_text(out, n, &len, value) : append(out, n, &len, config, 1))) return false;
    config += used;
  }
  return len > 0 || append(out, n, &len, "", 0);
}
