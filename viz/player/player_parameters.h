/* The parameters of the problem as controls: what each shows, how it is stepped, typed or chosen from a list.
 *
 * A step is twice N or half, the next algorithm, causal or not. Typing takes whatever the command line takes. What is
 * not possible changes nothing and leaves its reason in the player's message. */
#ifndef TILEWALK_VIZ_PLAYER_PLAYER_PARAMETERS_H
#define TILEWALK_VIZ_PLAYER_PLAYER_PARAMETERS_H

#include <stdbool.h>

typedef enum {
  PARAMETER_PRESET = 0,
  PARAMETER_ALGORITHM,
  PARAMETER_N,
  PARAMETER_D,
  PARAMETER_BLOCK, /* B_r and B_c together */
  PARAMETER_BLOCK_Q,
  PARAMETER_BLOCK_K,
  PARAMETER_SRAM,
  PARAMETER_GPU,
  PARAMETER_HEADS,
  PARAMETER_DTYPE,
  PARAMETER_CAUSAL,
  PARAMETER_WITHOUT_MAX,
  PARAMETER_COUNT
} Parameter;

typedef struct {
  const char *label;     /* before the value; "" none */
  bool is_list;          /* of choices */
  const char *state_key; /* of the state line; "" what has no key of its own */
  const char *wants;     /* what can be typed */
} ParameterRow;

extern const ParameterRow PARAMETERS[PARAMETER_COUNT];

enum { PARAMETER_VALUE_BYTES = 112, CHOICES_MAX = 40 };

/* One line of a list. */
typedef struct {
  char name[64], remark[240];
} Choice;

typedef struct Player Player;

/* What it is now, as it is shown. Returns text. */
const char *parameter_value(const Player *player, Parameter which, char text[PARAMETER_VALUE_BYTES]);

bool parameter_is_on(const Player *player, Parameter which); /* of a switch */

void parameter_step(Player *player, Parameter which, int direction);

/* Takes a typed value, or the name of a choice. */
bool parameter_set(Player *player, Parameter which, const char *text);

/* What a list offers, at most CHOICES_MAX. Returns how many; *at is the present one, or 0. */
int parameter_choices(const Player *player, Parameter which, Choice choices[CHOICES_MAX], int *at);

#endif
