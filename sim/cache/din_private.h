/* Between the readers of address traces. Include nowhere else. */
#ifndef TILEWALK_SIM_CACHE_DIN_PRIVATE_H
#define TILEWALK_SIM_CACHE_DIN_PRIVATE_H

#include "sim/cache/din.h"

const char *din_skip_blanks(const char *p, const char *end);
bool din_ends_field(const char *p, const char *end); /* the end, a blank or a # */

/* Digits of a hexadecimal number, after an optional 0x. False where there is none, or more than 64 bits of it. */
bool din_read_hex(const char **p, const char *end, uint64_t *value, bool *prefixed);

bool din_read_digit(char c, DinLabel *label);  /* 0 to 4 */
bool din_read_letter(char c, DinLabel *label); /* r w i m c v */

/* "trace line 7: 'x' is no <what>; a line reads: ..." */
Status din_bad_line(const DinParser *parser, const char *what, const char *from, const char *end, Error *error);
Status din_check_range(const DinParser *parser, const DinRecord *record, uint64_t size, Error *error);
uint32_t din_default_size(const DinParser *parser);

/* The formats other than Dinero's: one line without its newline. *is_record is false for a line that holds none. */
typedef Status DinLineReader(DinParser *parser, const char *p, const char *end, DinRecord *record, bool *is_record,
                             Error *error);
DinLineReader din_read_lackey, din_read_csv, din_read_pin, din_read_words, din_read_hash;

/* What a first line that is no noise looks like; and the columns of a CSV. */
DinFormat din_format_of(const char *p, const char *end);
void din_find_columns(const char *p, const char *end, DinParser *parser);
bool din_is_hash(const char *p, const char *end); /* "# 0 7fffed80 1": a comment in every other format */

#endif
