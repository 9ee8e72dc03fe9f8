/* Counter files as they come from other versions, shells, pages and locales: what each must say, worked by hand from
 * what its cells stand for, or the reason why it is refused. One row of the table for each rule of the format. */
#include "tests/support/test.h"
#include "kernels/counters/ncu.h"
#include "tests/support/alloc_fail.h"

/* The columns of every page, and those of the tables below: HBM read and written, time. */
#define ID            "`ID`,`Process ID`,`Kernel Name`,`Block Size`,`Grid Size`,`CC`,"
#define H             ID "`dram__bytes_read.sum`,`dram__bytes_write.sum`,`gpu__time_duration.sum`\n"
#define U             "``,``,``,``,``,``,`byte`,`byte`,`ns`\n"
#define L(id, values) "`" id "`,`5`,`flash_fwd_kernel`,`(128, 1, 1)`,`(32, 1, 1)`,`9.0`," values "\n"
#define ROW           L("0", "`3145728`,`1048576`,`25600`")
#define GOOD          "flash_fwd_kernel 32,1,1 128 cc90 read=3145728 written=1048576 time=25600"

/* The page of details. */
#define DH                                                                                                             \
  "`ID`,`Process ID`,`Kernel Name`,`Block Size`,`Grid Size`,`CC`,`Section Name`,`Metric "                              \
  "Name`,`Metric Unit`,`Metric Value`\n"
#define DN(id, kernel, name, unit, value)                                                                              \
  "`" id "`,`5`,`" kernel "`,`(128, 1, 1)`,`(32, 1, 1)`,`9.0`,`Metrics`,`" name "`,`" unit "`,`" value "`\n"
#define D(name, unit, value) DN("0", "flash_fwd_kernel", name, unit, value)

/* One cell of HBM reads, in a unit. */
#define ONE(unit, cell)          METRIC("dram__bytes_read.sum", unit, cell)
#define K                        "flash_fwd_kernel 32,1,1 128 cc90 "
#define METRIC(name, unit, cell) ID "`" name "`\n``,``,``,``,``,``,`" unit "`\n" L("0", "`" cell "`")

/* A recording: a run's shape in front. */
#define SHAPE         "rung,dtype,batch,heads,kv_heads,seq_q,seq_k,head_dim,causal,block_q,block_k,"
#define RECORDED(row) SHAPE "dram__bytes_read.sum\n,,,,,,,,,,,byte\n" row

/* HBM reads in a unit, "UNIT|CELL"; what is said, or "! " and a part of the error. Six
 * decimals of Gbyte are steps of 1,000 bytes, of Mbyte of one. 1.234 bytes is no whole number, so the point stands
 * between thousands; 1,234 the same. */
static const char *const READ[] = {
    /* Gbyte */ "Gbyte|4.564326 => read=4564326000+-500",
    /* Mbyte, all digits */ "Mbyte|545.572864 => read=545572864",
    /* Kbyte */ "Kbyte|1.5 => read=1500+-50",
    /* Tbyte */ "Tbyte|1.25 => read=1250000000000+-5000000000",
    /* byte with zeros behind the point */ "byte|22255250.000000 => read=22255250",
    /* KiB are 1,024 */ "KiB|2 => read=2048+-512",
    /* an exponent */ "byte|1.5e+09 => read=1500000000+-50000000",
    /* commas between thousands */ "byte|134,221,568 => read=134221568",
    /* points between thousands */ "byte|134.221.568 => read=134221568",
    /* blanks between thousands */ "byte|134 221 568 => read=134221568",
    /* apostrophes */ "byte|134'221'568 => read=134221568",
    /* a decimal comma */ "Mbyte|545,572864 => read=545572864",
    /* both marks, English */ "byte|1,234.00 => read=1234",
    /* both marks, German */ "byte|1.234,00 => read=1234",
    /* one point in whole bytes */ "byte|1.234 => read=1234",
    /* one comma in whole bytes */ "byte|1,234 => read=1234",
    /* nothing settles it */ "Mbyte|3,146 => ! line 3: '3,146' can be read",
    /* groups of two */ "byte|12,34,567 => ! line 3: dram__bytes_read.sum is '12,34,567'",
    /* negative */ "byte|-5 => ! line 3: dram__bytes_read.sum is '-5'",
    /* words */ "byte|many => ! line 3: dram__bytes_read.sum is 'many'",
    /* 2^64 */ "byte|18446744073709551616 => ! line 3: dram__bytes_read.sum is '18446744073709551616'",
    /* 2^64 - 1 */ "byte|18446744073709551615 => read=18446744073709551615",
    /* a unit of time for bytes */ "us|5 => ! line 2: dram__bytes_read.sum is in 'us'",
    /* no unit that is known */ "furlong|5 => ! line 2: dram__bytes_read.sum is in 'furlong'",
};

