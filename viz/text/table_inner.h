/* What the files of the table share. */
#ifndef TILEWALK_VIZ_TEXT_TABLE_INNER_H
#define TILEWALK_VIZ_TEXT_TABLE_INNER_H

#include "viz/text/table.h"

typedef enum { ITEM_CELL, ITEM_RULE, ITEM_GROUP, ITEM_NOTE } ItemKind;

struct TableItem {
  ItemKind kind;
  TextRole role;
  size_t shown, csv; /* offsets in the store */
};

/* The text of an item, by its offset in the store. */
const char *table_item_text(const Table *table, size_t offset);

static inline size_t table_end(const Table *table) { return table->shown ? table->shown : table->n_items; }

/* The cell of a column in the row that begins at item `first`; empty where the row is shorter. */
struct TableItem table_cell(const Table *table, size_t first, int column);

/* STATUS_NO_MEMORY where not all of the table could be kept. */
Status table_check(const Table *table, Error *error);

#endif
