// Reports: a line of the command line, asked in the page over files that were dropped on it, in #report. The address is the question:
// kernel.html#sweep -N 4096 --over block.

import { $, element, elements, onPress, quoted, save as saveFile, table } from './element.js'
import { whole } from './machine.js'

const EXAMPLES = { 'KV cache': 'kvcache --model llama-3-8b -N 8192', Serving: 'serve --model llama-3.1-70b --gpu h100-sxm --tp 8 --batch 32 -N 32768', 'Which tile': 'advise -N 4096 -d 128 --heads 16 --gpu h200',
  Sweep: 'sweep --over block -N 4096 -d 128 --heads 16', Roofline: 'sim --roofline -N 4096 -d 128 --heads 16 --gpu h200', 'One run': 'sim -N 4096 -d 128 --heads 16', Claims: 'lesson claims --only P-fa1-traffic' }
const ROWS_SHOWN = 2000
let last = 0

// { status, text, remark } of a line and its form, over files that it may name.
export async function ask(line, files = []) {
  const { answers, wrong } = await whole.ask(...files.map(({ name, text }) => ['web_file', name, text]), ['web_ask', line])
  return wrong ? { status: 2, text: '', remark: wrong } : JSON.parse(answers.at(-1))
}

// A CSV's rows; a field in quotes may hold commas, quotes and lines.
function rowsOf(text) {
  const rows = [[]]
  for (const [, whole, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/g)) {
    rows.at(-1).push(whole?.replaceAll('""', '"') ?? plain)
    if (end === '\n') rows.push([])
    if (end === '') break
  }
  return rows.filter(row => row.length > 1 || row[0])
}
function tableOf(csv) {
  const [head = [], ...body] = rowsOf(csv), used = head.map((_, k) => body.some(row => row[k]))
  const kept = row => row.filter((_, k) => used[k])
  return body.length ? table('The answer', kept(head).map(name => name.replaceAll('_', ' ')), body.slice(0, ROWS_SHOWN).map(kept))
    : element('p.soft', 'This question has no table.')
}

// Returns what answers a line. `files`: what may be named in it.
export function reports(files, go) {
  const { report, question, status, answered, words, table: cells } = elements
  const tell = (text, isBad = true) => { status.textContent = text; status.classList.toggle('bad', isBad) }
  const save = kind => async () => {
    const { status, text, remark } = await ask(`${question.value} --${kind}`, files)
    if (status === 2) return tell(remark)
    saveFile(new Blob([text], { type: kind === 'csv' ? 'text/csv' : 'application/json' }), `${question.value.split(' ')[0]}.${kind}`)
  }
  onPress({ 'save-csv': save('csv'), 'save-json': save('json') })
  $('ask').onsubmit = event => { event.preventDefault(); go(question.value.trim()) }
  $('examples').append(...Object.entries(EXAMPLES).map(([name, text]) => element('a.button', { href: '#' + encodeURI(text) }, name)))

  return async text => {
    const began = performance.now(), mine = ++last
    question.value = text
    tell('Computing …', false)
    const said = await ask(`${text} --text --details`, files)
    if (mine !== last) return // another question came
    answered.hidden = said.status === 2
    if (said.status === 2) return tell(said.remark)
    tell(`${said.status === 1 ? 'A comparison did not hold. ' : ''}Computed here in ${((performance.now() - began) / 1000).toFixed(1)} s. ${said.remark}`, false)
    words.textContent = said.text
    const csv = await ask(`${text} --csv`, files)
    if (mine === last) cells.replaceChildren(tableOf(csv.status === 2 ? '' : csv.text))
    report.dataset.line = text
  }
}

// The report that a file is for.
export const reportOf = ({ kind, name }) => kind === 'model' ? `kvcache --model ${quoted(name)} -N 8192` : `crosscheck --ncu ${quoted(name)}`
