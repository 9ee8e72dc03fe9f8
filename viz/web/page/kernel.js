// Your kernel: its PTX and a launch, what it did by source line; and reports (report.js). The machine runs in a worker. The
// address of a kernel is all of it: kernel.html#kernel=..., packed; that of a report is its question.

import { $, button, element, quoted, table } from './element.js'
import { keep, keptObject } from './kept.js'
import { compile } from './compile.js'
import { handed, takeFiles } from './files.js'
import { whole } from './machine.js'
import { packed, unpacked } from './packed.js'
import { ask as askReport, reportOf, reports } from './report.js'
import { isDark, prefersDark } from './top.js'

const DRAFT = 'kernel.json', DRAFT_MOST = 1 << 20, LINK = '#kernel=', LINK_MOST = 256 << 10, QUIET_MS = 400
const SECTOR_BYTES = 32, LINES_SHOWN = 40
const KINDS = ['ptx', 'cuda', 'model', 'counters']

let name = 'mine.ptx' // of what is in the text area
let source = { name: '', text: '' } // the .cu beside it
let examples = {}

// ---- a file: PTX, or a .cu and what clang makes of it

const wordsOf = text => text.split('\n').map(line => line.match(/^\s*\/[/*]\s*tilewalk:\s*(.*?)\s*(\*\/)?\s*$/)?.[1]).filter(Boolean)
const launchText = () => $('launch').value.split('\n').map(line => line.trim()).filter(Boolean).map(line => `// tilewalk: ${line}\n`).join('')

// The words that hold for one kernel of the file: those before the first `entry`, and its own.
function wordsFor(words, entry) {
  const taken = []
  let takes = true
  for (const word of words) {
    if (word.startsWith('entry ')) takes = word.slice(6).trim() === entry
    else if (takes) taken.push(word)
  }
  return taken
}

async function take(file, text) {
  if (/\.cuh?$/.test(file) || (!/^\s*\.version/m.test(text) && /__global__/.test(text))) {
    const own = /\.cuh?$/.test(file) ? file : 'mine.cu'
    const ptx = examples[own]?.source === text ? examples[own].ptx : await compile(own, text)
    source = { name: own, text }
    return show(own.replace(/\.cuh?$/, '.ptx'), ptx)
  }
  if (source.name && !text.includes(source.name)) source = { name: '', text: '' }
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
  if (ptx && cu) source = { name: cu.name, text: cu.text }
  await take((ptx ?? cu).name, (ptx ?? cu).text).catch(say)
}

function say(error) {
  $('verdict').className = 'bad'
  $('verdict').textContent = error.message ?? error
}

let entries = []
async function show(file, ptx) {
  name = file
  $('ptx').value = ptx
  $('source').hidden = !source.text
  $('source').replaceChildren(...source.text.split('\n').map(text => element('span', { textContent: text + '\n' })))
  $('text-name').textContent = source.name ? `PTX of ${source.name}` : `PTX: ${file}`
  await list()
}

async function list() {
  const { answers, wrong } = await whole.ask(['kernel_entries', name, $('ptx').value]), answer = wrong ? { error: wrong } : JSON.parse(answers[0])
  entries = answer.entries ?? []
  $('entry').replaceChildren(...entries.map(entry => new Option(entry.name, entry.entry)))
  if (answer.error) return say(answer.error)
  const words = wordsOf(source.text || $('ptx').value)
  const first = words.find(word => word.startsWith('entry '))?.slice(6).replace(/<.*/, '').trim()
  const chosen = entries.find(entry => entry.name === first) ?? entries[0]
  if (chosen) $('entry').value = chosen.entry
  propose()
}

// The launch that the file's comments give, or one to begin with: a number or a buffer by the size of each parameter.
function propose() {
  const entry = entries.find(one => one.entry === $('entry').value)
  if (!entry) return
  const words = wordsFor(wordsOf(source.text || $('ptx').value), entry.name)
  const guess = () => [
    'grid 1', `block ${entry.block[0] ? entry.block.join(',') : 256}`, ...(entry.shared ? ['shared 48K'] : []),
    ...entry.parameters.map(({ bytes, pointer, float }) => `arg ${pointer || bytes === 8 ? 'f32[4096]:normal:1' : bytes === 4 ? float ? 'f32:1' : 'i32:256' : `i${8 * bytes}:1`}`)]
  $('launch').value = (words.length ? words : guess()).join('\n')
  $('verdict').className = entry.refused ? 'bad' : ''
  $('verdict').textContent = entry.refused ?? (words.length ? `${entry.name}: the launch is that of the file. Run it.`
    : `${entry.name}: a launch to begin with; say how many blocks there are and what its arguments hold.`)
  draft()
}

// ---- the answer

const number = value => value === undefined ? '' : Number.isInteger(value) ? value.toLocaleString('en') : Number(value.toPrecision(3)).toString()
function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let unit = 0
  for (; value >= 1024 && unit < 4; unit++) value /= 1024
  return `${Number(value.toPrecision(3))} ${units[unit]}`
}
const sizes = ([x, y, z]) => z > 1 ? `${x} x ${y} x ${z}` : y > 1 ? `${x} x ${y}` : `${x}`

