/* assets/schema.json describes the JSON of every command (but doctor's, which depends on the machine): it is learned
 * from the documents of many requests, is current, and others validate against it. `make schema` writes it anew.
 *
 * Learned: the types of each value, the keys of each object, and which of them are always there. Where keys are names
 * of tensors, parts or figures the object is a map. Keys may come; none goes and none changes its type: that breaks
 * readers. */
#define _POSIX_C_SOURCE 200809L
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/capture.h"
#include "viz/cli/command.h"

static const char PATH[] = "assets/schema.json";

static const char *const LEARNED[] = {
    "sim -N 64 --block 16",
    "sim -N 4K --gpu h200 --algorithm all",
    "sim --gpu h200 --kernel fa2-sm90 -N 4K --causal",
    "sim --gpu a100-80gb,h200 -N 1K",
    "sim --gpu mi300x -N 2K",
    "sim -N 64 --mask sink:4 --block 16",
    "sim -N 1073741824 --heads 128 --batch 64",
    "sim -N 512 --window 64,0 --lse --algorithm fa2",
    "sim --algorithm fa2-backward -N 256 --block 64 --gpu h200",
    "sim --lengths 3001,777 --gpu h200",
    "sim --lengths 5,6",
    "sim --gpu h200 --kernel fa2-sm90 -N 4K --order head-batch-query --pace step",
    "sim --gpu v100 --dtype bf16 -N 2K",
    "sim --algorithm fa2-split --splits 4 -N 1 --seq-len-k 4K --gpu h200",
    "sim -N 5 --seq-len-k 3 --causal --block 2",
    "sim -N 4K -d 512 --block 256",
    "sim -N 4K --algorithm ring-attention --ranks 2 --causal",
    "sim -N 4K --algorithm ring-attention --window 64",
    "sweep --to 1K",
    "sweep --over gpu=h200,a100-80gb -N 2K",
    "sweep --over sram --algorithm fa2",
    "sweep --over l2 --values 8M,32M -N 2K",
    "advise -N 2K",
    "advise -N 1 --seq-len-k 4K --gpu rtx4090",
    "advise -N 512 --gpu paper",
    "roofline -N 1K",
    "roofline --gpu h200 -N 4K",
    "roofline --gpu v100 --dtype bf16",
    "softmax --example",
    "softmax --normal 64 --block 16 --rescale-above 8",
    "softmax --errors 64",
    "softmax --scores 1,2,80000 --precision fp16 --no-max",
    "kvcache",
    "kvcache -N 100 --append 3",
    "kvcache --model gemma-3-27b --gpu h200 --budget 40G",
    "kvcache --lengths 5,600 --model llama-3-8b",
    "kvcache --model deepseek-v3 --gpu h200 --tp 2 --weights 700G --budget 20G --lengths 5,600",
    "kvcache --list",
    "kvcache --window 64 --budget 1G",

    "warp",
    "warp --addresses 0,4,,8 --store",
    "replay tests/fuzz/corpus/din/plain",
    "algorithms fa2",
    "algorithms ring-attention",
    "algorithms tests/cli/no_rescale.walk",
    "algorithms fa1 --sink 2 --precision fp16",
    "gpus",
    "gpus paper",
    "kernels",
    "check",
    "check --only A-cyu1",
    "lesson --list",
    "practice --list",
    "practice --exam --seed 7 --count 3",
    "practice --seed 7 --count 3 --solutions",
    "serve --model llama-3-8b",
    "serve --model deepseek-v3 --gpu h200",
    "serve --model llama-3-8b --chunk 512 --prefix 64 --kernel fa2-sm90",
    "serve --model llama-3-8b --tp 2 --evict h2o:64+64",
    "serve --printed",
    "ranks --causal",
    "ranks --algorithm ring-attention --ranks 2",
    "ranks --ranks 2 --scheme tensor --heads 4 -N 1K --gpu h200 --kernel fa2-sm90",
    "ranks --ranks 2 -N 2K --gpu h200 --kernel fa2-sm90",
    "ranks --scheme offload --model opt-175b --gpu t4 --link pcie4 -N 1 --seq-len-k 544 --batch 512",
    "eligible",
    "eligible --library vllm --training",
    "eligible --library transformers -N 1 --seq-len-k 2K --softcap",
    "crosscheck --cpu -N 8 -d 64 --kernel-name fa2",
    "crosscheck --ncu assets/counters/h200/kernels/first.csv --kernel-name fa1",
    "kernel tests/support/kernels/recorded/basics.ptx --entry saxpy --grid 4 --block 256 --arg i32:1024 --arg f32:2 "
    "--arg f32[1024]:normal:1 --arg f32[1024]:zero",
    "kernel tests/support/kernels/recorded/basics.ptx --entry saxpy --grid 4 --block 256 --arg i32:1024 --arg f32:2 "
    "--arg f32[1024]:normal:1 --arg f32[1024]:none --faults",
    "kernel tests/support/kernels/tma.ptx --shared 2K --arg map:f32[32x32]:16x32:128:normal:1 "
    "--arg map:f32[32x32]:16x32:128:zero",
};

