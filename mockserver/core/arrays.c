#include "core/arrays.h"

#include <string.h>

#include "core/reader.h"

#define MISMATCH(err, ...) MOCK_REFUSE(err, QWP_ST_SCHEMA_MISMATCH, __VA_ARGS__)

static size_t element_count(const uint8_t *p) {
  size_t n = 1;
  for (unsigned i = 0; i < p[0]; i++) n *= mock_load32(p + 1 + 4 * i);
  return n;
}

static size_t header_bytes(const uint8_t *p) { return 1 + (size_t)4 * p[0]; }

size_t mock_array_bytes(const uint8_t *p) { return header_bytes(p) + element_count(p) * 8; }

/* ---- which columns ----------------------------------------------------------------------- */

bool mock_array_can_create(const struct mock_column *c, struct mock_decode_error *err) {
  if (c->type == QWP_TYPE_LONG_ARRAY) return MISMATCH(err, "long arrays are not supported, only double arrays");
  if (c->other_dims == 0) return true;
  return MISMATCH(err, "array dimensionality mismatch in QWP batch [column=%.*s, expectedDims=%u, actualDims=%u]",
                  (int)c->name_n, c->name, c->dims, c->other_dims);
}

bool mock_array_fits(const struct mock_column *c, unsigned dims, struct mock_decode_error *err) {
  if (!mock_array_can_create(c, err)) return false;
  if (c->dims == 0 || c->dims == dims) return true;
  char expected[MOCK_ARRAY_NAME_BYTES], actual[MOCK_ARRAY_NAME_BYTES];
  mock_array_type_name(dims, expected);
  mock_array_type_name(c->dims, actual);
  return MISMATCH(err, "array dimensionality mismatch [column=%.*s, expected=%s, actual=%s]", (int)c->name_n, c->name,
                  expected, actual);
}

void mock_array_type_name(unsigned dims, char out[MOCK_ARRAY_NAME_BYTES]) {
  char *p = out;
  memcpy(p, "DOUBLE", 6);
  p += 6;
  for (unsigned i = 0; i < dims && i < MOCK_MAX_ARRAY_DIMS; i++, p += 2) memcpy(p, "[]", 2);
  *p = '\0';
}

/* ---- kept -------------------------------------------------------------------------------- */

/* One piece: the struct, the elements, the lengths; each aligned as the one before leaves it. */
const struct mock_array *mock_array_keep(struct mock_arena *a, const uint8_t *p) {
  const unsigned dims = p[0];
  const size_t n = element_count(p);
  struct mock_array *array = mock_arena_room(a, sizeof *array + n * sizeof(double) + dims * sizeof(uint32_t));
  if (!array) return NULL;
  double *data = (double *)(void *)(array + 1);
  uint32_t *lengths = (uint32_t *)(void *)(data + n);
  *array = (struct mock_array){.dims = dims, .n = n, .lengths = lengths, .data = data};
  for (unsigned i = 0; i < dims; i++) lengths[i] = mock_load32(p + 1 + 4 * i);
  const uint8_t *element = p + header_bytes(p);
  for (size_t i = 0; i < n; i++, element += 8) {
    const uint64_t bits = mock_load64(element);
    memcpy(&data[i], &bits, sizeof bits);
  }
  return array;
}
