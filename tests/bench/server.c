#define _GNU_SOURCE /* sched_setaffinity, wait4, SOCK_CLOEXEC */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bare_reader.h"

#define READY_MS 30000
#define MAX_ARGUMENTS 24

static bool failed(char *why, size_t why_n, const char *what) {
  snprintf(why, why_n, "%s: %s", what, strerror(errno));
  return false;
}

static cpu_set_t at_start;

void server_pin(unsigned n) {
  cpu_set_t one;
  if (CPU_COUNT(&at_start) == 0 && sched_getaffinity(0, sizeof at_start, &at_start) != 0) return;
  CPU_ZERO(&one);
  for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &at_start) || n-- > 0) continue;
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

/* A child that cannot outlive us, on the second processor; in the parent, the first is kept for the load. */
static pid_t start_child(void) {
  const pid_t parent = getpid();
  fflush(NULL);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(3);
  server_pin(1);
  return 0;
}

bool server_start_bare(struct server *s, size_t frames, char *why, size_t why_n) {
  struct sockaddr_in a = {.sin_family = AF_INET};
  socklen_t n = sizeof a;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 1) != 0 ||
      getsockname(fd, (struct sockaddr *)&a, &n) != 0)
    return failed(why, why_n, "bare reader: listen");
  s->port = ntohs(a.sin_port);
  s->out = -1;
  s->pid = start_child();
  if (s->pid == 0) _exit(bare_reader(fd, frames));
  close(fd);
  return s->pid > 0 || failed(why, why_n, "fork");
}

/* The one line "ready 127.0.0.1:PORT". */
static bool read_ready(int fd, int *port, char *why, size_t why_n) {
  char line[128];
  size_t n = 0;
  while (n == 0 || line[n - 1] != '\n') {
    struct pollfd p = {fd, POLLIN, 0};
    if (n == sizeof line - 1 || poll(&p, 1, READY_MS) <= 0 || read(fd, line + n, 1) != 1) {
      snprintf(why, why_n, "qwp-mock did not say that it is ready");
      return false;
    }
    n++;
  }
  line[n] = '\0';
  if (sscanf(line, "ready 127.0.0.1:%d", port) == 1) return true;
  snprintf(why, why_n, "qwp-mock said: %.*s", (int)n - 1, line);
  return false;
}

static void exec_mock(const char *program, const char *const *arguments, int out) {
  const char *argv[MAX_ARGUMENTS] = {program, "--port", "0"};
  for (size_t i = 3; *arguments && i < MAX_ARGUMENTS - 1; i++) argv[i] = *arguments++;
  dup2(out, 1);
  execv(program, (char *const *)argv);
  fprintf(stderr, "%s: %s\n", program, strerror(errno));
  _exit(127);
}

bool server_start_mock(struct server *s, const char *program, const char *const *arguments, char *why, size_t why_n) {
  int ready[2];
  if (pipe(ready) != 0) return failed(why, why_n, "pipe");
  s->pid = start_child();
  if (s->pid == 0) {
    close(ready[0]);
    exec_mock(program, arguments, ready[1]);
  }
  close(ready[1]);
  s->out = ready[0]; /* kept open: the mock says more at its end */
  const bool good = s->pid > 0 ? read_ready(s->out, &s->port, why, why_n) : failed(why, why_n, "fork");
  if (good) return true;
  if (s->pid > 0) {
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
  }
  close(s->out);
  return false;
}

static int64_t as_ns(struct timeval t) { return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000; }

bool server_end(struct server *s, bool terminate, int64_t *cpu_ns, char *why, size_t why_n) {
  struct rusage usage;
  int status;
  pid_t pid;
  if (terminate) kill(s->pid, SIGTERM);
  do pid = wait4(s->pid, &status, 0, &usage);
  while (pid < 0 && errno == EINTR);
  if (s->out >= 0) close(s->out);
  if (pid < 0) return failed(why, why_n, "wait4");
  *cpu_ns = as_ns(usage.ru_utime) + as_ns(usage.ru_stime);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  snprintf(why, why_n, "the server ended with %s %d", WIFSIGNALED(status) ? "signal" : "exit code",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  return false;
}