static const char *const CHECKED[] = {
    "sim -N 300 --gpu tiny",
    "sim --gpu h100-sxm -N 2K --algorithm standard,fa1",
    "sim -N 77 --algorithm lazy,mla",
    "sim --gpu h100-sxm --kernel fa2-sm90 -N 1K --heads 4 --kv-heads 2",
    "sweep --over heads --to 8",
    "sweep --over block --gpu h200 --metric time -N 1K",
    "advise --gpu a100-80gb -N 300 --causal",
    "roofline --gpu tiny",
    "softmax --scores 1,2,3 --block 2",
    "kvcache --model mistral-7b -N 9000",
    "warp --stride 3",
    "gpus h200 tiny",
    "kernels fa2-sm90",
    "algorithms fa2-split",
    "check --article D",
    "serve --model llama-3-8b --gpu a100-80gb",
    "eligible --gpu a100-80gb --no-gqa",
    "crosscheck --cpu -N 9 -d 64 --kernel-name fa1",
    "kernel tests/support/kernels/recorded/basics.ptx --entry matmul_tiled --grid 4,4 --block 16,16 --arg i32:64 "
    "--arg f32[4096]:normal:1 --arg f32[4096]:normal:2 --arg f32[4096]:zero --no-caches",
};

/* ---- Learning ---- */

/* Objects whose keys are names, not words of the format. */
static bool is_map(const char *key) {
  static const char *const MAPS[] = {"items",  "read",   "write",  "loads_per_block", "numbers",
                                     "memory", "decode", "prompt"};
  for (size_t k = 0; k < sizeof MAPS / sizeof *MAPS; k++)
    if (strcmp(key, MAPS[k]) == 0) return true;
  return false;
}

static const char *type_of(const json_t *value) {
  switch (json_typeof(value)) {
  case JSON_OBJECT: return "object";
  case JSON_ARRAY: return "array";
  case JSON_STRING: return "string";
  case JSON_INTEGER: return "integer";
  case JSON_REAL: return "number";
  case JSON_NULL: return "null";
  default: return "boolean";
  }
}

static bool has_type(const json_t *schema, const char *type) {
  size_t k;
  json_t *known;
  json_array_foreach(json_object_get(schema, "type"), k,
                     known) if (!strcmp(json_string_value(known), type)) return true;
  return false;
}

static json_t *member(json_t *object, const char *key, json_t *fresh) {
  if (!json_object_get(object, key)) json_object_set(object, key, fresh);
  json_decref(fresh);
  return json_object_get(object, key);
}

static json_int_t count(json_t *schema, const char *key) {
  const json_int_t n = json_integer_value(json_object_get(schema, key)) + 1;
  json_object_set_new(schema, key, json_integer(n));
  return n;
}

/* Runs, shapes: the same wherever they stand. NULL: of no shared form. */
static const char *form_of(const json_t *value) {
  return json_object_get(value, "sram") && json_object_get(value, "traffic")     ? "run"
         : json_object_get(value, "seq_q") && json_object_get(value, "kv_dtype") ? "shape"
                                                                                 : NULL;
}

/* defs: where shared forms are kept. */
static void learn(json_t *defs, json_t *schema, const char *key, const json_t *value) {
  if (form_of(value)) {
    char reference[64];
    snprintf(reference, sizeof reference, "#/$defs/%s", form_of(value));
    json_object_set_new(schema, "$ref", json_string(reference));
    schema = member(defs, form_of(value), json_object());
  }
  const char *type = type_of(value), *name;
  json_t *types = member(schema, "type", json_array()), *one;
  size_t k;
  if (!has_type(schema, type)) json_array_append_new(types, json_string(type));
  if (json_is_array(value))
    json_array_foreach(value, k, one) learn(defs, member(schema, "items", json_object()), key, one);
  if (!json_is_object(value)) return;
  count(schema, "seen");
  json_object_foreach((json_t *)value, name, one) {
    json_t *of = is_map(key) ? member(schema, "additionalProperties", json_object())
                             : member(member(schema, "properties", json_object()), name, json_object());
    count(of, "present");
    learn(defs, of, name, one);
  }
}

