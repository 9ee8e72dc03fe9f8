/* What the files of the reader of counter tables share. */
#ifndef TILEWALK_KERNELS_COUNTERS_NCU_INNER_H
#define TILEWALK_KERNELS_COUNTERS_NCU_INNER_H

#include "kernels/counters/ncu.h"
#include "kernels/counters/ncu_rows.h"
#include "sim/base/quote.h"

/* What a column, or a metric of the page of details, is for. */
typedef enum {
  ROLE_IGNORED = 0, /* it says nothing here */
  ROLE_IDENTITY,    /* every page has it, and it is not needed */
  ROLE_DIGITS,      /* index: of the member of CounterRow, in bytes */
  ROLE_TRIPLE,      /* the same */
  ROLE_KERNEL,
  ROLE_CC,
  ROLE_METRIC, /* index: which of its parts */
  ROLE_FACT,   /* up to here of columns alone: a metric "Grid Size" is a product. index: as of digits */
  ROLE_DEVICE,
  ROLE_CC_MAJOR,
  ROLE_CC_MINOR,
  ROLE_COUNTER, /* index: which Counter */
  ROLE_RATE,    /* the same */
  ROLE_RUNG,    /* from here on: of a recording alone */
  ROLE_SPLITS,
  ROLE_FIRST_NEEDED,
  ROLE_DTYPE = ROLE_FIRST_NEEDED,
  ROLE_CAUSAL,
  ROLE_SIZE /* index: of the member of CounterRow, in bytes */
} Role;
enum { METRIC_NAME, METRIC_UNIT, METRIC_VALUE, METRIC_PARTS };

typedef struct {
  Role role;
  int index;
  const char *name;
  NcuField unit_text; /* in the header: "Duration [us]" */
  bool unit_known;
  NcuUnit unit;
} Column;

/* The layouts of ncu.h. */
typedef enum { PAGE_RAW, PAGE_DETAILS, PAGE_RECORDED } Page;

/* A table's header, and the units under it. */
typedef struct {
  Page page;
  char delimiter;
  bool is_quoted; /* its names stand in quotes */
  bool has_units; /* in the header itself */
  int n_columns, n_counters;
  int id, metric[METRIC_PARTS]; /* columns; -1: there is none */
  Column columns[NCU_MAX_COLUMNS];
} Layout;

/* Marks in numbers, by what they say: which one is the decimal mark; that only whole numbers stand there; nothing. */
enum { SURE, LIKELY, OPEN, N_LEVELS };
typedef struct {
  int64_t line; /* 0: nowhere */
  Quote cell;
} Sight;

/* What stands around the tables. Lines are 0 where there is no such line. */
typedef struct {
  int64_t useless_header; /* the first header without a counter that is used */
  int64_t text_page;      /* as ncu prints them without --csv */
  int64_t said_line;      /* where ncu says what went wrong */
  char said[160];
  bool no_permission, none_profiled;
  int64_t foreign_line;        /* of another profiler */
  int foreign;                 /* in FOREIGN */
  bool is_remarked;            /* the file begins with #, as recordings of our own do */
  char card[NCU_DEVICE_BYTES]; /* as `# gpu: NAME` says it, of rows that do not */
} Surroundings;

typedef struct {
  NcuText text;
  CounterTable *table;
  NcuRows rows;
  Layout *layout; /* of the table that is being read */
  Layout *tried;  /* of a line that may be a header */
  bool surveys;   /* the first time through: what stands around the tables, and which mark is the decimal one */
  Surroundings around;
  Sight sights[N_LEVELS][2]; /* of a decimal point, of a decimal comma */
  bool semicolons;           /* between fields, somewhere */
  char decimal;
} Parser;

#define NCU_NOT_CLOSED "a quoted field is not closed; the file is cut off or damaged"

/* Reads the line as a header, if it is one; then parser->layout is that of its table. */
Status ncu_try_header(Parser *parser, bool *is_header, Error *error);

/* Reads the next line as the units of the columns, where the page has one. */
Status ncu_read_units(Parser *parser, Error *error);

/* Takes the fields of a line into the rows; when surveying, only looks at the marks of its numbers. */
Status ncu_read_row(Parser *parser, Error *error);

#endif
