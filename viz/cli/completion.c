/* tilewalk completion bash|zsh|fish: shell completion, written from the tables that the commands themselves use.
 *
 * An option's `choices` are offered where its value stands (several, with commas between, when it takes a LIST),
 * file names where it takes a FILE, and nothing where a number is expected. What begins with '@' is asked of the
 * program then: `tilewalk _names gpus`. */
#include <stdbool.h>
#include <string.h>

#include "sim/base/quote.h"
#include "viz/cli/command.h"

static bool is_offered(const Option *o) { return o->help; }
static bool takes(const Option *o, const char *what) { return o->argument && strstr(o->argument, what); }
static bool takes_files(const Command *command) { return command->set_positional && strstr(command->usage, "FILE"); }

static void put_command_names(FILE *out) {
  for (const Command *const *c = COMMANDS; *c; c++)
    if ((*c)->name[0] != '_') fprintf(out, "%s ", (*c)->name);
}

/* The values, or the call that lists them. */
static void put_choices(FILE *out, const char *choices) {
  if (choices && choices[0] == '@')
    fprintf(out, "$(tilewalk _names %s 2>/dev/null)", choices + 1);
  else
    fputs(choices ? choices : "", out);
}

/* "--seq-len SEPARATOR-N", whichever there are. */
static void put_spellings(FILE *out, const Option *o, const char *separator) {
  if (o->name) fprintf(out, "--%s", o->name);
  if (o->name && o->letter) fputs(separator, out);
  if (o->letter) fprintf(out, "-%c", o->letter);
}

static void put_bash_command(FILE *out, const Command *command) {
  fprintf(out, "  %s)\n    options='", command->name);
  for (const OptionSet *set = command->sets; set && set->options; set++) {
    for (const Option *o = set->options; option_is_row(o); o++) {
      if (!is_offered(o)) continue;
      put_spellings(out, o, " ");
      fputc(' ', out);
    }
  }
  fprintf(out, "--help'\n    files=%d", takes_files(command));
  if (command->choices) {
    fputs(" own=\"", out);
    put_choices(out, command->choices);
    fputs("\"", out);
  }
  fputs("\n    case $prev in\n", out);
  for (const OptionSet *set = command->sets; set && set->options; set++) {
    for (const Option *o = set->options; option_is_row(o); o++) {
      if (!option_needs_value(o)) continue;
      fputs("    ", out);
      put_spellings(out, o, " | ");
      fprintf(out, ") value=1 files=%d list=%d choices=\"", takes(o, "FILE"), takes(o, "LIST"));
      char choices[OPTION_TEXT_BYTES];
      put_choices(out, option_choices(o, choices));
      fputs("\" ;;\n", out);
    }
  }
  fputs("    esac\n    ;;\n", out);
}

static void write_bash(FILE *out) {
  fputs("# bash completion for tilewalk, written by `tilewalk completion bash`\n"
        "_tilewalk() {\n"
        "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
        "  local options='' choices='' own='' value=0 files=0 list=0 before=''\n"
        "  COMPREPLY=()\n"
        "  if [[ $cur == '=' ]]; then cur=''; elif [[ $prev == '=' ]]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
        "  local commands='",
        out);
  put_command_names(out);
  fputs("'\n"
        "  if ((COMP_CWORD == 1)); then\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$commands --help --version\" -- \"$cur\")\n"
        "    return\n"
        "  fi\n"
        "  case ${COMP_WORDS[1]} in\n"
        "  help) options=$commands ;;\n",
        out);
  for (const Command *const *c = COMMANDS; *c; c++)
    if ((*c)->name[0] != '_') put_bash_command(out, *c);
  fputs("  esac\n"
        "  if ! ((value)); then choices=$options; [[ $cur == -* ]] || choices=\"$options $own\"; fi\n"
        "  if ((list)) && [[ $cur == *,* ]]; then before=${cur%,*}, cur=${cur##*,}; fi\n"
        "  mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$choices\" -- \"$cur\")\n"
        "  if ((files)) && [[ $cur != -* ]]; then\n"
        "    compopt -o filenames 2>/dev/null\n"
        "    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$cur\")\n"
        "  fi\n"
        "}\n"
        "complete -F _tilewalk tilewalk\n",
        out);
}

