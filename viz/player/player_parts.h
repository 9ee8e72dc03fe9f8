/* Shared by the files of the player. Private to viz/window. */
#ifndef TILEWALK_VIZ_PLAYER_PLAYER_PARTS_H
#define TILEWALK_VIZ_PLAYER_PLAYER_PARTS_H

#include "viz/player/player.h"

/* Takes the new request, or says why it cannot be and keeps the old one. The place in the run stays, as a part of it.
 */
bool player_apply(Player *player, Request *request, bool without_max);

/* Applies the keys of a line to a request and takes it; a step or a scene in the line is gone to. */
bool player_take_line(Player *player, const Request *from, const char *line);

#endif
