#include "sim/base/packed.h"

#include <string.h>

Packed packed_of(const void *bytes, size_t n) {
  static const struct {
    const char *first;
    size_t n, at;
    Packed packed;
  } KINDS[] = {{"\x1f\x8b", 2, 0, {"gzip", "gunzip -c"}},
               {"BZh", 3, 0, {"bzip2", "bunzip2 -c"}},
               {"\xfd"
                "7zXZ",
                5,
                0,
                {"xz", "xz -dc"}},
               {"\x28\xb5\x2f\xfd", 4, 0, {"zstd", "zstd -dc"}},
               {"\x04\x22\x4d\x18", 4, 0, {"lz4", "lz4 -dc"}},
               {"\x1f\x9d", 2, 0, {"compress", "uncompress -c"}},
               {"LZIP", 4, 0, {"lzip", "lzip -dc"}},
               {"PK\x03\x04", 4, 0, {"zip", "unzip -p"}},
               {"7z\xbc\xaf\x27\x1c", 6, 0, {"7-Zip", "7z x -so"}},
               {"ustar", 5, 257, {"a tar archive", "tar -xOf"}}};
  for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
    if (n >= KINDS[i].at + KINDS[i].n && !memcmp((const char *)bytes + KINDS[i].at, KINDS[i].first, KINDS[i].n))
      return KINDS[i].packed;
  return (Packed){0};
}
