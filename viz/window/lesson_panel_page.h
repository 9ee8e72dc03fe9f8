/* What stands on the page of a lesson: the session's blocks as pieces of a flow. */
#ifndef TILEWALK_VIZ_WINDOW_LESSON_PAGE_H
#define TILEWALK_VIZ_WINDOW_LESSON_PAGE_H

#include "viz/window/lesson_panel.h"

/* Makes the panel's flow anew from its session. */
void lesson_page_make(LessonPanel *panel);

#endif