// A row's cells; `bad` are the columns that stand out, `act` what its first does.
const marked = ({ cells, act, bad = [] }) => cells.map((cell, k) => ({ className: bad.includes(k) ? 'bad' : '', is: !k && act ? button(cell, act) : cell }))

function memories({ global, shared, local }) {
  const sum = (a, b) => ({ requests: a.requests + b.requests, sectors: a.sectors + b.sectors })
  const rows = [['global load', global.load], ['global store', global.store], ['global atomic', global.reduce],
    ['local (spills)', sum(local.load, local.store)], ['shared load', shared.load], ['shared store', shared.store]]
  return table('Memory, counted', ['', 'requests', 'sectors', 'a request', 'bytes', 'wavefronts', 'conflicts'],
    rows.filter(([, c]) => c.requests).map(([text, c]) => marked({ bad: c.conflicts ? [6] : [], cells: [text, number(c.requests), number(c.sectors),
      c.sectors ? number(c.sectors / c.requests) : '', c.sectors ? bytes(c.sectors * SECTOR_BYTES) : '', number(c.wavefronts), number(c.conflicts)] })))
}

const costOf = line => (line.global.load.sectors + line.global.store.sectors + line.global.reduce.sectors + line.local.sectors) / 4 +
  line.shared.load.wavefronts + line.shared.store.wavefronts

// The same in the .cu beside it: marked, and scrolled to.
function pointInSource({ line, file }) {
  const shown = $('source'), isHere = source.text && file.split('/').pop() === source.name
  Array.from(shown.children).forEach((one, k) => one.classList.toggle('at', isHere && k === line - 1))
  if (isHere) shown.scrollTop = Math.max(0, line - 4) * shown.scrollHeight / shown.children.length
}

// Shows the line in the text: of the source where it is at hand, else of the PTX.
function point(line) {
  const area = $('ptx'), lines = area.value.split('\n')
  const at = line.file ? lines.findIndex(text => new RegExp(`^\\s*\\.loc\\s+\\d+\\s+${line.line}\\s`).test(text)) : line.line - 1
  if (at < 0) return
  const begin = lines.slice(0, at).join('\n').length + (at ? 1 : 0)
  area.focus()
  area.setSelectionRange(begin, begin + lines[at].length)
  area.scrollTop = Math.max(0, at - 4) * area.scrollHeight / lines.length
  pointInSource(line)
}

const sectorsOf = line => Object.values(line.global).reduce((n, c) => n + c.sectors, 0)
function linesTable(lines) {
  const shown = lines.filter(line => costOf(line) > 0).slice(0, LINES_SHOWN), most = Math.max(...shown.map(sectorsOf))
  const barred = sectors => {
    const bar = element('i')
    bar.style.width = `${Math.max(1, 60 * sectors / most)}px`
    return element('span', {}, bytes(sectors * SECTOR_BYTES), bar)
  }
  return table('Source lines, the dearest first', ['line', 'source', 'bytes', 'sectors / request', 'used', 'wavefronts', 'conflicts', 'lanes'],
    shown.map(line => {
      const parts = Object.values(line.global), sectors = sectorsOf(line), requests = parts.reduce((n, c) => n + c.requests, 0)
      const wavefronts = line.shared.load.wavefronts + line.shared.store.wavefronts, conflicts = line.shared.load.conflicts + line.shared.store.conflicts
      const used = sectors && line.asked_bytes ? Math.min(1, line.asked_bytes / (sectors * SECTOR_BYTES)) : 1
      const main = !line.file || line.file.split('/').pop() === source.name || !source.name
      const act = () => {
        point(line)
        if (main) draw(line.line)
      }
      return marked({ act, bad: [...(sectors > 16.5 * requests ? [3] : []), ...(used < 0.5 ? [4] : []), ...(conflicts * 4 > wavefronts ? [6] : [])],
        cells: [line.file ? main ? `${line.line}` : `${line.file.split('/').pop()}:${line.line}` : `PTX ${line.line}`, element('code', { textContent: line.text, title: line.text }),
          sectors ? barred(sectors) : '', requests ? number(sectors / requests) : '', sectors && line.asked_bytes ? `${Math.round(100 * used)} %` : '',
          wavefronts ? number(wavefronts) : '', wavefronts ? number(conflicts) : '',
          line.warps ? `${Math.round(100 * line.lanes / (32 * line.warps))} %` : ''] })
    }))
}

