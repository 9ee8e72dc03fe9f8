// Asks each line of its input of a page's ask.wasm and prints as tests/cli/library_client.c does: node ask.mjs FOLDER
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const folder = resolve(process.argv[2])
const { load } = await import(`${folder}/engine.js`)
const engine = await load(new WebAssembly.Module(readFileSync(`${folder}/ask.wasm`)), [readFileSync(`${folder}/ask.bundle`)],
  { measure: () => 0, act: () => {} })
for (const line of readFileSync(0, 'utf8').split('\n').slice(0, -1)) {
  const status = engine.call('web_ask', line)
  process.stdout.write(`${status}\n${status === 2 ? engine.text('web_remark') + '\n' : engine.text('web_answer')}`)
}
