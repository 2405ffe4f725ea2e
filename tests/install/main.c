/* The installed library from outside: a row goes into a sender whose server never comes. */
#include <qwp/sender.h>
#include <stdio.h>

int main(void) {
  struct qwp_error err;
  qwp_error_clear(&err);
  qwp_sender *s = qwp_sender_create(
      "ws::addr=127.0.0.1:1;initial_connect_retry=async;close_flush_timeout_millis=1;", NULL, &err);
  if (!s || !qwp_table(s, "t", &err) || !qwp_long(s, "n", 1, &err) || !qwp_at_us(s, 1, &err)) goto failed;
  struct qwp_metrics m;
  qwp_sender_metrics(s, &m);
  if (m.snd_rows != 1 || !qwp_sender_flush(s, NULL, &err) || qwp_sender_published_fsn(s) != 0) goto failed;
  if (qwp_sender_close(s, &err) || err.code != QWP_TIMEOUT) goto failed; /* the row was never acknowledged */
  printf("libqwp %s: %s as expected\n", QWP_CLIENT_VERSION, qwp_status_name(err.code));
  return 0;
failed:
  fprintf(stderr, "%s: %s\n", qwp_status_name(err.code), err.text);
  return 1;
}
