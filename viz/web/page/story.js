// A story: somebody leads, and asks first. `story.html#my-kernel` tells another than the usual one.

import { Viewer } from './viewer.js'

const $ = id => document.getElementById(id)
const USUAL = 'why-fast'

function fail(error) {
  $('problem').hidden = false
  $('problem').textContent = `The story cannot be told here: ${error.message}`
  throw error
}

const viewer = await Viewer.open({ canvas: $('canvas'), live: $('live') }, {
  program: 'lessons.wasm', bundles: ['assets.bundle', 'pipeline.bundle', 'lessons.bundle'], line: '', framed: false,
}).catch(fail)
window.tilewalk = viewer // for the console, and for tests
const { engine } = viewer

function tell() {
  const name = decodeURIComponent(location.hash.slice(1)) || USUAL
  $('problem').hidden = true
  if (!engine.call('web_story_open', name)) {
    $('problem').hidden = false
    $('problem').textContent = engine.text('web_story_error')
  }
  $('which').value = name
  viewer.wake()
  $('canvas').focus({ preventScroll: true })
}

for (const name of engine.text('web_story_list').split('\n').filter(Boolean)) $('which').add(new Option(name, name))
$('which').addEventListener('change', () => { location.hash = $('which').value })
addEventListener('hashchange', tell)
const press = name => () => { engine.call('web_key', engine.call('web_key_named', name), false, false); viewer.wake() }
$('on').addEventListener('click', press('ArrowRight'))
$('back').addEventListener('click', press('ArrowLeft'))
// Behind the last picture, or after Escape, the viewer follows.
viewer.changed.push(() => {
  if (!engine.call('web_story_is_open') && $('problem').hidden) location.href = 'see.html'
})
tell()
