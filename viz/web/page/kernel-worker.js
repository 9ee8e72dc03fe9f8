// The machine for PTX, beside the page: a long launch does not stop it, and ending this worker ends the launch.

import { load } from './engine.js'

const ready = load('whole.wasm', ['assets.bundle'], { measure: () => 0, act: () => {} })

self.addEventListener('message', async ({ data: { id, name, values } }) => {
  try {
    const engine = await ready, began = performance.now()
    const answer = JSON.parse(engine.text(name, ...values))
    self.postMessage({ id, answer, seconds: (performance.now() - began) / 1000 })
  } catch (error) {
    self.postMessage({ id, answer: { error: `the machine stopped: ${error.message}` } })
  }
})
