// Measure: questions of the command line in a page, and files that are dropped on it. The address is the question:
// measure.html#sweep -N 4096 --over block.

import { save } from './viewer.js'
import { element } from './panels.js'
import { keep } from './kept.js'
import './top.js'

const $ = id => document.getElementById(id)
const FILE_MOST = 32 << 20, PROGRAM_MOST = 6143

// What a form asks for: the option, what it is called, its first value, and what it may be. "" leaves the option out.
const SHAPE = [['-N', 'Tokens N', '4096'], ['-d', 'Head size d', '128'], ['--heads', 'Heads', '16'], ['--causal', 'Causal', true]]
const GPU = ['--gpu', 'GPU', 'h200', 'gpus']
const QUESTIONS = {
  kvcache: { title: 'KV cache', says: 'What a model keeps for the tokens it has seen.', fields: [['--model', 'Model', 'llama-3-8b', 'models'], ['-N', 'Tokens', '8192'], ['--batch', 'Sequences', '']] },
  serve: { title: 'Serving', says: 'A model on GPUs: what fits, and the least time to a first token and of each next one.', fields: [['--model', 'Model', 'llama-3.1-70b', 'models'], ['--gpu', 'GPU', 'h100-sxm', 'gpus'], ['--tp', 'GPUs', '8'], ['--batch', 'Sequences', '32'], ['-N', 'Tokens of each', '32768']] },
  advise: { title: 'Which tile', says: 'Kernels and tiles for a problem, the fastest first, and what limits them.', fields: [...SHAPE, GPU] },
  sweep: { title: 'Sweep', says: 'Bytes or time over one parameter.', fields: [['--over', 'Over', 'block', ['block', 'N', 'keys', 'block-q', 'block-k', 'sram', 'l2', 'skew', 'heads', 'head-dim', 'gpu']], ...SHAPE, ['--gpu', 'GPU', '', 'gpus']] },
  roofline: { title: 'Roofline', says: 'How fast a GPU lets each algorithm be, and what stops it.', fields: [...SHAPE, GPU] },
  sim: { title: 'One run', says: 'Every byte of one problem, algorithm by algorithm.', fields: [['--algorithm', 'Algorithms', '', 'algorithms'], ...SHAPE, ['--block', 'Block', ''], ['--gpu', 'GPU', '', 'gpus']] },
  check: { title: 'Claims', says: 'What articles say, judged by computing it.', fields: [['--only', 'One claim', 'P-fa1-traffic', 'check']] },
  crosscheck: { title: 'Counters', says: 'The model beside what ncu counted: open its CSV.', fields: [['--ncu', 'ncu’s CSV', ''], ['--details', 'Each launch', true]] },
}
const names = Object.keys(QUESTIONS)
let question = 'kvcache', files = [], worker = null, asked = 0, answered = 0, saved = null

// ---- words of a question

