#include "client/proc.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static int64_t entries(pid_t pid, const char *folder) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, folder);
  DIR *d = opendir(path);
  if (!d) return -1;
  int64_t n = 0;
  for (const struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
  closedir(d);
  return n;
}

int64_t proc_rss_bytes(pid_t pid) {
  char path[64];
  int64_t pages = -1;
  snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
  FILE *f = fopen(path, "re");
  if (!f) return -1;
  const int found = fscanf(f, "%*d %" SCNd64, &pages);
  fclose(f);
  /* A process that has ended and was not waited for has a file that says 0. */
  return found == 1 && pages > 0 ? pages * sysconf(_SC_PAGESIZE) : -1;
}

int64_t proc_fds(pid_t pid) {
  const int64_t n = entries(pid, "fd");
  return n > 0 && pid == getpid() ? n - 1 : n;
}

int64_t proc_threads(pid_t pid) { return entries(pid, "task"); }
