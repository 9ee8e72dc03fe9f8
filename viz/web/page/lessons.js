// Lessons: the list, one lesson beside its scene, progress that the browser keeps, and a file to hand in.

import { $, elements, element, onPress, save, tellProblem as tell } from './element.js'
import { kindOf, takeFiles } from './files.js'
import { keep, kept, keptObject } from './kept.js'
import { Viewer } from './viewer.js'
import { bytesOf } from './engine.js'
import { colours, newLine } from './editor.js'
import { compile } from './compile.js'

const RECORD = 'lessons.json', STUDENT = 'student.json'
const { page: sheet, list, lesson: pane, desk } = elements

desk.hidden = false // the canvas has a size then
list.hidden = location.hash.length > 1
// What has words and a picture already moves by the small program, until the whole one is there.
const begun = await window.begun, assets = bytesOf('assets.bundle')
const all = ['whole.wasm', [assets, 'pipeline.bundle', 'lessons.bundle']]
const [program, bundles] = begun ? ['tilewalk.wasm', [assets]] : all
const viewer = await Viewer.open({ program, bundles, line: begun ?? '', plays: Boolean(begun) })
if (begun) await viewer.goOn(...all)
const left = begun && viewer.hasActed ? viewer.state() : ''
window.tilewalk = viewer // for the console, and for tests
const { engine } = viewer
engine.warns = line => tell(line.replace(/^[\w. ]+: /, '')) // of the record that this browser keeps
let name = ''

const showList = () => { list.innerHTML = '<h2>Lessons</h2>' + engine.text('web_lesson_list') }

// Answers that were handed in, graded above the list.
function showGrades(file, text) {
  const said = engine.text('web_lesson_grade', text, file)
  if (said.startsWith('<')) list.insertAdjacentHTML('afterbegin', said)
  else tell(said)
}
// Who learns here: a name, and the number that draws this student's own numbers ('' none).
function student() {
  const { name: who, seed } = keptObject(STUDENT, tell)
  return { name: typeof who === 'string' ? who : '', seed: /^[1-9]\d{0,8}$/.test(seed) ? seed : '' }
}

// Asks for the name, and in the list for the number; false: closed.
function askStudent(words) {
  const before = student(), dialog = $('student')
  $('student-name').value = before.name
  $('student-seed').value = before.seed
  $('student-number').hidden = Boolean(name)
  $('student-done').textContent = words
  dialog.returnValue = ''
  dialog.showModal()
  dialog.querySelector('form').onsubmit = ({ submitter }) => {
    if (submitter?.value === 'done')
      keep(STUDENT, JSON.stringify({ name: $('student-name').value.trim(), seed: $('student-seed').value }))
  }
  return new Promise(done => { dialog.onclose = () => done(dialog.returnValue === 'done') })
}

// A program's text stands over the same text in colours, which scrolls with it. CUDA has other words.
const coloured = colours(engine.json('web_language').words)
const isCuda = field => /\.cu$/.test(field?.ariaLabel)
function paint() {
  const field = $('answer'), back = $('paint')
  if (!back) return
  back.replaceChildren(...isCuda(field) ? [field.value] : coloured(field.value))
  field.onscroll = () => back.scrollTo(field.scrollLeft, field.scrollTop)
  field.onscroll()
}

// At the end the foot leads on.
function putNext() {
  const foot = sheet.querySelector('.foot')
  if (foot.querySelector('[data-press="next"]')) return
  showList()
  const next = list.querySelector(`li:has([href="#${name}"]) + li a`)
  if (next) foot.append(element('a.button.main', { href: next.href }, `Next lesson: ${next.textContent}`))
}

function showPage(focus) {
  const top = pane.scrollTop
  sheet.innerHTML = engine.text('web_lesson_page')
  sheet.querySelectorAll('a[href]').forEach(link => {
    if (/^https?:/.test(link.getAttribute('href'))) Object.assign(link, { target: '_blank', rel: 'noopener noreferrer' })
  })
  sheet.querySelectorAll('pre, table').forEach(wide => { wide.tabIndex = 0 })
  paint()
  putNext()
  if (!focus) return
  if (focus === 'top') { // a question takes the keyboard; on a phone that would open it
    pane.scrollTop = 0
    if (matchMedia('(pointer: fine)').matches) sheet.querySelector('#open input')?.focus({ preventScroll: true })
    return
  }
  pane.scrollTop = top
  const isAnswered = !sheet.querySelector('#open :is(input, textarea, .choice:not(:disabled), [data-press="hint"], [data-press="check"])')
  const place = sheet.querySelector(isAnswered ? '.foot .main' : '#open :is(input, button:not(:disabled))')
  place?.focus({ preventScroll: true })
  // What was said, and what leads on; but a question that was just asked from its first line.
  const open = sheet.querySelector('#open')
  sheet.querySelector('.foot')?.scrollIntoView({ block: 'nearest' })
  if (open && !open.querySelector('.box')) open.scrollIntoView({ block: open.offsetHeight > pane.clientHeight ? 'start' : 'nearest' })
}

