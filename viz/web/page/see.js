// See, and the same in a frame of another page: scenes, a problem, the run, and one panel beside them.

import { $, elements, button, element } from './element.js'
import { takeFiles } from './files.js'
import { PANELS } from './panels.js'
import { turnTheme } from './top.js'
import { Viewer, lineWith } from './viewer.js'

const isEmbedded = document.body.classList.contains('embed')
const { panel, menu } = elements
const FIRST = 'algorithm=fa2 N=1024 d=64 block=128 step=153'
const rail = [...document.querySelectorAll('#rail [data-scene]')]
const asked = new URLSearchParams(location.search)

// Of many frames on a page those start that are seen; what they are told before waits.
const early = [], hear = message => early.push(message)
if (isEmbedded) {
  addEventListener('message', hear)
  await new Promise(seen => new IntersectionObserver((entries, watch) => {
    if (!entries.some(entry => entry.isIntersecting)) return
    watch.disconnect()
    seen()
  }).observe(document.documentElement))
}
let unit = 'event' // what Back and Next go by
const go = way => viewer.input(unit === 'event' ? way : `${unit}-${way}`)
const viewer = await Viewer.open({ follows: !isEmbedded, plays: isEmbedded ? asked.get('play') === '1' : true, first: FIRST, isEmbedded, keys, go })
window.tilewalk = viewer // for the console, and for tests
const { engine } = viewer

// ---- panels: one at a time; opening one is a place to come back from

const page = { isOpen: '' }
const from = { rooms: 'rooms', chip: 'problem', share: 'share', code: 'code', numbers: 'numbers', help: 'help' } // buttons
let open = '', opener = null

function fill() {
  const { title, make } = PANELS[open]
  const focused = document.activeElement?.dataset?.parameter
  panel.replaceChildren(element('div.head', element('h2', title), button('✕', () => toggle(''), { className: 'plain', id: 'panel-close', ariaLabel: 'Close' })), ...make(viewer, page))
  if (focused) panel.querySelector(`[data-parameter="${focused}"]`)?.focus()
  panel.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
}
function show(name) {
  if (name && !open) opener = document.activeElement
  open = name
  panel.hidden = !name
  for (const [id, panel] of Object.entries(from)) $(id)?.setAttribute('aria-expanded', String(panel === name))
  if (name) fill()
  else {
    opener?.focus?.({ preventScroll: true })
    opener = null
  }
}
function toggle(name) {
  const next = name === open ? '' : name
  if (!isEmbedded) history.pushState({ panel: next }, '', location.href)
  show(next)
  if (next) $('panel-close').focus({ preventScroll: true })
}
addEventListener('popstate', ({ state }) => {
  if ((state?.panel ?? '') !== open) show(state?.panel ?? '')
})
for (const [id, name] of Object.entries(from)) $(id)?.addEventListener('click', () => toggle(name))

// ---- what Back and Next go by, and how fast

const UNITS = { event: 'step', tile: 'tile', row: 'row', pass: 'pass', mark: 'write-back', max: 'new maximum', skip: 'skipped tile' }
const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 1000]

menu?.addEventListener('beforetoggle', () => {
  const radio = (name, value, text, checked, onchange) => element('label', element('input', { type: 'radio', name, value, checked, autofocus: checked, onchange }), text)
  const speed = engine.call('web_speed')
  menu.replaceChildren(
    element('fieldset', element('legend', 'Back and Next go by'), ...Object.entries(UNITS).map(([key, text]) =>
      radio('unit', key, text, key === unit, () => { unit = key; $('unit-name').textContent = text }))),
    element('fieldset', element('legend', 'Steps a second'), ...[...new Set([...SPEEDS, speed])].sort((a, b) => a - b).map(value =>
      radio('speed', value, value.toLocaleString('en'), value === speed, () => engine.call('web_set_speed', value)))))
})
$('fullscreen').onclick = () => viewer.fullscreen()
const noMax = $('no-max').firstElementChild
noMax.addEventListener('change', () => viewer.restore(lineWith(viewer.state(), { 'without-max': noMax.checked ? 1 : '' })))

// ---- scenes: one tab stop

rail.forEach((tab, k) => {
  tab.onclick = () => viewer.input(tab.dataset.scene)
  tab.onkeydown = event => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key]
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? rail.length - 1 : step ? (k + step + rail.length) % rail.length : -1
    if (to < 0) return
    event.preventDefault()
    rail[to].focus()
    rail[to].click()
  }
})

