/* Data files are found where the program is built or installed, and read whole, bounded, or not at all. */
#define _DEFAULT_SOURCE /* mkdtemp, setenv, mkstemps */
#include <sys/stat.h>

#include "tests/support/test.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/scratch.h"
#include "viz/request/assets.h"
#include "viz/request/description.h"
#include "viz/request/model_config.h"

static void put(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
}

/* The named folder is `assets`; lessons stand beside it, and nothing else is tried. */
TEST(the_environment_names_the_assets) {
  char path[ASSETS_PATH_BYTES], root[64];
  Error error = {STATUS_OK, ""};
  snprintf(root, sizeof root, "%s/assets", (char *)*state);
  assert_int_equal(mkdir("assets", 0700) + mkdir("lessons", 0700), 0);
  put("assets/a.json", "{}", 2);
  put("lessons/1.md", "#", 1);
  setenv("TILEWALK_ASSETS", root, 1);
  must(assets_find(path, sizeof path, "assets/a.json", &error));
  assert_int_equal(access(path, R_OK), 0);
  must(assets_find(path, sizeof path, "lessons/1.md", &error));
  assert_int_equal(access(path, R_OK), 0);
  must(assets_find(path, sizeof path, "lessons", &error));
  assert_int_equal(assets_find(path, sizeof path, "assets/none", &error), STATUS_BAD_REQUEST);
  assert_non_null(strstr(error.message, "assets/none"));
  assert_non_null(strstr(error.message, root));
  unsetenv("TILEWALK_ASSETS");
}

/* Without it: this program runs from the build folder, below the source tree that holds its own source. */
TEST(a_build_finds_its_tree) {
  char path[ASSETS_PATH_BYTES];
  Error error = {STATUS_OK, ""};
  unsetenv("TILEWALK_ASSETS");
  if (assets_find(path, sizeof path, "tests/cli/test_assets.c", NULL) != STATUS_OK) skip(); /* built elsewhere */
  assert_int_equal(access(path, R_OK), 0);
  assert_int_equal(assets_find(path, sizeof path, "assets/none", &error), STATUS_BAD_REQUEST);
  assert_non_null(strstr(error.message, "assets/none"));
  assert_non_null(strstr(error.message, "share/tilewalk"));
}

/* A folder that is not there is said, and a name that leaves the tree is refused; dots in a name are dots. */
TEST(wrong_folders_and_names_are_refused) {
  char path[ASSETS_PATH_BYTES];
  static const char *const LEAVING[] = {"/etc/passwd", "../x", "lessons/../../x"};
  EACH (k, LEAVING) {
    must_refuse(assets_find(path, sizeof path, LEAVING[k], fresh_error()), STATUS_BAD_REQUEST, "is no name of a file");
  }
  setenv("TILEWALK_ASSETS", "/no/such/folder", 1);
  must_refuse(assets_find(path, sizeof path, "lessons/course/01-a..b.md", fresh_error()), STATUS_BAD_REQUEST,
              "TILEWALK_ASSETS=/no/such/folder is no folder");
  Gpu gpu; /* that is why there is no such GPU */
  must_refuse(description_gpu("h200", &gpu, fresh_error()), STATUS_BAD_REQUEST,
              "TILEWALK_ASSETS=/no/such/folder is no folder");
  unsetenv("TILEWALK_ASSETS");
}

/* A path that does not fit is not found, never cut. */
TEST(a_short_buffer_is_not_overrun) {
  char path[8];
  setenv("TILEWALK_ASSETS", "/tmp/a/long/name/assets", 1);
  assert_int_equal(assets_find(path, sizeof path, "assets/a.json", NULL), STATUS_BAD_REQUEST);
  unsetenv("TILEWALK_ASSETS");
}

static void assert_reads(const char *path, size_t max_bytes, const char *bytes, size_t size) {
  char *buffer = NULL;
  size_t length = 0;
  Error error = {STATUS_OK, ""};
  must(file_read(path, max_bytes, &buffer, &length, &error));
  assert_int_equal(length, size);
  assert_memory_equal(buffer, bytes, size);
  assert_int_equal(buffer[length], 0);
  free(buffer);
}

TEST(a_file_is_read_whole) {
  enum { LARGE = 100003 };
  char *large = malloc(LARGE);
  assert_non_null(large);
  for (int i = 0; i < LARGE; i++) large[i] = (char)(i * 7 % 251);
  put("empty", "", 0);
  put("zeros", "a\0b", 3);
  put("large", large, LARGE);
  assert_reads("empty", 10, "", 0);
  assert_reads("empty", 0, "", 0);
  assert_reads("zeros", 3, "a\0b", 3); /* exactly the bound */
  assert_reads("large", LARGE, large, LARGE);
  assert_reads("large", 1 << 20, large, LARGE);
  free(large);
}

