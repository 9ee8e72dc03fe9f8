// Asks whole.wasm in a worker: calls, each [name, values...], in a row.

let worker = null, next = 1
const waiting = new Map()

// { answers, seconds } or { wrong }.
export function ask(...calls) {
  if (!worker) {
    worker = new Worker(new URL('ask-worker.js', import.meta.url), { type: 'module' })
    worker.onmessage = ({ data }) => {
      waiting.get(data.id)?.(data)
      waiting.delete(data.id)
    }
    worker.onerror = event => stop(event.message || 'the machine cannot start here')
  }
  return new Promise(resolve => {
    waiting.set(next, resolve)
    worker.postMessage({ id: next++, calls })
  })
}
export function stop(wrong) {
  worker?.terminate()
  worker = null
  waiting.forEach(resolve => resolve({ wrong }))
  waiting.clear()
}
