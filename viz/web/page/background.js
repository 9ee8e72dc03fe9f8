// The same program in a Worker, for what would hold a frame: L2 of a launch. It gets the program's module, then one
// question after another: a state line, and the program that it may name. Its answer has the bytes of C's SnapshotL2.

import { load } from './engine.js'

let engine

self.onmessage = async ({ data }) => {
  if (data instanceof WebAssembly.Module) {
    engine = load(data, ['assets.bundle'], { measure: () => 0, act: () => {} })
    return
  }
  try {
    const it = await engine, { question, program } = data
    if (program) it.text('web_program', program)
    const taken = it.call('web_open', question)
    postMessage(taken ? { question, program, bytes: it.bytes(it.calls.web_l2(), it.calls.web_l2_bytes()).slice() } : null)
  } catch { postMessage(null) }
}
