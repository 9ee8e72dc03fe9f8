/* `tilewalk lesson` for a class: exams, submissions graded, answers handed in, printed and exported. */
#define _DEFAULT_SOURCE /* mkdtemp, setenv */
#include "tests/support/test.h"

#include <jansson.h>
#include <sys/stat.h>

#include "viz/request/assets.h"
#include "tests/support/lesson_folder.h"

static const char CLASS[] = "student,lesson,id,answer,seed\n"
                            "Ada,two,sum,4,1\n"
                            "Cid,two,sum,6,1\n"
                            "Bob,two,bytes,\"67,1 MB\",1\n"
                            "Bob,,guess,b,\n"
                            "Dan,two,bytes,lots,1\n"
                            "\"=cmd|' /C calc'!A0\",two,bytes,-5,1\n"
                            "\"Jos\xE9\",two,bytes,@SUM(A1),1\n";

TEST(a_class_is_graded) {
  write_file("two.md", LESSON);
  write_file("class.csv", CLASS);
  tilewalk("lesson %1$s/two.md --answers %1$s/class.csv --json");
  assert_int_equal(run.exit_status, 0);
  json_t *json = json_loads(run.out, 0, NULL);
  assert_non_null(json);
  json_t *answers = json_object_get(json, "answers");
  assert_int_equal(json_array_size(answers), 7);
  /* of 4 and 6 one is right: N is 2 or 3 */
  assert_int_equal(json_integer_value(json_object_get(json, "right")), 2);
  assert_int_equal(json_integer_value(json_object_get(json, "counted")), 6);
  assert_int_equal(json_integer_value(json_object_get(json, "errors")), 0);
  static const char *const VERDICTS[] = {NULL, NULL, "right", "predicted", "unreadable"};
  for (size_t k = 2; k < 5; k++)
    assert_string_equal(json_string_value(json_object_get(json_array_get(answers, k), "verdict")), VERDICTS[k]);
  assert_string_equal(json_string_value(json_object_get(json_array_get(answers, 6), "student")), "Jos\xC3\xA9");
  json_decref(json);
  write_file("class.json", "{\"student\": \"Eve\", \"answers\": {\"bytes\": 64, \"guess\": \"a\"}}");
  tilewalk("lesson %1$s/two.md --answers %1$s/class.json");
  has("1 of 1 right");
  tilewalk("lesson %1$s/two.md --answers - <%1$s/class.json");
  has("1 of 1 right");
}

/* A spreadsheet takes what begins with = + - @ for a formula; a plain number is none. */
TEST(cells_of_strangers_are_no_formulas) {
  write_file("two.md", LESSON);
  write_file("class.csv", CLASS);
  tilewalk("lesson %1$s/two.md --answers %1$s/class.csv --csv");
  assert_int_equal(run.exit_status, 0);
  has("student,lesson,id,answer,verdict,remark\n");
  has("Bob,two,bytes,\"67,1 MB\",right,");
  has("\n'=cmd|' /C calc'!A0,two,bytes,-5,");
  has("\nJos\xC3\xA9,two,bytes,'@SUM(A1),");
  assert_null(strstr(run.out, "\n="));
  assert_null(strstr(run.out, ",@"));
}

/* A hand-in brings its own lesson and key, or one that never ends to read: neither is opened. */
TEST(a_submission_names_no_files) {
  char text[1024];
  write_file("two.md", LESSON);
  snprintf(text, sizeof text, "rm -f %1$s/pipe.md; mkfifo %1$s/pipe.md", folder);
  assert_int_equal(system(text), 0);
  snprintf(text, sizeof text,
           "student,lesson,id,answer\nEve,%1$s/two.md,bytes,64\nEve,%1$s/pipe.md,bytes,64\nEve,../lessons/course/"
           "03-the-loop.md,"
           "count,42\nAda,03-the-loop,nothing,42\nAda,two,bytes,64\n",
           folder);
  write_file("class.csv", text);
  tilewalk("lesson %1$s/two.md --answers %1$s/class.csv --json");
  assert_int_equal(run.exit_status, 1); /* rows could not be graded */
  json_t *json = json_loads(run.out, 0, NULL);
  assert_non_null(json);
  assert_int_equal(json_integer_value(json_object_get(json, "errors")), 4);
  assert_int_equal(json_integer_value(json_object_get(json, "right")), 1);
  json_t *answers = json_object_get(json, "answers");
  for (size_t k = 0; k < 3; k++) {
    json_t *row = json_array_get(answers, k);
    assert_string_equal(json_string_value(json_object_get(row, "verdict")), "error");
    assert_non_null(strstr(json_string_value(json_object_get(row, "remark")), "there is no lesson"));
  }
  json_decref(json);
  tilewalk("lesson %1$s/two.md --answers %1$s/class.csv");
  has("1 of 1 right");
  has("4 rows could not be graded.");
}

