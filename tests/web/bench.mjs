// How fast the pages are, by the browser's own trace: node tests/web/bench.mjs BUILD CHROMIUM (or `make bench-web`).
//
// A change's picture is measured from the key to the end of the frame that draws it. `work` is processor time of the
// page's main thread, which another program on the machine does not change; `wall` is what a person waits, without the
// wait for the display. Ratios are of the limit: below 1 holds.

import { join } from 'node:path'
import { Browser, serve } from './browser.mjs'

const [build, chromium] = process.argv.slice(2)
const ROUNDS = Number(process.env.ROUNDS ?? 12)
const LIMITS = { change: 16, first: 1000, l2: 150, frame: 1000 / 60 }
const CATEGORIES = ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'blink.user_timing', 'v8.execute', 'toplevel']
const SMALL = 'N=64 d=16 causal=1 block=8', LARGE = 'N=4096 d=128 heads=32 kv-heads=8 causal=1 block=128 gpu=h200 step=1000'
const SCENES = ['walk', 'softmax', 'piles', 'time', 'bank', 'many']
const pause = ms => new Promise(resolve => setTimeout(resolve, ms))

// ---- traces

async function traced(page, during) {
  const { browser } = page, events = []
  const take = ({ method, params, sessionId }) => { if (method === 'Tracing.dataCollected' && sessionId === page.sessionId) events.push(...params.value) }
  browser.listeners.push(take)
  await page.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: CATEGORIES, recordMode: 'recordAsMuchAsPossible' } })
  await during()
  const complete = new Promise(resolve => browser.listeners.push(({ method }) => { if (method === 'Tracing.tracingComplete') resolve() }))
  await page.send('Tracing.end')
  await complete
  browser.listeners.splice(browser.listeners.indexOf(take), 1)
  return events
}
// Events of the main thread of the page, in order; times in milliseconds.
function mainThread(events) {
  const frames = events.filter(e => e.name === 'FireAnimationFrame')
  const { pid, tid } = frames[0]
  return events.filter(e => e.pid === pid && e.tid === tid && e.ph === 'X')
    .map(e => ({ name: e.name, type: e.args?.data?.type, at: e.ts / 1000, wall: (e.dur ?? 0) / 1000, work: (e.tdur ?? 0) / 1000 }))
    .sort((a, b) => a.at - b.at)
}
// From each keydown to the end of the task that draws the next frame. What other tasks of the thread take is not part
// of it; the wait between the two is for the display.
function changes(events) {
  const all = mainThread(events)
  return all.filter(e => e.name === 'EventDispatch' && e.type === 'keydown').map(key => {
    const frame = all.find(e => e.name === 'FireAnimationFrame' && e.at >= key.at)
    if (!frame) return null
    const paints = all.filter(e => ['Paint', 'Commit', 'Layerize', 'PrePaint'].includes(e.name) && e.at > frame.at && e.at < frame.at + frame.wall + 30)
    const parts = [key, frame, ...paints.filter(p => !all.some(o => o.name === 'FireAnimationFrame' && o !== frame && o.at > frame.at && o.at < p.at))]
    return { work: sum(parts.map(p => p.work)), wall: sum(parts.map(p => p.wall)) }
  }).filter(Boolean)
}
const sum = list => list.reduce((a, b) => a + b, 0)
const sorted = list => [...list].sort((a, b) => a - b)
const median = list => sorted(list)[list.length >> 1] ?? NaN
const worst = list => Math.max(...list)

let misses = 0
function row(name, values, limit, walls = null) {
  const middle = median(values), most = worst(values)
  if (!(middle <= limit)) misses++
  console.log(`  ${name.padEnd(34)} ${middle.toFixed(1).padStart(7)} ${most.toFixed(1).padStart(7)} ${walls ? median(walls).toFixed(1).padStart(7) : '      -'} ` +
    `${(middle / limit).toFixed(2).padStart(6)}${middle <= limit ? '' : '  above the limit'}`)
}

