/* Shared by the files of viz/web that a page calls. */
#ifndef TILEWALK_VIZ_WEB_WEB_INNER_H
#define TILEWALK_VIZ_WEB_WEB_INNER_H

#include "viz/document/document.h"
#include "viz/window/viewer.h"

SceneMemo *web_memo(void);
Player *web_player(void);
void web_cover(SidePanel cover);                                    /* has canvas, keys and presses while it is open */
Status web_parse(const char *line, Request *request, Error *error); /* a state line */
/* An answer as JSON: begun, filled by put_values, and ended, as text until the next one. What fails is {"error": why}.
 */
Document *web_begin(void);
const char *web_end(void);
bool web_file(const char *name, const char *text); /* is read before those that the page fetched; false: no room */
void web_changed(void);                            /* the next frame is drawn */
void web_forget_drawn(void); /* what was kept from frame to frame: it may name a program that is gone */

#endif
