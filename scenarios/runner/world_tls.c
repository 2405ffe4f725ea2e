/* world_tls - what the world tls needs beside the live one: who the mock is, and a file that says whom to trust. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runner/world.h"
#include "tls/identity.h"

static char ca_path[PATH_MAX]; /* one a process: the workers of a run share it */

bool world_tls_prepare(struct world_options *w, char *why, size_t n) {
  struct mock_identity *id = mock_identity_new();
  if (!id) {
    snprintf(why, n, "the certificates of the world tls cannot be made");
    return false;
  }
  if (!mock_identity_temporary_ca(id, ca_path, sizeof ca_path)) {
    snprintf(why, n, "the file with the CA of the world tls cannot be written: %s", strerror(errno));
    mock_identity_del(id);
    return false;
  }
  w->identity = id;
  w->ca = ca_path;
  return true;
}

void world_tls_forget(struct world_options *w) {
  if (!w->identity) return;
  unlink(w->ca);
  mock_identity_del((struct mock_identity *)w->identity);
  w->identity = NULL;
  w->ca = NULL;
}
