// The front page: two machines carry the same bytes over one link. The shapes are in the page (viz/web/front.py wrote
// them); this moves them. No engine and no font is loaded.

import { isStill } from './top.js'

// A link into the viewer, from before the front page lay here.
if (location.hash.includes('=')) location.replace('see.html' + location.hash)

const SIDE = 8, TILE = 16384, SCORES = 32768, MIB = 2 ** 20
const BYTES_A_SECOND = MIB / 2.2, REST_S = 3, FLIGHT_S = 0.2

// Loads and stores ("S+") in order, as `tilewalk trace -N 1024 -d 64 --block 128` has them.
export function standard() {
  const all = [], tiles = [...Array(SIDE).keys()]
  for (const i of tiles) {
    all.push(['Q', i, TILE])
    for (const j of tiles) all.push(...i ? [] : [['K', j, TILE]], ['S+', SIDE * i + j, SCORES]) // K stays
  }
  for (const i of tiles) {
    for (const j of tiles) all.push(['S', SIDE * i + j, SCORES])
    for (const j of tiles) all.push(['P+', SIDE * i + j, SCORES])
  }
  for (const i of tiles) {
    for (const j of tiles) all.push(['P', SIDE * i + j, SCORES], ...i ? [] : [['V', j, TILE]])
    all.push(['O+', i, TILE])
  }
  return all
}
export function fused() {
  const all = [], tiles = [...Array(SIDE).keys()]
  for (const i of tiles) {
    all.push(['Q', i, TILE])
    for (const j of tiles) all.push(['K', j, TILE], ['V', j, TILE])
    all.push(['O+', i, TILE])
  }
  return all
}

const LANES = [standard(), fused()].map((events, lane) => {
  let sum = 0
  return { lane, events, ends: events.map(([, , bytes]) => sum += bytes), total: sum, all: [...document.querySelectorAll(`[data-lane="${lane}"]`)].map(svg => ({ svg,
    tiles: new Map([...svg.querySelectorAll('[data-at]')].map(e => [e.dataset.at, e])),
    slots: new Map([...svg.querySelectorAll('[data-slot]')].map(e => [e.dataset.slot, e])), fly: svg.querySelector('.fly') })) }
})
const words = bytes => bytes % (MIB / 4) === 0 ? `${bytes / MIB} MiB` : `${(bytes / MIB).toFixed(1)} MiB`

function paintLane({ lane, events, ends, total, all }, moved, seconds) {
  const bytes = Math.min(moved, total)
  let at = ends.findIndex(end => end >= bytes)
  if (at < 0) at = ends.length - 1
  const isOver = bytes >= total, stored = { S: 0, P: 0, O: 0 }
  for (let k = 0; k <= at && bytes > 0; k++) if (events[k][0][1]) stored[events[k][0][0]] = events[k][1] + 1
  const [tensor, tile] = events[at], now = isOver || bytes <= 0 ? '' : tensor[0] + tile
  const slot = now && tensor[0].replace('P', 'S')
  for (const { tiles, slots, fly } of all) {
    for (const [name, shape] of tiles) {
      const k = Number(name.slice(1)), kind = name[0]
      const look = name === now ? 'a' : kind === 'O' ? k < stored.O ? 'b' : 'e' : 'SP'.includes(kind) ? k < stored[kind] ? 'w' : 'e' : 'd'
      if (shape.getAttribute('class') !== look) shape.setAttribute('class', look)
    }
    for (const [name, shape] of slots) {
      const look = name === slot ? 'a' : 'e'
      if (shape.getAttribute('class') !== look) shape.setAttribute('class', look)
      shape.nextElementSibling.classList.toggle('on', look === 'a')
    }
    const from = tiles.get(now), to = slots.get(slot)
    fly.setAttribute('visibility', seconds > 0 && from && to ? 'visible' : 'hidden')
    if (!(seconds > 0 && from && to)) continue
    const part = seconds / FLIGHT_S % 1, way = tensor[1] ? 1 - part : part
    const place = key => Number(from.getAttribute(key)) * (1 - way) + (Number(to.getAttribute(key)) + (key === 'x' ? 12 : 8)) * way
    fly.setAttribute('x', place('x'))
    fly.setAttribute('y', place('y'))
  }
  document.querySelector(`[data-moved="${lane}"]`).textContent = words(bytes)
  document.querySelector(`[data-meter="${lane}"]`).style.width = `${100 * bytes / total}%`
}

const SCORES_OUT = LANES[0].ends[SIDE * (SIDE + 2) - 1]
function caption(bytes) {
  if (bytes >= LANES[0].total) return `The same O, for ${(LANES[0].total / LANES[1].total).toFixed(1)} times the bytes.`
  if (bytes >= SCORES_OUT) return '… standard reads the table back, writes P, and reads that too.'
  if (bytes >= LANES[1].total) return 'FlashAttention-2 is done. Standard attention is still storing scores.'
  return 'Standard attention sends the table of scores out to slow memory …'
}
export function paint(bytes, seconds = 0) {
  for (const lane of LANES) paintLane(lane, bytes, seconds)
  document.getElementById('caption').textContent = caption(bytes)
}

export const POSTER = 1.7 * MIB
let moved = POSTER, last = 0, waiting = 0, seconds = 0
const play = document.getElementById('play')

function frame(now) {
  const passed = Math.min(0.1, (now - last) / 1000)
  last = now
  seconds += passed
  moved += passed * BYTES_A_SECOND
  if (moved > LANES[0].total + REST_S * BYTES_A_SECOND) moved = 0
  paint(moved, moved < LANES[0].total ? seconds : 0)
  waiting = requestAnimationFrame(frame)
}
function run(isOn) {
  cancelAnimationFrame(waiting)
  waiting = 0
  if (isOn) {
    last = performance.now()
    waiting = requestAnimationFrame(frame)
  }
  play.setAttribute('aria-label', isOn ? 'Pause' : 'Play')
  play.querySelector('path').setAttribute('d', isOn ? 'M7 6h2v12H7zM15 6h2v12h-2z' : 'M8 5v14l11-7z')
}
const still = () => { // 62 % of the shorter run
  run(false)
  paint(moved = 0.62 * LANES[1].total)
}
play.hidden = false
play.addEventListener('click', () => run(!waiting))
isStill.addEventListener('change', () => isStill.matches ? still() : run(true))
document.addEventListener('visibilitychange', () => { if (document.hidden) cancelAnimationFrame(waiting); else if (waiting) run(true) })
if (isStill.matches) still()
else run(true)
requestAnimationFrame(() => performance.mark('first-picture'))
