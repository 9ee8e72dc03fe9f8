/* Bad requests, as users make them: each gets exit status 2, one line on stderr that says what is wrong and what would
 * be right, and nothing on stdout. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <unistd.h>

#include "tests/support/test.h"
#include "tests/support/program.h"
#include "tests/support/scratch.h"

typedef struct {
  const char *arguments;
  const char *says; /* part of the message */
} BadRequest;

static const BadRequest REQUESTS[] = {
    /* commands */
    {"simm", "did you mean 'sim'"},
    {"frobnicate", "'tilewalk --help' lists them"},
    {"help nothing", "there is no command 'nothing'"},
    {"$(printf '\\033[31m')", "there is no command '?[31m'"},
    /* options */
    {"sim --blok 64", "did you mean '--block'"},
    {"version", "'tilewalk --version' says which"},
    {"sim --num-heads 3", "did you mean '--heads'"},
    {"sim --batch_size 3", "did you mean '--batch'"},
    {"sim --precision fp16", "did you mean '--dtype'"},
    {"sim -n 4096", "did you mean '-N'"},
    {"sim --color=blue", "there are always, never and auto"},
    {"completion ksh", "there are bash, zsh and fish"},
    {"completion", "for which shell?"},
    {"sim --sequence-lenght 5", "there is no option '--sequence-lenght'"},
    {"sim --seed 3", "'--seed'; --help lists them"}, /* as the viewer keeps it, not an option */
    {"sim -x", "there is no option '-x'"},
    {"sim 4096", "'4096' is no option"},
    {"sim -N", "-N needs a value"},
    {"softmax --scores 1,2 --softcap 0", "a cap is a number above 0"},
    {"softmax --scores 1,2 --sink -inf", "leave it out"},
    {"sim --block", "--block needs a value"},
    {"sim --causal=yes", "is no corner; a causal mask is aligned"},
    {"sim --window 3,", "a window is W, or LEFT,RIGHT"},
    {"sim --window 3,4,5", "--window"},
    {"sim --pack-gqa maybe --heads 4 --kv-heads 1", "there are auto, on and off"},
    {"sim --pack-gqa on --heads 4", "every query head has K and V of its own"},
    {"sim --head-dim-v 0", "--head-dim-v"},
    {"sim --head-dim-v 64 --kernel fa2-sm90", "heads of V as large as those of K"},
    {"sim -N 4 -N 8", "--seq-len is given twice"},
    {"sim --block 64 --block 128", "--block is given twice"},
    {"sim --json --csv", "give one of them"},
    /* sizes: negative, zero, huge, fractional, units, words */
    {"sim -N -4096", "--seq-len"},
    {"sim -N 0", "--seq-len"},
    {"sim -N 1.5", "--seq-len"},
    {"sim -N abc", "--seq-len"},
    {"sim -N ''", "--seq-len"},
    {"sim -N 4096x", "--seq-len"},
    {"sim -N 12MB", "--seq-len"},
    {"sim -N 1e30", "--seq-len"},
    {"sim -N 99999999999999999999", "--seq-len"},
    {"sim -N 2T", "at most 1099511627776"},
    {"sim -N 0x100", "--seq-len"},
    {"sim -N '1 000'", "--seq-len"},
    {"sim -N 1,000", "--seq-len"},
    {"sim -N nan", "--seq-len"},
    {"sim -N inf", "--seq-len"},
    {"sim -d 0", "--head-dim"},
    {"sim -d -1", "--head-dim"},
    {"sim -d 1M", "the head dimension d is 1048576; at most 65536"},
    {"sim --batch 0", "--batch"},
    {"sim --batch 2M", "batch is 2097152; at most 1048576"},
    {"sim --heads 0.5", "--heads"},
    {"sim --heads 6 --kv-heads 4", "must divide"},
    {"sim --kv-heads 2", "must divide"},
    {"sim --seq-len-k 0", "--seq-len-k"},
    {"sim --window 0", "--window"},
    {"sim --window -3", "--window"},
    {"render --lengths 100,200 -N 5 -o serving.svg", "with one query each; leave out -N"},
    {"render --lengths 100,200 --batch 2 -o serving.svg", "with one query each; leave out -N"},
    {"kernel $(printf %04096d 0)", "the file's name is too long"},
    {"sim --dtype fp12", "there are fp16, bf16, fp32 and fp8"},
    {"sim --dtype ''", "is no data type"},
    /* algorithms and tiles */
    {"sim --algorithm fa9", "there are standard, fa1, fa2, fa2-split"},
    {"sim --algorithm standart", "did you mean 'standard'"},
    {"sim --algorithm ''", "there is no algorithm ''"},
    {"sim --algorithm fa2,", "there is no algorithm ''"},
    {"sim --algorithm fa2,fa2", "named twice"},
    {"sim --block 0", "--block"},
    {"sim --block 2M", "at most 1048576"},
    {"sim --block large", "--block"},
    {"sim --block 64 --block-q 32", "give either"},
    {"sim --block paper --bc 32", "give either"},
    {"sim --splits 4 --algorithm fa2", "only fa2-split splits the keys"},
    {"sim --splits 100000 --algorithm fa2-split", "between 1 and 65536"},
    {"sim --lse --algorithm fa1", "only fa2 and fa2-split write it"},
    /* machines */
    {"sim --sram 0", "no SRAM at all"},
    {"sim --sram -1K", "--sram"},
    {"sim --sram 192Q", "--sram"},
    {"sim --sram 0.3", "--sram"},
    {"sim --gpu h900", "there is no GPU 'h900'"},
    {"sim --gpu ''", "is empty"},
    {"sim --gpu ./no/such/file", "no/such/file"},
    {"sim --gpu /tmp", "/tmp"},
    {"sim --gpu ../../../../etc/passwd", "passwd"},
    /* the one-line state */
    {"sim --state 'N=4096 dd=4'", "dd"},
    {"sim --state 'N'", "not of the form key=value"},
    {"sim --state 'N=4096 N=8'", "given twice"},
    {"sim --state 'causal=maybe'", "is no corner"},
    {"sim --state 'scene=movie'", "is no scene"},
    /* totals beyond 128 bits */
    {"sim -N 1T -d 64K --heads 1M --batch 1M", "128 bits"},
    /* names */
    {"kvcache --model llama-3-70b", "did you mean 'llama-3.1-70b'?"},
    {"kvcache --model llama-70b", "did you mean 'llama-2-70b' or 'llama-3.1-70b'?"},
    {"sim --gpu h100x", "did you mean 'h100'?"},

    /* sweeps */
    {"sweep --over colour", "cannot be swept"},
    {"sweep --values 8,4", "rising order"},
    {"sweep --values 4,,8", "--values"},
    {"sweep --values 1K --from 4", "give one of the two"},
    {"sweep --from 8K --to 1K", "must not be above"},
    {"sweep --over block --values 0", "--values"},
    {"sweep --over sram --values 192Q", "--values"},
    {"sweep -o picture.bmp", "picture.bmp"},
    {"sweep -o /no/such/folder/x.png", "/no/such/folder"},
    {"sweep -o ''", "is empty"},
    /* traces */
    {"trace --format xml", "is no trace format"},
    {"trace -N 8 --block 2 --from 100000", "beyond the end"},
    {"trace -N 8 --limit 0", "--limit"},
    {"trace -N 8 -o /no/such/folder/t.csv", "/no/such/folder"},
    {"trace -N 8 -o /", "/"},
    /* softmax */
    {"softmax", "give --scores"},
    {"softmax --scores 3,one,2", "'one' is no score"},
    {"softmax --scores 3,,2", "'' is no score"},
    {"softmax --scores 1e999", "is no score"},
    {"softmax --scores 3,1 --precision fp7", "fp7"},
    {"softmax --scores 3,1 --block 0", "--block"},
    {"softmax --example --scores 1,2", "give one of them"},
};