// A kernel is judged as PTX; without a compiler the judge says what is wanted.
async function answer() {
  const field = $('answer'), text = field.value
  const ptx = isCuda(field) && kindOf('', text) !== 'ptx' ? await compile(field.ariaLabel, text).catch(error => {
    tell(error.message)
    $('problem').hidden = /nothing here compiles/.test(error.message)
    return text
  }) : text
  engine.call('web_lesson_type', ptx)
  press('check')
  engine.call('web_lesson_type', text)
  if ($('answer')) $('answer').value = text
}

function press(what, number = 0) {
  showPage(engine.call('web_lesson_press', what, Number(number)) ? 'top' : 'open')
  viewer.wake()
}

// A story draws all of the canvas; Escape, or its end, leads back to the list.
const keyTo = key => { engine.call('web_key', key, false, false); viewer.wake() }
function open(wanted, restart = false) {
  tell('')
  const [, story, which = ''] = wanted.match(/^(story)(?:-(.+))?$/) ?? []
  if (!story && engine.call('web_story_is_open')) keyTo('Escape')
  const wrong = story ? engine.text('web_story_open', which) : wanted && engine.text('web_lesson_open', wanted, restart, student().seed)
  const isTold = Boolean(story) && !wrong
  if (wrong) tell(wrong)
  name = story || wrong ? '' : wanted
  viewer.framed = !isTold
  engine.call('web_frame_scene', !isTold)
  document.body.classList.toggle('story', isTold)
  desk.hidden = !name && !isTold
  for (const id of ['again', 'hand-in']) $(id).hidden = !name
  for (const id of ['story-back', 'story-on']) $(id).hidden = !isTold
  for (const element of [list, $('export'), $('name'), $('load').parentElement]) element.hidden = Boolean(name) || isTold
  $('title').textContent = name && engine.text('web_lesson_title')
  document.title = `Tilewalk: ${name ? $('title').textContent : isTold ? 'a story' : 'lessons'}`
  if (name || isTold) viewer.resize()
  else showList()
  if (name) showPage('top')
  if (isTold) $('canvas').focus({ preventScroll: true })
}

// The player moves on its own: a show ends, a task is done.
const frame = viewer.frame.bind(viewer)
viewer.frame = now => {
  frame(now)
  if (name && engine.call('web_lesson_look')) showPage(document.activeElement?.id === 'answer' ? '' : 'open')
}

sheet.onclick = event => {
  const button = event.target.closest('[data-press]')
  if (button) tell('')
  if (button?.dataset.press === 'check' && $('answer')) answer()
  else if (button) press(button.dataset.press, button.dataset.number)
  const link = event.target.closest('a[href]')
  const target = link?.getAttribute('href') ?? ''
  const [file, anchor] = target.split('#')
  if (file === 'glossary.md' && anchor) {
    event.preventDefault()
    $('entry-text').innerHTML = engine.text('web_lesson_glossary', decodeURIComponent(anchor))
    $('entry').showModal()
  } else if (/^\d\d-[\w-]+\.md$/.test(file)) {
    event.preventDefault()
    location.hash = file.replace(/\.md$/, '')
  } else if (link && !/^https?:/.test(target)) event.preventDefault()
}
sheet.onsubmit = event => { event.preventDefault(); tell(''); press('check') }
const typed = () => { engine.call('web_lesson_type', $('answer').value); paint() }
sheet.oninput = typed
sheet.onkeydown = event => { if (event.target.matches('textarea')) newLine(event, typed) }

// A file is progress, which is loaded, or answers that were handed in, which are graded.
function take({ kind, name: file, text }) {
  tell('')
  if (location.hash.length > 1) { history.pushState(null, '', location.pathname); open('') }
  if (kind === 'answers') { showList(); return showGrades(file, text) }
  const before = kept(RECORD)
  if (keep(RECORD, text)) showList()
  if (kept(RECORD) === text) return
  keep(RECORD, before ?? '') // set aside by C: it was damaged after all
  showList()
}
async function handIn() {
  if (!await askStudent('Save the file')) return
  tell('')
  const who = student().name, text = engine.text('web_lesson_hand_in', who)
  if (!text) return tell('Nothing was answered yet: there is nothing to hand in.')
  const file = `${name}-${who.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60)}.json` // files of a class lie in one folder
  save(new Blob([text + '\n'], { type: 'application/json' }), file)
  tell(`Saved as ${file}: hand in that file.`)
}
onPress({ again: () => open(name, true), name: () => askStudent('Keep'), 'hand-in': handIn, 'story-on': () => keyTo('ArrowRight'), 'story-back': () => keyTo('ArrowLeft'),
  export: () => save(new Blob([kept(RECORD) ?? '{"tilewalk-lessons": 1, "lessons": {}}\n'], { type: 'application/json' }), 'lessons.json') })
viewer.changed.push(() => { if (!viewer.framed && !engine.call('web_story_is_open')) location.hash = '' })
addEventListener('hashchange', () => open(location.hash.slice(1)))
open(location.hash.slice(1))
if (left && viewer.question() === left.replace(/ (step|scene)=\S+/g, '')) viewer.restore(left)
takeFiles(['progress', 'answers'], ([file]) => take(file), tell)