/* A pipe has no size to announce; its bytes come in pieces and are bounded all the same. */
TEST(a_pipe_is_read_and_bounded) {
  char *buffer = NULL, path[32];
  size_t length = 0;
  for (int bound = 9000; bound <= 10000; bound += 1000) {
    FILE *pipe = popen("head -c 10000 /dev/zero", "r");
    assert_non_null(pipe);
    snprintf(path, sizeof path, "/dev/fd/%d", fileno(pipe));
    Status status = file_read(path, (size_t)bound, &buffer, &length, NULL);
    assert_int_equal(status, bound == 10000 ? STATUS_OK : STATUS_TOO_LARGE);
    assert_int_equal(length, bound == 10000 ? 10000 : 0);
    free(buffer);
    pclose(pipe);
  }
}

static void assert_refused(const char *path, size_t max_bytes, Status status, const char *message) {
  char *buffer = (char *)"untouched";
  size_t length = 1;
  Error error = {STATUS_OK, ""};
  assert_int_equal(file_read(path, max_bytes, &buffer, &length, &error), status);
  assert_string_equal(error.message, message);
  assert_null(buffer);
  assert_int_equal(length, 0);
}

TEST(a_refusal_names_the_path_and_the_reason) {
  put("four", "1234", 4);
  assert_refused("none", 9, STATUS_BAD_REQUEST,
                 "cannot open none: No such file or directory; name a file that can be read");
  assert_refused("", 9, STATUS_BAD_REQUEST, "cannot open : No such file or directory; name a file that can be read");
  assert_refused(".", 9, STATUS_BAD_REQUEST, "cannot read .: it is a folder; name a file in it");
  assert_refused("four", 3, STATUS_TOO_LARGE, "four is larger than 3 bytes, the most that is read of such a file");
  assert_refused("/dev/zero", 9, STATUS_TOO_LARGE,
                 "/dev/zero is larger than 9 bytes, the most that is read of such a file");
}

static Status read_and_free(void *path, Error *error) {
  char *buffer = NULL;
  size_t length = 0;
  Status status = file_read(path, 1 << 20, &buffer, &length, error);
  free(buffer);
  return status;
}

TEST(every_allocation_may_fail) {
  char large[20000] = {0}, path[] = "large";
  put(path, large, sizeof large);
  assert_int_equal(alloc_fail_each(read_and_free, path), 1);
}

/* People extend the table by which a config.json is read: what cannot be read of it is said, not left out. */
TEST(a_table_of_rules_is_checked) {
  static const struct {
    const char *ours, *own, *says; /* "": it is read */
  } TABLES[] = {{"attends: llama", "attends:\tbrand_new\r\n\tllama", ""},
                {"\nrule: words", "\nruel: words", "'ruel' is no row of this table"},
                {"\nrule: words", "\nrule : words", "'rule' is no row of this table"},
                {"\nlayers:", "\n#", "the row 'layers' is lacking"},
                {"numbers window full", "numbers windaw full", "says 'windaw', where 'full' or the like belongs"},
                {"rule: cycle", "rule: circle", "says 'circle', where 'words' or the like belongs"}};
  static const char *const JSON[] = {
      "{'model_type':'brand_new','num_hidden_layers':1,'num_attention_heads':1,'hidden_size':64}",
      "{'num_hidden_layers':1,'num_attention_heads':1,'hidden_size':64}"};
  char *text, path[ASSETS_PATH_BYTES], root[SCRATCH_BYTES + 8], table[1 << 16];
  size_t length;
  KvModel model;
  must(assets_find(path, sizeof path, "assets/serving/config.txt", NULL));
  must(file_read(path, sizeof table / 2, &text, &length, NULL));
  assert_int_equal(mkdir("assets", 0700) + mkdir("assets/serving", 0700), 0);
  snprintf(root, sizeof root, "%s/assets", (char *)*state);
  setenv("TILEWALK_ASSETS", root, 1);
  EACH (k, TABLES) {
    const char *at = strstr(text, TABLES[k].ours);
    assert_non_null(at);
    snprintf(table, sizeof table, "%.*s%s%s", (int)(at - text), text, TABLES[k].own, at + strlen(TABLES[k].ours));
    put("assets/serving/config.txt", table, strlen(table));
    const char *json = test_quoted(JSON[*TABLES[k].says != 0], '\'');
    const Status status = model_config_parse(json, strlen(json), "c", &model, fresh_error());
    assert_int_equal(status, *TABLES[k].says ? STATUS_BAD_FILE : STATUS_OK);
    if (status) assert_non_null(strstr(test_error.message, TABLES[k].says));
  }
  unsetenv("TILEWALK_ASSETS");
  free(text);
}

EACH_TEST(enter_scratch, leave_scratch)
