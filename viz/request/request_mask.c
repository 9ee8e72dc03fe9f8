/* What may be seen: --causal, --window, --mask. */
#include <string.h>

#include "sim/base/quote.h"
#include "sim/base/size.h"
#include "viz/request/own_masks.h"
#include "viz/request/request_parts.h"

Status set_mask(void *target, const char *value, Error *error) {
  Request *r = target;
  if (!*value || strlen(value) >= sizeof r->mask)
    return error_set(error, STATUS_BAD_REQUEST, "'%s' is no mask; there are " PATTERN_NAMES " and files",
                     quote_text(value).text);
  strcpy(r->mask, value);
  return STATUS_OK;
}

/* 1, or to which corner: bottom-right (1) or top-left. */
Status set_causal(void *target, const char *value, Error *error) {
  Shape *shape = &((Request *)target)->shape;
  const bool top_left = strcmp(value, "top-left") == 0;
  if (!top_left && strcmp(value, "bottom-right") != 0 && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
    return error_set(error, STATUS_BAD_REQUEST,
                     "'%s' is no corner; a causal mask is aligned to bottom-right (the default) or top-left",
                     quote_text(value).text);
  shape->causal = strcmp(value, "0") != 0;
  shape->top_left = top_left;
  return STATUS_OK;
}

/* A side of a window: -1, 0, or a number of keys. */
static Status window_side(const char *text, size_t length, int64_t *side, Error *error) {
  char copy[40];
  if (length == 0 || length >= sizeof copy)
    return error_set(error, STATUS_BAD_REQUEST, "a window is W, or LEFT,RIGHT with 0, -1 (no limit) or keys for each");
  memcpy(copy, text, length);
  copy[length] = '\0';
  if (strcmp(copy, "-1") == 0 || strcmp(copy, "0") == 0) {
    *side = *copy == '-' ? -1 : 0;
    return STATUS_OK;
  }
  return size_parse_count(copy, side, error);
}

/* W keys, or LEFT,RIGHT as FlashAttention's window_size. */
Status set_window(void *target, const char *value, Error *error) {
  Shape *shape = &((Request *)target)->shape;
  const char *comma = strchr(value, ',');
  shape->sided = comma != NULL;
  shape->window = shape->left = shape->right = 0;
  if (!comma) return size_parse_count(value, &shape->window, error);
  const Status status = window_side(value, (size_t)(comma - value), &shape->left, error);
  return status ? status : window_side(comma + 1, strlen(comma + 1), &shape->right, error);
}
