/* States, what is typed, and the next problem of a key. */
#include <stdio.h>

#include "sim/algorithms/shipped.h"
#include "viz/player/player.h"
#include "viz/text/number.h"

const char *player_state(const Player *p, char text[REQUEST_STATE_BYTES]) {
  Request shown = p->request;
  shown.step = (int64_t)p->now.step;
  snprintf(shown.scene, sizeof shown.scene, "%s", scene_name(p->scene));
  return question_state(&shown, text);
}

/* A step or a scene that the line names is gone to; both are -1 or "" before parsing. */
static void go_to_named(Player *p, const Request *r) {
  if (*r->scene) scene_from_name(r->scene, &p->scene);
  if (r->step < 0) return;
  if ((uint64_t)r->step > p->stage.n_steps)
    player_say(p, true, "Step %jd is beyond the end, which is %s", r->step, number_count(p->stage.n_steps).text);
  else
    player_seek(p, (uint64_t)r->step);
}

bool player_take_line(Player *p, const Request *from, const char *line) {
  Request r = *from;
  Error error = {0};
  r.scene[0] = '\0';
  r.step = -1;
  if (request_read(&r, line, false, &error)) {
    player_say(p, true, "Not possible: %s", error.message);
    return false;
  }
  if (r.block != from->block && r.tiling.B_r == from->tiling.B_r && r.tiling.B_c == from->tiling.B_c)
    r.tiling.B_r = r.tiling.B_c = 0;
  else if (r.block == from->block && (r.tiling.B_r != from->tiling.B_r || r.tiling.B_c != from->tiling.B_c))
    r.block = 0;
  Request plain = r;
  plain.scene[0] = '\0';
  plain.step = 0;
  if (!player_apply(p, &plain)) return false;
  go_to_named(p, &r);
  return true;
}

bool player_restore(Player *p, const char *line) {
  const Request fresh = {0};
  if (!player_take_line(p, &fresh, line)) return false;
  if (!strstr(line, "step=")) player_seek(p, 0); /* a state without a step is at the start */
  return true;
}

void player_scale_N(Player *p, int direction) {
  Request r = p->request;
  int64_t *const N[] = {&r.shape.N_q, &r.shape.N_k};
  r.shape.N_q = p->now.grid.N_q;
  if (direction < 0 && r.shape.N_q <= 1) {
    player_say(p, true, "Not possible: N is 1, and there is nothing smaller");
    return;
  }
  for (int k = 0; k < 2; k++)
    if (*N[k]) *N[k] = direction > 0 ? *N[k] * 2 : max64(1, *N[k] / 2);
  player_apply(p, &r);
}

/* Without what it would refuse. */
void player_next_algorithm(Player *p, int direction) {
  int at = 0;
  while (at < N_PROGRAMS && SCHEDULES[at] != p->request.algorithms[0]) at++;
  for (int k = 1; k < N_PROGRAMS; k++) {
    const Schedule *next = SCHEDULES[(at + N_PROGRAMS + direction * k) % N_PROGRAMS];
    Request r = p->request;
    r.algorithms[0] = next;
    r.n_algorithms = 1;
    r.kernel[0] = '\0'; /* it follows one algorithm */
    if (!next->splits) r.tiling.n_splits = 0;
    if (!next->writes_lse) r.tiling.lse = false;
    if (player_apply(p, &r)) return;
  }
}

/* ---- What is open ---------------------------------------------------------------------------------------- */

void player_type(Player *p, const char *text) {
  const size_t used = strlen(p->entry), more = strlen(text);
  if (p->open == OPEN_ENTRY && used + more < sizeof p->entry) memcpy(p->entry + used, text, more + 1);
}

void player_erase(Player *p) {
  size_t n = strlen(p->entry);
  while (n > 0 && ((unsigned char)p->entry[n - 1] & 0xC0) == 0x80) n--; /* a whole UTF-8 character */
  if (n > 0) p->entry[n - 1] = '\0';
}

void player_cancel(Player *p) {
  if (p->open == OPEN_ENTRY) p->message[0] = '\0'; /* why the entry was refused */
  p->open = OPEN_NOTHING;
  p->entry[0] = '\0';
}

/* What is refused stays in the line, to be put right. */
void player_accept(Player *p) {
  if (p->open != OPEN_ENTRY || (*p->entry && !player_take_line(p, &p->request, p->entry))) return;
  p->open = OPEN_NOTHING;
  p->entry[0] = '\0';
}