/* Counts become "required"; a whole number may be a real one where it was. */
static void finish(json_t *schema, const char *key) {
  const json_int_t seen = json_integer_value(json_object_get(schema, "seen"));
  json_t *types = json_object_get(schema, "type"), *one;
  const char *name;
  static const char *const ORDER[] = {"null", "boolean", "integer", "number", "string", "array", "object"};
  json_t *sorted = json_array();
  for (int k = 0; k < 7; k++)
    if (has_type(schema, ORDER[k]) && !(k == 2 && has_type(schema, "number")))
      json_array_append_new(sorted, json_string(ORDER[k]));
  const size_t n = strlen(key);
  if (n > 6 && strcmp(key + n - 6, "_bytes") == 0) json_object_set_new(schema, "description", json_string("bytes"));
  if (n > 2 && strcmp(key + n - 2, "_s") == 0 && !strstr(key, "_per_s"))
    json_object_set_new(schema, "description", json_string("seconds"));
  if (types) json_object_set(schema, "type", json_array_size(sorted) == 1 ? json_array_get(sorted, 0) : sorted);
  json_decref(sorted);
  json_t *required = json_array();
  json_object_foreach(json_object_get(schema, "properties"), name, one) {
    if (json_integer_value(json_object_get(one, "present")) == seen) json_array_append_new(required, json_string(name));
    finish(one, name);
  }
  if (json_array_size(required)) json_object_set(schema, "required", required);
  json_decref(required);
  if (json_object_get(schema, "items")) finish(json_object_get(schema, "items"), "");
  if (json_object_get(schema, "additionalProperties")) finish(json_object_get(schema, "additionalProperties"), key);
  json_object_del(schema, "seen");
  json_object_del(schema, "present");
}

/* ---- Checking ---- */

static bool takes_type(const json_t *schema, const char *type) {
  const json_t *types = json_object_get(schema, "type");
  size_t k;
  json_t *one;
  if (json_is_string(types)) {
    const char *only = json_string_value(types);
    return !strcmp(only, type) || (!strcmp(type, "integer") && !strcmp(only, "number"));
  }
  json_array_foreach(types, k, one) {
    if (!strcmp(json_string_value(one), type)) return true;
    if (!strcmp(json_string_value(one), "number") && !strcmp(type, "integer")) return true;
  }
  return false;
}

/* Strict: a key that the schema does not know is wrong too. */
static void validate(const json_t *defs, const json_t *schema, const json_t *value, const char *path) {
  const char *name;
  json_t *one;
  size_t k;
  char at[512];
  if (json_object_get(schema, "$ref"))
    schema = json_object_get(defs, json_string_value(json_object_get(schema, "$ref")) + strlen("#/$defs/"));
  if (!takes_type(schema, type_of(value))) fail_msg("%s is of type %s", path, type_of(value));
  if (json_is_object(value))
    json_array_foreach(json_object_get(schema, "required"), k, one) if (!json_object_get(value, json_string_value(one)))
        fail_msg("%s lacks %s", path, json_string_value(one));
  if (json_is_array(value)) json_array_foreach(value, k, one) {
      snprintf(at, sizeof at, "%s[%zu]", path, k);
      validate(defs, json_object_get(schema, "items"), one, at);
    }
  if (!json_is_object(value)) return;
  json_object_foreach((json_t *)value, name, one) {
    const json_t *of = json_object_get(schema, "additionalProperties");
    if (!of) of = json_object_get(json_object_get(schema, "properties"), name);
    snprintf(at, sizeof at, "%s.%s", path, name);
    if (!of) fail_msg("%s is not in %s; `make schema` writes it anew", at, PATH);
    validate(defs, of, one, at);
  }
}

/* ---- Requests ---- */

static const Command *find(const char *name) {
  for (const Command *const *c = COMMANDS; *c; c++)
    if (strcmp((*c)->name, name) == 0) return *c;
  fail_msg("no command %s", name);
  return NULL;
}