/* What `--seeds` lists is what `--answers` grades by. */
TEST(a_key_gives_each_student_a_seed) {
  write_file("names", "Ada\n\n  Bob\r\n");
  write_file("two.md", LESSON);
  tilewalk("lesson --seeds %s/names --key 'a long key' --csv");
  assert_int_equal(run.exit_status, 0);
  int ada = 0, bob = 0;
  assert_int_equal(sscanf(run.out, "student,seed\nAda,%d\nBob,%d\n", &ada, &bob), 2);
  char text[256];
  snprintf(text, sizeof text, "student,id,answer,seed\nAda,bytes,64,%d\nBob,bytes,64,%d\nEve,bytes,64,%d\n", ada, bob,
           bob);
  write_file("class.csv", text);
  tilewalk("lesson %1$s/two.md --answers %1$s/class.csv --key 'a long key' --csv");
  assert_int_equal(run.exit_status, 1);
  has("Ada,two,bytes,64,right,");
  has("Bob,two,bytes,64,right,");
  has("Eve,two,bytes,64,error,\"answered with seed ");
}

/* A folder of hand-ins: a damaged one is a row, a pipe is not waited for, a student in two spellings is one. */
TEST(a_folder_is_a_class) {
  char text[512];
  snprintf(text, sizeof text, "rm -rf %1$s/in; mkdir %1$s/in; mkfifo %1$s/in/pipe.csv; ln -s /etc/passwd %1$s/in/x.csv",
           folder);
  assert_int_equal(system(text), 0);
  write_file("two.md", LESSON);
  write_file("in/ada.csv", "student,id,answer\nM\xC3\xBCller,bytes,64\n");
  write_file("in/bob.json", "[{\"student\": \"Bob\", \"answers\": {\"bytes\": \"63\"}}");
  write_file("in/eve.csv", "student,id,answer\nMU\xCC\x88LLER,bytes,63\n"); /* U and a mark above it */
  write_file("roster", "M\xC3\xBCller\nBob\nZo\xC3\xAB\n");
  tilewalk("lesson %1$s/two.md --answers %1$s/in --roster %1$s/roster --scores --csv");
  assert_int_equal(run.exit_status, 1);
  has("M\xC3\xBCller,0,0,\"2 in conflict with another file, 0 of 2 questions counted\"\n");
  has("Zo\xC3\xAB,0,0,has handed in nothing\n");
  has("Bob,0,1,\"1 could not be graded, 1 of 2 questions counted\"\n");
  has(",0,0,answers without a name\n");
  assert_non_null(
      strstr(run.err, "lesson: bob.json:1: this is not JSON: ']' expected near end of file; 1 answer before"));
  assert_non_null(strstr(run.err, "pipe.csv: it is no regular file"));
  tilewalk("lesson %1$s/two.md --answers %1$s/in --roster %1$s/roster --csv");
  has("bob.json:1: this is not JSON");
  has("pipe.csv: it is no regular file");
  has("x.csv: ");
  assert_null(strstr(run.out, "root:"));
}

/* Seven answers, counted by hand: of sum (4 is right) one, and N two times; of bytes two of three. Cid left sum out:
 * half of what was asked. Names and files are hostile. */
