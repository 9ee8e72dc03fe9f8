/* An answer to a page, as JSON. Part of viz/web/web_inner.h. */
#include <stdlib.h>

#include "viz/web/web_inner.h"

static Document answered;

Document *web_begin(void) {
  document_free(&answered);
  answered = document_new(DOCUMENT_JSON);
  json_object_clear(answered.open[0]); /* a page is of the version that its program is */
  return &answered;
}

const char *web_end(void) {
  static char *text;
  free(text);
  text = answered.status ? NULL : json_dumps(answered.open[0], JSON_COMPACT);
  return text ? text : "{\"error\":\"no memory for the answer\"}";
}
