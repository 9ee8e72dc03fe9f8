// How fast the pages are, by their own clock: node tests/web/bench.mjs BUILD CHROMIUM (or `make bench-web`). A change is
// measured from where it is asked for until its picture is on the canvas; ratios are of the limit: below 1 holds.

import { join } from 'node:path'
import { open, serve, start } from './browser.mjs'

const [build, chromium] = process.argv.slice(2)
const ROUNDS = Number(process.env.ROUNDS ?? 12)
const LIMITS = { change: 16, first: 1000, l2: 150, frame: 1000 / 60 }
const SMALL = 'N=64 d=16 causal=1 block=8', LARGE = 'N=4096 d=128 heads=32 kv-heads=8 causal=1 block=128 gpu=h200 step=1000'

const server = await serve(join(build, 'web')), browser = await start(build, 'chrome', chromium)
let misses = 0
// What an expression of a page at a state line takes, each of several times.
async function row(name, limit, line, expression) {
  const page = await open(browser, { width: 1920, height: 1080 })
  await page.visit(`${server.origin}/see.html#${line.replaceAll(' ', '&')}`)
  await page.until(`window.tilewalk?.hasPicture`)
  report(name, limit, await page.evaluate(expression))
  await page.close()
}
function report(name, limit, taken) {
  const middle = taken.sort((a, b) => a - b)[taken.length >> 1]
  if (!(middle <= limit)) misses++
  console.log(`  ${name.padEnd(38)} ${middle.toFixed(1).padStart(7)} ${taken.at(-1).toFixed(1).padStart(7)} ${(middle / limit).toFixed(2).padStart(6)}${middle <= limit ? '' : '  above the limit'}`)
}
// Sets N, there and back, until `done`.
const change = (values, done, rounds = ROUNDS) => `(async () => {
  const taken = []
  for (let k = -2; k < ${rounds}; k++) {
    const start = performance.now()
    tilewalk.set('N', ${JSON.stringify(values)}[k & 1])
    ${done}
    if (k >= 0) taken.push(performance.now() - start)
    await new Promise(requestAnimationFrame)
  }
  return taken
})()`
const DRAWN = 'tilewalk.frame(start); tilewalk.context.getImageData(0, 0, 1, 1)'
const KNOWN = 'while (tilewalk.engine.calls.web_l2_is_awaited()) await new Promise(done => setTimeout(done, 2))'

console.log('  milliseconds                        median   worst  of the limit')
await row('first picture, cold', LIMITS.first, '', `[performance.getEntriesByName('first-picture')[0].startTime]`)
for (const scene of ['walk', 'softmax', 'piles', 'time', 'bank', 'many']) await row(`another N, ${scene}`, LIMITS.change, `${SMALL} scene=${scene}`, change(['128', '64'], DRAWN))
for (const scene of ['walk', 'softmax']) await row(`another N, ${scene}, N = 4,096 on H200`, LIMITS.change, `${LARGE} scene=${scene}`, change(['8192', '4096'], DRAWN))
for (const [N, other] of [[4096, 8192], [65536, 32768]])
  await row(`L2 in a Worker, N = ${N}`, LIMITS.l2, `N=${N} d=128 heads=4 causal=1 block=128 gpu=h200 scene=walk`, change([String(other), String(N)], KNOWN, 8))
for (const scene of ['walk', 'softmax', 'piles'])
  await row(`between frames in motion, ${scene}`, LIMITS.frame + 1, `${SMALL} scene=${scene} step=0`, `(async () => {
    const taken = [], next = () => new Promise(requestAnimationFrame)
    tilewalk.input('play')
    for (let k = 0, last = await next(); k < 120; k++) { const now = await next(); taken.push(now - last); last = now }
    return taken
  })()`)
// Learn over fast 3G (1.6 Mb/s), from nothing: its first picture, a step by the small program, and its own program.
for (const latency of [150, 560]) for (const name of ['story', '02-one-row', '05-the-machine']) {
  const page = await open(browser), now = async is => (await page.until(is), await page.evaluate('performance.now()'))
  await page.setBypassServiceWorker(true) // it is not slowed
  await page.emulateNetworkConditions({ download: 2e5, upload: 9e4, latency })
  await page.visit(`${server.origin}/lessons.html#${name}`)
  const first = await page.until(`performance.getEntriesByName('first-picture')[0]?.startTime`)
  const moves = await now(`$('canvas').width > 300 && !$('poster') && ($('next').click(), $('place').value > 0)`)
  report(`first picture, ${name}, ${latency} ms`, 1500, [first])
  report(`a step`, 5000, [moves])
  report(`its own program`, Infinity, [await now('window.tilewalk')])
  await page.close()
}
await browser.close()
server.close()
console.log(misses ? `  ${misses} above their limits` : '  all within their limits')
