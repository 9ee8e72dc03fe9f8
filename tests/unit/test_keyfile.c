/* Description files: what is read, and that every wrong file gets its line number and
 * its reason. */
#include "tests/support/test.h"
#include "sim/base/keyfile.h"

typedef struct {
  char name[KEYFILE_TEXT_BYTES];
  int64_t n_sm;
  int64_t sram_bytes;
  double bytes_per_s, clock_hz, flops_per_s, launch_s, bytes_per_clock, exp_per_clock;
} Machine;

enum { NAME, N_SM, SRAM, BANDWIDTH, CLOCK, PEAK, LAUNCH, PORT, EXP, N_FIELDS };

static const KeyfileField FIELDS[N_FIELDS] = {
    {"name", KEYFILE_TEXT, offsetof(Machine, name), true, 0, 0, "a name", NULL},
    {"n_sm", KEYFILE_COUNT, offsetof(Machine, n_sm), true, 1, 4096, "how many SMs", NULL},
    {"sram", KEYFILE_BYTES, offsetof(Machine, sram_bytes), false, 1024, 1e9, "SRAM of an SM", NULL},
    {"bandwidth", KEYFILE_BYTES_PER_S, offsetof(Machine, bytes_per_s), false, 1, 1e15, "HBM bandwidth", NULL},
    {"clock", KEYFILE_HERTZ, offsetof(Machine, clock_hz), false, 1, 1e11, "clock", NULL},
    {"peak", KEYFILE_FLOPS_PER_S, offsetof(Machine, flops_per_s), false, 0, 1e18, "peak rate", NULL},
    {"launch", KEYFILE_SECONDS, offsetof(Machine, launch_s), false, 0, 1, "launch overhead", NULL},
    {"port", KEYFILE_BYTES_PER_CLOCK, offsetof(Machine, bytes_per_clock), false, 1, 4096, "SRAM port", NULL},
    {"exp", KEYFILE_OPS_PER_CLOCK, offsetof(Machine, exp_per_clock), false, 1, 4096, "exponentials", NULL},
};

typedef struct {
  Machine machine;
  KeyfileNote notes[N_FIELDS];
  Error error;
  Status status;
} Result;

static Result parse_bytes(const char *buffer, size_t length) {
  Result r;
  memset(&r, 0, sizeof r);
  char *exact = malloc(length ? length : 1); /* so that the sanitizer sees a byte read too far */
  memcpy(exact, buffer, length);
  r.status = keyfile_parse(exact, length, "m.gpu", FIELDS, N_FIELDS, &r.machine, r.notes, &r.error);
  free(exact);
  return r;
}

static Result parse(const char *text) { return parse_bytes(ALL_OF(text)); }

static const char WHOLE[] = "# a comment\n"
                            "\n"
                            "name = Tiny Machine \xC3\xA9\n"
                            "n_sm\t=\t132 # source: a datasheet, page 3\n"
                            "  sram = 256 KiB\n"
                            "\n"
                            "     # source: on its own line\n"
                            "bandwidth = 4.8 TB/s   # assumed\n"
                            "clock = 1980 MHz       # assumed: a round figure\n"
                            "peak = 989.4 TFLOP/s   # source: x\n"
                            "launch = 3 us          # source: assumed, nobody publishes it\n"
                            "port = 128 B/clk       # source: x\n"
                            "exp = 16 op/clk        # source: x";

static void check_whole(Result r) {
  assert_true(r.status == STATUS_OK);
  assert_string_equal(r.machine.name, "Tiny Machine \xC3\xA9");
  assert_int_equal(r.machine.n_sm, 132);
  assert_int_equal(r.machine.sram_bytes, 262144);
  assert_true(r.machine.bytes_per_s == 4.8e12);
  assert_true(r.machine.clock_hz == 1.98e9);
  assert_true(r.machine.flops_per_s == 989.4e12);
  assert_true(r.machine.launch_s == 3e-6);
  assert_true(r.machine.bytes_per_clock == 128);
  assert_true(r.machine.exp_per_clock == 16);
  assert_int_equal(r.notes[NAME].line, 3);
  assert_int_equal(r.notes[SRAM].line, 5);
  assert_string_equal(r.notes[N_SM].source, "a datasheet, page 3");
  assert_string_equal(r.notes[SRAM].source, "on its own line");
  assert_string_equal(r.notes[BANDWIDTH].source, "assumed");
  assert_string_equal(r.notes[CLOCK].source, "assumed: a round figure");
  assert_false(r.notes[N_SM].assumed);
  assert_true(r.notes[BANDWIDTH].assumed);
  assert_true(r.notes[CLOCK].assumed);
  assert_true(r.notes[LAUNCH].assumed);
}

TEST(a_whole_file_is_read) { check_whole(parse(WHOLE)); }

