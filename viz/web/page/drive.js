// A scene beside a text: it is opened, and what drives it.

import { $, onPress, tellProblem } from './element.js'
import { Viewer } from './viewer.js'

const PLAY = 'M8 5v14l11-7z', PAUSE = 'M7 6h2v12H7zM15 6h2v12h-2z'

// `go` is what Back and Next do, instead of a step.
export async function openScene(options, go) {
  const viewer = await Viewer.open(options).catch(error => {
    tellProblem(`Tilewalk cannot start here: ${error.message}`)
    throw error
  })
  go ??= way => viewer.input(way)
  onPress({ back: () => go('back'), next: () => go('next'), play: () => viewer.input('play'), 'note-close': () => viewer.closeNote() })
  const show = () => {
    const name = viewer.engine.call('web_is_playing') ? 'Pause' : 'Play'
    if ($('play').getAttribute('aria-label') === name && $('play').title) return
    $('play').setAttribute('aria-label', name)
    $('play').title = `${name} (Space)`
    $('play').querySelector('path').setAttribute('d', name === 'Pause' ? PAUSE : PLAY)
  }
  viewer.moved.push(show)
  show()
  return viewer
}
