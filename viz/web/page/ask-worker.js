// A program beside the page: a long launch or question does not stop it, and ending this worker ends them.

import { Ruler } from './canvas.js'
import { bytesOf, load } from './engine.js'

const NUMBERS = /^web_(file|open)$/
let ready, reports // the program, and what questions read besides

self.onmessage = async ({ data: { id, program, calls } }) => {
  try {
    const engine = await (ready ??= load(program, ['assets.bundle'], new Ruler())), asks = calls.some(([name]) => name === 'web_ask')
    if (asks) await (reports ??= bytesOf('reports.bundle').then(bytes => engine.take(new Uint8Array(bytes))).catch(error => { reports = null; throw error }))
    const answers = calls.map(([name, ...values]) => name === 'web_l2' ? engine.bytes(engine.calls.web_l2(), engine.calls.web_l2_bytes()).slice()
      : NUMBERS.test(name) ? engine.call(name, ...values) : engine.text(name, ...values))
    self.postMessage({ id, answers })
  } catch (error) {
    self.postMessage({ id, wrong: `the machine stopped: ${error.message}` })
  }
}