// The source beside what its lines move, and the dearest request of one, as the window draws them.
const picture = element('div', { id: 'picture-of' })
const swizzle = element('select', { onchange: () => draw() }, ...[0, 128, 256, 512, 1024].map(rows => new Option(rows ? `swizzled, rows of ${rows} B` : 'as it is', rows)))
const drawing = element('figure', { id: 'banks' }, picture, element('label', {}, 'Shared memory ', swizzle))
let drawn = 0 // the line that is shown; 0: the dearest
async function draw(line = drawn) {
  drawn = line
  const size = `${Math.max(340, drawing.clientWidth - 24)}x880`
  const { text, status } = await question(`${line ? `--line ${line}` : ''} --swizzle ${swizzle.value} -o -.svg --size ${size} --theme ${isDark() ? 'dark' : 'light'}`)
  if (status !== 2) picture.innerHTML = text
}
for (const [target, what] of [[window, 'storage'], [prefersDark, 'change']]) target.addEventListener(what, () => { if (drawing.isConnected) draw() })

function sentences(a) {
  const said = []
  const list = (kind, text) => said.push(element('p', {}, element('span', { className: 'kind', textContent: kind }), ` ${text}`))
  if (a.l1?.hit_rate !== undefined) list('predicted', `L1: ${Math.round(100 * a.l1.hit_rate)} % of loaded sectors hit; ${number(a.l1.sectors_from_l2)} come from L2.`)
  if (a.l2) list('predicted', `L2 of ${a.l2.gpu}: ${bytes(a.l2.read_sectors * SECTOR_BYTES)} read${a.l2.hit_rate === undefined ? '' : `, of which ${Math.round(100 * a.l2.hit_rate)} % hit`}; between ${bytes(a.l2.read_sectors_low * SECTOR_BYTES)} and ${bytes(a.l2.read_sectors_high * SECTOR_BYTES)}.`)
  if (a.hbm) list('predicted', `HBM: ${bytes(a.hbm.read_bytes)} read; ${bytes(a.hbm.write_bytes)} written, and up to ${bytes(a.hbm.write_bytes_high - a.hbm.write_bytes)} more later, which L2 still holds.`)
  if (a.occupancy) list('bound', `Occupancy: ${a.occupancy.blocks_low === a.occupancy.blocks_high ? a.occupancy.blocks_low : `${a.occupancy.blocks_low} to ${a.occupancy.blocks_high}`} blocks an SM, as registers allow; then ${a.occupancy.binds} bounds it.`)
  if (a.bulk.read_bytes || a.bulk.write_bytes) list('counted', `Bulk copies: ${bytes(a.bulk.read_bytes)} read, ${bytes(a.bulk.write_bytes)} written.`)
  if (a.branches.divergent) list('counted', `${number(a.branches.divergent)} of ${number(a.branches.executed)} branches split a warp.`)
  if (a.output) list('computed', `Output ${a.output.argument}: sum ${number(a.output.sum)}, largest magnitude ${number(a.output.max)}.`)
  return said
}

function report(a, printed, seconds) {
  const lanes = a.lines.reduce((n, line) => n + line.lanes, 0)
  $('verdict').className = a.faults.length || a.output?.agrees === false ? 'bad' : ''
  $('verdict').textContent = `${a.verdict} ${a.kernel}: ${sizes(a.grid)} blocks of ${sizes(a.block)} threads, ${number(lanes)} lane instructions in ${seconds.toFixed(2)} s.`
  $('tables').replaceChildren(...a.faults.map(fault => element('p', { className: 'box bad' }, element('b', { textContent: fault.kind }), `: ${fault.message}${fault.count > 1 ? ` (${number(fault.count)} times)` : ''}`)),
    memories(a), ...sentences(a), linesTable(a.lines), drawing, ...(printed ? [element('pre', { textContent: printed })] : []))
  draw(0)
}

// `tilewalk kernel` of what stands here: the launch as comments behind the PTX, in place of its own.
const ownPtx = () => $('ptx').value.replaceAll('tilewalk:', 'tilewalk;')
async function question(more) {
  const text = `${ownPtx()}\n${launchText()}`, [answer] = await askReport(`kernel ${quoted(name)} --entry ${quoted($('entry').value)} ${more}`, [{ name, text }, { name: source.name || 'none.cu', text: source.text }], [''])
  return answer
}