/* A description inside '...[...]' of an _arguments spec: its first sentence, with what would end it escaped. */
static void put_zsh_text(FILE *out, const char *text) {
  for (const char *p = text; *p && !(p[0] == '.' && (p[1] == ' ' || !p[1])); p++) {
    if (*p == '\'')
      fputs("'\\'", out);
    else if (strchr("[]:\\", *p))
      fputc('\\', out);
    fputc(*p, out);
  }
}

static void put_zsh_value(FILE *out, const Option *o) {
  if (!option_needs_value(o)) return;
  fputc(':', out);
  put_zsh_text(out, o->argument);
  fputc(':', out);
  char choices[OPTION_TEXT_BYTES];
  if (!*option_choices(o, choices)) {
    if (takes(o, "FILE")) fputs("_files", out);
    return;
  }
  const bool list = takes(o, "LIST"), files = takes(o, "FILE"), asked = choices[0] == '@';
  fputs(list ? "_values -s , value " : files ? "{compadd -- " : asked ? "{compadd -- " : "(", out);
  put_choices(out, choices);
  fputs(list ? "" : files ? "; _files}" : asked ? "}" : ")", out);
}

static void put_zsh_option(FILE *out, const Option *o) {
  const char *const letter_end = option_needs_value(o) ? "+" : "", *const name_end = option_needs_value(o) ? "=" : "";
  fputs("      ", out);
  if (o->repeats)
    fputs("'*'", out);
  else if (o->letter && o->name)
    fprintf(out, "'(-%c --%s)'", o->letter, o->name);
  if (o->letter && o->name)
    fprintf(out, "{-%c%s,--%s%s}'[", o->letter, letter_end, o->name, name_end);
  else if (o->letter)
    fprintf(out, "'-%c%s[", o->letter, letter_end);
  else
    fprintf(out, "'--%s%s[", o->name, name_end);
  char help[OPTION_TEXT_BYTES];
  put_zsh_text(out, option_help(o, help));
  fputc(']', out);
  put_zsh_value(out, o);
  fputs("' \\\n", out);
}

static void write_zsh(FILE *out) {
  fputs("#compdef tilewalk\n"
        "# zsh completion for tilewalk, written by `tilewalk completion zsh`\n"
        "_tilewalk() {\n"
        "  local -a commands=(\n",
        out);
  for (const Command *const *c = COMMANDS; *c; c++) {
    if ((*c)->name[0] == '_') continue;
    fprintf(out, "    '%s:", (*c)->name);
    put_zsh_text(out, (*c)->summary);
    fputs("'\n", out);
  }
  fputs("  )\n"
        "  if ((CURRENT == 2)); then\n"
        "    _describe command commands\n"
        "    return\n"
        "  fi\n"
        "  shift words\n"
        "  ((CURRENT--))\n"
        "  case $words[1] in\n"
        "  help) _describe command commands ;;\n",
        out);
  for (const Command *const *c = COMMANDS; *c; c++) {
    if ((*c)->name[0] == '_') continue;
    fprintf(out, "  %s)\n    _arguments -s \\\n", (*c)->name);
    for (const OptionSet *set = (*c)->sets; set && set->options; set++)
      for (const Option *o = set->options; option_is_row(o); o++)
        if (is_offered(o)) put_zsh_option(out, o);
    if ((*c)->choices) {
      fputs("      '*:name:{compadd -- ", out);
      put_choices(out, (*c)->choices);
      fputs(takes_files(*c) ? "; _files}' \\\n" : "}' \\\n", out);
    } else if (takes_files(*c)) {
      fputs("      '*:file:_files' \\\n", out);
    }
    fputs("      '(-h --help)'{-h,--help}'[show the use of this command]'\n    ;;\n", out);
  }
  fputs("  esac\n}\n_tilewalk \"$@\"\n", out);
}

