// Your kernel: its PTX and a launch, what it did by source line; and reports (report.js). The machine runs in a worker. The
// address of a kernel is all of it: kernel.html#kernel=..., packed; that of a report is its question.

import { $, elements, copied, element, onPress, putNote, quoted } from './element.js'
import { keep, keptObject } from './kept.js'
import { compile } from './compile.js'
import { kindOf, takeFiles } from './files.js'
import { whole } from './machine.js'
import { packed, unpacked } from './packed.js'
import { ask as askReport, reportOf, reports } from './report.js'
import { isDark, prefersDark } from './top.js'

const DRAFT = 'kernel.json', DRAFT_MOST = 1 << 20, LINK = '#kernel=', LINK_MOST = 256 << 10, QUIET_MS = 400
const LINES_SHOWN = 40
const KINDS = ['ptx', 'cuda', 'model', 'counters']
const { ptx: area, source: listing, entry: choice, launch, line: lineField, 'words-of': said, verdict, stop, drawn, faults, caches } = elements

let name = 'mine.ptx' // of what is in the text area
const NO_SOURCE = { name: '', text: '' }
let source = NO_SOURCE // the .cu beside it
let examples = {}

// ---- a file: PTX, or a .cu and what clang makes of it

const wordsOf = text => text.split('\n').map(line => line.match(/^\s*\/[*/]\s*tilewalk:\s*(.*?)\s*(\*\/)?\s*$/)?.[1]).filter(Boolean)
const launchLines = () => launch.value.split('\n').map(line => line.trim()).filter(Boolean)

// The words that hold for one kernel of the file: those before the first `entry`, and its own.
function wordsFor(entry) {
  let takes = true
  return wordsOf(source.text || area.value).filter(word => {
    const of = word.match(/^entry\s+(.*)/)?.[1]
    if (of) takes = of === entry
    return takes && !of
  })
}

async function take(file, text) {
  const isCuda = /\.cuh?$/.test(file)
  if (isCuda || kindOf('', text) === 'cuda') {
    const name = isCuda ? file : 'mine.cu', ptx = examples[name]?.source === text ? examples[name].ptx : await compile(name, text)
    source = { name, text }
    return show(name.replace(/\.cuh?$/, '.ptx'), ptx)
  }
  if (source.name && !text.includes(source.name)) source = NO_SOURCE
  return show(file, text)
}

// PTX, and the .cu beside it; or a file that a report is of.
async function takeRead(files) {
  const of = kind => files.find(file => file.kind === kind), ptx = of('ptx'), cu = of('cuda')
  if (!ptx && !cu) {
    reported.splice(0, reported.length, files[0])
    return go(reportOf(files[0]))
  }
  if (reportLine()) location.hash = ''
  if (ptx && cu) source = cu
  await take((ptx ?? cu).name, (ptx ?? cu).text).catch(say)
}

function say(error, isBad = true) {
  verdict.className = isBad ? 'bad' : ''
  verdict.textContent = error.message ?? error
}

let entries = []
async function show(file, ptx) {
  name = file
  area.value = ptx
  listing.hidden = !source.text
  listing.replaceChildren(...source.text.split('\n').map(text => element('span', text + '\n')))
  $('text-name').textContent = source.name ? `PTX of ${source.name}` : `PTX: ${file}`
  await list()
}

async function list() {
  const { answers, wrong } = await whole.ask(['kernel_entries', name, area.value]), answer = wrong ? { error: wrong } : JSON.parse(answers[0])
  entries = answer.entries ?? []
  choice.replaceChildren(...entries.map(entry => new Option(entry.name, entry.entry)))
  if (answer.error) return say(answer.error)
  const first = wordsOf(source.text || area.value).find(word => word.startsWith('entry '))?.slice(6).replace(/<.*/, '').trim()
  choice.value = entries.find(entry => entry.name === first)?.entry ?? entries[0]?.entry
  propose()
}