/* "METRIC|UNIT|CELL". */
static const char *const NAMED[] = {
    /* sectors of HBM are 32 bytes */ "dram__sectors_read.sum|sector|98304 => read=3145728",
    /* nsecond */ "gpu__time_duration.sum|nsecond|25,600 => time=25600",
    /* ms */ "gpu__time_duration.sum|ms|1.505248 => time=1505248",
    /* msecond */ "gpu__time_duration.sum|msecond|1.51 => time=1510000+-5000",
    /* second */ "gpu__time_duration.sum|second|1.5 => time=1500000000+-50000000",
    /* s */ "gpu__time_duration.sum|s|0.002 => time=2000000+-500000",
    /* percent */ "lts__t_sector_hit_rate.pct|%|33.26 => l2=332600+-50",
    /* a ratio */ "lts__t_sector_hit_rate.ratio||0.3326 => l2=332600+-50",
    /* newer cards' names */ "dram__bytes_op_read.sum|byte|134221568 => read=134221568",
    /* Turing's name */ "fbpa__dram_read_bytes.sum|byte|64 => read=64",
    /* local memory in sectors */ "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum|sector|10 => spilled=320",
    /* a rate is another metric */ "dram__bytes_read.sum.per_second|byte/second|1 => ! none of the columns",
    /* bytes for instructions */
    "sm__inst_executed_pipe_tensor_op_hmma.sum|byte|5 => ! (no unit, inst or a multiple belongs there)",
};