/* A text in single quotes of fish: its first sentence. */
static void put_fish_text(FILE *out, const char *text) {
  fputc('\'', out);
  for (const char *p = text; *p && !(p[0] == '.' && (p[1] == ' ' || !p[1])); p++) {
    if (*p == '\'' || *p == '\\') fputc('\\', out);
    fputc(*p, out);
  }
  fputc('\'', out);
}

static void put_fish_choices(FILE *out, const char *choices) {
  if (choices[0] == '@')
    fprintf(out, " -a '(tilewalk _names %s 2>/dev/null)'", choices + 1);
  else
    fprintf(out, " -a '%s'", choices);
}

static void put_fish_option(FILE *out, const Command *command, const Option *o) {
  fprintf(out, "complete -c tilewalk -n '__fish_seen_subcommand_from %s'", command->name);
  if (o->name) fprintf(out, " -l %s", o->name);
  if (o->letter) fprintf(out, " -s %c", o->letter);
  if (o->argument) fputs(takes(o, "FILE") ? " -r -F" : " -x", out);
  char text[OPTION_TEXT_BYTES];
  if (o->argument && *option_choices(o, text)) put_fish_choices(out, text);
  fputs(" -d ", out);
  put_fish_text(out, option_help(o, text));
  fputc('\n', out);
}

static void write_fish(FILE *out) {
  fputs("# fish completion for tilewalk, written by `tilewalk completion fish`\n"
        "complete -c tilewalk -f\n",
        out);
  for (const Command *const *c = COMMANDS; *c; c++) {
    if ((*c)->name[0] == '_') continue;
    fprintf(out, "complete -c tilewalk -n __fish_use_subcommand -a %s -d ", (*c)->name);
    put_fish_text(out, (*c)->summary);
    fputc('\n', out);
    if ((*c)->choices || takes_files(*c)) {
      fprintf(out, "complete -c tilewalk -n '__fish_seen_subcommand_from %s'%s", (*c)->name,
              takes_files(*c) ? " -F" : "");
      if ((*c)->choices) put_fish_choices(out, (*c)->choices);
      fputc('\n', out);
    }
    for (const OptionSet *set = (*c)->sets; set && set->options; set++)
      for (const Option *o = set->options; option_is_row(o); o++)
        if (is_offered(o)) put_fish_option(out, *c, o);
  }
}

static const struct {
  const char *name;
  void (*write)(FILE *out);
} SHELLS[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
enum { N_SHELLS = sizeof SHELLS / sizeof *SHELLS };

typedef struct {
  int shell; /* 1 + its number; 0: none is named */
} CompletionOptions;

static Status set_shell(void *target, const char *value, Error *error) {
  for (int k = 0; k < N_SHELLS; k++)
    if (strcmp(SHELLS[k].name, value) == 0) {
      ((CompletionOptions *)target)->shell = k + 1;
      return STATUS_OK;
    }
  return error_set(error, STATUS_BAD_REQUEST, "'%s' is no shell that is known; there are bash, zsh and fish",
                   quote_text(value).text);
}

static int run_completion(void *options, Io *io, Error *error) {
  const CompletionOptions *o = options;
  if (!o->shell) {
    error_set(error, STATUS_BAD_REQUEST, "for which shell? 'tilewalk completion bash', zsh or fish");
    return EXIT_BAD_REQUEST;
  }
  SHELLS[o->shell - 1].write(io->out);
  return EXIT_DONE;
}

const Command COMMAND_COMPLETION = {
    .name = "completion",
    .summary = "completion for bash, zsh or fish",
    .usage = "SHELL",
    .description =
        "Prints what a shell needs to complete commands, options and names. `make install` puts it where shells "
        "look.",
    .examples = "  # bash, in this session; in ~/.bashrc for all\n"
                "  source <(tilewalk completion bash)\n\n"
                "  # zsh: a file in a folder of fpath\n"
                "  tilewalk completion zsh >~/.zfunc/_tilewalk\n\n"
                "  # fish\n"
                "  tilewalk completion fish | source\n",
    .options_bytes = sizeof(CompletionOptions),
    .sets = (const OptionSet[]){{0}},
    .choices = "bash zsh fish",
    .set_positional = set_shell,
    .run = run_completion,
};