TEST(a_class_is_a_page) {
  char path[SCRATCH_BYTES + 32], text[512];
  static char page[8192];
  snprintf(text, sizeof text, "rm -rf %1$s/page; mkdir %1$s/page", folder);
  assert_int_equal(system(text), 0);
  write_file("two.md", LESSON);
  write_file("page/ada.csv", "student,id,answer\nAda,sum,4\nAda,bytes,64\nAda,guess,a\n");
  write_file("page/<b>.csv",
             "student,id,answer\n<script>\"'&,sum, 2\nBob,sum,2 \nBob,bytes,</td>\nBob,bytes,64\nCid,bytes,64\n");
  write_file("page/c.json", "{");
  write_file("page/d.csv", "student,id,answer\nDan,sum,\nDan,bytes,64\n");
  write_file("page/e.json", "{\"student\": \"Dan\", \"answers\": {\"bytes\": \"63\", \"sum\": \"4");
  tilewalk("lesson %1$s/two.md --answers %1$s/page --report %1$s/class.html --scores");
  assert_int_equal(run.exit_status, 1); /* c.json */
  snprintf(path, sizeof path, "%s/class.html", folder);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_in_range(fread(page, 1, sizeof page - 1, file), 1000, sizeof page - 2);
  fclose(file);
  static const char *const HAS[] = {
      "<p>3 of 6 answers right at the first try. Predictions do not count, nor do 2 in conflict, 0 not on the "
      "roster and 2 that could not be graded. Left empty: 1.</p>",
      "<td>Cid</td><td class=\"n\">1</td><td class=\"n\">1</td><td class=\"n\">50 %</td>"
      "<td>1 of 2 questions counted</td>",
      "<td>Ada</td><td class=\"n\">2</td><td class=\"n\">2</td><td class=\"n\">100 %</td>",
      "<td>&lt;script&gt;&quot;&apos;&amp;</td><td class=\"n\">0</td><td class=\"n\">1</td><td class=\"n\">0 %</td>",
      "<td>sum</td><td class=\"n\">3</td><td class=\"n\">1</td><td class=\"n\">33 %</td><td class=\"n\">0</td>"
      "<td>2 (2 of 2 wrong)</td>",
      "<td>bytes</td><td class=\"n\">3</td><td class=\"n\">2</td><td class=\"n\">67 %</td><td class=\"n\">2</td>"
      "<td>&lt;/td&gt; (1 of 1 wrong)</td>",
      "<td class=\"n\">2</td><td>two</td><td>sum</td><td>You forgot one.</td>",
      "<td>c.json</td><td class=\"n\"></td>",
      "<td>Dan</td><td class=\"n\">0</td><td class=\"n\">0</td><td class=\"n\">0 %</td>"
      "<td>2 in conflict with another file, 1 could not be graded, 0 of 2 questions counted</td>",
  };
  for (size_t k = 0; k < sizeof HAS / sizeof *HAS; k++)
    if (!strstr(page, HAS[k])) fail_msg("'%s' is not in:\n%s", HAS[k], page);
  assert_null(strstr(page, "<script"));
}

/* What is handed in is the first answer, also after the lesson was begun again with the same numbers; with others it is
 * theirs. "Nearly" and what cannot be read are no answers. */
TEST(a_hand_in_holds_the_first_answers) {
  write_file("hand.md", LESSON);
  type_into("hand.md --seed 1", "a\n2\nsix\n4\n64 MB\n32 MiB\n");
  type_into("hand.md --restart", "a\n4\n64\n");
  tilewalk("lesson %1$s/hand.md --submit - --student 'Ada Lovelace'");
  json_t *expected = json_loads("[{\"student\": \"Ada Lovelace\", \"lesson\": \"hand\", \"seed\": 1, "
                                "\"answers\": {\"sum\": \"2\", \"bytes\": \"32 MiB\"}}]",
                                0, NULL);
  json_t *printed = json_loads(run.out, 0, NULL);
  assert_true(expected && json_equal(printed, expected));
  json_decref(printed);
  json_decref(expected);
  tilewalk("lesson %1$s/hand.md --submit %1$s --student '=Ada/../Lovelace'");
  assert_int_equal(run.exit_status, 0);
  tilewalk("lesson %1$s/hand.md --answers %1$s/-Ada-..-Lovelace.json --scores --csv");
  has("Lovelace,0,2,");
  type_into("hand.md --restart --seed 2", "a\n64\nquit\n");
  tilewalk("lesson %1$s/hand.md --submit - --student Ada");
  has("\"seed\": 2");
  assert_null(strstr(run.out, "32 MiB"));
}