// The launch that the file's comments give, or one to begin with: a number or a buffer by the size of each parameter.
function propose() {
  const entry = entries.find(one => one.entry === choice.value)
  if (!entry) return
  const words = wordsFor(entry.name), guess = [
    'grid 1', `block ${entry.block[0] ? entry.block.join(',') : 256}`, ...(entry.shared ? ['shared 48K'] : []),
    ...entry.parameters.map(({ bytes, pointer, float }) => `arg ${pointer || bytes === 8 ? 'f32[4096]:normal:1' : bytes === 4 ? float ? 'f32:1' : 'i32:256' : `i${8 * bytes}:1`}`)]
  launch.value = (words.length ? words : guess).join('\n')
  const begun = words.length ? 'the launch is that of the file. Run it.' : 'a launch to begin with; say how many blocks there are and what its arguments hold.'
  say(entry.refused ?? `${entry.name}: ${begun}`, entry.refused)
  draft()
}

// ---- the answer: what `tilewalk kernel` says, and draws, of what stands here; the launch as comments behind the PTX, in
// place of its own

const ownPtx = () => area.value.replaceAll('tilewalk:', 'tilewalk;')
function question(more) {
  const text = `${ownPtx()}\n${launchLines().map(line => `// tilewalk: ${line}\n`).join('')}`
  return askReport(`kernel ${quoted(name)} --entry ${quoted(choice.value)} ${more}`, [{ name, text }, { name: source.name || 'none.cu', text: source.text }])
}

// The source beside what its lines move, and the dearest request of the chosen one, as the window draws them.
async function draw() {
  drawn.hidden = false
  const size = `${Math.max(340, $('picture-of').clientWidth)}x880`, line = lineField.value ? `--line ${lineField.value}` : ''
  const { text, status, remark } = await question(`${line} --swizzle ${$('swizzle').value} -o -.svg --size ${size} --theme ${isDark() ? 'dark' : 'light'}`)
  if (status === 2) $('picture-of').textContent = remark
  else $('picture-of').innerHTML = text
}

// A line of the source: marked there, and in its PTX.
function choose(line) {
  Array.from(listing.children).forEach((one, k) => one.classList.toggle('at', k === line - 1))
  const lines = area.value.split('\n')
  const at = source.text ? lines.findIndex(text => new RegExp(`^\\s*\\.loc\\s+\\d+\\s+${line}\\s`).test(text)) : line - 1
  if (at >= 0) {
    const end = lines.slice(0, at + 1).join('\n').length
    area.setSelectionRange(end - lines[at].length, end)
    area.scrollTop = (at - 4) * area.scrollHeight / lines.length
  }
  lineField.value = line || ''
  draw()
}

async function run() {
  $('run').disabled = true
  stop.disabled = false
  say('It runs ...', false)
  const began = performance.now(), answer = await question(`--text --details --lines ${LINES_SHOWN} ${faults.checked ? '' : '--no-faults'} ${caches.checked ? '' : '--no-caches'}`)
  const above = ownPtx().split('\n').length, { status, text, remark } = answer
  $('run').disabled = false
  stop.disabled = true
  said.hidden = drawn.hidden = status === 2
  lineField.value = ''
  if (status === 2) say(remark.replace(/^(.*?):(\d+): /, (all, file, line) => file === name && line > above ? `Launch, line ${line - above}: ` : all))
  else {
    say(`${status ? 'Something is wrong with it' : 'It ran'}: computed here in ${((performance.now() - began) / 1000).toFixed(2)} s.`, status)
    said.textContent = text
    draw()
  }
  window.tilewalk.answer = answer
  draft()
}

// ---- the page

const kernelNow = () => ({ name, ptx: area.value, source, launch: launch.value, entry: choice.value, faults: faults.checked, caches: caches.checked })
function draft() {
  const text = JSON.stringify(kernelNow())
  if (text.length <= DRAFT_MOST) keep(DRAFT, text)
}
async function restore(given) {
  source = typeof given.source?.text === 'string' ? given.source : NO_SOURCE
  await show(String(given.name), String(given.ptx))
  if (entries.some(one => one.entry === given.entry)) choice.value = given.entry
  launch.value = given.launch ?? ''
  for (const id of ['faults', 'caches']) $(id).checked = given[id] ?? true
}

