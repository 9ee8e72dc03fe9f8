// The workbench: a program that one writes, the checker's message beside its line, and its picture at once.

import { Viewer, commandOf, lineWith, packedIn } from './viewer.js'
import { $, elements, element, onPress, save, tellProblem } from './element.js'
import { takeFiles } from './files.js'
import { keep, keptObject } from './kept.js'
import { colours, newLine } from './editor.js'

const DRAFT = 'draft.json', QUIET_MS = 150, TEXT_MOST = 6143
const PROBLEM = 'N=64 d=16 block=8 causal=1'
const { program, offers, rival, numbers, verdict, moves, fault, stripe, paint, editor, bench } = elements

const viewer = await Viewer.open({ follows: true, first: PROBLEM })
const { engine } = viewer
tellProblem(viewer.linkError)
let wrong = null // { line, why } of the text as it is, or null
let checked = '' // the text that was checked last
let taken = viewer.program // the text whose picture is shown

// ---- the text

function show(text) {
  program.value = text
  measure()
}

const { names, words } = engine.json('web_language'), coloured = colours(words)

// The text area is as large as its text, and what is around it scrolls: then lines have places.
function measure() {
  const lines = program.value.split('\n')
  program.rows = lines.length + 1
  program.cols = Math.max(40, ...lines.map(line => line.length + 2))
  if (numbers.childElementCount !== lines.length)
    numbers.replaceChildren(...lines.map((line, k) => element('span', String(k + 1))))
  paint.replaceChildren(...coloured(program.value))
  mark()
}

// What each line moves of a whole run, at the editor's right edge; returns the line that moves the most, in words.
function showMoves() {
  const { lines } = engine.json('web_code'), most = Math.max(...lines.map(({ percent = 0 }) => percent)), at = lines.find(line => line.percent === most)
  moves.replaceChildren(...program.value.split('\n').map((_, k) => {
    const { bytes, percent } = lines.find(line => line.bytes && line.number === k + 1) ?? {}
    if (!bytes) return element('span', '\n')
    return element(percent === most ? 'span.moves.most' : 'span.moves', bytes, element('i', { style: `width: ${Math.max(1, 0.4 * percent)}px` }), '\n')
  }))
  return at ? `Most is moved by line ${at.number}: ${at.bytes}.` : ''
}

// A word that C offers instead of another of that line: [the line, with it].
function mended() {
  const [, typed, meant] = wrong?.why.match(/'(\S+)'.*did you mean '(\S+)'\?/) ?? []
  const line = program.value.split('\n')[wrong?.line - 1] ?? '', at = typed ? line.search(new RegExp(`(?<![\\w'])${typed.replace(/\W/g, '\\$&')}(?![\\w'])`)) : -1
  return at < 0 ? null : { at, typed, meant }
}
function fix() {
  const { at, typed, meant } = mended(), begin = program.value.split('\n').slice(0, wrong.line - 1).reduce((n, line) => n + line.length + 1, at)
  program.focus()
  put(meant, begin, begin + typed.length)
}

// The message stands beside its line, over the picture, which is that of the last program without a fault.
function mark() {
  const line = wrong ? Math.min(Math.max(wrong.line, 1), numbers.childElementCount) : 0
  ;[...numbers.children].forEach((number, k) => number.classList.toggle('bad', k + 1 === line))
  program.setAttribute('aria-invalid', Boolean(wrong))
  fault.hidden = stripe.hidden = !wrong
  bench.classList.toggle('stale', Boolean(wrong))
  if (!wrong) return
  fault.firstElementChild.textContent = wrong.why
  $('fix').hidden = !mended()
  const number = numbers.children[line - 1], around = bench.getBoundingClientRect(), view = editor.getBoundingClientRect()
  stripe.style.top = number.offsetTop + 'px'
  stripe.style.height = number.offsetHeight + 'px'
  const top = Math.min(Math.max(number.getBoundingClientRect().top, view.top), view.bottom - number.offsetHeight)
  fault.style.top = top - around.top - 6 + 'px'
  fault.style.left = view.right - around.left - 4 + 'px'
}

// ---- checking and showing

const algorithms = () => 'mine.walk' + (rival.value ? ',' + rival.value : '')