/* Windows line ends and a byte order mark change nothing. */
TEST(crlf_and_bom_are_accepted) {
  char text[2 * sizeof WHOLE + 3] = "\xEF\xBB\xBF";
  size_t n = 3;
  for (const char *c = WHOLE; *c; c++) {
    if (*c == '\n') text[n++] = '\r';
    text[n++] = *c;
  }
  check_whole(parse_bytes(text, n));
}

/* Each unit against its factor. */
TEST(units_have_their_factors) {
  static const char *const CASES[] = {"bandwidth = 7 B/s => 7",
                                      "bandwidth = 2 kB/s => 2000",
                                      "bandwidth = 2 MB/s => 2e6",
                                      "bandwidth = 1555 GB/s => 1.555e12",
                                      "bandwidth = 3.35 TB/s => 3.35e12",
                                      "bandwidth = 2 KiB/s => 2048",
                                      "bandwidth = 2 MiB/s => 2097152",
                                      "bandwidth = 1 GiB/s => 1073741824.0",
                                      "bandwidth = 1 TiB/s => 1099511627776.0",
                                      "clock = 5 Hz => 5",
                                      "clock = 5 kHz => 5000",
                                      "clock = 1.41 GHz => 1.41e9",
                                      "peak = 5 FLOP/s => 5",
                                      "peak = 5 MFLOP/s => 5e6",
                                      "peak = 5 GFLOP/s => 5e9",
                                      "peak = 2.25 PFLOP/s => 2.25e15",
                                      "peak = 0 FLOP/s => 0",
                                      "launch = 1 s => 1",
                                      "launch = 2.5 ms => 2.5e-3",
                                      "launch = 800 ns => 8e-7",
                                      "peak=312TFLOP/s => 312e12"};
  EACH_SAYS (row, CASES) {
    char text[256];
    int f = 0;
    while (strncmp(FIELDS[f].name, row.text, strlen(FIELDS[f].name)) != 0) f++;
    snprintf(text, sizeof text, "name = a\nn_sm = 1 # assumed\n%s # assumed\n", row.text);
    const Result r = parse(text);
    assert_true(r.status == STATUS_OK);
    const double got = *(const double *)(const void *)((const char *)&r.machine + FIELDS[f].offset);
    assert_true(got == atof(row.says));
  }
}

/* What is said begins so, and goes on as the first of two parts, "STARTS|SAYS", does. */
static void is_refused(const char *text, const char *begins, const char *parts) {
  const Result r = parse(text);
  const char *bar = strchr(parts, '|');
  const char *starts = test_text("%s%.*s", begins, (int)(bar - parts), parts);
  assert_true(r.status == STATUS_BAD_FILE);
  assert_true(strncmp(r.error.message, ALL_OF(starts)) == 0 && strstr(r.error.message, bar + 1));
  assert_null(strchr(r.error.message, '\n'));
  assert_true(strlen(r.error.message) < sizeof r.error.message - 1); /* nothing was cut off */
}