static void expect_refusal(const BadRequest *request) {
  static ProgramRun run;
  program_run(&run, request->arguments);
  const char *const newline = strchr(run.err, '\n');
  const bool one_line = newline && newline[1] == '\0' && newline > run.err;
  const bool says = strstr(run.err, request->says) != NULL, silent = run.out[0] == '\0';
  if (run.exit_status != 2 || !one_line || !says || !silent)
    print_error("tilewalk %s\n  status %d, wanted 2; wanted '%s'; stderr: %s  stdout: %.80s\n", request->arguments,
                run.exit_status, request->says, run.err, run.out);
  assert_int_equal(run.exit_status, 2);
  assert_true(one_line);
  assert_true(says);
  assert_true(silent);
}

TEST(every_bad_request_gets_one_line_and_status_2) {
  assert_true(sizeof REQUESTS / sizeof *REQUESTS >= 60);
  for (size_t k = 0; k < sizeof REQUESTS / sizeof *REQUESTS; k++) expect_refusal(&REQUESTS[k]);
}

/* A full disk, a closed pipe and a closed stdout: said, not ignored. */
TEST(output_that_cannot_be_written_is_an_error) {
  static ProgramRun run;
  program_run(&run, "sim --json >/dev/full");
  assert_int_equal(run.exit_status, 2);
  assert_non_null(strstr(run.err, "could not be written"));
  program_run(&run, "sim >&-");
  assert_int_equal(run.exit_status, 2);
  assert_non_null(strstr(run.err, "could not be written"));
  /* the reader is gone long before a million events end: that is no error, but the signal that ends others */
  program_run(&run,
              "--version >/dev/null; { \"${TILEWALK:-build/tilewalk}\" trace -N 4K --block 16; echo $? >&2; } | sed q");
  assert_string_equal(run.err, "141\n");
  /* a file that may not grow is a write that fails, not the end of the program */
  program_run(&run, "--version >/dev/null; ulimit -f 1; \"${TILEWALK:-build/tilewalk}\" trace -N 4K --block 16");
  assert_int_equal(run.exit_status, 2);
  assert_non_null(strstr(run.err, "could not be written"));
}

/* A refused or failed write leaves the old file as it was and nothing beside it. */
TEST(a_failed_write_leaves_the_old_file) {
  static ProgramRun run;
  char path[SCRATCH_BYTES], arguments[SCRATCH_BYTES + 64];
  assert_true(scratch_file(path, ".csv"));
  assert_int_equal(unlink(path), 0);
  snprintf(arguments, sizeof arguments, "trace -N 8 --block 2 --from 100000 -o %s", path);
  program_run(&run, arguments);
  assert_int_equal(run.exit_status, 2);
  assert_int_equal(access(path, F_OK), -1);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("precious\n", file);
  fclose(file);
  program_run(&run, arguments);
  char line[32] = "";
  file = fopen(path, "r");
  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  fclose(file);
  unlink(path);
  assert_string_equal(line, "precious\n");
}
