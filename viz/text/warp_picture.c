#include "viz/text/warp_picture.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/machine/bank.h"
#include "viz/text/number.h"

enum {
  WORDS_A_LINE = WARP_LINE_BYTES / WARP_BANK_BYTES,
  WORDS_A_SECTOR = WARP_SECTOR_BYTES / WARP_BANK_BYTES,
  SHOWN = WARP_PICTURE_LINES - 4, /* without heading, note, the last line and the sum */
};

typedef struct {
  WarpPicture *picture;
  size_t used; /* of the line that is being written */
} Pen;

static void put(Pen *pen, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(Pen *pen, const char *format, ...) {
  char *const line = pen->picture->line[pen->picture->n];
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(line + pen->used, WARP_PICTURE_BYTES - pen->used, format, arguments);
  va_end(arguments);
  if (n > 0) pen->used += (size_t)n;
}

static void end_line(Pen *pen) {
  pen->picture->n++;
  pen->used = 0;
}

/* Of n alike lines the first ones and the last are drawn. */
static bool is_drawn(int k, int n) { return n <= SHOWN + 1 || k < SHOWN - 1 || k == n - 1; }

static void put_gap(Pen *pen, int k, int n, const char *what) {
  if (is_drawn(k, n) || k != SHOWN - 1) return;
  put(pen, "  ... %d more %s ...", n - SHOWN, what);
  end_line(pen);
}

static bool is_active(const WarpAccess *a, uint32_t lane) { return a->active >> lane & 1; }

/* ---- Global memory */

typedef struct {
  uint64_t number[2 * WARP_LANES]; /* of lines, in rising order; a wide lane may touch two */
  int n;
} Lines;

static void add_line(Lines *lines, uint64_t number) {
  int k = lines->n;
  while (k > 0 && lines->number[k - 1] > number) k--;
  if (k > 0 && lines->number[k - 1] == number) return;
  memmove(lines->number + k + 1, lines->number + k, (size_t)(lines->n - k) * sizeof *lines->number);
  lines->number[k] = number;
  lines->n++;
}

static bool is_asked_for(const WarpAccess *a, uint64_t from, uint64_t to) {
  for (uint32_t lane = 0; lane < WARP_LANES; lane++)
    if (is_active(a, lane) && a->address[lane] < to && a->address[lane] + a->element_bytes > from) return true;
  return false;
}

static void put_memory_line(Pen *pen, const WarpAccess *a, uint64_t number) {
  put(pen, "  line %-4ju", number);
  for (int word = 0; word < WORDS_A_LINE; word++) {
    const uint64_t from = number * WARP_LINE_BYTES + (uint64_t)word * WARP_BANK_BYTES,
                   sector = from - from % WARP_SECTOR_BYTES;
    const bool moved = is_asked_for(a, sector, sector + WARP_SECTOR_BYTES),
               asked = is_asked_for(a, from, from + WARP_BANK_BYTES);
    put(pen, "%s%s", word % WORDS_A_SECTOR ? "" : " ", asked ? "█" : moved ? "░" : "·");
  }
  end_line(pen);
}

void warp_picture_memory(const WarpAccess *a, WarpPicture *picture) {
  Lines lines = {.n = 0};
  Pen pen = {picture, 0};
  *picture = (WarpPicture){.n = 0};
  for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
    if (!is_active(a, lane)) continue;
    add_line(&lines, a->address[lane] / WARP_LINE_BYTES);
    add_line(&lines, (a->address[lane] + a->element_bytes - 1) / WARP_LINE_BYTES);
  }
  put(&pen, "Words of 4 bytes, 8 to a sector: █ asked for, ░ moved as well, · not moved");
  end_line(&pen);
  for (int k = 0; k < lines.n; k++) {
    put_gap(&pen, k, lines.n, "lines like these");
    if (is_drawn(k, lines.n)) put_memory_line(&pen, a, lines.number[k]);
  }
  const WarpGlobal g = warp_global(a);
  put(&pen, "%u sectors, %s bytes moved for %ju that are asked for", g.sectors,
      number_count(wide((int64_t)g.moved_bytes)).text, g.used_bytes);
  end_line(&pen);
}

/* ---- Shared memory */

/* The lanes that a pass serves first: "lane 0", "lanes 8 to 15", "5 lanes". */
static void put_lanes(Pen *pen, uint32_t lanes) {
  uint32_t first = 0, n = 0;
  while (!(lanes >> first & 1)) first++;
  for (uint32_t lane = first; lane < WARP_LANES; lane++) n += lanes >> lane & 1;
  const uint32_t run = (n == WARP_LANES ? UINT32_MAX : (1u << n) - 1) << first;
  if (n == 1)
    put(pen, "  lane %u", first);
  else if (run == lanes)
    put(pen, "  lanes %u to %u", first, first + n - 1);
  else
    put(pen, "  %u lanes", n);
}

static void put_pass(Pen *pen, const BankWords *words, int pass) {
  uint32_t lanes = 0, served = 0;
  for (int k = 0; k < words->n; k++)
    if (words->words[k].pass == pass)
      lanes |= 1u << words->words[k].lane, served |= 1u << words->words[k].word % BANK_COUNT;
  put(pen, "  cycle %-3d", pass + 1);
  for (int bank = 0; bank < BANK_COUNT; bank++)
    put(pen, "%s%s", bank % WORDS_A_SECTOR ? "" : " ", served >> bank & 1 ? "█" : "·");
  put_lanes(pen, lanes);
  end_line(pen);
}

Status warp_picture_banks(const WarpAccess *a, WarpPicture *picture, Error *error) {
  BankWords words;
  Pen pen = {picture, 0};
  *picture = (WarpPicture){.n = 0};
  if (a->element_bytes > WARP_BANK_BYTES)
    return error_refuse(error, "banks are drawn for lanes of at most %d bytes; wider ones are taken in parts",
                        WARP_BANK_BYTES);
  bank_words(a->address, a->active, (int)a->element_bytes, WARP_LANES, &words);
  const int n = words.n_passes;
  put(&pen, "The 32 banks, bank 0 on the left: █ serves a lane, · idle");
  end_line(&pen);
  for (int pass = 0; pass < n; pass++) {
    put_gap(&pen, pass, n, "cycles like these");
    if (is_drawn(pass, n)) put_pass(&pen, &words, pass);
  }
  put(&pen, "%s", number_of(wide(n), "cycle").text);
  end_line(&pen);
  return STATUS_OK;
}
