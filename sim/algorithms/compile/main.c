/* Compiles the shipped programs when Tilewalk is built: `compile standard.walk fa1.walk ... >programs.c`.
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

static void print_op(const ProgramOp *o) {
  printf(
      "{%d,%d,%d,%d,%d,%d,%d,%d, %d,%d,%d,%d,%d,%d, %d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d, %d,%d,%d, %d,{",
      o->kind, o->line, o->when, o->kernel, o->pass, o->loops, o->parent, o->end, o->dim, o->of, o->in_split,
      o->either_way, o->backwards, o->every, o->event, o->tensor, o->rows, o->cols, o->moves, o->fixed_bytes, o->words,
      o->width, o->is_fp32, o->partial_only, o->once, o->never, o->masked, o->columns_split, o->is_checked, o->first,
      o->needs, o->products_d, o->products_dv, o->n_exps, o->n_moved);
  for (int k = 0; k < PROGRAM_MOVED_MAX; k++) printf("%d,", o->moved[k]);
  printf("},%d,%d},\n", o->first_assign, o->n_assigns);
}

static void print_node(const ProgramNode *n) {
  printf("{%d,%d,%d,%d,%d,%d,%d,", n->kind, n->rows, n->cols, n->b_transposed, n->a, n->b, n->name);
  if (isinf(n->value))
    printf("HUGE_VAL},\n");
  else
    printf("%.17g},\n", n->value);
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
  printf(".kernels={\n");
  for (int k = 0; k < p->n_kernels; k++)
    printf("{\"%s\",%d,%d,%d,%d},\n", p->kernels[k].name, p->kernels[k].first_op, p->kernels[k].end_op,
           p->kernels[k].when, p->kernels[k].n_every);
  printf("},.ops={\n");
  for (int k = 0; k < p->n_ops; k++) print_op(&p->ops[k]);
  printf("},.names={\n");
  for (int k = 0; k < p->n_names; k++) {
    const ProgramName *n = &p->names[k];
    printf("{\"%s\",%d,%d,%d,%d,%d,%d,%d,%d,%d},\n", n->text, n->tensor, n->subscripts, n->rows, n->cols, n->is_input,
           n->is_loaded, n->is_stored, n->is_fp32, n->kernels);
  }
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
  for (int k = 1; k < n; k++) {
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
    print_program(&program, k);
  }
  printf("const Schedule *const SCHEDULES[] = {");
  for (int k = 1; k < n; k++) printf("&PROGRAM_%d, ", k);
  printf("};\nconst int N_SCHEDULES = sizeof SCHEDULES / sizeof *SCHEDULES;\n");
  return 0;
}
