
// Before the page is laid out. A theme that was chosen here is shown from the start.
const early = document.documentElement, place = `tilewalk${location.pathname.replace(/[^/]*$/, '')}` // kept.js
try {
  const theme = new URLSearchParams(location.search).get('theme') ?? localStorage.getItem(place + 'theme')
  if (theme) early.dataset.theme = theme === 'dark' ? 'dark' : 'light'
} catch { /* nothing is kept here */ }
// The poster is of the problem that See begins with: a link shows its own.
if (location.hash.includes('=')) early.classList.add('linked')
// Learn asks for its program now. A lesson that was not begun here shows its words and its first picture before (pages.py).
const [, lesson] = location.hash.match(/^#(story|\d\d-[\w-]+)$/) ?? []
const fetchSoon = files => files.forEach(href => document.head.append(Object.assign(document.createElement('link'), { rel: 'preload', as: 'fetch', crossOrigin: '', href })))
let isBegun = !lesson
try { isBegun ||= localStorage.getItem(`${place}lessons.json`)?.includes(`"${lesson}"`) } catch { /* nothing is kept here */ }
if (location.pathname.endsWith('/lessons.html')) {
  if (isBegun) fetchSoon(['whole.wasm', 'assets.bundle', 'pipeline.bundle', 'lessons.bundle'])
  else window.begun = fetch(`learn-${lesson}.json`).then(answer => answer.json()).then(async begun => {
    fetchSoon(['tilewalk.wasm', 'assets.bundle'])
    while (!document.getElementById('entry')) await new Promise(done => setTimeout(done, 20))
    const $ = id => document.getElementById(id)
    document.querySelectorAll('.top .buttons > *').forEach(button => { button.hidden = true }) // they need the program
    $('list').hidden = !($('desk').hidden = false)
    for (const id of ['title', 'what', 'why', 'moved']) $(id).textContent = begun[id]
    ;[$('page').innerHTML, $('whole').textContent] = [begun.page, `of ${begun.whole}`]
    $('canvas').insertAdjacentHTML('beforebegin', `<div id="poster" aria-hidden="true">${begun.picture}</div>`)
    requestAnimationFrame(() => performance.mark('first-picture'))
    return begun.state
  }).catch(() => {})
}
// What keeps a page from starting is said, with what to do.
function tellEarly(text) {
  const place = document.getElementById('problem')
  if (!place) return document.addEventListener('DOMContentLoaded', () => document.getElementById('problem') && tellEarly(text), { once: true })
  place.hidden = false
  place.textContent = text
}
if (location.protocol === 'file:')
  tellEarly('A browser does not let a page that was opened from a file load its program. Serve this folder instead: run "make web-serve" in Tilewalk, ' +
    'or "python3 -m http.server" in this folder, and open the address it prints.')
else addEventListener('error', ({ target }) => {
  if (target instanceof HTMLScriptElement) tellEarly(self.origin === 'null'
    ? 'This frame is sandboxed, and may not load its own program: add allow-same-origin to its sandbox, or have the server of these pages send "Access-Control-Allow-Origin: *".'
    : `${target.src.split('/').pop()} of this page could not be loaded. Load the page again.`)
}, true)
