/* type - what rows and encoder need to know about a column type, as one table.
 *
 * A type is kept in one of four shapes; whatever the type, a column holds only the
 * values that are present, and which rows are null is kept beside them (column.h).
 *
 *   BITS   one byte 0 or 1 per value, packed when encoded
 *   FIXED  width little-endian bytes per value, as on the wire
 *   TEXT   bytes of all values, and the end offset of each
 *   CODED  values that carry their own length, already as on the wire (symbol ids)
 */
#ifndef QWP_ROWS_TYPE_H
#define QWP_ROWS_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QWP_TYPE_CODES 32 /* codes are below; tables by type have this many entries */

/* How nulls of a type are written: as a bitmap before the values that are present, or as a
 * reserved value in their place. */
enum qwp_null_form { QWP_NULL_BITMAP, QWP_NULL_SENTINEL };

enum qwp_shape { QWP_SHAPE_BITS, QWP_SHAPE_FIXED, QWP_SHAPE_TEXT, QWP_SHAPE_CODED };

struct qwp_type {
  const char *name; /* NULL: no column of this type can be made */
  enum qwp_shape shape;
  uint8_t width;            /* bytes of one stored value; 0 where it varies */
  const uint8_t *sentinel;  /* the stored value that stands for null; NULL: bitmap only [WIRE-NULL-007] */
  enum qwp_null_form nulls; /* this client's choice [WIRE-NULL-012] */
  bool timestamp;           /* carries an encoding byte under QWP_FLAG_GORILLA [WIRE-TS-003] */
};

extern const struct qwp_type QWP_TYPES[QWP_TYPE_CODES]; /* by code; entries without a name are none */

/* The entry of a QWP_TYPE_* code, or NULL for a code of which this client makes no column. */
static inline const struct qwp_type *qwp_type_of(unsigned code) {
  return code < QWP_TYPE_CODES && QWP_TYPES[code].name ? &QWP_TYPES[code] : NULL;
}

#endif
