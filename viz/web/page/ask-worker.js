// whole.wasm beside the page: a long launch or question does not stop it, and ending this worker ends them.

import { Ruler } from './canvas.js'
import { bytesOf, load } from './engine.js'

const ruler = new Ruler(), ready = load('whole.wasm', ['assets.bundle'], { measure: (...of) => ruler.measure(...of), act: () => {} })
let reports // what questions read besides

self.onmessage = async ({ data: { id, calls } }) => {
  try {
    const engine = await ready, asks = calls.some(([name]) => name === 'web_ask')
    if (asks) await (reports ??= bytesOf('reports.bundle').then(bytes => engine.take(new Uint8Array(bytes))).catch(error => { reports = null; throw error }))
    const began = performance.now()
    const answers = calls.map(([name, ...values]) => /^web_(file|ask)$/.test(name) ? engine.call(name, ...values) : engine.text(name, ...values))
    self.postMessage({ id, answers, seconds: (performance.now() - began) / 1000 })
  } catch (error) {
    self.postMessage({ id, wrong: `the machine stopped: ${error.message}` })
  }
}