/* What the line prints with --json; *command: its first word. */
static json_t *answer(const char *line, char command[32]) {
  char words[512], *arguments[40];
  int n = 0;
  snprintf(words, sizeof words, "%s --json", line);
  char *rest = words, *first = strtok_r(words, " ", &rest);
  snprintf(command, 32, "%s", first);
  for (char *p; (p = strtok_r(NULL, " ", &rest));) arguments[n++] = p;
  Capture out;
  Error error = {0};
  capture_open(&out);
  FILE *nowhere = fopen("/dev/null", "w");
  assert_non_null(nowhere);
  Io io = {.out = out.out, .err = nowhere, .style = {.utf8 = true, .width = 80}, .program = "tilewalk"};
  const int status = command_run(find(command), n, arguments, &io, &error);
  fclose(nowhere);
  if (status == EXIT_BAD_REQUEST) fail_msg("%s: %s", line, error.message);
  json_t *json = json_loads(capture_text(&out), 0, NULL);
  if (!json) fail_msg("%s prints no JSON", line);
  capture_close(&out);
  return json;
}

static json_t *learned(void) {
  json_t *defs = json_object(), *any = json_array(), *one;
  const char *name;
  for (size_t k = 0; k < sizeof LEARNED / sizeof *LEARNED; k++) {
    char command[32];
    json_t *json = answer(LEARNED[k], command);
    learn(defs, member(defs, command, json_object()), "", json);
    json_decref(json);
  }
  json_object_foreach(defs, name, one) {
    char reference[64];
    finish(one, "");
    snprintf(reference, sizeof reference, "#/$defs/%s", name);
    if (json_object_get(json_object_get(one, "properties"), "tilewalk"))
      json_array_append_new(any, json_pack("{s:s}", "$ref", reference));
  }
  return json_pack("{s:s, s:s, s:o, s:o}", "$schema", "https://json-schema.org/draft/2020-12/schema", "title",
                   "What tilewalk COMMAND --json prints, by command", "anyOf", any, "$defs", defs);
}

/* A form a line, so that a change is seen where it is. */
static void write_schema(const char *path, json_t *schema) {
  FILE *out = fopen(path, "w");
  const char *name, *separator = "";
  json_t *defs = json_incref(json_object_get(schema, "$defs")), *one;
  assert_non_null(out);
  json_object_del(schema, "$defs");
  char *head = json_dumps(schema, JSON_SORT_KEYS);
  fprintf(out, "%.*s,\n\"$defs\": {", (int)strlen(head) - 1, head);
  json_object_foreach(defs, name, one) {
    char *text = json_dumps(one, JSON_COMPACT | JSON_SORT_KEYS);
    fprintf(out, "%s\n\"%s\": %s", separator, name, text);
    separator = ",";
    free(text);
  }
  fprintf(out, "}}\n");
  json_object_set_new(schema, "$defs", defs);
  free(head);
  assert_int_equal(fclose(out), 0);
}

TEST(the_schema_is_current) {
  if (sizeof(void *) < 8) skip(); /* crosscheck --cpu refuses there */
  json_t *is = learned();
  if (getenv("SCHEMA")) write_schema(PATH, is);
  json_t *file = json_load_file(PATH, 0, NULL);
  if (!json_equal(is, file))
    fail_msg("%s is not what commands print; `make schema` writes it anew: look at what changes", PATH);
  json_decref(is);
  json_decref(file);
}

TEST(other_documents_validate) {
  if (sizeof(void *) < 8) skip();
  json_t *file = json_load_file(PATH, 0, NULL);
  assert_non_null(file);
  for (size_t k = 0; k < sizeof CHECKED / sizeof *CHECKED; k++) {
    char command[32];
    json_t *json = answer(CHECKED[k], command), *one;
    const json_t *schema = json_object_get(json_object_get(file, "$defs"), command);
    const char *first = NULL, *name;
    json_object_foreach(json, name, one) {
      first = name;
      break;
    }
    assert_non_null(schema);
    assert_string_equal(first, "tilewalk"); /* the version comes first */
    validate(json_object_get(file, "$defs"), schema, json, CHECKED[k]);
    json_decref(json);
  }
  json_decref(file);
}

/* A wrong type, a missing key and an unknown one are seen. */
TEST(the_checker_sees_faults) {
  json_t *schema = json_object(), *good = json_loads("{\"a\": 1, \"b\": [{\"c\": null}, {\"c\": 0.5}]}", 0, NULL);
  learn(NULL, schema, "", good);
  finish(schema, "");
  validate(NULL, schema, good, "good");
  assert_true(takes_type(json_object_get(json_object_get(schema, "properties"), "a"), "integer"));
  assert_false(takes_type(json_object_get(json_object_get(schema, "properties"), "a"), "string"));
  assert_false(takes_type(json_object_get(json_object_get(schema, "properties"), "a"), "number"));
  assert_int_equal(json_array_size(json_object_get(schema, "required")), 2);
  assert_null(json_object_get(json_object_get(schema, "properties"), "d"));
  json_decref(good);
  json_decref(schema);
}