async function run() {
  $('run').disabled = true
  $('stop').disabled = false
  $('verdict').className = ''
  $('verdict').textContent = 'It runs ...'
  const began = performance.now(), { status, text, remark } = await question(`--json ${$('faults').checked ? '' : '--no-faults'} ${$('caches').checked ? '' : '--no-caches'}`)
  const answer = status === 2 ? { error: remark } : JSON.parse(text)
  $('run').disabled = false
  $('stop').disabled = true
  if (answer.error) {
    $('tables').replaceChildren()
    say(answer.error.replace(/^(.*?):(\d+): /, (all, file, line) => file === name && line > ownPtx().split('\n').length ? `Launch, line ${line - ownPtx().split('\n').length}: ` : all))
  } else report(answer, remark, (performance.now() - began) / 1000)
  window.tilewalk.answer = answer
  draft()
}

// ---- the page

const kernelNow = () => ({ name, ptx: $('ptx').value, source, launch: $('launch').value, entry: $('entry').value, faults: $('faults').checked, caches: $('caches').checked })
function draft() {
  const text = JSON.stringify(kernelNow())
  if (text.length <= DRAFT_MOST) keep(DRAFT, text)
}
async function restore(given) {
  source = typeof given.source?.text === 'string' ? given.source : { name: '', text: '' }
  await show(String(given.name), String(given.ptx))
  if (entries.some(one => one.entry === given.entry)) $('entry').value = given.entry
  $('launch').value = given.launch ?? ''
  for (const id of ['faults', 'caches']) $(id).checked = given[id] ?? true
}

const reportLine = () => { try { return location.hash.startsWith(LINK) ? '' : decodeURIComponent(location.hash.slice(1)) } catch { return location.hash.slice(1) } }
const reported = []
const answerReport = reports($('report'), reported, go)
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
  try { await restore(JSON.parse(await unpacked(location.hash.slice(LINK.length), 'kernel', LINK_MOST))) } catch (error) { return tell(error.message) }
  await run()
}

function command() {
  if (reportLine()) return 'tilewalk ' + $('line').value
  const words = $('launch').value.split('\n').map(line => line.trim()).filter(Boolean).map(line => {
    const [word, ...rest] = line.split(/\s+/)
    return [(word.length > 1 ? '--' : '-') + word, ...(rest.length ? [quoted(rest.join(' '))] : [])].join(' ')
  })
  return ['tilewalk kernel', quoted(source.name || name), '--entry', quoted(entries.find(one => one.entry === $('entry').value)?.name ?? ''), ...words,
    ...($('faults').checked ? [] : ['--no-faults']), ...($('caches').checked ? [] : ['--no-caches'])].join(' ')
}
async function link() {
  const text = reportLine() ? '#' + encodeURI($('line').value) : LINK + await packed(JSON.stringify(kernelNow()))
  return location.href.split('#')[0] + text
}

function tell(text) {
  $('note').hidden = !text
  $('note').querySelector('span').textContent = text
}
const copy = text => navigator.clipboard.writeText(text).then(() => tell('Copied.'), () => tell(`The browser does not let this page copy. Here it is: ${text}`))

let edited = 0
$('ptx').oninput = () => {
  clearTimeout(edited)
  edited = setTimeout(() => take(name, $('ptx').value).catch(say), QUIET_MS)
}
$('entry').onchange = propose
$('launch').oninput = draft
$('launch').onkeydown = event => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run() }
$('run').onclick = run
$('stop').onclick = () => whole.stop('Stopped.')
$('copy-command').onclick = () => copy(command())
$('copy-link').onclick = async () => copy(await link())
$('note-close').onclick = () => tell('')
async function example(file) {
  $('sample').value = file
  source = { name: '', text: '' }
  await take(file, examples[file].source).catch(say)
}
$('sample').onchange = event => example(event.target.value).then(run)
addEventListener('hashchange', follow)
const takeFile = takeFiles(KINDS, takeRead, tell)

window.tilewalk = { ready: false, answer: null, take, run, command, example, link, takeFiles: takeFile, ask: line => askReport(line, reported), get examples() { return examples } }
examples = await fetch(new URL('kernels.json', import.meta.url)).then(answer => answer.json())
$('sample').append(...Object.entries(examples).map(([file, { title }]) => new Option(`${file}: ${title}`, file)))
const given = handed(KINDS, tell), last = keptObject(DRAFT, tell)
if (given.length) await takeRead(given)
else if (typeof last.ptx === 'string' && last.ptx) await restore(last)
else await example(Object.keys(examples)[0])
await follow()
if (!given.length && !last.ptx && !location.hash) await run()
window.tilewalk.ready = true
