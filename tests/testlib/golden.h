/* golden.h - reads recorded bytes for tests: *.hex files, and exchange recordings.
 *
 * A *.hex file is hex digits with white space between them. An exchange recording
 * (tests/data/exchange/README) is lines of text; what is read here:
 *
 *   # input: TEXT            the rows behind it, in words
 *   ### connN                what follows belongs to connection N (absent: connection 1)
 *   ## client: frames ...    then one line a frame: OPCODE FIN MASKED PAYLOAD-HEX
 *   ## server: frames ...    likewise; payloads are unmasked in the file
 *
 * Whoever loads something frees it. A file that cannot be opened is NULL or false; one
 * that is there and malformed ends the test program, since it can only be a broken tree.
 */
#ifndef TESTLIB_GOLDEN_H
#define TESTLIB_GOLDEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void golden_die(const char *path, size_t line, const char *what) {
  fprintf(stderr, "%s:%zu: %s\n", path, line, what);
  abort();
}

static inline int golden_nibble(int c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* Decodes text[0..n), white space ignored, into a fresh buffer (never NULL; one byte longer than
 * *len). Returns NULL if there is another character or half a byte. */
static inline uint8_t *golden_unhex(const char *text, size_t n, size_t *len) {
  uint8_t *out = malloc(n / 2 + 1);
  if (!out) abort();
  size_t digits = 0;
  for (size_t i = 0; i < n; i++) {
    if (strchr(" \t\r\n", text[i]) && text[i] != '\0') continue;
    int v = golden_nibble(text[i]);
    if (v < 0) {
      free(out);
      return NULL;
    }
    if (digits % 2 == 0) out[digits / 2] = (uint8_t)(v << 4);
    else out[digits / 2] |= (uint8_t)v;
    digits++;
  }
  if (digits % 2) {
    free(out);
    return NULL;
  }
  *len = digits / 2;
  return out;
}

/* Whole file with a NUL after it, or NULL if it cannot be opened. */
static inline char *golden_slurp(const char *path, size_t *len) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  size_t cap = 65536, n = 0, got;
  char *text = malloc(cap + 1);
  if (!text) abort();
  while ((got = fread(text + n, 1, cap - n, f)) > 0) {
    n += got;
    if (n < cap) continue;
    cap *= 2;
    text = realloc(text, cap + 1);
    if (!text) abort();
  }
  if (ferror(f)) golden_die(path, 0, "cannot be read");
  fclose(f);
  text[n] = '\0';
  *len = n;
  return text;
}

/* The bytes of a *.hex file, or NULL if it cannot be opened. */
static inline uint8_t *golden_hex_file(const char *path, size_t *len) {
  size_t n;
  char *text = golden_slurp(path, &n);
  if (!text) return NULL;
  uint8_t *bytes = golden_unhex(text, n, len);
  free(text);
  if (!bytes) golden_die(path, 1, "is not hex");
  return bytes;
}

/* ---- exchanges ------------------------------------------------------------------ */

struct golden_frame {
  int connection; /* from 1 */
  bool from_client;
  bool fin, masked;
  int opcode;
  uint8_t *payload;
  size_t len;
};

struct golden_exchange {
  char *input;                 /* text of the "# input:" line, or "" */
  struct golden_frame *frames; /* in file order: of each connection the client's, then the server's */
  size_t count;
};

static inline void golden_exchange_free(struct golden_exchange *x) {
  for (size_t i = 0; i < x->count; i++) free(x->frames[i].payload);
  free(x->frames);
  free(x->input);
  *x = (struct golden_exchange){0};
}

static inline char *golden_copy(const char *text) {
  size_t n = strlen(text) + 1;
  char *copy = malloc(n);
  if (!copy) abort();
  memcpy(copy, text, n);
  return copy;
}

/* Lines of a frame list that a recording made timeless ("<now>") cannot be hex: they are left out. */
static inline void golden_exchange_line(struct golden_exchange *x, struct golden_frame f, const char *line,
                                        const char *path, size_t number) {
  int fin, masked, at = 0;
  if (sscanf(line, "%x %d %d %n", (unsigned *)&f.opcode, &fin, &masked, &at) != 3 || at == 0)
    golden_die(path, number, "is no frame line");
  if (strchr(line, '<')) return;
  f.fin = fin != 0;
  f.masked = masked != 0;
  f.payload = golden_unhex(line + at, strlen(line + at), &f.len);
  if (!f.payload) golden_die(path, number, "payload is not hex");
  x->frames = realloc(x->frames, (x->count + 1) * sizeof *x->frames);
  if (!x->frames) abort();
  x->frames[x->count++] = f;
}

/* Loads a recording; false if the file cannot be opened. */
static inline bool golden_exchange_load(struct golden_exchange *x, const char *path) {
  *x = (struct golden_exchange){0};
  size_t n, number = 0;
  char *text = golden_slurp(path, &n);
  if (!text) return false;
  struct golden_frame f = {.connection = 1};
  bool in_frames = false;
  for (char *line = text, *end; line < text + n; line = end + 1) {
    end = strchr(line, '\n');
    if (!end) end = text + n;
    *end = '\0';
    number++;
    if (strncmp(line, "# input: ", 9) == 0 && !x->input) x->input = golden_copy(line + 9);
    if (strncmp(line, "### conn", 8) == 0) f.connection = atoi(line + 8);
    if (line[0] == '#') {
      f.from_client = strncmp(line, "## client: frames", 17) == 0;
      in_frames = f.from_client || strncmp(line, "## server: frames", 17) == 0;
    } else if (in_frames && line[0] != '\0') {
      golden_exchange_line(x, f, line, path, number);
    }
  }
  free(text);
  if (!x->input) x->input = golden_copy("");
  return true;
}

/* The index-th (from 0) binary message of the client on a connection (from 1), or NULL. */
static inline const struct golden_frame *golden_client_message(const struct golden_exchange *x, int connection,
                                                               size_t index) {
  for (size_t i = 0; i < x->count; i++) {
    const struct golden_frame *f = &x->frames[i];
    if (!f->from_client || f->connection != connection || f->opcode != 2) continue;
    if (index-- == 0) return f;
  }
  return NULL;
}

#endif