/* A program is handed in with its lines, and graded. */
TEST(a_program_is_handed_in) {
  write_file("p.json",
             "[{\"student\": \"Ada\", \"lesson\": \"02-one-row\", \"answers\": {\"write-row-maximum\": "
             "\"algorithm mine\\ninput     Q_i: B_r x d\\ninput     K_j: B_c x d\\noutput    m_i = row max of mask(Q "
             "K^T / sqrt(d))\\nkernel forward\\n  for every row block i\\n    load Q_i\\n    m_i = -inf\\n    for each "
             "column block j of i\\n      load K_j\\n      S = Q_i K_j^T / sqrt(d)\\n      mask S\\n      m_i = "
             "max(m_i, row max of S)\\n    store m_i\\n\"}}]");
  tilewalk("lesson --answers %1$s/p.json --scores --csv");
  has("Ada,1,1,");
}

/* The same pages each time, other numbers for others; nothing is left of a lesson that cannot be computed. */
TEST(a_lesson_is_printed) {
  static const char *const KINDS[] = {"handout", "slides"};
  char *bytes[2][3] = {{NULL}};
  size_t n[2][3];
  write_file("two.md", LESSON);
  write_file("bad.md", "# T\n\n- idea: x\n- minutes: 5\n\nIt is {nothing.at.all}.\n");
  for (int kind = 0; kind < 2; kind++)
    for (int k = 0; k < 3; k++) {
      char words[160], path[SCRATCH_BYTES + 16];
      snprintf(words, sizeof words, "lesson %%1$s/two.md --%s %%1$s/two.pdf --seed %d", KINDS[kind], k < 2 ? 1 : 2);
      tilewalk(words);
      assert_int_equal(run.exit_status, 0);
      snprintf(path, sizeof path, "%s/two.pdf", folder);
      Error error = {0};
      assert_int_equal(file_read(path, 1 << 20, &bytes[kind][k], &n[kind][k], &error), STATUS_OK);
      assert_int_equal(memcmp(bytes[kind][k], "%PDF-", 5), 0);
    }
  for (int kind = 0; kind < 2; kind++) {
    assert_true(n[kind][0] == n[kind][1] && memcmp(bytes[kind][0], bytes[kind][1], n[kind][0]) == 0);
    assert_true(n[kind][0] != n[kind][2] || memcmp(bytes[kind][0], bytes[kind][2], n[kind][0]) != 0);
  }
  for (int k = 0; k < 6; k++) free(bytes[k / 3][k % 3]);
  tilewalk("lesson %1$s/bad.md --slides %1$s/bad.pdf");
  assert_int_equal(run.exit_status, 2);
  char path[SCRATCH_BYTES + 16];
  snprintf(path, sizeof path, "%s/bad.pdf", folder);
  assert_int_not_equal(access(path, F_OK), 0);
}

/* A handout a student: the file that is written for one alone; what is wrong is refused with nothing written. */
TEST(a_class_gets_its_handouts) {
  static const char *const REFUSED[][2] = {
      {"--handout %1$s/out", "add --key KEY"},
      {"--handout %1$s/out --key 'a long key' --student Ada", "leave out --student"},
      {"--handout %1$s/out.pdf --key 'a long key'", "is the name of one file"},
      {"--handout %1$s/names --key 'a long key'", "cannot be made"},
      {"--handout %1$s/out --key 'a long key'", "'Ada Lovelace' and 'Ada-Lovelace' would have one file"},
      {"--slides %1$s/out --key 'a long key'", "--roster goes with"},
  };
  char words[256], path[SCRATCH_BYTES + 16];
  snprintf(path, sizeof path, "%s/out", folder);
  write_file("two.md", LESSON);
  write_file("names", "Ada Lovelace\nBob\nAda-Lovelace\n");
  for (size_t k = 0; k < sizeof REFUSED / sizeof *REFUSED; k++) {
    snprintf(words, sizeof words, "lesson %%1$s/two.md --roster %%1$s/names %s", REFUSED[k][0]);
    tilewalk(words);
    assert_int_equal(run.exit_status, 2);
    if (!strstr(run.err, REFUSED[k][1])) fail_msg("row %zu: %s", k, run.err);
    assert_int_not_equal(access(path, F_OK), 0);
  }
  write_file("names", "Ada Lovelace\n\nBob\n");
  tilewalk("lesson %1$s/two.md --handout %1$s/out --roster %1$s/names --key 'a long key'");
  has("2 handouts, a student each, in ");
  tilewalk("lesson %1$s/two.md --handout %1$s/one.pdf --key 'a long key' --student 'Ada Lovelace' && "
           "cmp %1$s/one.pdf %1$s/out/Ada-Lovelace.pdf && ! cmp -s %1$s/one.pdf %1$s/out/Bob.pdf");
  assert_int_equal(run.exit_status, 0);
}

