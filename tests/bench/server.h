/* server - the servers of mock_bench as processes of their own, one life each. */
#ifndef BENCH_SERVER_H
#define BENCH_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct server {
  pid_t pid;
  int port;
  int out; /* read end of its standard output; -1 = none */
};

/* The bare reader, for one stream of that many frames. It ends when its client does. */
bool server_start_bare(struct server *s, size_t frames, char *why, size_t why_n);

/* qwp-mock with these arguments behind `--port 0` (NULL-terminated). Returns once it has said that it is ready. */
bool server_start_mock(struct server *s, const char *program, const char *const *arguments, char *why, size_t why_n);

/* Waits for its end, after SIGTERM if `terminate`. *cpu_ns: processor time of its whole life. false: it did not
 * end with exit code 0. */
bool server_end(struct server *s, bool terminate, int64_t *cpu_ns, char *why, size_t why_n);

/* Puts this process, and what it starts from now on, onto the n-th processor it may use; nothing where there is
 * no such one. */
void server_pin(unsigned n);

#endif
