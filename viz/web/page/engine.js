// The C program in the page: loads the wasm, moves text in and out, and gives it what it asks a page for.

import { keep, kept } from './kept.js'

const decoder = new TextDecoder()
const encoder = new TextEncoder()

// Sends text and bytes to C and reads them back. `calls` are the functions that viz/web/web.c exports, of `module`.
export class Engine {
  bytes(at, length) {
    return new Uint8Array(this.calls.memory.buffer, at, length)
  }
  read(at) {
    if (!at) return ''
    const bytes = new Uint8Array(this.calls.memory.buffer)
    return decoder.decode(bytes.subarray(at, bytes.indexOf(0, at)))
  }
  readPart(at, length) {
    return decoder.decode(this.bytes(at, length))
  }
  // Bytes in C's memory, a zero behind them; freed by C's free.
  write(bytes) {
    const at = this.calls.malloc(bytes.length + 1)
    if (!at) throw new Error('no memory')
    this.bytes(at, bytes.length + 1).fill(0)
    this.bytes(at, bytes.length).set(bytes)
    return at
  }
  // Calls `name` with numbers and strings, in any order.
  call(name, ...values) {
    const texts = []
    const numbers = values.map(value => {
      if (typeof value !== 'string') return value
      texts.push(this.write(encoder.encode(value.replaceAll('\0', ''))))
      return texts.at(-1)
    })
    try {
      return this.calls[name](...numbers)
    } finally {
      texts.forEach(at => this.calls.free(at))
    }
  }
  text(name, ...values) {
    return this.read(this.call(name, ...values))
  }
  json(name, ...values) { return JSON.parse(this.text(name, ...values)) }
  // Text that is the caller's to free.
  taken(name) {
    const at = this.calls[name](), text = this.read(at)
    this.calls.free(at)
    return text
  }
  // Files, each behind a line of its name and size (bundle.sh).
  take(bytes) {
    for (let at = 0, end; at < bytes.length; at = end) {
      const begin = bytes.indexOf(10, at) + 1
      const [name, length] = decoder.decode(bytes.subarray(at, begin)).split(' ')
      end = begin + Number(length)
      if (!(end <= bytes.length)) throw new Error('a bundle of files is damaged')
      const taken = this.call('web_asset', name, this.write(bytes.subarray(begin, end)), Number(length))
      if (!taken) throw new Error(`no room in this page for ${name}`)
    }
  }
}

const NO_FILE = 8 // WASI's EBADF

// WASI, as little of it as a program without files needs: what it prints goes to the console.
function wasi(engine) {
  let line = ''
  const view = () => new DataView(engine.calls.memory.buffer)
  return {
    clock_time_get(id, precision, at) {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true)
      return 0
    },
    fd_write(file, pieces, n, written) {
      const ranges = new Uint32Array(engine.calls.memory.buffer, pieces, 2 * n)
      let total = 0
      for (let k = 0; k < 2 * n; k += 2) {
        line += engine.readPart(ranges[k], ranges[k + 1])
        total += ranges[k + 1]
      }
      const lines = line.split('\n')
      line = lines.pop()
      lines.forEach(file === 2 && engine.warns || (text => console.log(text)))
      view().setUint32(written, total, true)
      return 0
    },
    proc_exit(status) {
      throw new Error(`the program ended with status ${status}`)
    },
  }
}

// What Lua throws, through C, to where Lua catches it.
const thrown = new Error('thrown by Lua')

function attempts(engine) {
  return {
    attempt(call, lua, data) {
      const { __stack_pointer: stack, __indirect_function_table: table } = engine.calls
      const before = stack.value
      try {
        table.get(call)(lua, data)
        return 0
      } catch (error) {
        if (error !== thrown) throw error
        stack.value = before
        return 1
      }
    },
    throw() { throw thrown },
  }
}

// Records that a browser keeps for this folder, by name.
const records = engine => ({
  load(name) {
    const text = kept(engine.read(name))
    return text === null ? 0 : engine.write(encoder.encode(text))
  },
  keep: (name, at, length) => keep(engine.read(name), engine.readPart(at, length)),
})

export const bytesOf = name => fetch(name).then(answer => {
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`)
  return answer.arrayBuffer()
})

// Loads a program, which may be its name or its module, and its files; `ruler` measures lines for it.
export async function load(program, bundles, ruler) {
  const fetched = [program, ...bundles].map(name => typeof name === 'string' ? bytesOf(name) : name)
  const engine = new Engine()
  const imports = {
    page: { ...attempts(engine), ...records(engine), measure: (...of) => ruler.measure(engine, ...of) },
    wasi_snapshot_preview1: wasi(engine),
  }
  const module = typeof program === 'string' ? await WebAssembly.compile(await fetched[0]) : program
  for (const { module: of, name } of WebAssembly.Module.imports(module))
    if (of === 'wasi_snapshot_preview1') imports[of][name] ??= () => NO_FILE
  const instance = await WebAssembly.instantiate(module, imports)
  Object.assign(engine, { calls: instance.exports, module })
  instance.exports._initialize?.()
  for (const bundle of fetched.slice(1)) engine.take(new Uint8Array(await bundle))
  return engine
}
