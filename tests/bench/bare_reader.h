/* bare_reader - the least that a server of this stream can do: the yardstick of mock_bench.
 *
 * One connection over epoll: the request head is answered with a fixed 101, then chunks of 256 KiB are read,
 * frames walked and unmasked eight bytes at a time; no payload is looked at. One OK at the end.
 */
#ifndef BENCH_BARE_READER_H
#define BENCH_BARE_READER_H

#include <stddef.h>

/* Serves one connection of that many frames on a listening socket, then returns: 0, or 1 with a line on stderr. */
int bare_reader(int listen_fd, size_t frames);

#endif
