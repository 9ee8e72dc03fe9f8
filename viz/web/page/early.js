
// Before the page is laid out. A theme that was chosen here is shown from the start (kept.js).
const early = document.documentElement
try {
  const theme = new URLSearchParams(location.search).get('theme') ?? localStorage.getItem(`tilewalk${location.pathname.replace(/[^/]*$/, '')}theme`)
  if (theme) early.dataset.theme = theme === 'dark' ? 'dark' : 'light'
} catch { /* nothing is kept here */ }
// The poster is of the problem that See begins with: a link shows its own.
if (location.hash.includes('=')) early.classList.add('linked')
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
