/* connection: the real server's recorded conversations, replayed. */
#include "../../testlib/mock_rig.h"
#include "../../testlib/probes.h"

/* One server frame, with the transaction numbers of an OK masked: the mock counts its own. */
static void append_frame(char **text, const uint8_t *f, size_t n) {
  size_t at = strlen(*text), header = f[1] < 126 ? 2 : 4;
  *text = realloc(*text, at + 2 * n + 8);
  assert_non_null(*text);
  bool ok = f[0] == 0x82 && n > header && f[header] == 0x00;
  size_t entry = header + 11; /* first table entry */
  at += (size_t)sprintf(*text + at, "%s%02x:", at ? " " : "", f[0]);
  if (n == header) at += (size_t)sprintf(*text + at, "-");
  for (size_t i = header; i < n; i++) {
    bool number = false;
    if (ok && i >= entry && n >= entry + 2) {
      size_t name_n = (size_t)(f[entry] | f[entry + 1] << 8);
      if (i == entry + 2 + name_n + 8) entry = i;
      name_n = entry + 2 <= n ? (size_t)(f[entry] | f[entry + 1] << 8) : 0;
      number = i >= entry + 2 + name_n;
    }
    at += (size_t)sprintf(*text + at, number ? "##" : "%02x", f[i]);
  }
}

static char *frames_text(const uint8_t *p, size_t n) {
  char *text = calloc(1, 1);
  for (size_t at = 0; at < n;) {
    size_t payload = p[at + 1] < 126 ? p[at + 1] : (size_t)p[at + 2] << 8 | p[at + 3];
    size_t whole = payload + (p[at + 1] < 126 ? 2 : 4);
    assert_true(at + whole <= n);
    append_frame(&text, p + at, whole);
    at += whole;
  }
  if (!*text) {
    text = realloc(text, 2);
    strcpy(text, "-");
  }
  return text;
}

/* The recorded text, through the same masking. */
static char *recorded_text(const char *recorded) {
  char *text = calloc(1, 1);
  while (*recorded && strcmp(recorded, "-") != 0) {
    size_t word = strcspn(recorded, " ");
    uint8_t frame[2048];
    uint8_t *payload = NULL;
    size_t payload_n = 0, header = 2;
    if (recorded[3] != '-') probe_bytes(recorded + 3, word - 3, &payload, &payload_n);
    unsigned first = 0;
    assert_int_equal(sscanf(recorded, "%2x", &first), 1);
    frame[0] = (uint8_t)first;
    frame[1] = (uint8_t)payload_n;
    if (payload_n > 125) {
      frame[1] = 126;
      frame[2] = (uint8_t)(payload_n >> 8);
      frame[3] = (uint8_t)payload_n;
      header = 4;
    }
    assert_true(payload_n + 4 <= sizeof frame);
    if (payload_n) memcpy(frame + header, payload, payload_n);
    append_frame(&text, frame, header + payload_n);
    free(payload);
    recorded += word + (recorded[word] == ' ');
  }
  if (!*text) {
    text = realloc(text, 2);
    strcpy(text, "-");
  }
  return text;
}

static void replay(const struct probe *probe, bool bytewise) {
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  for (char *at = probe->column[PROBE_SENT]; at && p->conn;) {
    char *bar = strstr(at, " | ");
    uint8_t *bytes = NULL;
    size_t n = 0, piece;
    probe_bytes(at, bar ? (size_t)(bar - at) : strlen(at), &bytes, &n);
    piece = bytewise ? 1 : n;
    for (size_t i = 0; i < n && p->conn; i += piece) rig_feed(p, bytes + i, piece);
    free(bytes);
    at = bar ? bar + 3 : NULL;
  }
  bool ended = strcmp(probe->column[PROBE_END], "EOF") == 0;
  if (p->closed != ended) fail_msg("probe '%s': closed %d, recorded %d", probe->column[PROBE_NAME], p->closed, ended);
  /* Writes a millisecond apart were not always passes of their own at the recorder. */
  bool grouped = strcmp(probe->column[PROBE_GAP], "1") == 0;
  if (!bytewise && !grouped) {
    char *said = frames_text(p->out, p->out_n), *want = recorded_text(probe->column[PROBE_FRAMES]);
    if (strcmp(said, want) != 0) fail_msg("probe '%s':\n said %s\nwanted %s", probe->column[PROBE_NAME], said, want);
    free(said);
    free(want);
  }
  rig_stop(&r);
}

static void one_probe(void *arg, const struct probe *p) {
  (void)arg;
  if (strstr(p->column[PROBE_SENT], "...") || strcmp(p->column[PROBE_SENT], "-") == 0) return;
      /* shortened by the recorder */
  replay(p, false);
  if (!strchr(p->column[PROBE_SENT], '*')) replay(p, true); /* the two-megabyte ones are slow bytewise */
}

static void every_recorded_conversation_goes_as_recorded(void **state) {
  (void)state;
  const struct { const char *group; int count; } groups[] = {{"ws", 37}, {"close", 26}, {"pipeline", 9}, {"deferred",
      15}};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    assert_int_equal(probes_each(TEST_DATA "/server-probes.tsv", groups[i].group, one_probe, NULL), groups[i].count);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_recorded_conversation_goes_as_recorded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
