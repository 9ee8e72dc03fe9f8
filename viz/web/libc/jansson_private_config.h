/* What jansson's configure finds of wasi-libc. */
#define HAVE_ENDIAN_H     1
#define HAVE_STDINT_H     1
#define HAVE_SYS_TYPES_H  1
#define HAVE_UNISTD_H     1
#define HAVE_STRTOLL      1
#define INITIAL_HASHTABLE_ORDER 3
