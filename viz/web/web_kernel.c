/* What a page asks of PTX before it runs it, which is a question (web_ask.c: `kernel mine.ptx`).
 *
 *     kernel_entries(name, ptx)  ->  {"entries": [{"name": "saxpy", "parameters": [...], ...}]}; else {"error": ...} */

#include "kernels/ptx/ptx.h"
#include "viz/kernel/kernel_signature.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"

static void put_entry(Document *d, const PtxModule *module, int e) {
  Error error = {0};
  char plain[256];
  const PtxEntry entry = ptx_entry(module, e);
  PtxKernel *kernel = NULL;
  signature_plain_name(ptx_entry_name(module, e), plain, sizeof plain);
  put_values(d, "{entry:s name:s line:w parameters[", ptx_entry_name(module, e), plain, (Wide)entry.line);
  for (int p = 0; p < entry.n_parameters; p++) {
    const PtxParameter parameter = ptx_parameter(module, e, p);
    put_values(d, "{name:s bytes:i pointer:b float:b}", ptx_parameter_name(module, e, p), (int64_t)parameter.size_bytes,
               parameter.is_pointer, parameter.numbers == PTX_FLOAT);
  }
  const int *block = entry.required_block;
  put_values(d, "] block[:n :n :n]", block[0], block[1], block[2]);
  if (!ptx_kernel_new(module, e, &kernel, &error))
    put_values(d, "shared:b", ptx_kernel_dynamic_shared(kernel));
  else
    put_values(d, "refused:s", error.message);
  ptx_kernel_free(kernel);
  put_end(d);
}

/* What a module holds, and what is refused of it. */
EXPORT const char *kernel_entries(const char *name, const char *ptx) {
  Error error = {0};
  PtxModule *module = NULL;
  Document *d = web_begin();
  if (ptx_module_load(ptx, strlen(ptx), name, &module, &error)) put_values(d, "error:s", error.message);
  put_values(d, "entries[");
  for (int e = 0; e < (module ? ptx_n_entries(module) : 0); e++) put_entry(d, module, e);
  ptx_module_free(module);
  return web_end();
}