// Every change: what is wrong, or the picture of what is right.
async function check(line = viewer.state()) {
  const text = program.value
  checked = text
  const why = await viewer.takeProgram(text)
  if (!why) taken = text
  if (program.value !== text) return // edited meanwhile: it is checked again
  const at = why.match(/^mine\.walk:(\d+): (.*)$/s)
  wrong = why ? { line: Number(at?.[1] ?? 1), why: at?.[2] ?? why } : null
  if (!wrong) {
    const isShown = engine.call('web_open', lineWith(line, { algorithm: algorithms() }))
    viewer.wake()
    const lines = text.split('\n').filter(part => part.replace(/#.*/, '').trim()).length
    const said = engine.text('web_program_numbers')
    verdict.textContent = `Nothing wrong in its form: ${lines} lines, ${engine.call('web_steps')} steps here. ${isShown ? showMoves() : (moves.replaceChildren(), '')} ${said}`
    verdict.classList.toggle('doubt', / is wrong:/.test(said))
  } else verdict.textContent = `Line ${wrong.line}: ${wrong.why}`
  keep(DRAFT, JSON.stringify({ text, packed: viewer.packed }))
  mark()
}

let waiting = 0
function edited() {
  measure()
  clearTimeout(waiting)
  waiting = setTimeout(() => { if (program.value !== checked) check() }, QUIET_MS)
}

// ---- words that go on from the caret

let chosen = 0, offered = [], there = 0

function put(text, from, to) {
  const area = program
  area.setSelectionRange(from, to)
  if (document.execCommand('insertText', false, text)) return // it keeps what can be undone
  area.setRangeText(text, from, to, 'end')
  edited()
}

function close() {
  offers.hidden = true
  program.removeAttribute('aria-activedescendant')
}
function take() {
  const at = program.selectionStart
  close()
  put(offered[chosen], at - there, at)
}
function choose(which) {
  chosen = (which + offered.length) % offered.length
  ;[...offers.children].forEach((li, k) => li.setAttribute('aria-selected', k === chosen))
  offers.children[chosen].scrollIntoView({ block: 'nearest' })
  program.setAttribute('aria-activedescendant', `offer-${chosen}`)
}
function offer() {
  const { value, selectionStart: at } = program, before = value.slice(0, at)
  const [length, ...words] = engine.text('web_complete', value, new TextEncoder().encode(before).length).split('\n')
  there = Number(length)
  offered = words.filter(Boolean)
  if (!offered.length) return close()
  if (offered.length === 1) return take()
  offers.replaceChildren(...offered.map((word, k) =>
    element('li', { id: `offer-${k}`, role: 'option', onpointerdown: event => { event.preventDefault(); chosen = k; take() } }, word)))
  const lines = before.split('\n')
  offers.style.top = paint.offsetTop + 8 + lines.length * numbers.firstElementChild.offsetHeight + 'px'
  offers.style.left = `calc(${lines.at(-1).length - there}ch + 10px)`
  offers.hidden = false
  choose(0)
}
function offerKey(event) {
  if (event.key === ' ' && event.ctrlKey) {
    event.preventDefault()
    return offer()
  }
  if (offers.hidden) return
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const takes = event.key === 'Enter' || event.key === 'Tab'
  if (step || takes || event.key === 'Escape') {
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  if (step) choose(chosen + step)
  else if (takes) take()
  else if (event.key !== 'Control') close()
}

// ---- the page

// A shipped program under another name, without what is said about it.
function sample(name) {
  return engine.text('web_program_text', name).replace(/^(#|summary|source).*\n/gm, '')
    .replace(/^algorithm.*/m, 'algorithm mine').replace(/^title.*/m, 'title     Mine')
}

for (const name of names) {
  $('sample').add(new Option(name))
  rival.add(new Option(name))
}
$('sample').selectedIndex = 0
$('sample').onchange = () => { show(sample($('sample').value)); check() }
rival.onchange = () => check(lineWith(viewer.state(), { scene: rival.value ? 'piles' : 'walk', step: '' }))
program.oninput = edited
program.addEventListener('keydown', offerKey)
program.addEventListener('keydown', event => newLine(event, edited))
program.onblur = close
editor.onscroll = mark
new ResizeObserver(mark).observe(bench)
onPress({ fix, 'copy-link': () => viewer.copy(location.href.split('#')[0] + viewer.hash()), 'copy-command': () => viewer.copy(commandOf(viewer.state())),
  save: () => save(new Blob([program.value], { type: 'text/plain' }), 'mine.walk') })
function takeText({ name, text }) {
  if (text.length > TEXT_MOST) return viewer.tell(`${name} has ${text.length} bytes; a program has at most ${TEXT_MOST}.`, true)
  show(text)
  check()
}

function update() {
  $('larger').href = 'see.html' + viewer.hash()
  if (viewer.program !== taken) { // another link was opened in this page
    show(viewer.program)
    check()
  }
}
viewer.changed.push(update)

// The link's program; or what was written last, if the link is that text's; or FlashAttention-2.
const begun = keptObject(DRAFT, text => viewer.tell(text, true))
const linked = packedIn(location.hash)
const isMine = typeof begun.text === 'string' && (!linked || linked === begun.packed)
const state = viewer.state()
rival.value = state.match(/algorithm=mine\.walk,(\S+)/)?.[1] ?? ''
show(isMine ? begun.text : viewer.program || sample('fa2'))
const first = linked || location.hash.length > 1 ? state : PROBLEM
await check(first)
if (wrong && !viewer.program) { // nothing of it can be shown: the picture is that of the sample
  await viewer.takeProgram(sample('fa2'))
  taken = viewer.program
  engine.call('web_open', lineWith(first, { algorithm: 'mine.walk' }))
}
update()
takeFiles(['program'], ([file]) => takeText(file), text => viewer.tell(text, true))
window.tilewalk = viewer // for the console, and for tests
