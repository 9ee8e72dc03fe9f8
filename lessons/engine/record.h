/* Small files that a person would miss: progress in lessons, the window's settings.
 *
 *     RecordLock lock;
 *     if (record_lock(&lock, path, true, error)) return error->status;      // waits for other programs
 *     record_read(path, max_bytes, &bytes, &length, error);           // change what is there now ...
 *     record_write(&lock, bytes, length, error);                      // ... the old record or the new one, never none
 *     record_unlock(&lock);
 *
 * A record is written beside the old one under PATH.new, synced, renamed, and its folder synced: a crash, a full disk
 * or a power cut at any step leaves the old record or the new one. The lock is PATH.lock (flock); on file systems
 * without locks there is none. What is no plain file is refused without waiting for it. Interrupted calls are called
 * again. */
#ifndef TILEWALK_LESSONS_ENGINE_RECORD_H
#define TILEWALK_LESSONS_ENGINE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/error.h"

enum { RECORD_PATH_BYTES = 4096 };

/* Where a record lies: $VARIABLE/tilewalk/NAME, or $HOME/BELOW/tilewalk/NAME. False: there is no home. The XDG
 * specification has relative paths ignored. A symbolic link to a file is followed. */
bool record_path(const char *variable, const char *below, const char *name, char path[RECORD_PATH_BYTES]);

/* Reads a whole record. *bytes is for the caller to free and ends in a zero after *length bytes; NULL: there is none.
 * STATUS_BAD_REQUEST: it cannot be read now, which says nothing about what is in it. */
Status record_read(const char *path, size_t max_bytes, char **bytes, size_t *length, Error *error);

typedef struct {
  char path[RECORD_PATH_BYTES];
  int file; /* -1: without a lock */
} RecordLock;

/* Makes the folder (for the owner alone) and takes the lock; `waits`: ten seconds at most while another program has
 * it. */
Status record_lock(RecordLock *lock, const char *path, bool waits, Error *error);
void record_unlock(RecordLock *lock);

/* Writes a record whole, or not at all. An error after the rename means that a power cut could still undo it. */
Status record_write(const RecordLock *lock, const void *bytes, size_t length, Error *error);

/* Renames a damaged record to the first free name beside it, "PATH.damaged-1", which goes to `other`. */
Status record_set_aside(const RecordLock *lock, char other[RECORD_PATH_BYTES], Error *error);

#endif