const quoted = word => /^[\w.,:/=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
function wordsOf(line) {
  return (line.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map(word => /^['"]/.test(word) ? word.slice(1, -1) : word)
}
function lineOfForm() {
  const words = [question]
  for (const input of $('form').querySelectorAll('[data-option]')) {
    const { option } = input.dataset
    if (input.type === 'checkbox') { if (input.checked) words.push(option) } else if (input.value.trim()) words.push(option, quoted(input.value.trim()))
  }
  return [...words, $('more').value.trim()].filter(Boolean).join(' ')
}
const lineOfHash = () => { try { return decodeURIComponent(location.hash.slice(1)) } catch { return location.hash.slice(1) } }

// ---- the form

const lists = {}
async function listOf(name) {
  return lists[name] ??= await ask(name === 'models' ? 'kvcache --list' : name, [], ['--csv']).then(([csv]) => rowsOf(csv.text).slice(1).map(row => row[0])).catch(() => [])
}
function showForm(line) {
  const [first, ...words] = wordsOf(line)
  question = names.includes(first) ? first : 'kvcache'
  const { fields, says } = QUESTIONS[question]
  const given = new Map(), rest = []
  for (let k = 0; k < words.length; k++) {
    const known = fields.find(([option]) => option === words[k])
    if (!known) rest.push(quoted(words[k]))
    else if (known[2] === true) given.set(words[k], true)
    else given.set(words[k], words[++k] ?? '')
  }
  const isEmpty = !words.length
  $('questions').replaceChildren(...names.map(name => {
    const button = element('button', { type: 'button', textContent: QUESTIONS[name].title, ariaPressed: String(name === question) })
    button.addEventListener('click', () => { location.hash = name })
    return button
  }), element('a', { className: 'button', href: 'kernel.html', textContent: 'A CUDA kernel' }))
  const inputs = fields.map(([option, label, value, choices]) => {
    const now = given.get(option) ?? (isEmpty ? value : value === true ? false : '')
    if (value === true) {
      const box = element('input', { type: 'checkbox', checked: Boolean(now), data: { option } })
      return element('label', { className: 'field tick' }, box, label)
    }
    const input = Array.isArray(choices) ? element('select', { data: { option } }) : element('input', { type: 'text', value: now, autocomplete: 'off', spellcheck: false, data: { option } })
    if (Array.isArray(choices)) for (const one of choices) input.add(new Option(one, one, false, one === now))
    else if (choices) {
      const list = element('datalist', { id: 'list' + option })
      input.setAttribute('list', list.id)
      listOf(choices).then(all => list.replaceChildren(...all.map(one => new Option(one, one))))
      return element('label', { className: 'field' }, label, input, list)
    }
    return element('label', { className: 'field' }, label, input)
  })
  const more = element('input', { type: 'text', id: 'more', value: rest.join(' '), autocomplete: 'off', spellcheck: false, placeholder: ['serve', 'check', 'crosscheck'].includes(question) ? '' : '--dtype fp8 --window 1024' })
  $('form').replaceChildren(element('p', { textContent: says }), element('div', { className: 'fields' }, ...inputs, element('label', { className: 'field more' }, 'More options', more)),
    element('div', { className: 'buttons' }, element('button', { className: 'main', textContent: 'Compute' })))
  return lineOfForm()
}

// ---- asking

function ask(line, given, forms = ['--text', '--csv', '--json']) {
  if (!worker) {
    worker = new Worker(new URL('ask-worker.js', import.meta.url), { type: 'module' })
    worker.waiting = new Map()
    worker.onmessage = ({ data }) => { worker.waiting.get(data.id)?.(data.answers); worker.waiting.delete(data.id) }
  }
  const id = ++asked
  return new Promise(resolve => { worker.waiting.set(id, resolve); worker.postMessage({ id, line, files: given, forms }) })
}

// A CSV's rows; a field in quotes may hold commas, quotes and lines.
export function rowsOf(text) {
  const rows = [[]]
  for (const [, whole, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/g)) {
    rows.at(-1).push(whole?.replaceAll('""', '"') ?? plain)
    if (end === '\n') rows.push([])
    if (end === '') break
  }
  return rows.filter(row => row.length > 1 || row[0])
}
function showTable(csv) {
  const rows = rowsOf(csv), width = Math.max(0, ...rows.map(row => row.length))
  const [head, ...body] = rows
  if (!body.length) return $('table').replaceChildren(element('p', { className: 'soft', textContent: 'This question has no table.' }))
  const used = head.map((_, k) => body.some(row => row[k])).slice(0, width)
  const cells = (row, tag) => row.map((text, k) => used[k] && element(tag, { textContent: text })).filter(Boolean)
  $('table').replaceChildren(element('table', { className: 'data' }, element('caption', { className: 'unseen', textContent: 'The answer' }),
    element('thead', {}, element('tr', {}, ...cells(head.map(name => name.replaceAll('_', ' ')), 'th'))),
    element('tbody', {}, ...body.slice(0, 2000).map(row => element('tr', {}, ...cells(row, 'td'))))))
}

async function answer(line) {
  const began = performance.now(), mine = ++answered
  $('status').textContent = 'Computing …'
  const [text] = await ask(line, files, ['--text'])
  if (mine !== answered) return // another question came
  const bad = text.status === 2
  $('note').hidden = !bad
  if (bad) $('note').querySelector('span').textContent = text.remark
  $('answer').hidden = bad
  $('status').textContent = bad ? 'Not computed.' : `${text.status === 1 ? 'A comparison did not hold. ' : ''}Computed here in ${((performance.now() - began) / 1000).toFixed(1)} s. ${text.remark}`
  $('words').textContent = text.text
  const [csv] = bad ? [] : await ask(line, files, ['--csv'])
  if (mine !== answered || bad) return
  const has = csv.status !== 2
  showTable(has ? csv.text : '')
  $('csv').disabled = !has
  saved = { line, csv: csv.text }
  window.tilewalk.line = line
}
function follow() {
  const line = showForm(lineOfHash() || 'kvcache')
  document.title = `Tilewalk: ${QUESTIONS[question].title}`
  if (question === 'crosscheck' && !/--ncu/.test(line)) return waitForFile()
  return answer(line)
}
function waitForFile() {
  $('answer').hidden = true
  $('status').textContent = 'Open or drop the CSV that ncu --csv --page raw wrote.'
}

// ---- files: what a file is, its first letters say

function tell(text) {
  $('note').hidden = !text
  $('note').querySelector('span').textContent = text
}
async function takeFile(file) {
  if (file.size > FILE_MOST) return tell(`${file.name} has ${file.size.toLocaleString('en')} bytes; at most ${FILE_MOST.toLocaleString('en')} are read.`)
  const text = await file.text(), name = file.name.replace(/[^\w.-]/g, '_').slice(-60)
  tell('')
  if (/\.(ptx|cu|cuh)$/i.test(name) || /^\s*(\/\/.*\n\s*)*\.version\b/.test(text)) {
    keep('kernel.json', JSON.stringify({ name, ptx: /\.ptx$/i.test(name) || text.includes('.version') ? text : '', source: text, launch: '', entry: '' }))
    return location.assign('kernel.html')
  }
  if (/\.walk$/i.test(name) || /^\s*(#.*\n\s*)*algorithm\s/.test(text)) {
    if (text.length > PROGRAM_MOST) return tell(`${name} has ${text.length} bytes; a program has at most ${PROGRAM_MOST}.`)
    keep('draft.json', JSON.stringify({ text, packed: '' }))
    return location.assign('workbench.html')
  }
  let parsed = null
  try { parsed = JSON.parse(text) } catch { /* no JSON */ }
  if (parsed?.['tilewalk-lessons'] || [parsed].flat()[0]?.answers || /^[^\n]*\bstudent\b.*\banswer\b/.test(text)) {
    keep('dropped.json', JSON.stringify({ name, text }))
    return location.assign('lessons.html')
  }
  if (parsed && typeof parsed === 'object') {
    files = [{ name, text }]
    return go(`kvcache --model ${quoted(name)} -N 8192`)
  }
  if (/^(==PROF==|"?ID"?,|#|rung,)/m.test(text.slice(0, 20000)) || /\.csv$/i.test(name)) {
    files = [{ name, text }]
    return go(`crosscheck --ncu ${quoted(name)} --details`)
  }
  tell(`${name} is none of what is read here: config.json, .walk, ncu's .csv, .ptx, .cu, what a student hands in`)
}
function go(line) {
  if (location.hash.slice(1) === encodeURI(line)) return follow()
  location.hash = encodeURI(line)
}

$('form').addEventListener('submit', event => { event.preventDefault(); go(lineOfForm()) })
$('load').addEventListener('change', async () => { if ($('load').files[0]) await takeFile($('load').files[0]); $('load').value = '' })
document.addEventListener('dragover', event => event.preventDefault())
document.addEventListener('drop', event => { event.preventDefault(); if (event.dataTransfer.files[0]) takeFile(event.dataTransfer.files[0]) })
$('note-close').addEventListener('click', () => tell(''))
const copy = async text => { try { await navigator.clipboard.writeText(text); $('status').textContent = `Copied: ${text}` } catch { tell(`The browser does not let this page copy. Here it is: ${text}`) } }
$('copy-link').addEventListener('click', () => copy(location.href.split('#')[0] + '#' + encodeURI(lineOfForm())))
$('copy-command').addEventListener('click', () => copy('tilewalk ' + lineOfForm()))
$('csv').addEventListener('click', () => save(new Blob([saved.csv], { type: 'text/csv' }), question + '.csv'))
$('json').addEventListener('click', async () => {
  const [json] = await ask(saved.line, files, ['--json'])
  if (json.status === 2) return tell(json.remark)
  save(new Blob([json.text], { type: 'application/json' }), question + '.json')
})
addEventListener('hashchange', follow)
window.tilewalk = { ask: line => ask(line, files), takeFile, line: '' } // for the console, and for tests
follow()
