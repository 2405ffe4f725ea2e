#include "rows/type.h"

#include "qwp/wire.h"

/* As the server reads them where no bitmap says otherwise [WIRE-NULL-008]; the two of the
 * 64-bit types are what the Rust client writes. */
static const uint8_t FALSE_BYTE[1] = {0};
static const uint8_t INT64_LEAST[8] = {0, 0, 0, 0, 0, 0, 0, 0x80};
static const uint8_t DOUBLE_NAN[8] = {0, 0, 0, 0, 0, 0, 0xF8, 0x7F};

const struct qwp_type QWP_TYPES[QWP_TYPE_CODES] = {
    [QWP_TYPE_BOOLEAN] = {"BOOLEAN", QWP_SHAPE_BITS, 1, FALSE_BYTE, QWP_NULL_SENTINEL, false},
    [QWP_TYPE_LONG] = {"LONG", QWP_SHAPE_FIXED, 8, INT64_LEAST, QWP_NULL_BITMAP, false},
    [QWP_TYPE_DOUBLE] = {"DOUBLE", QWP_SHAPE_FIXED, 8, DOUBLE_NAN, QWP_NULL_BITMAP, false},
    [QWP_TYPE_SYMBOL] = {"SYMBOL", QWP_SHAPE_CODED, 0, NULL, QWP_NULL_BITMAP, false},
    [QWP_TYPE_VARCHAR] = {"VARCHAR", QWP_SHAPE_TEXT, 0, NULL, QWP_NULL_BITMAP, false},
    [QWP_TYPE_TIMESTAMP] = {"TIMESTAMP", QWP_SHAPE_FIXED, 8, INT64_LEAST, QWP_NULL_BITMAP, true},
    [QWP_TYPE_TIMESTAMP_NANOS] = {"TIMESTAMP_NANOS", QWP_SHAPE_FIXED, 8, INT64_LEAST, QWP_NULL_BITMAP, true},
};
