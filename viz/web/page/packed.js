// A text in a link: deflated, in base64url. What comes from a link is bounded before it is read.

export async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer())
  return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join('')).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

// `what` is in the link, and has at most `most` bytes.
export async function unpacked(text, what, most) {
  const fail = why => { throw new Error(`the ${what} in this link ${why}`) }
  if (text.length > 2 * most) fail(`is longer than ${2 * most} characters`)
  let bytes
  try {
    bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0))
  } catch { fail('is damaged: copy the whole link') }
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader()
  const parts = []
  for (let n = 0; ;) {
    const { done, value } = await reader.read().catch(() => fail('is damaged: copy the whole link'))
    if (done) return new Blob(parts).text()
    n += value.length
    if (n > most) {
      reader.cancel().catch(() => {})
      fail(`has more than ${most} bytes`)
    }
    parts.push(value)
  }
}
