// A program in a worker: it is asked calls, each [name, values...], in a row.

export class Machine {
  constructor(program) { // its name, or its module
    Object.assign(this, { program, worker: null, next: 1, waiting: new Map() })
  }
  // { answers } or { wrong }.
  ask(...calls) {
    if (!this.worker) {
      this.worker = new Worker('ask-worker.js', { type: 'module' })
      this.worker.onmessage = ({ data }) => {
        this.waiting.get(data.id)?.(data)
        this.waiting.delete(data.id)
      }
      this.worker.onerror = event => this.stop(event.message || 'the machine cannot start here')
    }
    return new Promise(resolve => {
      this.waiting.set(this.next, resolve)
      this.worker.postMessage({ id: this.next++, program: this.program, calls })
    })
  }
  stop(wrong) {
    this.worker?.terminate()
    this.worker = null
    this.waiting.forEach(resolve => resolve({ wrong }))
    this.waiting.clear()
  }
}
export const whole = new Machine('whole.wasm')
