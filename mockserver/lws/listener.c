#define _GNU_SOURCE /* SOCK_NONBLOCK */
#include "listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

/* With the option a port whose last connections linger in TIME_WAIT can be bound again. While a socket listens on it,
 * it does not let a second one in. */
static bool share(int fd, int yes) { return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0; }

/* A socket bound to the port; 0 = any. *port is where it came to be. */
static int bound(int *port) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
  socklen_t n = sizeof a;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  bool good = share(fd, 1) && bind(fd, (struct sockaddr *)&a, sizeof a) == 0 &&
              getsockname(fd, (struct sockaddr *)&a, &n) == 0;
  /* Nobody outside this machine may ever reach it. */
  if (good && a.sin_addr.s_addr != htonl(INADDR_LOOPBACK)) {
    good = false;
    errno = EADDRNOTAVAIL;
  }
  if (good) {
    *port = ntohs(a.sin_port);
    return fd;
  }
  const int why = errno;
  close(fd);
  errno = why;
  return -1;
}

/* A port that the system chose is given up again by a shutdown, one that was asked for is not: so the system's choice
 * is asked for by a second socket, while the first still holds it. */
int mock_listener_open(int *port) {
  int chosen = -1;
  if (*port == 0 && (chosen = bound(port)) < 0) return -1;
  const int fd = bound(port);
  const bool good = fd >= 0 && listen(fd, BACKLOG) == 0;
  const int why = errno;
  if (chosen >= 0) close(chosen);
  if (good) return fd;
  if (fd >= 0) close(fd);
  errno = why;
  return -1;
}

void mock_listener_refuse(int fd) {
  share(fd, 0); /* first: at no moment is the port free for one that would share it */
  shutdown(fd, SHUT_RDWR);
}

bool mock_listener_resume(int fd) { return share(fd, 1) && listen(fd, BACKLOG) == 0; }