/* One slip a row: the line it is on and what the message must say. */
TEST(slips_are_named_with_their_line) {
#define HEAD "name = a\nn_sm = 8 # assumed\n"
  /* Behind a name and a count of SMs, the third line; what is said of it begins so, and goes on. */
  static const char *const THIRD[] = {
      "sram = 64 KiB => sram|where its number comes from",
      "sram = 64 KiB # from the datasheet => sram|# source: document",
      "sram = 64 KiB # assumedly => sram|# source: document",
      "sram = 64 KiB # sources: x => sram|# source: document",
      "sram = 64 KiB # source:    => 'source:' of sram is empty|name a document",
      "smar = 64 KiB # assumed => unknown key 'smar'|did you mean 'sram'?",
      "bandwith = 1 GB/s # assumed => unknown key 'bandwith'|did you mean 'bandwidth'?",
      "Clock = 1 GHz # assumed => unknown key 'Clock'|did you mean 'clock'?",
      "colour = red => unknown key 'colour'|remove the line",
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = 1 => unknown key 'aaaa|remove the line",
      "n_sm = 9 # assumed => n_sm is given twice, first on line 2|keep one",
      "name = b => name is given twice, first on line 1|keep one",
      "sram 64 KiB => 'sram 64 KiB' is not 'key = value'|begins with '#'",
      "= 64 KiB # assumed => no key before '='|write 'key = value'",
      "sram = # assumed => sram has no value|after '='",
      "sram = 65536 # assumed => sram = 65536 has no unit|60 MiB",
      "sram = lots # assumed => sram: 'lots' is not a size|digit",
      "sram = 64 XB # assumed => sram: '64 XB': unknown unit|KiB",
      "sram = 1 KiB KiB # assumed => sram:|unknown unit",
      "sram = 1 B # assumed => sram = 1 B is out of range|from 1024 to 1e+09 B",
      "sram = 2 TB # assumed => sram = 2 TB is out of range|from 1024",
      "clock = 5 # assumed => clock = 5 has no unit|1980 MHz",
      "clock = 5 B/s # assumed => clock: unknown unit 'B/s'|1980 MHz",
      "clock = 5 GHZ # assumed => clock: unknown unit 'GHZ'|1980 MHz",
      "clock = fast # assumed => clock = 'fast' is not a positive number|1980 MHz",
      "clock = -1 GHz # assumed => clock = '-1 GHz' is not a positive number|1980",
      "clock = nan GHz # assumed => clock = 'nan GHz' is not a positive number|1980",
      "clock = 1e300 GHz # assumed => clock = 1e300 GHz is out of range|1e+11 Hz",
      "clock = 1e399 GHz # assumed => clock = 1e399 GHz is out of range|1e+11 Hz",
      "# \x1b[31m => byte 3 is a control character (0x1B)|printable",
      "# \xC2\x9B 31m => byte 3 is a control character|printable",
      "# a\rb => byte 4 is a control character (0x0D)|printable",
      "# \xff => byte 3 is 0xFF, which is not UTF-8|save the file as UTF-8",
      "# \xC0\xAF => byte 3 is 0xC0|UTF-8", /* overlong */
  };
  static const char *const CASES[] = {
      " =>  no 'name' (a name)|add a line 'name = ...'",
      "name = a\n =>  no 'n_sm' (how many SMs)|'n_sm = 132  # source: ...'",
      HEAD "sram = 64 KiB\nclock = 1 GHz # assumed\n => 3: sram|where its number comes from",
      HEAD "sram = => 3: sram has no value|after '='",
      "name = a\nn_sm = 0 # assumed\n => 2: n_sm: '0'|at least 1",
      "name = a\nn_sm = 5000 # assumed\n => 2: n_sm = 5000 is out of range|from 1 to 4096",
      "name = a\nn_sm = 8 SMs # assumed\n => 2: n_sm:|does not belong to a count",
      HEAD "\nna\x01me\n => 4: byte 3 is a control character (0x01)|printable",
      HEAD "# \xC3 => 3: byte 3 is 0xC3|UTF-8", /* cut off */
  };
  EACH_SAYS (row, THIRD) {
    char text[256];
    snprintf(text, sizeof text, HEAD "%s\n", row.text);
    is_refused(text, "m.gpu:3: ", row.says);
  }
  EACH_SAYS (row, CASES) {
    is_refused(row.text, "m.gpu:", row.says);
  }
}

/* What is near a limit is read; one beyond it is refused. */
TEST(limits_are_where_they_are_said) {
  static const struct {
    const char *begins;
    char goes_on;
    size_t most;
    const char *says; /* of one more */
  } CASES[] = {
      {HEAD "#", 'x', KEYFILE_LINE_BYTES - 1, "m.gpu:3: the line is 513 bytes long; at most 512 are read"},
      {HEAD, '\n', KEYFILE_MAX_LINES - 2, "m.gpu:1001: more than 1000 lines; a description is shorter"},
      {HEAD "sram = 1 MB # source: ", 's', KEYFILE_SOURCE_BYTES - 1,
       "m.gpu:3: the source of sram is 256 bytes long; at most 255 fit"},
      {"n_sm = 8 # assumed\nname = ", 'n', KEYFILE_TEXT_BYTES - 1, "m.gpu:2: name is 128 bytes long; at most 127 fit"},
  };
  char *text = calloc(1, KEYFILE_MAX_BYTES + 2);
  Result r = parse_bytes("name = a\0b\n", 11);
  assert_int_equal(r.status, STATUS_BAD_FILE);
  assert_non_null(strstr(r.error.message, "m.gpu:1: byte 9 is a control character (0x00)"));

  EACH (i, CASES) {
    memset(text, 0, KEYFILE_MAX_BYTES + 2);
    memset(text + sprintf(text, "%s", CASES[i].begins), CASES[i].goes_on, CASES[i].most);
    r = parse(text);
    assert_int_equal(r.status, STATUS_OK);
    text[strlen(text)] = CASES[i].goes_on;
    const Result over = parse(text);
    assert_int_equal(over.status, STATUS_BAD_FILE);
    assert_string_equal(over.error.message, CASES[i].says);
  }
  assert_int_equal(strlen(r.machine.name), KEYFILE_TEXT_BYTES - 1);

  r = parse_bytes(text, KEYFILE_MAX_BYTES + 1);
  assert_int_equal(r.status, STATUS_BAD_FILE);
  assert_non_null(strstr(r.error.message, "m.gpu: 65537 bytes long, too long"));
  free(text);
}

/* A file name with a line break or a colour code cannot break the one-line message. */
TEST(display_names_are_made_safe) {
  Result r;
  memset(&r, 0, sizeof r);
  assert_int_equal(keyfile_parse("x", 1, "a\n\033[31mb", FIELDS, N_FIELDS, &r.machine, r.notes, &r.error),
                   STATUS_BAD_FILE);
  assert_non_null(strstr(r.error.message, "a??[31mb:1: 'x' is not 'key = value'"));
}
