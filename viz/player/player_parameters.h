/* The parameters of the problem as fields: what each shows, and how it is stepped, typed or chosen from a list. Typing
 * takes whatever the command line takes. What is not possible changes nothing and leaves its reason in the player's
 * message. */
#ifndef TILEWALK_VIZ_PLAYER_PLAYER_PARAMETERS_H
#define TILEWALK_VIZ_PLAYER_PLAYER_PARAMETERS_H

#include <stdbool.h>

typedef enum {
  PARAMETER_PRESET = 0,
  PARAMETER_ALGORITHM,
  PARAMETER_N,
  PARAMETER_D,
  PARAMETER_BLOCK_Q,
  PARAMETER_BLOCK_K,
  PARAMETER_SRAM,
  PARAMETER_GPU,
  PARAMETER_HEADS,
  PARAMETER_DTYPE,
  PARAMETER_COUNT
} Parameter;

/* What can be typed, as --help says it; "" for a whole problem. */
const char *parameter_wants(Parameter which);

enum { PARAMETER_VALUE_BYTES = 112, CHOICES_MAX = 48 };

/* One line of a list. */
typedef struct {
  char name[64], remark[240];
} Choice;

typedef struct Player Player;

/* What it is now, as it is shown. Returns text. */
const char *parameter_value(const Player *player, Parameter which, char text[PARAMETER_VALUE_BYTES]);

/* Twice as many tokens or half, 1 or -1; the next algorithm that can be had, or the one before. */
void parameter_scale_N(Player *player, int direction);
void parameter_next_algorithm(Player *player, int direction);

/* Takes a typed value, or the name of a choice. */
bool parameter_set(Player *player, Parameter which, const char *text);

/* What a list offers, at most CHOICES_MAX; no list has none. Returns how many; *at is the present one, or 0. */
int parameter_choices(const Player *player, Parameter which, Choice choices[CHOICES_MAX], int *at);

#endif