const reportLine = () => { try { return location.hash.startsWith(LINK) ? '' : decodeURIComponent(location.hash.slice(1)) } catch { return location.hash.slice(1) } }
const reported = []
const answerReport = reports(reported, go)
function go(line) {
  if (reportLine() === line) return follow()
  location.hash = encodeURI(line)
}
// What the address asks for: a report, or the kernel.
async function follow() {
  const line = reportLine()
  $('report').hidden = !line
  $('kernel-desk').hidden = Boolean(line)
  $('views').querySelectorAll('a').forEach((link, k) => link.toggleAttribute('aria-current', Boolean(line) === Boolean(k)))
  document.title = `Tilewalk: ${line ? line.split(' ')[0] : 'your kernel'}`
  if (line) return answerReport(line)
  if (!location.hash.startsWith(LINK)) return
  try { await restore(JSON.parse(await unpacked(location.hash.slice(LINK.length), 'kernel', LINK_MOST))) } catch (error) { return putNote(error.message) }
  await run()
}

function command() {
  if (reportLine()) return 'tilewalk ' + $('question').value
  const words = launchLines().map(line => {
    const [word, ...rest] = line.split(/\s+/)
    return [(word.length > 1 ? '--' : '-') + word, ...(rest.length ? [quoted(rest.join(' '))] : [])].join(' ')
  })
  return ['tilewalk kernel', quoted(source.name || name), '--entry', quoted(entries.find(one => one.entry === choice.value)?.name ?? ''), ...words,
    ...(faults.checked ? [] : ['--no-faults']), ...(caches.checked ? [] : ['--no-caches'])].join(' ')
}
async function link() {
  const text = reportLine() ? '#' + encodeURI($('question').value) : LINK + await packed(JSON.stringify(kernelNow()))
  return location.href.split('#')[0] + text
}

const copy = async text => putNote(await copied(text))

let edited = 0
area.oninput = () => {
  clearTimeout(edited)
  edited = setTimeout(() => take(name, area.value).catch(say), QUIET_MS)
}
choice.onchange = propose
launch.oninput = draft
launch.onkeydown = event => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run() }
listing.onclick = ({ target }) => { if (target !== listing) choose(1 + [...listing.children].indexOf(target)) }
said.onclick = () => { // a row of the table of lines chooses its line; what is marked to be copied does not
  const { anchorOffset, isCollapsed } = getSelection(), text = said.textContent
  const line = text.split('\n')[text.slice(0, anchorOffset).split('\n').length - 1].match(/^ *(\d+) /)
  if (isCollapsed && line) choose(Number(line[1]))
}
lineField.onchange = () => choose(Number(lineField.value))
for (const bytes of [128, 256, 512, 1024]) $('swizzle').add(new Option(`swizzled, rows of ${bytes} B`, bytes))
$('swizzle').onchange = draw
for (const [target, what] of [[window, 'storage'], [prefersDark, 'change']]) target.addEventListener(what, () => { if (!drawn.hidden) draw() })
onPress({ run, stop: () => whole.stop('Stopped.'), 'copy-command': () => copy(command()), 'copy-link': async () => copy(await link()), 'note-close': () => putNote('') })
async function example(file) {
  $('sample').value = file
  source = NO_SOURCE
  await take(file, examples[file].source).catch(say)
}
$('sample').onchange = event => example(event.target.value).then(run)
addEventListener('hashchange', follow)

window.tilewalk = { ready: false, answer: null, take, run, question, command, example, link, ask: line => askReport(line, reported), get examples() { return examples } }
examples = await fetch('kernels.json').then(answer => answer.json())
$('sample').append(...Object.entries(examples).map(([file, { title }]) => new Option(`${file}: ${title}`, file)))
const given = takeFiles(KINDS, takeRead, putNote), last = keptObject(DRAFT, putNote)
if (given) await given
else if (typeof last.ptx === 'string' && last.ptx) await restore(last)
else await example('transpose.cu') // in a tenth of a second
await follow()
if (!given && !last.ptx && !location.hash) await run()
window.tilewalk.ready = true
