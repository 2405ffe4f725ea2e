/* load - the client of mock_bench: a prebuilt stream of small frames, pushed as fast as the socket takes it.
 *
 * Every frame is 36 bytes on the wire: 2 of header, 4 of masking key, a message of 30 bytes with table `t`, LONG
 * column `i`, one row, an empty dictionary section. Row ids rise from 0 and every frame has a key of its own, so
 * that no server can profit from repetition. The whole stream stands in memory before the clock starts.
 */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_FRAME_BYTES 36u
#define LOAD_MESSAGE_BYTES 30u
#define LOAD_WRITE_BYTES ((size_t)64 << 10)

struct load {
  uint8_t *bytes; /* frames * LOAD_FRAME_BYTES */
  size_t frames;
};

/* false = out of memory. */
bool load_make(struct load *l, size_t frames);
void load_free(struct load *l);

/* One life against the server at 127.0.0.1:port: upgrade, the whole stream in writes of LOAD_WRITE_BYTES, answers
 * read as they come, Close at the end. *took_ns is from the first byte of the stream to the OK that covers the
 * last frame. false: `why` says what went wrong (an error answer, an end before the last OK, 30 s of silence). */
bool load_run(const struct load *l, int port, int64_t *took_ns, char *why, size_t why_n);

#endif
