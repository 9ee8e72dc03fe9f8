/* A story that covers the viewer: its keys and presses. */
#ifndef TILEWALK_VIZ_WINDOW_VIEWER_STORY_H
#define TILEWALK_VIZ_WINDOW_VIEWER_STORY_H

#include "viz/story/story_player.h"
#include "viz/window/viewer.h"

/* The story stays the caller's. NULL: covers nothing. */
SidePanel viewer_story(StoryPlayer *story);

#endif