/* `Quoted` is "Quoted". Said: all rows, or "! " and a part of the error. */
static const TextSays CASES[] = {
    /* units of their own */ {H "``,``,``,``,``,``,`Mbyte`,`Mbyte`,`us`\n" L("0", "`3.145728`,`1.048576`,`25.60`"),
                              K "read=3145728 written=1048576 time=25600+-5"},
    /* an empty cell */ {H U L("0", "`3145728`,``,`25600`"), K "read=3145728 time=25600"},
    /* n/a */ {H U L("0", "`3145728`,`n/a`,`25600`"), K "read=3145728 time=25600"},
    /* a warning and no number */ {H U L("0", "`3145728`,`(!) nan`,`25600`"), K "read=3145728 time=25600"},
    /* two names of one counter, the first without .sum, counts; local memory in bytes */
    {ID "`smsp__sass_data_bytes_mem_local_op_st.sum`,`dram__bytes_read`,`dram__sectors_read.sum`\n"
        "``,``,``,``,``,``,`byte`,`byte`,`sector`\n" L("0", "`5`,`7`,`9`"),
     K "read=7 spilled=5"},
    /* no-break spaces */
    {ONE("byte", "134\xe2\x80\xaf"
                 "221\xe2\x80\xaf"
                 "568"),
     K "read=134221568"},
    /* no-break spaces of Latin-1 */
    {ONE("byte", "134\xa0"
                 "221\xa0"
                 "568"),
     K "read=134221568"},
    /* a decimal comma elsewhere settles it */
    {H "``,``,``,``,``,``,`Mbyte`,`Mbyte`,`us`\n" L("0", "`3,146`,`1,048576`,`25,60`"),
     K "read=3146000+-500 written=1048576 time=25600+-5"},
    /* a row below settles it */
    {H "``,``,``,``,``,``,`Mbyte`,`byte`,`us`\n" L("0", "`3.146`,`1`,`5`") L("1", "`300.1`,`1`,`5`"),
     K "read=3146000+-500 written=1 time=5000+-500; " K "read=300100000+-50000 written=1 time=5000+-500"},
    /* semicolons settle it */ {"ID;Kernel Name;dram__bytes_read.sum\n;;Mbyte\n0;f;3,146\n", "f read=3146000+-500"},
    /* both decimal marks */
    {H "``,``,``,``,``,``,`Mbyte`,`Mbyte`,`us`\n" L("0", "`3,14`,`1.04`,`25`"),
     "! line 3: '1.04' has a decimal point, and '3,14' in line 3 a decimal comma"},

    /* between fields and lines */
    /* semicolons */
    {"`ID`;`Kernel Name`;`Grid Size`;`dram__bytes_read.sum`\n``;``;``;`byte`\n"
     "`0`;`f`;`(32; 1; 1)`;`3145728`\n",
     "f 32,1,1 read=3145728"},
    /* tabs */ {"ID\tKernel Name\tdram__bytes_read.sum\n\t\tbyte\n0\tf(int, int)\t7\n", "f(int, int) read=7"},
    /* CRLF */
    {"`ID`,`Kernel Name`,`dram__bytes_read.sum`\r\n``,``,`byte`\r\n`0`,`f`,`7`\r\n", "f read=7"},
    /* no end of the last line */
    {"`ID`,`Kernel Name`,`dram__bytes_read.sum`\n``,``,`byte`\n`0`,`f`,`7`", "f read=7"},
    /* no end and no quotes: said */
    {"ID,Kernel Name,dram__bytes_read.sum\n,,byte\n0,f,7", "f read=7; note: line 3 has no end"},
    /* quotes in a name */
    {"`ID`,`Kernel Name`,`dram__bytes_read.sum`\n``,``,`byte`\n`0`,`f<``x``>`,`7`\n", "f<\"x\"> read=7"},
    /* a line end in a name */
    {"`ID`,`Kernel Name`,`dram__bytes_read.sum`\n``,``,`byte`\n`0`,`f<\n1>`,`7`\n`1`,`g`,`8`\n",
     "f<?1> read=7; g read=8"},
    /* a byte order mark */ {"\xef\xbb\xbf" H U ROW, GOOD},
    /* a mark before the second file too */
    {"\xef\xbb\xbf" H U ROW "\xef\xbb\xbf" H U L("0", "`9`,`9`,`9`"), GOOD "; " K "read=9 written=9 time=9"},
    /* around the table */
    /* noise before */ {"==PROF== Connected to process 1\nhello, `world`\nwrote 7 rows\n" H U ROW, GOOD},
    /* noise after */ {H U ROW "==PROF== Disconnected\n{`done`: [1, 2]}\nall done, bye\n", GOOD},
    /* noise between */
    {H U ROW "epoch 1, loss 0.5\n" L("1", "`9`,`9`,`9`"), GOOD "; " K "read=9 written=9 time=9"},
    /* noise that names a kernel */
    {H U ROW "kernel 3, loss 0.5\n" L("1", "`9`,`9`,`9`"), GOOD "; " K "read=9 written=9 time=9"},
    /* noise between header and units */ {H "==WARNING== clocks\n" U ROW, GOOD},
    /* two reports with other columns and units */
    {H U ROW ONE("Gbyte", "1.0"), GOOD "; " K "read=1000000000+-50000000"},
    /* a report without a counter, and one */
    {ID "`launch__waves`\n``,``,``,``,``,``,``\n" L("0", "`1`") H U ROW, GOOD},
    /* units in the header */
    {"ID,Kernel Name,dram__bytes_read.sum [Mbyte],Duration (us)\n0,f,3.145728,25.60\n", "f read=3145728 time=25600+-5"},
    /* units in the header, none of bytes */
    {"ID,Kernel Name,dram__bytes_read.sum,Duration (us)\n0,f,3,25.60\n", "! line 1: dram__bytes_read.sum is in ''"},
    /* columns in another order */
    {"`dram__bytes_read.sum`,`Kernel Name`,`ID`\n`byte`,``,``\n`7`,`f`,`0`\n", "f read=7"},
    /* columns of other counters are listed */
    {ID "`dram__bytes_read.sum`,`sm__cycles_active.avg`\n``,``,``,``,``,``,`byte`,`cycle`\n" L("0", "`7`,`1.5`"),
     K "read=7; ignored: sm__cycles_active.avg"},
    /* what was run, by its own columns */
    {"`ID`,`Kernel Name`,`launch__grid_dim_x`,`launch__grid_dim_y`,`launch__grid_dim_z`,"
     "`launch__block_dim_x`,`launch__registers_per_thread`,`launch__shared_mem_per_block_dynamic`,"
     "`device__attribute_display_name`,`dram__bytes_read.sum`\n``,``,``,``,``,``,`register/thread`,"
     "`Kbyte/block`,``,`byte`\n"
     "`0`,`f`,`8`,`4`,`2`,`128`,`255`,`49.152`,`NVIDIA H200`,`7`\n",
     "f 8,4,2 128 regs255 shared49152 NVIDIA H200 read=7"},
    /* no launch */ {H U, "! no row of counters"},
    /* no line of units */ {H ROW, "! line 2: a row follows the header at once"},
    /* cut off in a row */
    {H U "`0`,`5`,`flash_fwd_kernel`,`(128, 1, 1)`,`(32", "! line 3: a quoted field is not closed"},
    /* fields missing */ {H U "`0`,`5`,`flash`,`7`\n", "! line 3: 4 fields under 9 columns"},
    /* likes are put together */
    /* three launches alike */
    {H U ROW ROW L("2", "`3145731`,`1048576`,`25600`"),
     "3 x flash_fwd_kernel 32,1,1 128 cc90 read=3145729 written=1048576 time=25600"},
    /* a cold launch stays apart */
    {H U ROW L("1", "`31457280`,`1048576`,`25600`"), GOOD "; " K "read=31457280 written=1048576 time=25600"},
    /* the page of details */
    /* details, sorted by metric */
    {DH D("dram__bytes_read.sum", "byte", "1") DN("1", "g", "dram__bytes_read.sum", "byte", "3")
         D("gpu__time_duration.sum", "ns", "2") DN("1", "g", "gpu__time_duration.sum", "ns", "4"),
     K "read=1 time=2; g 32,1,1 128 cc90 read=3 time=4"},
    /* details, IDs again in a second report */
    {DH D("dram__bytes_read.sum", "byte", "1") DH D("dram__bytes_read.sum", "Mbyte", "9.5"),
     K "read=1; " K "read=9500000+-50000"},
    /* details, labels */
    {DH D("Duration", "usecond", "25.60") D("L2 Hit Rate", "%", "50") D("Registers Per Thread", "register/thread", "64")
         D("Dynamic Shared Memory Per Block", "Kbyte/block", "16.38"),
     "flash_fwd_kernel 32,1,1 128 cc90 regs64 shared16380 time=25600+-5 l2=500000+-5000"},
    /* details, the launch's statistics: products of its grid and its block */
    {DH D("dram__bytes_read.sum", "byte", "1") D("Block Size", "", "512") D("Grid Size", "", "1,024"), K "read=1"},
    /* details, a column that has no unit beside the metrics */
    {"`ID`,`Kernel Name`,`Duration`,`Metric Name`,`Metric Unit`,`Metric Value`\n"
     "`0`,`f`,`5`,`dram__bytes.sum`,`byte`,`7`\n",
     "f both=7"},
    /* details, a rule's row without a metric */ {DH D("", "", "") D("dram__bytes_read.sum", "byte", "1"), K "read=1"},
    /* details, nothing known */ {DH D("sm__cycles_active.avg", "cycle", "1"), "! no row of counters"},
    /* details, a wrong unit */ {DH D("dram__bytes_read.sum", "ns", "1"), "! line 2: dram__bytes_read.sum is in 'ns'"},
    /* ncu until 2022: the columns of rules are left off a metric's row */
    /* details, rows with fewer columns */
    {"`ID`,`Kernel Name`,`Section Name`,`Metric Name`,`Metric Unit`,`Metric Value`,`Rule Name`,`Rule "
     "Type`,`Rule Description`\n`0`,`f`,`M`,`dram__bytes.sum`,`byte`,`295,808`,\n"
     "`0`,`f`,`M`,`gpu__time_duration.sum`,`nsecond`,`5,120`\n"
     "`0`,`f`,`O`,``,``,``,`Occupancy`,`Warning`,`limited`\n",
     "f both=295808 time=5120"},
    /* details, a row that ends before its value */
    {"`ID`,`Kernel Name`,`Metric Name`,`Metric Unit`,`Metric Value`,`Rule Name`\n"
     "`0`,`f`,`dram__bytes.sum`,`byte`\n",
     "! line 2: 4 fields under 6 columns"},
    /* --set full: 1.25 GB/s for 2 ms are 2,500,000 B, +- 0.005 GB/s x 2 ms and half a ns */
    /* details, a throughput and a time */
    {DH D("Memory Throughput", "%", "61.5") D("Memory Throughput", "Gbyte/second", "1.25")
         D("Duration", "msecond", "2.00"),
     K "both=2500000+-16251 time=2000000+-5000; note: bytes that were n"},
    /* raw, throughputs of reads and writes */
    {ID "`dram__bytes_read.sum.per_second`,`dram__bytes_write.sum.per_second`,`gpu__time_duration.sum`\n"
        "``,``,``,``,``,``,`byte/second`,`byte/s`,`ns`\n" L("0", "`3000000000`,`1000000000`,`1000`"),
     K "read=3000+-2 written=1000+-1 time=1000; note: bytes that were n"},
    /* a throughput beside bytes that were counted */
    {DH D("dram__bytes.sum", "byte", "7") D("Memory Throughput", "Gbyte/second", "1.25") D("Duration", "us", "2"),
     K "both=7 time=2000+-500"},
    /* a throughput without a time */ {DH D("Memory Throughput", "Gbyte/second", "1.25"), "! no row of counters"},
    /* a summary over launches */
    {"`Process ID`,`Kernel Name`,`Invocations`,`Metric Name`,`Metric "
     "Unit`,`Minimum`,`Maximum`,`Average`\n",
     "! line 1: a summary over launches"},
    /* other files */
    /* a report of ncu */ {"NVR\1\0\0\0", "! ncu --import FILE.ncu-rep --csv --page raw"},
    /* gzip */ {"\037\213\010", "! packed with gzip; unpack it: gunzip -c FILE"},
    /* bzip2 */ {"BZh91AY", "! packed with bzip2"},
    /* xz */ {"\3757zXZ", "! packed with xz"},
    /* a trace of torch.profiler */ {"{`schemaVersion`: 1}", "! JSON, as torch.profiler"},
    /* a page */ {"<!DOCTYPE html>", "! a page of HTML"},
    /* no permission */
    {"==PROF== Connected to process 1 (/usr/bin/python3)\n==ERROR== ERR_NVGPUCTRPERM - The user does not have "
     "permission "
     "to access NVIDIA GPU Performance Counters on the target device 0.\n==WARNING== No kernels were profiled.\n",
     "! line 2: no permission for the GPU's counters, ncu says (ERR_NVGPUCTRPERM)"},
    /* no permission, as a program passes it on */
    {"RuntimeError: ERR_NVGPUCTRPERM: see https://x\n", "! NVreg_RestrictProfilingToAdminUsers=0"},
    /* another error of ncu */
    {"==PROF== Connected\n==ERROR== Failed to find metric dram__bytes_red.sum\n",
     "! line 2: ncu counted nothing: Failed to find metric dram__bytes_red.sum"},
    /* no kernel */ {"==PROF== Connected\n==WARNING== No kernels were profiled.\n", "! ncu profiled no kernel"},
    /* an error beside counters */
    {"==ERROR== Failed to profile kernel `f` in process 5\n" H U ROW, GOOD "; note: line 1: ncu says:"},
    /* recordings; 1234 cut to 123 would pass for a number */
    {RECORDED("fa1,fp16,1,1,1,8,8,8,0,8,8,123"), "! line 3: the last line has no end"},
    {RECORDED("fa1,fp12,1,1,1,8,8,8,0,8,8,1\n"), "! line 3: the dtype"},
    {RECORDED("fa1,fp16,1,1,1,0,8,8,0,8,8,1\n"), "! line 3: seq_q is '0'"},
    {RECORDED("fa1,fp16,1,3,2,8,8,8,0,8,8,1\n"), "! line 3: "},
    {RECORDED("fa1,fp16,1,1,1,8,8,8,yes,8,8,1\n"), "! line 3: causal"},
    {"rung,dtype,dram__bytes_read.sum\n,,byte\n", "! line 1: a column of the shape is missing"},
    /* a spreadsheet */ {"PK\003\004", "! save it as CSV"},
    /* Nsight Systems */ {"SQLite format 3", "! times but no counters"},
    /* ncu without --csv */
    {"[58960] bench@127.0.0.1\n  attn_kernel (64, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 12.0\n"
     "    Section: Command line profiler metrics\n",
     "! line 2: this is what ncu prints for people; run it again with --csv"},
    /* some other table */ {"name,size\na,1\n", "! no header with a counter"},
    /* a header without a counter */
    {ID "`launch__waves`\n", "! line 1: none of the columns is a counter that is used"},
};

