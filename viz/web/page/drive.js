// A scene beside a text: what the page has of it, and the four things that drive it.

export const elementsOf = $ => ({ canvas: $('canvas'), place: $('place'), what: $('what'), why: $('why'), moved: $('moved'), whole: $('whole'), live: $('live'), note: $('note') })

const PLAY = 'M8 5v14l11-7z', PAUSE = 'M7 6h2v12H7zM15 6h2v12h-2z'

// `go` is what Back and Next do, instead of a step.
export function drive(viewer, $, go = way => viewer.input(way)) {
  $('back').addEventListener('click', () => go('back'))
  $('next').addEventListener('click', () => go('next'))
  $('play').addEventListener('click', () => viewer.input('play'))
  $('note-close')?.addEventListener('click', () => viewer.closeNote())
  const show = () => {
    const name = viewer.engine.call('web_is_playing') ? 'Pause' : 'Play'
    if ($('play').getAttribute('aria-label') === name && $('play').title) return
    $('play').setAttribute('aria-label', name)
    $('play').title = `${name} (Space)`
    $('play').querySelector('path').setAttribute('d', name === 'Pause' ? PAUSE : PLAY)
  }
  viewer.moved.push(show)
  show()
}
