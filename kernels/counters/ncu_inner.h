/* What the files of the reader of counter tables share. */
#ifndef TILEWALK_KERNELS_COUNTERS_NCU_INNER_H
#define TILEWALK_KERNELS_COUNTERS_NCU_INNER_H

#include "kernels/counters/ncu.h"
#include "kernels/counters/ncu_rows.h"
#include "sim/base/quote.h"

/* What a column, or a metric of the page of details, is for. */
enum {
  ROLE_IGNORED = 0, /* a metric that says nothing here */
  ROLE_IDENTITY,    /* a column that every page has, and that is not needed */
  ROLE_ID,
  ROLE_PROCESS,
  ROLE_KERNEL,
  ROLE_BLOCK,
  ROLE_GRID,
  ROLE_CC,
  ROLE_METRIC_NAME,
  ROLE_METRIC_UNIT,
  ROLE_METRIC_VALUE,
  ROLE_DEVICE,
  ROLE_FIRST_FACT,
  ROLE_GRID_X = ROLE_FIRST_FACT,
  ROLE_GRID_Y,
  ROLE_GRID_Z,
  ROLE_BLOCK_X,
  ROLE_BLOCK_Y,
  ROLE_BLOCK_Z,
  ROLE_CC_MAJOR,
  ROLE_CC_MINOR,
  ROLE_N_SM,
  ROLE_REGISTERS,
  ROLE_SHARED,
  ROLE_LAST_FACT = ROLE_SHARED,
  ROLE_FIRST_RATE,
  ROLE_LAST_RATE = ROLE_FIRST_RATE + NCU_RATES - 1,
  ROLE_RUNG,
  ROLE_DTYPE,
  ROLE_CAUSAL,
  ROLE_FIRST_SIZE,
  ROLE_FIRST_COUNTER = ROLE_FIRST_SIZE + 16
};

/* The sizes of a shape in tables that Tilewalk recorded; the last may be left out. */
enum { SIZE_SPLITS = 8, N_SIZES = 9 };
extern const char *const NCU_SIZE_COLUMNS[N_SIZES];

typedef enum { PAGE_RAW, PAGE_DETAILS, PAGE_RECORDED } Page;

/* A table's header, and the units under it. */
typedef struct {
  Page page;
  char delimiter;
  bool is_quoted; /* its names stand in quotes */
  bool has_units; /* in the header itself: "Duration [us]" */
  int n_columns, id, n_counters;
  int32_t process_id, metric, unit, value;
  uint16_t role[NCU_MAX_COLUMNS];
  NcuUnit units[NCU_MAX_COLUMNS];
  bool unit_known[NCU_MAX_COLUMNS];
} Layout;

/* Where marks were seen whose meaning says which one is the decimal mark. */
typedef struct {
  int64_t line; /* 0: nowhere */
  Quote cell;
} Sight;

enum { SURE_POINT, SURE_COMMA, LIKELY_POINT, LIKELY_COMMA, OPEN_POINT, OPEN_COMMA, N_SIGHTS };

typedef struct {
  NcuText text;
  CounterTable *table;
  NcuRows rows;
  Layout *layout;
  bool surveys; /* the first time through: only which mark is the decimal one */
  Sight sights[N_SIGHTS];
  char decimal;
  bool semicolons;        /* between fields, somewhere */
  int64_t useless_header; /* the first header without a counter that is used */
  int64_t text_page;      /* a line as ncu prints them without --csv */
  int64_t said_line;      /* where ncu says what went wrong; 0: nowhere */
  char said[160];         /* the first of it, printable */
  bool no_permission, none_profiled;
  int64_t foreign_line;        /* of another profiler; 0: none */
  bool is_remarked;            /* it begins with #, as recordings of our own do */
  char card[NCU_DEVICE_BYTES]; /* as `# gpu: NAME` says it, of rows that do not */
  int foreign;                 /* in FOREIGN */
} Parser;

/* "line N: WHY". */
Status ncu_fail(const Parser *parser, Error *error, const char *why);

/* Whether a field is a number of up to 18 digits. */
bool ncu_is_digits(NcuField field);

/* What a column or a metric of that name is for: a ROLE. */
int ncu_role_of(NcuField name);

/* Notes a column, or a metric, that says nothing here. */
void ncu_ignore(Parser *parser, NcuField name);

/* Reads the line as a header, if it is one; then parser->layout is that of its table. */
Status ncu_try_header(Parser *parser, bool *is_header, Error *error);

/* Which unit a cell is in; refuses one that the counter cannot have. */
Status ncu_unit_for(const Parser *parser, int counter, NcuField field, NcuUnit *unit, Error *error);

/* Takes the fields of a line into the rows. */
Status ncu_read_row(Parser *parser, Error *error);

#endif