// ---- keys

function closeTop() {
  if (menu?.matches(':popover-open')) menu.hidePopover()
  else if (open) toggle('')
  else if (isEmbedded) parent.focus() // the keyboard is the host's again
  else return false
  return true
}
function keys(key) {
  if (key === 'Escape') return closeTop()
  if (/^[1-9]$/.test(key) && rail[key - 1]) return rail[key - 1].click(), true
  if (key === 't' && !isEmbedded) return turnTheme(), true
  if (key === 'f') return viewer.fullscreen(), true
  const name = Object.keys(PANELS).find(panel => PANELS[panel].key === key && (!isEmbedded || panel === 'code'))
  if (name) toggle(name)
  return Boolean(name)
}
addEventListener('keydown', event => { // also where a field has the keys
  if (event.key === 'Escape' && !event.defaultPrevented && viewer.isElsewhere(event) && closeTop()) event.preventDefault()
})

if ($('load')) takeFiles([], () => {}, text => viewer.tell(text, true))

const isNarrow = matchMedia('(max-width: 1099px)')

// ---- what follows a frame, and what follows a rest

viewer.moved.push(words => {
  $('no-max').hidden = words.scene !== 'softmax'
  rail.forEach(tab => {
    const on = tab.dataset.scene === words.scene
    tab.setAttribute('aria-selected', String(on))
    tab.tabIndex = on ? 0 : -1
  })
  if (isEmbedded) $('chip-bytes').textContent = words.whole
  const heads = words.heads === 1 ? '1 head' : `${words.heads} heads`
  $('chip-title').textContent = isNarrow.matches ? words.name : words.title
  $('chip-size').textContent = `N ${words.N}${words.keys ? `, ${words.keys} keys` : ''}, d ${words.d}`
  $('chip-rest').textContent = [heads, words.gpu, words.mask || 'no mask'].join(', ')
})
let filled = ''
viewer.changed.push(() => {
  document.title = `Tilewalk: ${viewer.words.title}`
  const state = viewer.state(), what = { state: state.replace(/ step=\d+/, ''), step: state }[PANELS[open]?.follows] ?? ''
  if (open && what && open + what !== filled && !panel.contains(document.activeElement?.closest('input[type="text"], input[type="range"], textarea'))) fill()
  filled = open + what
  if ($('open')) $('open').href = 'see.html' + viewer.hash()
})

// ---- a frame of another page: what it is asked and told (embed-example.html)

if (isEmbedded) {
  document.body.classList.toggle('bare', asked.get('controls') === '0')
  addEventListener('hashchange', () => viewer.follow())
  // Only pages of its own origin are heard, and those that the address allows by origin=.
  const allowed = new Set([location.origin, ...asked.getAll('origin')])
  const state = () => {
    const { step, steps, what, why } = viewer.words
    return { tilewalk: 1, type: 'state', state: viewer.state(), step, steps, what, why }
  }
  const answer = ({ source, origin, data }) => {
    if (source !== parent || !data || data.tilewalk !== 1) return
    const tell = said => source.postMessage(said, origin === 'null' ? '*' : origin)
    if (!allowed.has(origin)) return tell({ tilewalk: 1, type: 'refused', why: `add origin=${origin} to the frame's address` })
    if (data.type === 'set' && typeof data.state === 'string') viewer.restore(data.state.slice(0, 4000))
    else if (data.type === 'step' && Number.isInteger(data.step)) viewer.restore(lineWith(viewer.state(), { step: Math.max(0, Math.min(data.step, viewer.words.steps)) }))
    else if (data.type === 'play') viewer.input('play')
    else if (data.type !== 'state') return tell({ tilewalk: 1, type: 'refused', why: 'there are set, step, play and state' })
    viewer.frame(performance.now()) // also where a browser draws no frames of what is off the screen
    tell(state())
  }
  removeEventListener('message', hear)
  addEventListener('message', answer)
  early.forEach(answer)
  viewer.changed.push(() => { if (parent !== window) for (const origin of allowed) if (origin !== location.origin || origin === document.referrer.slice(0, origin.length)) parent.postMessage(state(), origin) })
}
viewer.moved.forEach(call => call(viewer.words))