// ---- what is measured

const server = await serve(join(build, 'web'), '/')
const browser = await Browser.start(chromium)
async function open(line, size = { width: 1920, height: 1080 }) {
  const page = await browser.page(size)
  await page.open(server.origin + '/see.html#' + line.replaceAll(' ', '&'))
  await page.until('window.tilewalk')
  await page.value('tilewalk.canvas.focus()')
  return page
}

console.log('  milliseconds                        median   worst    wall  of the limit')

const firsts = []
for (let k = 0; k < 5; k++) {
  const page = await browser.page({ width: 1920, height: 1080 })
  await page.open(server.origin + '/see.html')
  await page.until(`performance.getEntriesByName('first-picture').length`)
  firsts.push(await page.value(`performance.getEntriesByName('first-picture')[0].startTime`))
  await page.close()
}
row('first picture, cold (wall)', firsts, LIMITS.first)

// N, there and back, by a key that sets it.
const KEY = 'F2', N = 2
async function change(name, line, values) {
  const page = await open(line)
  await page.value(`(() => { let k = 0; addEventListener('keydown', ({ key }) => { if (key === '${KEY}') tilewalk.set(${N}, ${JSON.stringify(values)}[k++ % 2]) }) })()`)
  const before = await page.value('tilewalk.state()')
  await page.press(KEY)
  await page.until(`tilewalk.state() !== ${JSON.stringify(before)}`)
  await page.press(KEY) // warm
  await pause(300)
  const taken = changes(await traced(page, async () => {
    for (let k = 0; k < ROUNDS; k++) { await page.press(KEY); await pause(80) }
  }))
  row(name, taken.map(t => t.work), LIMITS.change, taken.map(t => t.wall))
  await page.close()
}
for (const [name, problem] of [['', SMALL], [', N = 4,096 on H200', LARGE]])
  for (const scene of name ? ['walk', 'softmax'] : SCENES)
    await change(`another N, ${scene}${name}`, `${problem} scene=${scene}`, name ? ['8192', '4096'] : ['128', '64'])

// L2 in the Worker, from the change to its figures.
for (const [N, other] of [[4096, 8192], [65536, 32768]]) {
  const page = await open(`N=${N} d=128 heads=4 causal=1 block=128 gpu=h200 scene=walk`)
  const known = `!tilewalk.engine.calls.web_l2_is_awaited()`
  await page.until(known)
  const taken = []
  for (let k = 0; k < Math.min(ROUNDS, 8); k++)
    taken.push(await page.value(`(async () => { const start = performance.now(); tilewalk.set(2, '${k % 2 ? N : other}')
      while (!(${known})) await new Promise(done => setTimeout(done, 2))
      return tilewalk.answered - start })()`))
  row(`L2 in a Worker, N = ${N} (wall)`, taken, LIMITS.l2)
  await page.close()
}

// Motion: what a frame costs, and how many come.
for (const scene of ['walk', 'softmax', 'piles']) {
  const page = await open(`${SMALL} scene=${scene} step=0`) // a link without a step plays by itself
  const events = await traced(page, async () => {
    await page.type(' ')
    await pause(2500)
    await page.type(' ')
  })
  const frames = mainThread(events).filter(e => e.name === 'FireAnimationFrame')
  const steady = frames.slice(3, -1), gaps = steady.slice(1).map((f, k) => f.at - steady[k].at)
  row(`a frame in motion, ${scene}`, steady.map(f => f.work), LIMITS.frame, steady.map(f => f.wall))
  console.log(`    ${(1000 / median(gaps)).toFixed(0)} frames a second (median), ${(1000 * gaps.length / sum(gaps)).toFixed(0)} in the mean, longest gap ${worst(gaps).toFixed(0)} ms`)
  await page.close()
}
await browser.close()
server.close()
console.log(misses ? `  ${misses} above their limits` : '  all within their limits')
