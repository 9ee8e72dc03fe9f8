/* Compiles the shipped programs when Tilewalk is built: `compile standard.walk fa1.walk ... -- lazy.walk ...
 * >programs.c`. Those before -- are what `all` and comparisons are over.
 *
 * The output is C: one Program a text, and the table SCHEDULES. It is part of no library; a program of one's own is
 * read by program_read when it is asked for. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/algorithms/language/read.h"

static void print_text(const char *field, const char *text) {
  printf(".%s=\"", field);
  for (; *text; text++) {
    if (*text == '\n')
      printf("\\n\"\n\"");
    else
      printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
  }
  printf("\",\n");
}

/* Fields by their names, and zeros left out. */
#define FIELD(of, field)                                                                                               \
  if ((of)->field) printf("." #field "=%d,", (int)(of)->field)

static void print_op(const ProgramOp *o) {
  printf("{");
  FIELD(o, kind);
  FIELD(o, line);
  FIELD(o, when);
  FIELD(o, kernel);
  FIELD(o, pass);
  FIELD(o, loops);
  FIELD(o, parent);
  FIELD(o, end);
  FIELD(o, dim);
  FIELD(o, of);
  FIELD(o, in_split);
  FIELD(o, either_way);
  FIELD(o, backwards);
  FIELD(o, every);
  FIELD(o, event);
  FIELD(o, tensor);
  FIELD(o, operand);
  FIELD(o, rows);
  FIELD(o, cols);
  FIELD(o, moves);
  FIELD(o, fixed_bytes);
  FIELD(o, words);
  FIELD(o, width);
  FIELD(o, height);
  FIELD(o, diagonal);
  FIELD(o, is_fp32);
  FIELD(o, partial_only);
  FIELD(o, once);
  FIELD(o, never);
  FIELD(o, masked);
  FIELD(o, columns_split);
  FIELD(o, is_checked);
  FIELD(o, first);
  FIELD(o, needs);
  FIELD(o, products_d);
  FIELD(o, products_dv);
  FIELD(o, first_product);
  FIELD(o, n_products);
  FIELD(o, n_exps);
  FIELD(o, value);
  FIELD(o, n_moved);
  FIELD(o, first_assign);
  FIELD(o, n_assigns);
  FIELD(o, name);
  FIELD(o, counts_tile);
  if (o->n_moved) printf(".moved={");
  for (int k = 0; k < o->n_moved; k++) printf("%d,", o->moved[k]);
  printf(o->n_moved ? "}},\n" : "},\n");
}

static void print_name(const ProgramName *n) {
  printf("{.text=\"%s\",", n->text);
  FIELD(n, tensor);
  FIELD(n, subscripts);
  FIELD(n, rows);
  FIELD(n, cols);
  FIELD(n, is_input);
  FIELD(n, is_loaded);
  FIELD(n, is_stored);
  FIELD(n, is_fp32);
  FIELD(n, kernels);
  FIELD(n, is_declared);
  FIELD(n, is_output);
  printf("},\n");
}

static void print_tensor(const ProgramTensor *t) {
  printf("{.text=\"%s\",.title=\"%s\",", t->text, t->title);
  FIELD(t, rows);
  FIELD(t, cols);
  FIELD(t, role);
  FIELD(t, operand);
  FIELD(t, is_fp32);
  FIELD(t, is_stats);
  FIELD(t, is_moved);
  FIELD(t, is_listed);
  printf("},\n");
}

static void print_node(const ProgramNode *n) {
  printf("{");
  FIELD(n, kind);
  FIELD(n, rows);
  FIELD(n, cols);
  FIELD(n, a);
  FIELD(n, b);
  FIELD(n, name);
  if (isinf(n->value))
    printf(".value=HUGE_VAL");
  else if (n->value != 0)
    printf(".value=%.17g", n->value);
  printf("},\n");
}

/* What is said of a kernel's launch. */
static void print_launch(const Program *p, const ProgramLaunch *l) {
  printf("{.registers=%lluu,", (unsigned long long)l->registers);
  FIELD(l, consumers);
  FIELD(l, shared_dim);
  FIELD(l, threads);
  FIELD(l, cluster);
  FIELD(l, cluster_dim);
  printf(".shared=%lluu,", (unsigned long long)l->shared);
  FIELD(l, ahead);
  FIELD(l, ahead_op);
  FIELD(l, beside_op);
  FIELD(l, is_said);
  printf(".stages={");
  for (int n = 0; n < p->n_names; n++) printf("%d,", l->stages[n]);
  printf("}},\n");
}

/* What several GPUs do. */
static void print_ranks(const ProgramRanks *ranks) {
  printf(".ranks={");
  FIELD(ranks, is_said);
  FIELD(ranks, layout);
  FIELD(ranks, n_lines);
  printf(".lines={\n");
  for (int k = 0; k < ranks->n_lines; k++) {
    const ProgramRankLine *line = &ranks->lines[k];
    printf("{.names=%lluu,", (unsigned long long)line->names);
    FIELD(line, kind);
    FIELD(line, kernel);
    FIELD(line, line);
    FIELD(line, in_steps);
    FIELD(line, not_last);
    printf("},\n");
  }
  printf("}},\n");
}

static void print_program(const Program *p, int index) {
  printf("static const Program PROGRAM_%d = {\n", index);
  print_text("name", p->name);
  print_text("title", p->title);
  print_text("summary", p->summary);
  print_text("source", p->source);
  printf(".is_default=%d,.is_compared=%d,\n", p->is_default, p->is_compared);
  printf(".n_passes=%d,.skips=%d,.splits=%d,.writes_lse=%d,.whole_head=%d,\n", p->n_passes, p->skips, p->splits,
         p->writes_lse, p->whole_head);
  printf(".n_kernels=%d,.n_ops=%d,.n_names=%d,.n_assigns=%d,.n_lines=%d,.n_nodes=%d,\n", p->n_kernels, p->n_ops,
         p->n_names, p->n_assigns, p->n_lines, p->n_nodes);
  printf(".declares=%d,.over_heads=%d,.diagonal=%d,.n_sizes=%d,.n_declarations=%d,.n_products=%d,\n", p->declares,
         p->over_heads, p->diagonal, p->n_sizes, p->n_declarations, p->n_products);
  printf(".operands={%d,%d,%d},\n", p->operands[0], p->operands[1], p->operands[2]);
  printf(".sizes={\n");
  for (int k = 0; k < p->n_sizes; k++) printf("{\"%s\",%d},\n", p->sizes[k].text, (int)p->sizes[k].value);
  printf("},.declarations={\n");
  for (int k = 0; k < p->n_declarations; k++) {
    const ProgramDeclaration *d = &p->declarations[k];
    printf("{%d,%d,%d,%d,%d},\n", d->role, d->name, d->line, d->result, d->formula);
  }
  printf("},.products={\n");
  for (int k = 0; k < p->n_products; k++)
    printf("{{%d,%d,%d}},\n", p->products[k].sides[0], p->products[k].sides[1], p->products[k].sides[2]);
  printf("},\n");
  printf(".n_tensors=%d,.n_values=%d,.tensors={\n", p->n_tensors, p->n_values);
  for (int k = 0; k < p->n_values; k++) print_tensor(&p->tensors[k]);
  printf("},\n");
  printf(".places={");
  for (int k = 0; k < p->n_kernels; k++) {
    printf("{");
    for (int n = 0; n < p->n_names; n++) printf("%d,", p->places[k][n]);
    printf("},");
  }
  printf("},\n");
  printf(".kernels={\n");
  for (int k = 0; k < p->n_kernels; k++)
    printf("{\"%s\",%d,%d,%d,%d},\n", p->kernels[k].name, p->kernels[k].first_op, p->kernels[k].end_op,
           p->kernels[k].when, p->kernels[k].n_every);
  printf("},.launches={\n");
  for (int k = 0; k < p->n_kernels; k++) print_launch(p, &p->launches[k]);
  printf("},\n");
  if (p->ranks.is_said) print_ranks(&p->ranks);
  printf(".ops={\n");
  for (int k = 0; k < p->n_ops; k++) print_op(&p->ops[k]);
  printf("},.names={\n");
  for (int k = 0; k < p->n_names; k++) print_name(&p->names[k]);
  printf("},.assigns={\n");
  for (int k = 0; k < p->n_assigns; k++)
    printf("{%d,%d,%d},\n", p->assigns[k].kind, p->assigns[k].name, p->assigns[k].value);
  printf("},.nodes={\n");
  for (int k = 0; k < p->n_nodes; k++) print_node(&p->nodes[k]);
  printf("},.lines={\n");
  for (int k = 0; k < p->n_lines; k++)
    printf("{%d,%d,%d,%d},\n", p->lines[k].begin, p->lines[k].length, p->lines[k].indent, p->lines[k].number);
  printf("},\n");
  print_text("text", p->text);
  printf("};\n");
}

int main(int n, char **paths) {
  static char text[PROGRAM_TEXT_BYTES + 1];
  static Program program;
  printf("/* Made from the .walk files by sim/algorithms/compile. */\n#include <math.h>\n\n"
         "#include \"sim/algorithms/schedule.h\"\n\n");
  int n_compared = 0, n_programs = 0;
  for (int k = 1; k < n; k++) {
    if (strcmp(paths[k], "--") == 0) {
      n_compared = n_programs;
      continue;
    }
    FILE *file = fopen(paths[k], "rb");
    Error error = {0};
    if (!file) {
      fprintf(stderr, "compile: '%s' cannot be opened\n", paths[k]);
      return 2;
    }
    const size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    if (program_read(&program, text, length, paths[k], &error)) {
      fprintf(stderr, "%s\n", error.message);
      return 2;
    }
    print_program(&program, n_programs++);
  }
  printf("const Schedule *const SCHEDULES[] = {");
  for (int k = 0; k < n_programs; k++) printf("&PROGRAM_%d, ", k);
  printf("};\nconst int N_SCHEDULES = %d, N_PROGRAMS = %d;\n", n_compared, n_programs);
  return 0;
}
