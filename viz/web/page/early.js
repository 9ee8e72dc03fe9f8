
// Before the page is laid out. A theme that was chosen here is shown from the start (kept.js).
const early = document.documentElement
try {
  const theme = new URLSearchParams(location.search).get('theme') ?? localStorage.getItem(`tilewalk${location.pathname.replace(/[^/]*$/, '')}theme`)
  if (theme) early.dataset.theme = theme === 'dark' ? 'dark' : 'light'
} catch { /* nothing is kept here */ }
// The poster is of the problem that See begins with: a link shows its own.
if (location.hash.includes('=')) early.classList.add('linked')
// A page opened from a file may load no wasm: browsers forbid it. Says so, and what to do.
if (location.protocol === 'file:')
  document.addEventListener('DOMContentLoaded', () => {
    const place = document.getElementById('problem')
    if (!place) return
    place.hidden = false
    place.textContent = 'A browser does not let a page that was opened from a file load its program. ' +
      'Serve this folder instead: run "make web-serve" in Tilewalk, or "python3 -m http.server" in this folder, and open the address it prints.'
  })
