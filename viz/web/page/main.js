// The viewer's page: the canvas, buttons, and the same controls as a list for a phone or a screen reader.

import { Viewer, commandOf } from './viewer.js'

const $ = id => document.getElementById(id)

function fail(error) {
  $('problem').hidden = false
  $('problem').textContent = `Tilewalk cannot start here: ${error.message}`
  throw error
}

// One control for each parameter; rebuilt only when what it offers changed.
function showParameters(viewer) {
  const menu = viewer.menu()
  const lists = [{ title: 'the scene', kind: 'scene', choices: menu.scenes.map(s => ({ name: s.title, on: s.on, input: s.input })) },
    ...menu.parameters]
  const shape = JSON.stringify(lists.map(row => [row.title, row.kind, row.choices?.map(c => c.name)]))
  if (shape !== $('parameters').shape) {
    $('parameters').shape = shape
    $('parameters').replaceChildren(...lists.map((row, k) => {
      const label = document.createElement('label')
      label.textContent = (row.title[1] === ',' ? row.title[0] : row.title[0].toUpperCase()) + row.title.slice(1) + ' ' // d stays d
      let field
      if (row.choices) {
        field = document.createElement('select')
        row.choices.forEach((choice, at) => field.add(new Option(choice.name, at)))
        field.addEventListener('change', () => row.kind === 'scene'
          ? viewer.input(row.choices[field.value].input) : viewer.set(k - 1, row.choices[field.value].name))
      } else {
        field = document.createElement('input')
        field.type = row.kind === 'switch' ? 'checkbox' : 'text'
        if (row.kind === 'number') {
          field.title = row.wants
          field.inputMode = 'text'
        }
        field.addEventListener('change', () => row.kind === 'switch'
          ? viewer.input(row.edit) : viewer.set(k - 1, field.value))
      }
      label.append(field)
      return label
    }))
  }
  lists.forEach((row, k) => {
    const field = $('parameters').children[k].lastElementChild
    if (row.choices) field.value = String(Math.max(-1, row.choices.findIndex(choice => choice.on)))
    else if (row.kind === 'switch') field.checked = Boolean(row.on)
    else if (document.activeElement !== field) field.value = row.value
  })
}

// A phone shows the scene alone, in large type, and the controls as a list below it.
const isPhone = matchMedia('(max-width: 700px)').matches
const viewer = await Viewer.open({ canvas: $('canvas'), live: $('live') },
  { follows: true, ...isPhone && { leastWidth: 300, leastHeight: 200 } }).catch(fail)
window.tilewalk = viewer // for the console, and for tests

function update() {
  document.documentElement.dataset.theme = viewer.engine.call('web_is_dark') ? 'dark' : 'light'
  document.title = `Tilewalk: ${viewer.engine.text('web_title')}`
  $('play').textContent = viewer.engine.call('web_is_playing') ? 'Pause' : 'Play'
  $('presentation').setAttribute('aria-pressed', Boolean(viewer.engine.call('web_is_presentation')))
  $('race').setAttribute('aria-pressed', Boolean(viewer.engine.call('web_is_race')))
  const steps = viewer.engine.call('web_steps'), place = $('place') // an arrow key goes one step, of not too many
  place.max = Math.max(1, Math.min(steps, 1e6))
  place.value = Math.round(place.max * viewer.engine.call('web_part'))
  place.setAttribute('aria-valuetext', `step ${Math.round(steps * viewer.engine.call('web_part'))} of ${steps}`)
  if ($('panel').open) showParameters(viewer)
}
viewer.changed.push(update)
$('panel').addEventListener('toggle', update)
$('place').addEventListener('input', () => { viewer.engine.call('web_scrub', $('place').value / $('place').max); viewer.wake() })
document.querySelectorAll('[data-input]').forEach(button =>
  button.addEventListener('click', () => viewer.input(button.dataset.input)))
$('copy-link').addEventListener('click', () => viewer.copy(location.href.split('#')[0] + viewer.hash()))
$('copy-command').addEventListener('click', () => viewer.copy(commandOf(viewer.state())))
$('save-png').addEventListener('click', () => viewer.savePng())
$('save-svg').addEventListener('click', () => viewer.saveSvg())
$('theme').addEventListener('click', () => viewer.input('theme'))
if (isPhone) {
  $('panel').open = true
  viewer.input('presentation')
}
update()
if ('serviceWorker' in navigator && location.protocol !== 'file:') navigator.serviceWorker.register('worker.js').catch(() => {})
