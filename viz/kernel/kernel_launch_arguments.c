/* Arguments of a kernel: which parameter each text is for, and the buffers that they describe. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/text_add.h"
#include "viz/kernel/kernel_launch.h"
#include "viz/request/assets.h"

#define BUFFERS_MAX_BYTES ((int64_t)2 << 30)

static int parameter_by_name(const KernelLaunch *l, const char *name, size_t n) {
  for (int p = 0; p < l->signature.n; p++)
    if (strlen(l->signature.parameters[p].name) == n && memcmp(l->signature.parameters[p].name, name, n) == 0) return p;
  for (int p = 0; p < ptx_entry(l->module, l->entry).n_parameters; p++) {
    char number[16];
    if ((size_t)snprintf(number, sizeof number, "%d", p) == n && memcmp(number, name, n) == 0) return p;
    const char *own = ptx_parameter_name(l->module, l->entry, p);
    if (own && strlen(own) == n && memcmp(own, name, n) == 0) return p;
  }
  return -1;
}

/* "int n, float a, const float *x": what a kernel takes, for a message. */
static void list_parameters(const KernelLaunch *l, int n, char *to, size_t size) {
  to[0] = '\0';
  for (int p = 0; p < n && strlen(to) + 60 < size; p++) {
    if (l->signature.n == n) {
      const SignatureParameter *s = &l->signature.parameters[p];
      text_add(to, size, "%s%.30s %.24s", p ? ", " : "", s->type, s->name);
    } else {
      const PtxParameter q = ptx_parameter(l->module, l->entry, p);
      text_add(to, size, "%s%d bytes", p ? ", " : "", q.size_bytes);
    }
  }
}

/* Which text belongs to which parameter: named ones, then the others in order. */
static Status place_arguments(const KernelLaunch *l, int n, const char *texts[KERNEL_ARGUMENTS_MAX], Error *error) {
  const KernelRequest *r = l->request;
  int next = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int a = 0; a < r->n_arguments; a++) {
      const char *text = r->arguments[a], *equals = strchr(text, '=');
      if ((equals != NULL) != (pass == 0)) continue;
      int p = equals ? parameter_by_name(l, text, (size_t)(equals - text)) : next;
      while (!equals && p < n && texts[p]) p++;
      if (equals && p < 0)
        return error_refuse(error, "--arg '%.60s': '%.40s' has no parameter of that name", quote_text(text).text,
                            l->name);
      if (p >= n) return error_refuse(error, "'%.60s' takes %d arguments, and more are given", l->name, n);
      if (texts[p]) return error_refuse(error, "--arg '%.60s': that parameter is given twice", quote_text(text).text);
      texts[p] = equals ? equals + 1 : text;
      if (!equals) next = p + 1;
    }
  return STATUS_OK;
}

/* A file is read once, as it may be a pipe: what it holds stays in *kept. */
static Status fill_buffer(const KernelRequest *r, Spec *spec, char **kept, char **bytes, int64_t *n_bytes,
                          Error *error) {
  const int32_t width = spec_type_bytes(spec->type);
  if (spec->fill == SPEC_FILE && !*kept) {
    size_t length;
    const Status status = r->own_arguments
                              ? file_read_beside(r->file, spec->file, (size_t)SPEC_MAX_BYTES, kept, &length, error)
                              : file_read(spec->file, (size_t)SPEC_MAX_BYTES, kept, &length, error);
    if (status) return status;
    if (spec->n == 0) spec->n = (int64_t)length / width;
    if (length == 0 || (int64_t)length < spec->n * width || length % (size_t)width)
      return error_refuse(error, "'%.120s' has %zu bytes, and %jd elements of %s need %jd", spec->file, length, spec->n,
                          spec_type_name(spec->type), spec->n * width);
  }
  *n_bytes = spec->n * width;
  *bytes = calloc((size_t)*n_bytes + 16, 1);
  if (!*bytes) return error_no_memory(error, "for an argument of %jd bytes", *n_bytes);
  spec_fill(spec, *bytes);
  if (*kept) memcpy(*bytes, *kept, (size_t)*n_bytes);
  return STATUS_OK;
}

Status kernel_launch_refill(KernelLaunch *l, Error *error) {
  for (int a = 0; a < l->n; a++) {
    char *bytes;
    int64_t n_bytes;
    if (!l->specs[a].is_buffer) continue;
    const Status status = fill_buffer(l->request, &l->specs[a], &l->files[a], &bytes, &n_bytes, error);
    if (status) return status;
    free(l->arguments[a].bytes);
    l->arguments[a].bytes = bytes;
  }
  return STATUS_OK;
}

/* The text of an argument: as given, or what its name stands for; NULL: neither. */
static const char *argument_text(const KernelLaunch *l, int a, const char *given, char spec[KERNEL_ARGUMENT_BYTES]) {
  const SignatureParameter *named = l->signature.n > a ? &l->signature.parameters[a] : NULL;
  const char *word = given ? given : named ? named->name : "";
  const bool known = l->request->like[0] && kernel_like_spec(l->request, word, named ? named->type : "", spec);
  return known ? spec : given;
}

