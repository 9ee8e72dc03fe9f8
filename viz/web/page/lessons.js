// Lessons: the list, one lesson beside its scene, progress that the browser keeps, and a file to hand in.

import { $, elements, element, onPress, save, table, tellProblem as tell } from './element.js'
import { takeFiles } from './files.js'
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

function showList() {
  const { lessons, stories } = engine.json('web_lesson_list'), rows = lessons.map(lesson => {
    const row = element('li')
    const done = lesson.finished ? `done, ${lesson.right} of ${lesson.counted} right`
      : lesson.begun ? `begun, ${lesson.right} of ${lesson.counted} right` : `${lesson.minutes} minutes`
    const words = element('span', { className: 'soft' }, ` ${done}; `)
    words.append(element('a', { href: `learn-${lesson.name}.html` }, 'read it'))
    row.append(element('a', { href: '#' + lesson.name }, lesson.title), words, element('div', {}, lesson.idea))
    return row
  })
  const told = stories.reverse().map(({ name, title }) =>
    element('p', {}, element('a', { href: `#story-${name}` }, title), element('span', { className: 'soft' }, ' a story: two minutes of film and guesses')))
  list.replaceChildren(element('h2', {}, 'Lessons'), ...told, element('ol', {}, ...rows))
}

// Answers that were handed in, graded in place of the list. The numbers are those that the file names.
function showGrades(file, text) {
  const { error, rows } = engine.json('web_lesson_grade', text, file)
  if (error) return tell(error)
  const n = what => rows.filter(row => row[what]).length
  const seeds = [...new Set(rows.map(row => row.seed))], words = seeds.length === 1 ? `numbers of seed ${seeds[0]}` : 'the numbers of each row'
  list.prepend(element('h2', {}, `${file}: ${n('right')} of ${n('counts')} right`),
    element('p', { className: 'soft' }, `Graded with ${words}, as the file has it; predictions do not count. A class, a key or a roster: tilewalk lesson --answers.`),
    table('What was handed in', ['student', 'lesson', 'question', 'answer', 'verdict', 'remark'], rows.map(row => [row.student, row.lesson, row.id, row.answer, row.verdict, row.remark])))
  list.scrollTop = 0
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
function paint() {
  const field = sheet.querySelector('textarea.program')
  if (!field || /\.cu$/.test(field.getAttribute('aria-label'))) return
  if (!$('paint')) {
    const paper = element('div', { className: 'paper' })
    field.before(paper)
    paper.append(element('pre', { id: 'paint', ariaHidden: 'true' }), field)
    field.wrap = 'off'
    field.onscroll = () => $('paint').scrollTo(field.scrollLeft, field.scrollTop)
  }
  $('paint').replaceChildren(...coloured(field.value))
  $('paint').scrollTo(field.scrollLeft, field.scrollTop)
}

// At the end the foot leads on.
function putNext() {
  const { lessons } = engine.json('web_lesson_list'), next = lessons[lessons.findIndex(lesson => lesson.name === name) + 1]
  const isOver = lessons.find(lesson => lesson.name === name)?.finished && !sheet.querySelector('.foot [data-press="next"]')
  if (isOver && next) sheet.querySelector('.foot').append(element('a', { href: '#' + next.name, className: 'button main' }, `Next lesson: ${next.title}`))
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
  const field = $('answer'), text = field.value, file = field.getAttribute('aria-label') ?? ''
  const ptx = /\.cu$/.test(file) && !/^\s*\.version/m.test(text) ? await compile(file, text).catch(error => {
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
  const page = () => engine.text('web_lesson_page').match(/Page (\d+) of/)?.[1], before = page()
  engine.call('web_lesson_press', what, Number(number))
  showPage(page() === before ? 'open' : 'top')
  viewer.wake()
}

// A story draws all of the canvas; Escape, or its end, leads back to the list.
const keyTo = key => { engine.call('web_key', key, false, false); viewer.wake() }
function showStory(which) {
  const wrong = which === undefined ? '' : engine.text('web_story_open', which), isOn = which !== undefined && !wrong
  if (wrong) tell(wrong)
  if (which === undefined && engine.call('web_story_is_open')) keyTo('Escape')
  viewer.framed = !isOn
  engine.call('web_frame_scene', !isOn)
  document.body.classList.toggle('story', isOn)
  return isOn
}

function open(wanted, restart = false) {
  tell('')
  name = ''
  const [, isStory, which = ''] = wanted.match(/^(story)(?:-(.+))?$/) ?? [], isTold = showStory(isStory ? which : undefined)
  if (isTold) wanted = ''
  const wrong = wanted && engine.text('web_lesson_open', wanted, restart, student().seed)
  if (wrong) tell(wrong)
  else name = wanted
  desk.hidden = !name && !isTold
  for (const id of ['again', 'hand-in']) $(id).hidden = !name
  for (const id of ['story-back', 'story-on']) $(id).hidden = !isTold
  for (const element of [list, $('export'), $('name'), $('load').parentElement]) element.hidden = Boolean(name) || isTold
  if (name) {
    $('title').textContent = engine.text('web_lesson_title')
    document.title = 'Tilewalk: ' + $('title').textContent
    viewer.resize()
    showPage('top')
  } else if (isTold) {
    document.title = 'Tilewalk: a story'
    viewer.resize()
    $('canvas').focus({ preventScroll: true })
  } else {
    document.title = 'Tilewalk: lessons'
    showList()
  }
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
window.addEventListener('hashchange', () => open(location.hash.slice(1)))
open(location.hash.slice(1))
if (left && viewer.question() === left.replace(/ (step|scene)=\S+/g, '')) viewer.restore(left)
takeFiles(['progress', 'answers'], ([file]) => take(file), tell)
