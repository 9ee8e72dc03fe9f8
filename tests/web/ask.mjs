// Asks each line of its input in a page's program, whole.wasm, and prints as
// tests/cli/library_client.c does: node ask.mjs FOLDER
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const folder = resolve(process.argv[2])
const { load } = await import(`${folder}/engine.js`)
const bundles = ['assets', 'reports'].map(name => readFileSync(`${folder}/${name}.bundle`))
const engine = await load(new WebAssembly.Module(readFileSync(`${folder}/whole.wasm`)), bundles, { measure: () => 0, act: () => {} })

function ask(line) {
  const status = engine.call('web_ask', line)
  return [status, status === 2 ? engine.text('web_remark') + '\n' : engine.text('web_answer')]
}
// `kernel FILE --entry E ...`: its options are a file's comments here. The page's own keys are left out.
function askKernel(line) {
  const [, file, options] = line.match(/^kernel (\S+) --(.*)$/), words = options.split(' --')
  const launch = words.filter(word => word !== 'faults').map(word => `// tilewalk: ${word}\n`).join('')
  const { error, lane_instructions, printed, banks, ...answer } = JSON.parse(engine.text('kernel_run', file.split('/').at(-1),
    readFileSync(file, 'utf8'), '', '', launch, words.includes('faults') ? 1 : 0))
  if (error) return [2, error + '\n']
  return [answer.faults?.length ? 1 : 0, JSON.stringify({ tilewalk: 1, ...answer }, null, 2) + '\n']
}
for (const line of readFileSync(0, 'utf8').split('\n').slice(0, -1))
  process.stdout.write((line.startsWith('kernel ') ? askKernel : ask)(line).join('\n'))
