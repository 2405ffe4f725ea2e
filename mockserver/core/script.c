#include "core/script.h"

const struct mock_entry *mock_script_entry(const struct mock_script *s, bool reader, int number) {
  const struct mock_entry *any = NULL;
  for (size_t i = 0; s && i < s->entry_count; i++) {
    const struct mock_entry *e = &s->entries[i];
    if (e->reader != reader) continue;
    if (e->connection == number) return e;
    if (e->connection == MOCK_ANY && !any) any = e;
  }
  return any;
}
