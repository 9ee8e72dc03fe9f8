/* Shared by the files of the player. Private to viz/player. */
#ifndef TILEWALK_VIZ_PLAYER_PLAYER_PARTS_H
#define TILEWALK_VIZ_PLAYER_PLAYER_PARTS_H

#include "viz/player/player.h"

#define PLAYER_MOVE_S 0.35 /* how long a step that is asked for takes */

/* Takes the new request, or says why it cannot be and keeps the old one. The place in the run stays, as a part of it.
 */
bool player_apply(Player *player, Request *request, bool without_max);

/* Applies the keys of a line to a request and takes it; a step or a scene in the line is gone to. */
bool player_take_line(Player *player, const Request *from, const char *line);

/* The state after `step`; what moves to it begins to. */
void player_show(Player *player, uint64_t step);

void player_play(Player *player);                 /* plays, or pauses */
void player_change_speed(Player *player, int by); /* steps of SPEEDS */

/* Opens the line for typing, which begins with `text`. */
void player_open_entry(Player *player, const char *text);

#endif
