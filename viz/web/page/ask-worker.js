// libtilewalk beside the page: a long question does not stop it, and ending this worker ends the question.

import { load } from './engine.js'

const ready = load('whole.wasm', ['assets.bundle', 'reports.bundle'], { measure: () => 0, act: () => {} })

self.addEventListener('message', async ({ data: { id, line, files, forms } }) => {
  try {
    const engine = await ready
    files.forEach(({ name, text }, place) => engine.call('web_file', place, name, text))
    const answers = forms.map(form => {
      const status = engine.call('web_ask', `${line} ${form}`)
      return { status, text: engine.text('web_answer'), remark: engine.text('web_remark') }
    })
    self.postMessage({ id, answers })
  } catch (error) {
    self.postMessage({ id, answers: [{ status: 2, text: '', remark: `the program stopped: ${error.message}` }] })
  }
})