/* Those that are not given, all in one message. */
static Status all_given(const KernelLaunch *l, int n, const char *const texts[], Error *error) {
  char list[200] = "", spec[KERNEL_ARGUMENT_BYTES];
  int missing = 0;
  for (int a = 0; a < n; a++) {
    if (argument_text(l, a, texts[a], spec)) continue;
    const bool named = l->signature.n > a;
    if (strlen(list) + 50 < sizeof list && named)
      text_add(list, sizeof list, "%s%.40s", missing ? ", " : "", l->signature.parameters[a].name);
    if (strlen(list) + 20 < sizeof list && !named) text_add(list, sizeof list, "%snumber %d", missing ? ", " : "", a);
    missing++;
  }
  if (!missing) return STATUS_OK;
  return error_refuse(
      error,
      "'%.50s' takes %d arguments; not given: %s. Give --arg %s=SPEC, or --arg SPEC in order, as i32:1024 "
      "or f32[1024]:normal:1",
      l->name, n, list, l->signature.n ? "NAME" : "NUMBER");
}

static Status make_argument(KernelLaunch *l, int a, const char *text, Error *error) {
  const PtxParameter parameter = ptx_parameter(l->module, l->entry, a);
  const SignatureParameter *named = l->signature.n > a ? &l->signature.parameters[a] : NULL;
  char spec[KERNEL_ARGUMENT_BYTES];
  text = argument_text(l, a, text, spec);
  if (spec_parse(text, &l->specs[a], error)) return STATUS_BAD_REQUEST;
  const char *wrong = spec_mismatch(&l->specs[a], &parameter);
  if (wrong)
    return error_refuse(error, "argument %d of '%.60s'%s%.40s does not take '%.60s': %s", a, l->name, named ? ", " : "",
                        named ? named->name : "", text, wrong);
  if (named)
    snprintf(l->argument_names[a], sizeof l->argument_names[a], "%.80s", named->name);
  else
    snprintf(l->argument_names[a], sizeof l->argument_names[a], "argument %d", a);
  if (l->specs[a].is_buffer) {
    char *bytes;
    int64_t n_bytes;
    const Status status = fill_buffer(l->request, &l->specs[a], &l->files[a], &bytes, &n_bytes, error);
    if (status) return status;
    l->arguments[a] = (PtxArgument){.kind = PTX_BUFFER,
                                    .bytes = bytes,
                                    .n_bytes = n_bytes,
                                    .uninitialised = l->specs[a].fill == SPEC_NONE,
                                    .read_only = named && named->is_const};
  } else {
    char *bytes = calloc(16, 1);
    if (!bytes) return error_no_memory(error, "for arguments");
    spec_fill(&l->specs[a], bytes);
    l->arguments[a] = (PtxArgument){.kind = PTX_SCALAR, .bytes = bytes, .n_bytes = spec_type_bytes(l->specs[a].type)};
  }
  l->arguments[a].name = l->argument_names[a];
  return STATUS_OK;
}

/* The tensors of tensor maps: buffers behind the parameters, reached through the maps alone. */
static Status make_tensors(KernelLaunch *l, Error *error) {
  const int n = l->n;
  for (int a = 0; a < n; a++) {
    if (!l->specs[a].is_map) continue;
    if (l->n == KERNEL_ARGUMENTS_MAX)
      return error_set(error, STATUS_TOO_LARGE, "'%.60s' takes more than %d arguments", l->name, KERNEL_ARGUMENTS_MAX);
    const int t = l->n++;
    unsigned char *map = calloc(PTX_TENSOR_MAP_BYTES, 1);
    if (!map) return error_no_memory(error, "for arguments");
    l->arguments[t] = l->arguments[a], l->specs[t] = l->specs[a];
    l->files[t] = l->files[a], l->files[a] = NULL;
    l->specs[t].is_map = false, l->specs[a].is_buffer = false;
    l->arguments[t].hidden = true;
    char name[61];
    snprintf(name, sizeof name, "%.60s", l->argument_names[a]);
    snprintf(l->argument_names[t], sizeof l->argument_names[t], "the tensor of %s", name);
    l->arguments[t].name = l->argument_names[t];
    l->arguments[a] =
        (PtxArgument){.kind = PTX_SCALAR, .bytes = map, .n_bytes = PTX_TENSOR_MAP_BYTES, .name = l->argument_names[a]};
  }
  for (int a = 0, t = n; a < n; a++) {
    if (!l->specs[a].is_map) continue;
    const PtxLaunch launch = {.arguments = l->arguments, .n_arguments = l->n};
    l->specs[a].map.address = ptx_buffer_address(&launch, t++);
    const Status status = ptx_tensor_map(&l->specs[a].map, l->arguments[a].bytes, error);
    if (status) return status;
  }
  return STATUS_OK;
}

Status kernel_launch_arguments(KernelLaunch *l, Error *error) {
  const int n = ptx_entry(l->module, l->entry).n_parameters;
  const char *texts[KERNEL_ARGUMENTS_MAX] = {NULL};
  char list[220];
  int64_t total = 0;
  list_parameters(l, n, list, sizeof list);
  if (n > KERNEL_ARGUMENTS_MAX)
    return error_set(error, STATUS_TOO_LARGE, "'%.60s' takes more than %d arguments", l->name, KERNEL_ARGUMENTS_MAX);
  if (n > 0 && l->request->n_arguments == 0 && !l->request->like[0])
    return error_refuse(error,
                        "'%.40s' takes %d arguments: %s; give --arg SPEC for each, as i32:1024 or f32[1024]:normal:1",
                        l->name, n, list);
  if (place_arguments(l, n, texts, error) || all_given(l, n, texts, error)) return STATUS_BAD_REQUEST;
  for (int a = 0; a < n; a++) {
    const Status status = make_argument(l, a, texts[a], error);
    if (status) return status;
    l->n = a + 1;
    total += l->arguments[a].n_bytes;
    if (total > BUFFERS_MAX_BYTES)
      return error_set(error, STATUS_TOO_LARGE, "the arguments have more than 2 GiB in all");
  }
  return make_tensors(l, error);
}
