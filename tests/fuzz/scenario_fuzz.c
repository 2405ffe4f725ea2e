/* Any bytes as a scenario file: refused in one line, or read; never more. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "language/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  struct scn_file file;
  struct scn_problem problem;
  if (!scn_read("fuzz", (const char *)data, n, &file, &problem)) {
    assert(problem.line >= 1 && strncmp(problem.text, "fuzz:", 5) == 0);
    assert(!file.scenarios && !file.arena);
    return 0;
  }
  /* Touch what was promised: every scenario has its name, claim and connect string. */
  for (size_t i = 0; i < file.count; i++) {
    const struct scn_scenario *s = &file.scenarios[i];
    assert(strlen(s->name) > 0 && strlen(s->claim) > 0 && s->config && s->kill_count > 0);
    for (size_t j = 0; j < s->step_count; j++) assert(s->steps[j].line >= 1);
    for (size_t j = 0; j < s->server.entry_count; j++) assert(s->server.entries[j].line >= 1);
  }
  scn_file_free(&file);
  return 0;
}