static void put(char **to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(char **to, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  *to += vsprintf(*to, format, arguments);
  va_end(arguments);
}

static const struct {
  Counter counter;
  const char *word;
} WORDS[] = {{COUNTER_HBM_READ, "read"},      {COUNTER_HBM_WRITE, "written"}, {COUNTER_HBM_TOTAL, "both"},
             {COUNTER_TIME, "time"},          {COUNTER_L2_HIT_RATE, "l2"},    {COUNTER_L1_HIT_RATE, "l1"},
             {COUNTER_LOCAL_WRITE, "spilled"}};

static void put_row(char **to, const CounterRow *r) {
  if (r->n_launches > 1) put(to, "%lld x ", (long long)r->n_launches);
  put(to, "%s ", r->kernel);
  if (r->grid[0]) put(to, "%lld,%lld,%lld ", (long long)r->grid[0], (long long)r->grid[1], (long long)r->grid[2]);
  if (r->block[0]) put(to, "%lld ", (long long)r->block[0]);
  if (r->capability) put(to, "cc%d ", r->capability);
  if (r->registers) put(to, "regs%lld ", (long long)r->registers);
  if (r->dynamic_shared_bytes) put(to, "shared%lld ", (long long)r->dynamic_shared_bytes);
  if (*r->device) put(to, "%s ", r->device);
  EACH (w, WORDS) {
    const Counter c = WORDS[w].counter;
    if (!r->known[c]) continue;
    put(to, "%s=%llu", WORDS[w].word, (unsigned long long)r->value[c]);
    if (r->slack[c]) put(to, "+-%llu", (unsigned long long)r->slack[c]);
    put(to, " ");
  }
  --*to; /* the last blank */
}

/* All that a table says, in one line. */
static void describe(const CounterTable *t, char *to) {
  for (size_t i = 0; i < t->n_rows; i++) {
    if (i) put(&to, "; ");
    put_row(&to, &t->rows[i]);
  }
  for (int i = 0; i < t->n_ignored; i++) put(&to, i ? ", %s" : "; ignored: %s", t->ignored[i]);
  for (int i = 0; i < t->n_notes; i++) put(&to, "; note: %.17s", t->notes[i]);
  *to = '\0';
}

/* What is said of text[0..length): rows, or "! " and the error. */
static void say(const char *text, size_t length, char *to) {
  CounterTable table;
  if (counter_table_from_buffer(&table, text, length, fresh_error()) == STATUS_OK)
    describe(&table, to);
  else
    sprintf(to, "! %s", test_error.message);
  counter_table_free(&table);
}

static bool as_wanted(const char *said, const char *wanted) {
  return *wanted == '!' ? *said == '!' && strstr(said, wanted + 2) != NULL : !strcmp(said, wanted);
}

static void is_said(const char *quoted, const char *says) {
  static char said[1 << 16];
  const char *text = test_quoted(quoted, '`');
  say(ALL_OF(text), said);
  if (!as_wanted(said, says)) fail_msg("%s:\n  wanted %s\n  said   %s\n", text, says, said);
}

static void cell_is_said(const char *cell, const char *says) {
  char metric[TEST_TEXT], unit[TEST_TEXT], number[TEST_TEXT];
  assert_true(test_next(&cell, metric) && test_next(&cell, unit) && test_next(&cell, number));
  is_said(test_text(METRIC("%s", "%s", "%s"), metric, unit, number), test_text("%s%s", *says == '!' ? "" : K, says));
}

TEST(test_table) {
  EACH (i, CASES) is_said(CASES[i].text, CASES[i].says);
  EACH_SAYS (row, NAMED) cell_is_said(row.text, row.says);
  EACH_SAYS (row, READ) cell_is_said(test_text("dram__bytes_read.sum|%s", row.text), row.says);
}

/* Every file of the table that is read says the same in UTF-16 of either order, with a mark and without. */
TEST(test_utf16) {
  static char said[1 << 16], plain[1 << 16], wide[1 << 16];
  EACH (i, CASES) {
    const char *text = test_quoted(CASES[i].text, '`');
    if (*CASES[i].says == '!') continue;
    bool ascii = true;
    for (const char *c = text; *c; c++) ascii &= *c > 0;
    if (!ascii) continue;
    say(ALL_OF(text), plain);
    for (int form = 0; form < 4; form++) {
      const bool big = form & 1, mark = form < 2;
      size_t n = 0;
      if (mark) wide[n++] = big ? '\xfe' : '\xff', wide[n++] = big ? '\xff' : '\xfe';
      for (const char *c = text; *c; c++) wide[n + !!big] = *c, wide[n + !big] = 0, n += 2;
      say(wide, n, said);
      assert_string_equal(said, plain);
    }
  }
}

/* A zero byte anywhere, also at the end: what follows it would be lost. */
TEST(test_zero_bytes) {
  char said[1 << 12], text[1 << 10];
  const size_t n = (size_t)snprintf(text, sizeof text, "%s", test_quoted(H U ROW, '`'));
  for (size_t k = 0; k <= n; k++) {
    const char was = text[k];
    text[k] = '\0';
    say(text, n + (k == n), said);
    assert_non_null(strstr(said, "a zero byte"));
    text[k] = was;
  }
}

/* Twenty thousand launches of two kernels, and as many different ones as are not bounded. */
static FILE *many_launches(int n, bool differ) {
  FILE *file = tmpfile();
  assert_non_null(file);
  fputs("\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\"\n\"\",\"\",\"byte\"\n", file);
  for (int k = 1; k <= n; k++) fprintf(file, "\"%d\",\"k%d\",\"%d\"\n", k, differ ? k : k % 2, 1 << 24);
  return file;
}

TEST(test_many_launches) {
  CounterTable table;
  FILE *two = many_launches(20000, false), *all = many_launches(NCU_MAX_ROWS + 1, true);
  rewind(two), rewind(all);
  must(counter_table_read(&table, two, fresh_error()));
  assert_int_equal(table.n_rows, 2);
  assert_int_equal(table.rows[0].n_launches, 10000);
  assert_int_equal(table.rows[1].value[COUNTER_HBM_READ], 1 << 24);
  counter_table_free(&table);
  must_refuse(counter_table_read(&table, all, fresh_error()), STATUS_TOO_LARGE, "launches that differ");
  fclose(two), fclose(all);
}

static Status read_many(void *context, Error *error) {
  CounterTable table;
  const Status status = counter_table_from_buffer(&table, ALL_OF(context), error);
  counter_table_free(&table);
  return status;
}

TEST(test_out_of_memory) {
  static char text[1 << 14] = "ID,Kernel Name,dram__bytes_read.sum\n,,byte\n";
  for (int i = 0; i < 100; i++) strcat(text, "0,f,1\n");
  assert_true(alloc_fail_each(read_many, text) >= 4);
}
