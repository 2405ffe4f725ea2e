#include "runner/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool world_exists(enum scn_world world) { return world == SCN_SIM || world == SCN_LIVE; }

void world_run_in(enum scn_world world, const struct scn_scenario *s, const struct world_options *w,
                  struct observation *o) {
  switch (world) {
    case SCN_SIM: world_sim_run(s, w, o); return;
    case SCN_LIVE: world_live_run(s, w, o); return;
    case SCN_TLS: case SCN_WORLDS: break;
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

bool world_config(const char *config, const char *server, char *out, size_t n) {
  static const char mark[] = "${server}";
  size_t len = 0, server_n = strlen(server);
  while (*config) {
    bool here = strncmp(config, mark, sizeof mark - 1) == 0;
    const char *from = here ? server : config;
    size_t take = here ? server_n : 1;
    if (take >= n - len) return false;
    memcpy(out + len, from, take);
    len += take;
    config += here ? sizeof mark - 1 : 1;
  }
  out[len] = '\0';
  return true;
}
