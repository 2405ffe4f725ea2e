#include "rows_out.h"

#include <math.h>
#include <stdlib.h>

#include "core/journal.h"
#include "core/out.h"
#include "qwp/wire.h"

static void put_double(struct mock_out *o, double d) {
  char text[40];
  snprintf(text, sizeof text, isfinite(d) ? "%.17g" : "\"%g\"", d);
  mock_out_text(o, text);
}

static void put_hex(struct mock_out *o, const char *p, size_t n) {
  mock_out_u8(o, '"');
  mock_out_hex(o, p, n);
  mock_out_u8(o, '"');
}

/* From element *at on; an empty array is [] whatever its shape, as SQL shows it. */
static void put_array(struct mock_out *o, const struct mock_array *a, unsigned depth, size_t *at) {
  if (depth == a->dims) {
    const double d = a->data[(*at)++];
    if (isnan(d)) mock_out_text(o, "null");
    else put_double(o, d);
    return;
  }
  mock_out_u8(o, '[');
  for (uint32_t i = 0; a->n > 0 && i < a->lengths[depth]; i++) {
    if (i > 0) mock_out_u8(o, ',');
    put_array(o, a, depth + 1, at);
  }
  mock_out_u8(o, ']');
}

static void put_value(struct mock_out *o, const struct mock_value *v) {
  if (v->null) {
    mock_out_text(o, "null");
    return;
  }
  switch (v->type) {
    case QWP_TYPE_BOOLEAN: mock_out_text(o, v->as.b ? "true" : "false"); return;
    case QWP_TYPE_FLOAT:
    case QWP_TYPE_DOUBLE: put_double(o, v->as.d); return;
    case QWP_TYPE_SYMBOL:
    case QWP_TYPE_VARCHAR: mock_json_string(o, v->as.text.p, v->as.text.n); return;
    case QWP_TYPE_BINARY:
    case QWP_TYPE_UUID:
    case QWP_TYPE_LONG256: put_hex(o, v->as.text.p, v->as.text.n); return;
    case QWP_TYPE_DOUBLE_ARRAY: put_array(o, v->as.array, 0, &(size_t){0}); return;
    default: mock_out_decimal(o, v->as.i); return;
  }
}

static void put_name(struct mock_out *o, const char *name) {
  size_t n = 0;
  while (name[n]) n++;
  mock_json_string(o, name, n);
}

static bool put_row(struct mock_out *o, const struct mock_tables *t, size_t table, size_t row, struct mock_value *v) {
  int connection = 0;
  int64_t wire_seq = 0;
  if (!mock_table_row(t, table, row, v, &connection, &wire_seq)) return false;
  mock_out_text(o, "{\"table\":");
  put_name(o, mock_table_name(t, table));
  mock_out_text(o, ",\"row\":");
  mock_out_decimal(o, (int64_t)row);
  mock_out_text(o, ",\"connection\":");
  mock_out_decimal(o, connection);
  mock_out_text(o, ",\"wireSeq\":");
  mock_out_decimal(o, wire_seq);
  mock_out_text(o, ",\"values\":{");
  for (size_t c = 0; c < mock_table_columns(t, table); c++) {
    uint8_t type;
    if (c > 0) mock_out_u8(o, ',');
    put_name(o, mock_table_column(t, table, c, &type));
    mock_out_u8(o, ':');
    put_value(o, &v[c]);
  }
  mock_out_text(o, "}}\n");
  return true;
}

static bool put_table(FILE *f, const struct mock_tables *t, size_t table) {
  struct mock_out line = {0};
  struct mock_value *v = calloc(mock_table_columns(t, table) + 1, sizeof *v);
  bool good = v != NULL;
  for (size_t row = 0; good && row < mock_table_rows(t, table); row++) {
    mock_out_clear(&line);
    if (!put_row(&line, t, table, row, v)) break; /* not kept by value */
    good = !line.failed && fwrite(line.p, 1, line.n, f) == line.n;
  }
  mock_out_free(&line);
  free(v);
  return good;
}

bool mock_rows_out(FILE *f, const struct mock_tables *tables) {
  for (size_t table = 0; table < mock_table_count(tables); table++)
    if (!put_table(f, tables, table)) return false;
  return true;
}
