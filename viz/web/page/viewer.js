// The viewer on a canvas: frames, pointer, touch, keys, permalink, live text, files to save.

import { load } from './engine.js'
import { FONTS, List, Painter, Ruler, svg } from './canvas.js'

const LEAST_WIDTH = 760, LEAST_HEIGHT = 500 // in CSS pixels: smaller than that a page scrolls
const QUIET_MS = 350 // after the last change: permalink and live text follow

// "#N=64&d=16" or "#N=64 d=16" to "N=64 d=16", and back.
export function lineOf(hash) {
  const text = hash.replace(/^#/, '')
  return text.split(/&|\+|%20| /).filter(part => part && !part.startsWith(PROGRAM)).map(part => {
    try { return decodeURIComponent(part) } catch { return part }
  }).join(' ')
}
export function hashOf(line) {
  return '#' + line.split(' ').map(part => encodeURIComponent(part).replaceAll('%3D', '=').replaceAll('%2C', ',')
    .replaceAll('%2F', '/').replaceAll('%3A', ':')).join('&')
}
export const commandOf = line => `tilewalk view --state '${line.replaceAll("'", `'\\''`)}'`

// A program travels in a link as "program=": deflated, in base64url. Text from a link is bounded before it is read.
const PROGRAM = 'program=', PACKED_MOST = 12000, PROGRAM_MOST = 6143 // the bytes that C's reader takes
export async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer())
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
export async function unpacked(text) {
  if (text.length > PACKED_MOST) throw new Error(`the program in this link is longer than ${PACKED_MOST} characters`)
  let bytes
  try {
    bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0))
  } catch { throw new Error('the program in this link is damaged: copy the whole link') }
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader()
  const parts = []
  let n = 0
  for (;;) {
    const { done, value } = await reader.read().catch(() => { throw new Error('the program in this link is damaged: copy the whole link') })
    if (done) break
    n += value.length
    if (n > PROGRAM_MOST) {
      reader.cancel().catch(() => {})
      throw new Error(`the program in this link has more than ${PROGRAM_MOST} bytes`)
    }
    parts.push(value)
  }
  return new Blob(parts).text()
}
export const packedIn = hash => hash.replace(/^#/, '').split('&').find(part => part.startsWith(PROGRAM))?.slice(PROGRAM.length) ?? ''

async function loadFonts() {
  await Promise.all(FONTS.map(font => document.fonts.load(font, 'Aα×')))
}

export class Viewer {
  // `elements`: canvas, live (or none), each of the page. `options`: follows (the permalink), dark, engine.
  constructor(engine, ruler, elements, options) {
    Object.assign(this, { engine, ruler, ...elements, options, List })
    this.painter = new Painter()
    this.context = this.canvas.getContext('2d', { alpha: false })
    this.changed = []   // called after a change came to rest
    this.last = 0
    this.said = ''
    this.shown = ''
    this.program = this.packed = '' // of one's own
    this.linkError = '' // why that of the link was not taken
  }

  static async open(elements, options = {}) {
    const ruler = new Ruler()
    const viewer = { it: null }
    const [engine] = await Promise.all([
      load(options.program ?? 'tilewalk.wasm', options.bundles ?? ['assets.bundle'], {
        measure: (e, ...values) => ruler.measure(e, ...values),
        act: (e, name) => viewer.it?.act(e.read(name)),
      }),
      loadFonts(),
    ])
    viewer.it = new Viewer(engine, ruler, elements, options)
    const wrong = options.line === undefined ? await viewer.it.takeLinked(location.hash) : ''
    viewer.it.begin(options.line ?? lineOf(location.hash))
    if (wrong) viewer.it.tell(viewer.it.linkError = wrong, true)
    return viewer.it
  }

  // ---- a program of one's own

  // Checks it and takes it as mine.walk; returns "" or what is wrong. State lines that name mine.walk show it.
  async takeProgram(text) {
    const wrong = this.engine.text('web_program', text)
    if (!wrong) {
      this.program = text
      this.packed = await packed(text)
    }
    return wrong
  }
  // The one that a link brings, if it does.
  async takeLinked(hash) {
    const given = packedIn(hash)
    if (!given || given === this.packed) return ''
    try { return await this.takeProgram(await unpacked(given)) } catch (error) { return error.message }
  }
  // The permalink of what is shown.
  hash() {
    const state = this.state()
    return hashOf(state) + (this.packed && /\bmine\.walk\b/.test(state) ? '&' + PROGRAM + this.packed : '')
  }

  begin(line) {
    const { engine } = this
    this.options.background ??= typeof Worker === 'function'
    engine.call('web_l2_later', this.options.background)
    const taken = engine.call('web_open', line)
    engine.call('web_look', this.options.dark ?? matchMedia('(prefers-color-scheme: dark)').matches,
      matchMedia('(prefers-reduced-motion: reduce)').matches)
    if (!taken) engine.call('web_say', engine.text('web_error'), true)
    this.listen()
    this.resize()
    this.frame(performance.now())
  }

  // ---- frames

  resize() {
    const box = this.canvas.parentElement.getBoundingClientRect()
    const width = Math.max(this.options.leastWidth ?? LEAST_WIDTH, box.width)
    const height = Math.max(this.options.leastHeight ?? Math.min(LEAST_HEIGHT, width * 0.66), box.height)
    this.scale = window.devicePixelRatio || 1
    this.canvas.style.width = width + 'px'
    this.canvas.style.height = height + 'px'
    this.canvas.width = Math.round(width * this.scale)
    this.canvas.height = Math.round(height * this.scale)
    this.engine.call('web_resize', this.canvas.width, this.canvas.height)
    this.wake()
  }

  wake() {
    if (!this.waiting) this.waiting = requestAnimationFrame(now => this.frame(now))
  }

  frame(now) {
    this.waiting = 0
    const { calls } = this.engine
    const wasMoving = this.isMoving
    const drawn = calls.web_frame(wasMoving ? Math.max(0, (now - this.last) / 1000) : 0)
    this.last = now
    if (drawn) {
      if (!this.hasPicture) this.first()
      this.painter.paint(this.context, new List(this.engine), this.canvas.width, this.canvas.height)
      this.rest()
      if (calls.web_l2_is_awaited()) this.askL2()
    }
    this.isMoving = calls.web_is_moving() !== 0
    if (this.isMoving) this.wake()
  }

  // L2 takes up to 0.2 s: a Worker works it out, one question at a time, while frames go on.
  question() { return this.state().replace(/ (step|scene)=\S+/g, '') }
  askL2() {
    const question = this.question()
    if (this.isAsking || !this.options.background) return
    if (!this.background) {
      this.background = new Worker(new URL('background.js', import.meta.url), { type: 'module' })
      this.background.onmessage = ({ data }) => this.takeL2(data)
      this.background.onerror = () => this.takeL2(null)
      this.background.postMessage(this.engine.module)
    }
    this.isAsking = true
    this.background.postMessage({ question, program: this.program })
  }
  takeL2(answer) {
    this.isAsking = false
    if (!this.engine.calls.web_l2_is_awaited()) return
    if (!answer) { // no Worker here, or it refused: as without one
      this.options.background = false
      this.engine.call('web_l2_later', false)
      this.engine.call('web_open', this.state())
    } else if (answer.question === this.question() && answer.program === this.program) {
      const at = this.engine.write(answer.bytes)
      this.engine.calls.web_l2_give(at)
      this.engine.calls.free(at)
      this.answered = performance.now()
    } else return this.askL2() // the problem has changed meanwhile
    this.wake()
  }

  first() {
    this.hasPicture = true
    requestAnimationFrame(() => performance.mark('first-picture'))
  }

  // When nothing has changed for a while, what is outside the canvas follows.
  rest() {
    if (this.isMoving && this.resting) return
    clearTimeout(this.resting)
    this.resting = setTimeout(() => {
      this.resting = 0
      const hash = this.hash()
      if (this.options.follows && hash !== this.shown && !this.engine.call('web_is_playing')) {
        history.replaceState(null, '', hash)
        this.shown = hash
      }
      this.say()
      this.changed.forEach(call => call())
      if (this.engine.call('web_is_playing')) this.rest()
    }, QUIET_MS)
  }

  // Live text for a screen reader: the message if there is a new one, else the step in words, while nothing plays.
  say() {
    if (!this.live || this.engine.call('web_is_playing')) return
    const message = this.engine.text('web_message')
    const words = (message ? message + '. ' : '') + this.engine.text('web_describe')
    if (words !== this.said) this.live.textContent = this.said = words
  }

  state() { return this.engine.text('web_state') }
  menu() { return JSON.parse(this.engine.text('web_menu')) }
  input(name) {
    this.engine.call('web_act', typeof name === 'number' ? name : this.engine.call('web_input_named', name))
    this.wake()
  }
  set(parameter, value) {
    this.engine.call('web_set', parameter, value)
    this.wake()
  }
  tell(text, isBad = false) {
    this.engine.call('web_say', text, isBad)
    this.wake()
  }
  restore(line) {
    if (line === this.state()) return
    this.engine.call('web_open', line)
    this.wake()
  }

  // ---- events

  listen() {
    const { canvas, engine } = this
    const place = event => {
      const box = canvas.getBoundingClientRect()
      return [(event.clientX - box.left) * this.scale, (event.clientY - box.top) * this.scale]
    }
    const on = (target, name, call, how) => target.addEventListener(name, event => { call(event); this.wake() }, how)
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', event => {
      if (this.options.dark === undefined) engine.call('web_look', event.matches, false)
      this.wake()
    })
    on(canvas, 'pointermove', event => engine.call('web_motion', ...place(event)))
    on(canvas, 'pointerdown', event => {
      canvas.focus({ preventScroll: true })
      engine.call('web_motion', ...place(event))
      if (event.button === 1) return
      engine.call('web_press', event.button === 2 ? 3 : 1)
      if (event.pointerType === 'mouse' || engine.call('web_is_control', ...place(event)))
        canvas.setPointerCapture(event.pointerId)
    })
    on(canvas, 'pointerup', event => {
      engine.call('web_motion', ...place(event))
      engine.call('web_release', event.button === 2 ? 3 : 1)
    })
    on(canvas, 'pointercancel', () => engine.call('web_release', 1))
    on(canvas, 'pointerleave', event => { if (event.pointerType === 'mouse') engine.call('web_leave') })
    canvas.addEventListener('touchstart', event => { // a finger on a control moves it, elsewhere the page
      const touch = event.touches[0]
      if (event.touches.length === 1 && engine.call('web_is_control', ...place(touch))) event.preventDefault()
    }, { passive: false })
    canvas.addEventListener('contextmenu', event => event.preventDefault())
    let owed = 0
    canvas.addEventListener('wheel', event => {
      if (event.ctrlKey) return
      owed -= event.deltaMode ? event.deltaY * 40 : event.deltaY
      const turns = Math.trunc(owed / 100)
      owed -= turns * 100
      if (turns) engine.call('web_wheel', turns)
      event.preventDefault()
      this.wake()
    }, { passive: false })
    window.addEventListener('keydown', event => this.key(event))
    window.addEventListener('paste', event => {
      if (this.isElsewhere(event)) return
      engine.call('web_paste', event.clipboardData.getData('text').slice(0, 4000))
      this.wake()
    })
    window.addEventListener('copy', event => {
      if (this.isElsewhere(event) || String(getSelection())) return
      event.clipboardData.setData('text/plain', this.state())
      event.preventDefault()
      engine.call('web_say', 'Copied: ' + this.state(), false)
      this.wake()
    })
    if (this.options.follows)
      window.addEventListener('hashchange', () => this.follow())
  }

  async follow() {
    const { hash } = location, before = this.packed
    if (!lineOf(hash)) return
    const wrong = await this.takeLinked(hash)
    if (wrong) return this.tell(wrong, true)
    if (this.packed === before) return this.restore(lineOf(hash))
    this.engine.call('web_open', lineOf(hash)) // the line may be the same: its program is another
    this.wake()
  }

  isElsewhere(event) {
    return event.target instanceof Element && event.target.closest('input, textarea, select, button, a, summary, [contenteditable], dialog, article')
  }

  // Tab goes through the parameters, and after the last one on to the page.
  key(event) {
    const { engine } = this
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || this.isElsewhere(event)) return
    if (event.key === 'Tab' && document.activeElement !== this.canvas) return
    const key = engine.call('web_key_named', event.key)
    if (key) engine.call('web_key', key, event.shiftKey, event.ctrlKey)
    else if ([...event.key].length === 1) engine.call('web_text', event.key)
    else return
    if (event.key !== 'Tab' || engine.call('web_focus') >= 0) event.preventDefault()
    this.wake()
  }

  // ---- what only a page can do

  act(name) {
    const later = call => setTimeout(() => call().catch(error => this.tell(`That did not work: ${error.message}`, true)), 0)
    if (name === 'copy') later(() => this.copy(this.state()))
    else if (name === 'paste') later(async () => { this.engine.call('web_paste', await navigator.clipboard.readText()); this.wake() })
    else if (name === 'story') location.href = 'story.html'
    else if (name === 'describe') this.tell(this.engine.text('web_describe'))
    else if (name === 'png') later(() => this.savePng())
    else if (name === 'svg') later(() => this.saveSvg())
    else if (name === 'fullscreen') later(() => document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen())
    else this.tell(`The program on a computer saves that: tilewalk render --state '${this.state()}' -o FILE`)
  }

  async copy(text) {
    await navigator.clipboard.writeText(text)
    this.tell('Copied: ' + text)
  }

  // Draws the scene alone, gives its list to `use`, and puts the frame back.
  withPicture(use) {
    const [width, height] = [this.canvas.width, this.canvas.height]
    this.engine.call('web_picture', width, height)
    const result = use(new List(this.engine), width, height)
    this.engine.call('web_resize', width, height)
    this.wake()
    return result
  }

  fileName(suffix) {
    const state = this.state(), part = key => state.match(new RegExp(`(?:^| )${key}=([\\w-]+)`))?.[1]
    return `tilewalk-${part('scene') ?? 'main'}-${part('step') ?? 0}${suffix}`
  }

  picturePng() {
    return this.withPicture((list, width, height) => {
      const canvas = document.createElement('canvas')
      canvas.width = width
      canvas.height = height
      this.painter.paint(canvas.getContext('2d'), list, width, height)
      return new Promise(resolve => canvas.toBlob(resolve, 'image/png'))
    })
  }
  pictureSvg() {
    const title = 'Tilewalk: ' + this.engine.text('web_title')
    return this.withPicture((list, width, height) => svg(this.painter, list, width, height, title, this.state()))
  }
  async savePng() { save(await this.picturePng(), this.fileName('.png')) }
  async saveSvg() { save(new Blob([this.pictureSvg()], { type: 'image/svg+xml' }), this.fileName('.svg')) }
}

export function save(blob, name) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}
