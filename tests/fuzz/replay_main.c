/* Runs every file of the folders (or the files) named on the command line through a
 * fuzz target: how a corpus is kept as a regression test where libFuzzer is not at
 * hand, and how a finding is looked at in a debugger. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX_BYTES (64 * 1024 * 1024)

static int run_file(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) {
    perror(path);
    return -1;
  }
  struct stat st;
  if (fstat(fileno(f), &st) != 0 || st.st_size > INPUT_MAX_BYTES) {
    fprintf(stderr, "%s: cannot be read, or is longer than %d bytes\n", path, INPUT_MAX_BYTES);
    fclose(f);
    return -1;
  }
  /* Exactly as long as the input, so that a sanitizer sees a read past its end. */
  size_t n = (size_t)st.st_size;
  uint8_t *data = malloc(n ? n : 1);
  size_t got = data ? fread(data, 1, n, f) : 0;
  fclose(f);
  if (!data || got != n) {
    fprintf(stderr, "%s: cannot be read\n", path);
    free(data);
    return -1;
  }
  LLVMFuzzerTestOneInput(data, n);
  free(data);
  return 1;
}

/* Number of inputs run, or -1. */
static int run(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0) {
    perror(path);
    return -1;
  }
  if (!S_ISDIR(st.st_mode)) return run_file(path);
  struct dirent **names;
  int count = scandir(path, &names, NULL, alphasort);
  if (count < 0) {
    perror(path);
    return -1;
  }
  int total = 0;
  for (int i = 0; i < count; i++) {
    char full[4096];
    int length = snprintf(full, sizeof full, "%s/%s", path, names[i]->d_name);
    int ran = names[i]->d_name[0] == '.' ? 0 : length >= (int)sizeof full ? -1 : run(full);
    free(names[i]);
    total = total < 0 || ran < 0 ? -1 : total + ran;
  }
  free(names);
  return total;
}

int main(int argc, char **argv) {
  int total = 0;
  for (int i = 1; i < argc; i++) {
    int ran = run(argv[i]);
    if (ran < 0) return 1;
    total += ran;
  }
  printf("%d inputs\n", total);
  if (total == 0) fprintf(stderr, "nothing ran: name a folder or a file with inputs\n");
  return total > 0 ? 0 : 1;
}