/* A test of one point a question; the second answer is none, and what nobody answered is 0 of 1. */
TEST(a_hand_in_is_graded_for_gradescope) {
  write_file("two.md", LESSON);
  write_file("ada.csv", "student,id,answer\nAda,sum,2\nAda,sum,4\nAda,guess,a\n");
  tilewalk("lesson %1$s/two.md --answers %1$s/ada.csv --gradescope %1$s/results.json");
  assert_int_equal(run.exit_status, 0);
  char path[SCRATCH_BYTES + 32];
  snprintf(path, sizeof path, "%s/results.json", folder);
  json_t *expected =
      json_loads("{\"score\": 0, \"test_output_format\": \"text\", \"tests\": ["
                 "{\"name\": \"two: sum\", \"score\": 0, \"max_score\": 1, \"output\": \"You forgot one.\"},"
                 "{\"name\": \"two: bytes\", \"score\": 0, \"max_score\": 1, \"output\": \"Not answered.\"}]}",
                 0, NULL);
  json_t *results = json_load_file(path, 0, NULL);
  assert_true(json_equal(results, expected));
  json_decref(results);
  json_decref(expected);
  write_file("both.csv", "student,id,answer\nAda,sum,2\nBob,sum,4\n");
  tilewalk("lesson %1$s/two.md --answers %1$s/both.csv --gradescope %1$s/both.json");
  assert_int_equal(run.exit_status, 2);
  assert_non_null(strstr(run.err, "2 students are in what was handed in"));
  snprintf(path, sizeof path, "%s/both.json", folder);
  assert_int_not_equal(access(path, F_OK), 0);
}

/* Seeds of a class follow from its key: typing one prints nobody's answers. */
TEST(answers_of_a_student_need_the_key) {
  write_file("two.md", LESSON);
  tilewalk("lesson %1$s/two.md --teacher --seed 77");
  assert_int_equal(run.exit_status, 2);
  tilewalk("lesson %1$s/two.md --teacher --key 'a long key'");
  assert_int_equal(run.exit_status, 2);
  tilewalk("lesson %1$s/two.md --teacher --key 'a long key' --student 'ada LOVELACE'");
  assert_int_equal(run.exit_status, 0);
  has("for seed 265346656"); /* as tests/unit/test_lesson_class.c has it */
  static const char *const REFUSED[] = {"--export-moodle --seed 9001", "--export-moodle --seed 0 --key 'a long key'"};
  for (size_t k = 0; k < sizeof REFUSED / sizeof *REFUSED; k++) {
    char words[160];
    snprintf(words, sizeof words, "lesson %%1$s/two.md %s", REFUSED[k]);
    tilewalk(words);
    assert_int_equal(run.exit_status, 2);
    assert_non_null(strstr(run.err, "an export holds the answers"));
  }
}

TEST(questions_are_exported_for_moodle) {
  write_file("two.md", LESSON);
  tilewalk("lesson %s/two.md --export-moodle --seed 1");
  assert_int_equal(run.exit_status, 0);
  has("<category><text>$course$/Tilewalk/two");
  has("How much? (in MiB)</text>");
  has("<answer fraction=\"100\"><text>64</text>");
  assert_null(strstr(run.out, "It is larger.")); /* a prediction stays behind */
  has("You forgot one.");
  has("<generalfeedback format=\"plain_text\"><text>Done.");
}

GROUP(open_folder, close_folder)
