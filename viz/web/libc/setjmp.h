/* Lua includes it, and does without: viz/web/lua_in_a_page.h. */
