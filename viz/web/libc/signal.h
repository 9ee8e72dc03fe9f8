/* Lua wants one type of it. */
typedef int sig_atomic_t;
