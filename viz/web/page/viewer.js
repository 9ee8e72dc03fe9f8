// The scene on a canvas, framed by HTML: frames, pointer, keys, permalink, the words over it, files to save.

import { bytesOf, load } from './engine.js'
import { isDark, isStill, prefersDark } from './top.js'
import { FONTS, Painter, Ruler } from './canvas.js'
import { $, copied, onPress, putNote, quoted, save, tellProblem } from './element.js'
import { Machine } from './machine.js'
import { packed, unpacked } from './packed.js'

const QUIET_MS = 350 // after the last change: permalink and live text follow
const STILL_PART = 0.62 // of the run is shown where nothing may move

const partsOf = hash => hash.replace(/^#/, '').split('&')

// "#N=64&d=16" or "#N=64 d=16" to "N=64 d=16", and back.
export function lineOf(hash) {
  return partsOf(hash.replace(/\+|%20| /g, '&')).filter(part => part && !part.startsWith(PROGRAM)).map(part => {
    try { return decodeURIComponent(part) } catch { return part }
  }).join(' ')
}
export function hashOf(line) {
  return '#' + line.split(' ').map(part => encodeURIComponent(part).replaceAll('%3D', '=').replaceAll('%2C', ',')
    .replaceAll('%2F', '/').replaceAll('%3A', ':')).join('&')
}
export const commandOf = line => `tilewalk view --state ${quoted(line)}`

// A program travels in a link as "program=".
const PROGRAM = 'program=', PROGRAM_MOST = 6143 // the bytes that C's reader takes
export const packedIn = hash => partsOf(hash).find(part => part.startsWith(PROGRAM))?.slice(PROGRAM.length) ?? ''

const PICTURE = [1280, 720]
const KEYS = { ArrowRight: 'next', ArrowLeft: 'back', PageDown: 'row-next', PageUp: 'row-back', Home: 'start', End: 'end' }

const keyOf = part => part.slice(0, part.indexOf('='))
// A state line with other values; "" leaves a key out.
export function lineWith(line, values) {
  const parts = line.split(' ').filter(part => part && !(keyOf(part) in values))
  return [...parts, ...Object.entries(values).filter(([, value]) => value !== '').map(([key, value]) => `${key}=${value}`)].join(' ')
}
export const valueIn = (line, key) => line.split(' ').find(part => keyOf(part) === key)?.slice(key.length + 1) ?? ''

// What Back comes back to: all of a link but its step.
const baseOf = hash => partsOf(hash).filter(part => !/^(step|seed)=/.test(part)).join('&')

export class Viewer {
  // The page has a canvas, back, play, next, place (its slider), what, why, moved, whole (the words over the scene), live, and
  // note (one line for what went wrong). `options`: follows (the permalink), plays (a link without a step), keys, isEmbedded,
  // go (what Back and Next do).
  constructor(engine, options) {
    Object.assign(this, { engine, canvas: $('canvas'), options })
    this.framed = true // false: C draws all of the canvas
    this.painter = new Painter()
    this.context = this.canvas.getContext('2d', { alpha: false })
    this.changed = []   // called after a change came to rest
    this.moved = []     // called with each frame that was drawn
    this.last = 0
    this.spoken = this.warned = this.shown = ''
    this.program = this.packed = '' // of one's own
    this.linkError = '' // why that of the link was not taken
  }

  static async open(options) {
    const [engine] = await Promise.all([load(options.program ?? 'tilewalk.wasm', options.bundles ?? ['assets.bundle'], new Ruler()), ...FONTS.map(font => document.fonts.load(font, 'Aα×'))]).catch(error => {
      tellProblem(`Tilewalk cannot start here: ${error.message}`)
      throw error
    })
    const viewer = new Viewer(engine, options)
    const wrong = options.line === undefined ? await viewer.takeLinked(location.hash) : ''
    viewer.begin(options.line ?? lineOf(location.hash))
    const go = options.go ?? (way => viewer.input(way))
    onPress({ back: () => go('back'), next: () => go('next'), play: () => viewer.input('play'), 'note-close': () => viewer.closeNote() })
    if (wrong) viewer.tell(viewer.linkError = wrong, true)
    return viewer
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
    try { return await this.takeProgram(await unpacked(given, 'program', PROGRAM_MOST)) } catch (error) { return error.message }
  }
  // The permalink of what is shown.
  hash() {
    const state = this.state()
    return hashOf(state) + (this.packed && /\bmine\.walk\b/.test(state) ? '&' + PROGRAM + this.packed : '')
  }

  show(line) {
    const { engine, options } = this
    engine.call('web_l2_later', options.background)
    this.openLink(line || options.first || '')
    engine.call('web_frame_scene', this.framed)
    engine.call('web_look', isDark(), isStill.matches)
  }
  // A larger program goes on with what is shown.
  async goOn(program, bundles) {
    const engine = await load(program, bundles, new Ruler()), line = this.state()
    Object.assign(this, { engine, machine: null })
    this.show(line)
    this.resize()
  }
  begin(line) {
    const { options } = this
    options.background ??= typeof Worker === 'function'
    this.show(line)
    if (options.plays && (options.isEmbedded || !/\bstep=/.test(line))) this.begun(line)
    this.before = this.hash()
    this.base = baseOf(this.before)
    this.listen()
    this.resize()
    this.frame(performance.now())
  }
  // A link without a step plays, and an embed that is to; where nothing may move it stands. Without a link it goes on
  // from the poster's step.
  begun(line) {
    if (!isStill.matches) this.input('play')
    else if (line && !/\bstep=/.test(line)) this.engine.call('web_scrub', STILL_PART)
  }
  openLink(line) {
    const [kept, said] = this.possible(line)
    this.engine.call('web_open', kept)
    this.left = said
    if (said && this.framed) this.say()
  }
  // What can be shown of anybody's link, and in words what is left out: what does not go with the parts before it, nor
  // with all that do; a step too far is the last.
  possible(line) {
    const { engine } = this, kept = [], why = parts => engine.text('web_refuses', parts.join(' '))
    const refused = parts => parts.filter(part => why([...kept, part]) || !kept.push(part))
    if (!why([line])) return [line, '']
    const said = refused(refused(line.split(' ').filter(Boolean))).map(part => {
      const reason = why([...kept, part]), isFar = /^step=\d+$/.test(part) && !why(kept), last = `step=${engine.call('web_possible_steps')}`
      if (isFar) kept.push(last)
      return part.slice(0, 60) + (isFar ? ` is past the end, ${last.replace('=', ' ')}` : ` is left out: ${reason.slice(0, 160)}`)
    })
    return [kept.join(' '), said.join('; ')]
  }

  // ---- frames

  // C lays out in units of whole device pixels: 1, 2 or 3 of them each way.
  resize() {
    const box = this.canvas.parentElement.getBoundingClientRect()
    const ratio = devicePixelRatio || 1
    this.scale = Math.max(1, Math.round(ratio))
    for (const side of ['width', 'height']) {
      this.canvas.style[side] = box[side] + 'px'
      this.canvas[side] = Math.max(1, Math.round(box[side] * ratio))
    }
    this.engine.call('web_resize', Math.floor(this.canvas.width / this.scale), Math.floor(this.canvas.height / this.scale))
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
      this.paint()
      this.rest()
      if (calls.web_l2_is_awaited()) this.askL2()
    }
    this.isMoving = calls.web_is_moving() !== 0
    if (this.isMoving) this.wake()
  }

  paint() {
    const { engine, painter, scale } = this
    painter.paint(this.context, engine, 0, this.canvas.width, this.canvas.height, scale)
    if (!this.framed) return
    this.words = engine.json('web_said')
    this.showWords(this.words)
    this.showPlay(engine.call('web_is_playing'))
    this.moved.forEach(call => call(this.words))
  }
  showWords({ what, why, moved, whole, step, steps }) {
    const place = $('place')
    for (const [id, text] of Object.entries({ what, why, moved, whole: `of ${whole}` })) if ($(id).textContent !== text) $(id).textContent = text
    place.max = Math.max(1, Math.min(steps, 1e6)) // an arrow key goes one step, of not too many
    place.value = Math.round(place.max * step / Math.max(1, steps))
    place.setAttribute('aria-valuetext', `step ${step} of ${steps}, ${moved} moved`)
  }

  showPlay(isPlaying) {
    const name = isPlaying ? 'Pause' : 'Play', play = $('play')
    if (play.ariaLabel === name) return
    Object.assign(play, { ariaLabel: name, title: `${name} (Space)` }).querySelector('path').setAttribute('d', isPlaying ? 'M7 6h2v12H7zM15 6h2v12h-2z' : 'M8 5v14l11-7z')
  }

  // L2 takes up to 0.2 s: a Worker works it out, one question at a time, while frames go on.
  question() { return this.state().replace(/ (step|scene)=\S+/g, '') }
  async askL2() {
    const { engine, program } = this, question = this.question()
    if (this.isAsking || !this.options.background) return
    this.machine ??= new Machine(engine.module)
    this.isAsking = true
    const { answers: [, taken, bytes] = [] } = await this.machine.ask(['web_program', program], ['web_open', question], ['web_l2'])
    this.isAsking = false
    if (!engine.calls.web_l2_is_awaited()) return
    if (!taken) { // no Worker here, or it refused: as without one
      this.options.background = false
      engine.call('web_l2_later', false)
      engine.call('web_open', this.state())
    } else if (question === this.question() && program === this.program) {
      const at = engine.write(bytes)
      engine.calls.web_l2_give(at)
      engine.calls.free(at)
      this.answered = performance.now()
    } else return this.askL2() // the problem has changed meanwhile
    this.wake()
  }

  first() {
    this.hasPicture = true
    $('poster')?.remove()
    document.documentElement.classList.remove('linked')
    requestAnimationFrame(() => performance.mark('first-picture'))
    if (!this.options.bundles && (!this.options.isEmbedded || /scene=(time|timeline|pipeline)/.test(this.state()))) this.whole = this.later().catch(() => {}) // its scenes then say what is missing
  }

  // Recorded runs, for two scenes of all: after the first picture. A problem has them from when it is opened.
  async later() {
    const { engine } = this
    engine.take(new Uint8Array(await bytesOf('pipeline.bundle')))
    const isPlaying = engine.call('web_is_playing')
    engine.call('web_open', this.state())
    if (isPlaying && !engine.call('web_is_playing')) this.input('play')
    this.wake()
  }

  // When nothing has changed for a while, what is outside the canvas follows. The address stays as it came until somebody
  // acts; another problem or scene is a place to come back to, another step is not.
  rest() {
    if (this.isMoving && this.resting) return
    clearTimeout(this.resting)
    this.resting = setTimeout(() => {
      this.resting = 0
      const isPlaying = this.engine.call('web_is_playing'), hash = this.hash()
      if (this.options.follows && this.hasActed && hash !== this.shown && !isPlaying) {
        if (baseOf(hash) !== this.base) {
          if (baseOf(this.before) === this.base) history.replaceState(history.state, '', this.before)
          history.pushState(null, '', hash)
        } else history.replaceState(history.state, '', hash)
        this.base = baseOf(hash)
        this.shown = hash
      }
      this.say()
      this.changed.forEach(call => call())
      if (isPlaying) this.rest()
    }, QUIET_MS)
  }

  // For the ear: the two sentences of the step, while nothing plays. What went wrong is an alert.
  say() {
    const { engine } = this
    const message = (engine.text('web_message') || this.left || '').replace(/--[\w-]+: /g, '') // a page has no options
    if (message !== this.warned) putNote(this.warned = message)
    if (!this.words && this.framed || engine.call('web_is_playing')) return
    const words = this.framed ? `${this.words.what} ${this.words.why}` : (message ? message + '. ' : '') + engine.text('web_describe')
    if (words !== this.spoken) $('live').textContent = this.spoken = words
  }

  state() { return this.engine.text('web_state') }
  menu() { return this.engine.json('web_menu') }
  acted() { // called before what it does
    this.hasActed = true
    const hash = this.hash()
    if (baseOf(hash) === this.base) this.before = hash
  }
  input(name) {
    this.engine.call('web_act', name)
    this.wake()
  }
  take(line) {
    this.engine.call('web_take', line)
    this.wake()
  }
  // Another value of a key, and what goes with the one before.
  set(key, text) {
    const value = text.replaceAll(' ', ''), [heads, shared = ''] = value.split('/'), { rows, columns } = this.words
    const more = { algorithm: { kernel: '', splits: '', lse: '' }, gpu: { sram: '' }, heads: { heads, 'kv-heads': shared }, 'block-q': { block: '', 'block-k': columns }, 'block-k': { block: '', 'block-q': rows } }
    this.take(lineWith(this.question(), { [key]: value, ...more[key] }))
  }
  closeNote() {
    this.left = ''
    this.tell('')
  }
  tell(text, isBad = false) {
    this.engine.call('web_say', text, isBad)
    this.say()
    this.wake()
  }
  restore(line) {
    if (line === this.state()) return
    this.openLink(line)
    this.wake()
  }

  // ---- events

  listen() {
    const { canvas } = this, call = (...of) => this.engine.call(...of)
    const place = event => {
      const box = canvas.getBoundingClientRect(), units = canvas.width / box.width / this.scale
      return [(event.clientX - box.left) * units, (event.clientY - box.top) * units]
    }
    const on = (target, name, does) => target.addEventListener(name, event => { does(event); this.wake() })
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement)
    for (const [target, what] of [[prefersDark, 'change'], [isStill, 'change'], [window, 'storage']]) on(target, what, () => call('web_look', isDark(), isStill.matches))
    on(canvas, 'pointermove', event => call('web_motion', ...place(event)))
    on(canvas, 'pointerdown', event => {
      canvas.focus({ preventScroll: true })
      call('web_motion', ...place(event))
      call('web_frame', 0) // what lies there is known
      if (event.button !== 0) return
      this.acted()
      call('web_press', 1)
    })
    for (const name of ['pointerup', 'pointercancel']) on(canvas, name, () => call('web_release', 1))
    on(canvas, 'pointerleave', () => call('web_leave'))
    on($('place'), 'input', ({ target }) => {
      this.acted()
      call('web_scrub', target.value / target.max)
    })
    for (const kind of ['pointerdown', 'keydown', 'input', 'change']) addEventListener(kind, () => this.acted(), true)
    addEventListener('keydown', event => this.key(event))
    if (this.options.follows) addEventListener('hashchange', () => this.follow())
  }

  async follow() {
    const { hash } = location, before = this.packed
    if (hash === this.shown) return
    this.shown = hash
    this.base = baseOf(hash)
    const wrong = await this.takeLinked(hash)
    if (wrong) return this.tell(wrong, true)
    if (this.packed === before) return this.restore(lineOf(hash) || this.options.first || '')
    this.openLink(lineOf(hash)) // the line may be the same: its program is another
    this.wake()
  }

  // A field has its keys; a button has Space and Return.
  isElsewhere({ target, key }) {
    if (!(target instanceof Element)) return false
    if (target.closest('input:not(#place), textarea, select, [contenteditable], dialog, article')) return true
    return Boolean(target.closest('button, a, summary, [role="tab"], #place')) && (key === ' ' || key === 'Enter' || /^(Arrow|Home|End|Page)/.test(key) && Boolean(target.closest('[role="tab"], #place')))
  }

  key(event) {
    const { engine, options } = this, { key } = event
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || this.isElsewhere(event)) return
    if (!this.framed) {
      if (!engine.call('web_key', key, event.shiftKey, event.ctrlKey)) return
    } else {
      const step = event.shiftKey ? { ArrowRight: 'tile-next', ArrowLeft: 'tile-back' } : KEYS
      const input = (options.isEmbedded && key.startsWith('Page')) ? null : step[key] ?? (key === ' ' ? 'play' : null)
      if (input) this.input(input)
      else if (!options.keys?.(key)) return
    }
    event.preventDefault()
    this.wake()
  }

  // ---- what only a page can do

  fullscreen() {
    (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen())
      .catch(error => this.tell(`No full screen here: ${error.message}`, true))
  }

  async copy(text) { this.tell(await copied(text)) }

  // Draws the scene alone for `use`, and puts the frame back.
  withPicture(use) {
    this.engine.call('web_picture', ...PICTURE, true)
    const result = use()
    this.resize()
    return result
  }

  fileName(suffix) { // as the window's
    const { scene, step } = this.words
    return `tilewalk-${scene}-${step}${suffix}`
  }

  picturePng() {
    return this.withPicture(() => {
      const canvas = new OffscreenCanvas(...PICTURE)
      this.painter.paint(canvas.getContext('2d'), this.engine, 0, ...PICTURE)
      return canvas.convertToBlob()
    })
  }
  pictureSvg() { return this.withPicture(() => this.engine.taken('web_svg')) }
  async savePng() { save(await this.picturePng(), this.fileName('.png')) }
  async saveSvg() { save(new Blob([this.pictureSvg()], { type: 'image/svg+xml' }), this.fileName('.svg')) }
}
