/* wire.h - the numbers of QWP and nothing else.
 *
 * The one header that client/ and mockserver/ share: magic, flags, type and
 * status codes, limits, header names. No function, no struct: each side writes
 * its own codec from the specification, so that neither inherits the other's
 * mistakes. Requirement ids in brackets are those of tests/data/requirements.yaml.
 */
#ifndef QWP_WIRE_H
#define QWP_WIRE_H

/* ---- message header, 12 bytes, little-endian [WIRE-HDR-001] --------------
 *   0  4  magic "QWP1"
 *   4  1  version
 *   5  1  flags
 *   6  2  table_count
 *   8  4  payload_length (header not counted)
 */
#define QWP_MAGIC 0x31505751u
#define QWP_VERSION 1
#define QWP_HEADER_BYTES 12
#define QWP_HEADER_OFF_VERSION 4
#define QWP_HEADER_OFF_FLAGS 5
#define QWP_HEADER_OFF_TABLES 6
#define QWP_HEADER_OFF_LENGTH 8

#define QWP_FLAG_DEFER 0x01   /* rows wait for a frame without this bit */
#define QWP_FLAG_GORILLA 0x04 /* timestamp columns carry an encoding byte */
#define QWP_FLAG_DELTA 0x08   /* a dictionary delta section opens the payload */
#define QWP_FLAG_ZSTD 0x10    /* egress only */
#define QWP_FLAGS_RESERVED 0xF2 /* bits no client sets on ingress */

/* ---- column types --------------------------------------------------------- */
#define QWP_TYPE_BOOLEAN 0x01
#define QWP_TYPE_BYTE 0x02
#define QWP_TYPE_SHORT 0x03
#define QWP_TYPE_INT 0x04
#define QWP_TYPE_LONG 0x05
#define QWP_TYPE_FLOAT 0x06
#define QWP_TYPE_DOUBLE 0x07
#define QWP_TYPE_SYMBOL 0x09
#define QWP_TYPE_TIMESTAMP 0x0A /* microseconds */
#define QWP_TYPE_DATE 0x0B      /* milliseconds */
#define QWP_TYPE_UUID 0x0C
#define QWP_TYPE_LONG256 0x0D
#define QWP_TYPE_GEOHASH 0x0E
#define QWP_TYPE_VARCHAR 0x0F
#define QWP_TYPE_TIMESTAMP_NANOS 0x10
#define QWP_TYPE_DOUBLE_ARRAY 0x11
#define QWP_TYPE_LONG_ARRAY 0x12
#define QWP_TYPE_DECIMAL64 0x13
#define QWP_TYPE_DECIMAL128 0x14
#define QWP_TYPE_DECIMAL256 0x15
#define QWP_TYPE_CHAR 0x16
#define QWP_TYPE_BINARY 0x17
#define QWP_TYPE_IPV4 0x18

#define QWP_NULLS_NONE 0x00   /* null flag: every row has a value */
#define QWP_NULLS_BITMAP 0x01 /* null flag: ceil(rows/8) bytes follow, LSB first, 1 = null */

#define QWP_TS_RAW 0x00     /* encoding byte under QWP_FLAG_GORILLA */
#define QWP_TS_GORILLA 0x01

/* ---- ingress answers: bare, first byte is the status [RESP-OK-002] --------- */
#define QWP_ST_OK 0x00
#define QWP_ST_DURABLE_ACK 0x02
#define QWP_ST_SCHEMA_MISMATCH 0x03
#define QWP_ST_PARSE_ERROR 0x05
#define QWP_ST_INTERNAL_ERROR 0x06
#define QWP_ST_SECURITY_ERROR 0x08
#define QWP_ST_WRITE_ERROR 0x09
#define QWP_ST_CANCELLED 0x0A
#define QWP_ST_LIMIT_EXCEEDED 0x0B
#define QWP_ST_NOT_WRITABLE 0x0C
#define QWP_ST_DICTIONARY_GAP 0x0D

/* ---- egress kinds (only what the upgrade of a reader needs) ---------------- */
#define QWP_KIND_SERVER_INFO 0x18

/* ---- limits ---------------------------------------------------------------- */
#define QWP_MAX_PAYLOAD_BYTES 16777216u  /* header field payload_length [LIMIT-001] */
#define QWP_MAX_TABLES 65535u            /* u16 [LIMIT-005] */
#define QWP_MAX_COLUMNS 2048u            /* per block [LIMIT-004] */
#define QWP_MAX_ROWS 1000000u            /* per block [LIMIT-003] */
#define QWP_MAX_NAME_BYTES 127u
#define QWP_MAX_SYMBOLS_CLIENT 1000000u  /* what a client stays at or below [WIRE-DICT-016] */
#define QWP_MAX_SYMBOLS_DOC 2000000u     /* what the documented server takes */
#define QWP_MAX_VARINT_BYTES 10u
#define QWP_MAX_ERROR_TEXT_BYTES 1024u   /* what a server writes [C-44] */

/* ---- upgrade --------------------------------------------------------------- */
#define QWP_PATH_WRITE "/write/v4"
#define QWP_PATH_WRITE_ALT "/api/v4/write"
#define QWP_PATH_READ "/read/v1"
#define QWP_PATH_READ_ALT "/api/v1/read"
#define QWP_DEFAULT_PORT 9000
#define QWP_HDR_MAX_VERSION "X-QWP-Max-Version"
#define QWP_HDR_CLIENT_ID "X-QWP-Client-Id"
#define QWP_HDR_REQUEST_DURABLE_ACK "X-QWP-Request-Durable-Ack"
#define QWP_HDR_VERSION "X-QWP-Version"
#define QWP_HDR_MAX_BATCH_SIZE "X-QWP-Max-Batch-Size"
#define QWP_HDR_DURABLE_ACK "X-QWP-Durable-Ack"
#define QWP_HDR_ROLE "X-QuestDB-Role"
#define QWP_HDR_ZONE "X-QuestDB-Zone"
#define QWP_WS_GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" /* RFC 6455, 1.3 */

/* ---- WebSocket opcodes (RFC 6455, 5.2) -------------------------------------- */
#define QWP_WS_CONTINUATION 0x0
#define QWP_WS_TEXT 0x1
#define QWP_WS_BINARY 0x2
#define QWP_WS_CLOSE 0x8
#define QWP_WS_PING 0x9
#define QWP_WS_PONG 0xA

#endif
