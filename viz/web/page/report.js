// Reports: a line of the command line, asked in the page over files that were dropped on it. The address is the question:
// kernel.html#sweep -N 4096 --over block.

import { button, element, quoted, save, table } from './element.js'
import { whole } from './machine.js'

const EXAMPLES = { 'KV cache': 'kvcache --model llama-3-8b -N 8192', Serving: 'serve --model llama-3.1-70b --gpu h100-sxm --tp 8 --batch 32 -N 32768', 'Which tile': 'advise -N 4096 -d 128 --heads 16 --gpu h200',
  Sweep: 'sweep --over block -N 4096 -d 128 --heads 16', Roofline: 'sim --roofline -N 4096 -d 128 --heads 16 --gpu h200', 'One run': 'sim -N 4096 -d 128 --heads 16', Claims: 'lesson claims --only P-fa1-traffic' }
const ROWS_SHOWN = 2000
let answered = 0

export async function ask(line, files = [], forms = ['--text --details', '--csv', '--json']) {
  const { answers, wrong } = await whole.ask(...files.map(({ name, text }) => ['web_file', name, text]),
    ...forms.flatMap(form => [['web_ask', `${line} ${form}`], ['web_answer'], ['web_remark']]))
  return forms.map((_, k) => {
    const [status, text, remark] = wrong ? [2, '', wrong] : answers.slice(files.length + 3 * k)
    return { status, text, remark }
  })
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
    : element('p', { className: 'soft', textContent: 'This question has no table.' })
}

// Puts what asks and what answers into `room`; returns what answers a line. `files`: what may be named in it.
export function reports(room, files, go) {
  const line = element('input', { id: 'question', type: 'text', autocomplete: 'off', spellcheck: false, ariaLabel: 'The question, as on the command line' })
  const status = element('p', { className: 'soft', id: 'status', role: 'status' }), words = element('pre', { id: 'words', className: 'words', tabIndex: 0 }), cells = element('div', { id: 'table' })
  const form = element('form', { className: 'buttons' }, element('label', { className: 'line' }, 'tilewalk ', line), element('button', { className: 'main', textContent: 'Compute' }))
  const saved = kind => button(`Save as ${kind.toUpperCase()}`, async () => {
    const [{ status, text, remark }] = await ask(line.value, files, ['--' + kind])
    if (status === 2) return tell(remark)
    save(new Blob([text], { type: kind === 'csv' ? 'text/csv' : 'application/json' }), `${line.value.split(' ')[0]}.${kind}`)
  })
  const answer = element('div', { hidden: true }, words, cells, element('p', { className: 'buttons' }, saved('csv'), saved('json')))
  const examples = Object.entries(EXAMPLES).map(([name, text]) => element('a', { className: 'button', href: '#' + encodeURI(text), textContent: name }))
  form.onsubmit = event => { event.preventDefault(); go(line.value.trim()) }
  room.append(form, element('div', { className: 'buttons' }, ...examples), status, answer)
  const tell = (text, isBad = true) => { status.textContent = text; status.classList.toggle('bad', isBad) }

  return async text => {
    const began = performance.now(), mine = ++answered
    line.value = text
    tell('Computing …', false)
    const [said] = await ask(text, files, ['--text --details'])
    if (mine !== answered) return // another question came
    answer.hidden = said.status === 2
    if (said.status === 2) return tell(said.remark)
    tell(`${said.status === 1 ? 'A comparison did not hold. ' : ''}Computed here in ${((performance.now() - began) / 1000).toFixed(1)} s. ${said.remark}`, false)
    words.textContent = said.text
    const [csv] = await ask(text, files, ['--csv'])
    if (mine === answered) cells.replaceChildren(tableOf(csv.status === 2 ? '' : csv.text))
    room.dataset.line = text
  }
}

// The report that a file is for.
export const reportOf = ({ kind, name }) => kind === 'model' ? `kvcache --model ${quoted(name)} -N 8192` : `crosscheck --ncu ${quoted(name)}`
