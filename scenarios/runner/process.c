#define _GNU_SOURCE
#include "runner/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/real_time.h"

#define MAX_ARGS 32
#define MAX_ERR_BYTES 65536

struct pipes {
  int in[2], out[2], err[2];
};

static void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void close_pipes(struct pipes *p) {
  for (int i = 0; i < 2; i++) {
    close_fd(&p->in[i]);
    close_fd(&p->out[i]);
    close_fd(&p->err[i]);
  }
}

static bool open_pipes(struct pipes *p) {
  *p = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
  if (pipe2(p->in, O_CLOEXEC) == 0 && pipe2(p->out, O_CLOEXEC) == 0 && pipe2(p->err, O_CLOEXEC) == 0) return true;
  close_pipes(p);
  return false;
}

/* In the child. It ends with its parent: a worker that is killed from outside leaves no client behind. What exec has to
 * say goes to the parent through a pipe that a good exec closes. */
static void become(char *const argv[], const struct pipes *p, pid_t parent, int tell) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(3);
  if (dup2(p->in[0], 0) == 0 && dup2(p->out[1], 1) == 1 && dup2(p->err[1], 2) == 2) execvp(argv[0], argv);
  const int why = errno;
  (void)!write(tell, &why, sizeof why);
  _exit(127);
}

/* 0, or the errno of what failed: of exec too. */
static int spawn(char *const argv[], const struct pipes *p, pid_t *pid) {
  int told[2], why = 0;
  if (pipe2(told, O_CLOEXEC) != 0) return errno;
  const pid_t parent = getpid();
  *pid = fork();
  if (*pid == 0) become(argv, p, parent, told[1]);
  if (*pid < 0) why = errno;
  close(told[1]);
  ssize_t n = 0;
  while (*pid > 0 && (n = read(told[0], &why, sizeof why)) < 0 && errno == EINTR) continue;
  close(told[0]);
  if (*pid > 0 && n > 0) waitpid(*pid, NULL, 0);
  return why;
}

/* Takes what is there; false at the end of the stream. */
static bool take(int fd, struct buffer *b, size_t limit) {
  char chunk[16384];
  ssize_t n = read(fd, chunk, sizeof chunk);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n == 0) return false;
  if (b->n < limit) buffer_add(b, chunk, (size_t)n);
  return true;
}

/* For a poll: -1 = no end, 0 = the time is up. */
static int rest_ms(int64_t deadline_ns) {
  if (deadline_ns == INT64_MAX) return -1;
  int64_t rest = (deadline_ns - real_time_ns()) / 1000000;
  return rest <= 0 ? 0 : rest > 1000000 ? 1000000 : (int)rest + 1;
}

static void give_up(pid_t pid, struct process_result *r) {
  kill(pid, SIGKILL);
  r->timed_out = true;
}

/* Feeds and reads until both outputs have ended, or the time is up: then whatever else the child started may still
 * hold them, and is not waited for. */
static void talk(struct pipes *p, const char *input, int64_t deadline_ns, pid_t pid, struct process_result *r) {
  size_t left = strlen(input);
  while (p->out[0] >= 0 || p->err[0] >= 0) {
    const int wait_ms = rest_ms(deadline_ns);
    if (wait_ms == 0) {
      give_up(pid, r);
      return;
    }
    struct pollfd fds[3] = {{p->out[0], POLLIN, 0}, {p->err[0], POLLIN, 0}, {p->in[1], POLLOUT, 0}};
    if (poll(fds, 3, wait_ms) < 0 && errno != EINTR) return;
    if (fds[2].revents) {
      ssize_t n = fds[2].revents & POLLOUT ? write(p->in[1], input, left) : -1;
      if (n > 0) {
        input += n;
        left -= (size_t)n;
      }
      if (n < 0 || left == 0) close_fd(&p->in[1]);
    }
    if (fds[0].revents && !take(p->out[0], &r->out, SIZE_MAX)) close_fd(&p->out[0]);
    if (fds[1].revents && !take(p->err[0], &r->err, MAX_ERR_BYTES)) close_fd(&p->err[0]);
  }
}

/* Its status, when it has ended: by itself, or because the time is up. A child without outputs may still run. */
static int reap(pid_t pid, int64_t deadline_ns, struct process_result *r) {
  struct pollfd end = {pidfd_open(pid, 0), POLLIN, 0};
  while (end.fd >= 0 && !r->timed_out) {
    const int wait_ms = rest_ms(deadline_ns);
    if (wait_ms == 0) give_up(pid, r);
    else if (poll(&end, 1, wait_ms) > 0) break;
  }
  close_fd(&end.fd);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

static size_t split(char *command, char *argv[]) {
  size_t n = 0;
  char *save = NULL;
  char *word = strtok_r(command, " ", &save);
  for (; word && n < MAX_ARGS; word = strtok_r(NULL, " ", &save)) argv[n++] = word;
  argv[n] = NULL;
  return n;
}

bool process_run(const char *command, const char *input, int64_t timeout_ns, struct process_result *r) {
  *r = (struct process_result){.exit_code = -1};
  char *copy = strdup(command), *argv[MAX_ARGS + 1];
  struct pipes p;
  if (!copy || split(copy, argv) == 0 || !open_pipes(&p)) {
    free(copy);
    return false;
  }
  pid_t pid = 0;
  int failed = spawn(argv, &p, &pid);
  free(copy);
  close_fd(&p.in[0]);
  close_fd(&p.out[1]);
  close_fd(&p.err[1]);
  if (failed) {
    close_pipes(&p);
    errno = failed;
    return false;
  }
  int64_t deadline_ns = timeout_ns == INT64_MAX ? INT64_MAX : real_time_ns() + timeout_ns;
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before; /* a child that ends early must not end us */
  sigaction(SIGPIPE, &ignore, &before);
  talk(&p, input, deadline_ns, pid, r);
  sigaction(SIGPIPE, &before, NULL);
  close_pipes(&p);
  const int status = reap(pid, deadline_ns, r);
  r->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  r->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return true;
}

void process_result_free(struct process_result *r) {
  buffer_free(&r->out);
  buffer_free(&r->err);
}
