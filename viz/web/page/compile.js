// CUDA as PTX, where the page is served by what compiles it (viz/web/serve.py).

export async function compile(file, text) {
  const answer = await fetch('ptx', { method: 'POST', headers: { 'Content-Type': 'text/plain', 'X-Name': encodeURIComponent(file) }, body: text })
    .catch(() => null)
  if (!answer || answer.status === 404 || answer.status === 405 || answer.status === 501)
    throw new Error(`${file}: nothing here compiles a .cu. 'make web-serve' does, where clang is; or paste its PTX: nvcc -ptx -lineinfo ${file}`)
  const body = await answer.text()
  if (!answer.ok) throw new Error(body.trim())
  return body
}
