// Asks each line of its input in a page's program, whole.wasm, and prints as
// tests/cli/library_client.c does: node ask.mjs FOLDER
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const folder = resolve(process.argv[2])
const { load } = await import(`${folder}/engine.js`)
const bundles = ['assets', 'reports'].map(name => readFileSync(`${folder}/${name}.bundle`))
const engine = await load(new WebAssembly.Module(readFileSync(`${folder}/whole.wasm`)), bundles, { measure: () => 0 })

function ask(line) {
  const { status, text, remark } = engine.json('web_ask', line)
  return [status, status === 2 ? remark + '\n' : text]
}
for (const line of readFileSync(0, 'utf8').split('\n').slice(0, -1)) {
  const [, kernel] = line.match(/^kernel .*?(\S+\.ptx)/) ?? []
  if (kernel) engine.call('web_file', kernel, readFileSync(kernel, 'utf8'))
  process.stdout.write(ask(line).join('\n'))
}
