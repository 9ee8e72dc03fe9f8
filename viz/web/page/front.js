// The front page: its picture stands at the end of the run, and a film of the run plays over it where things may move.

import { $, element, tellProblem } from './element.js'
import { takeFiles } from './files.js'
import { isDark, isStill } from './top.js'

if (location.hash.includes('=')) location.replace('see.html' + location.hash) // links of the page that this one was

const play = $('play'), piles = $('piles')
const film = element('img', { alt: '', width: 1056, height: 594, hidden: true })
piles.append(film)

function run(isOn) {
  if (isOn) film.src = isDark() ? 'moving-dark.webp' : 'moving.webp' // from its first frame
  else film.removeAttribute('src')
  film.hidden = true
  play.setAttribute('aria-label', isOn ? 'Stop' : 'Play')
  play.querySelector('path').setAttribute('d', isOn ? 'M7 7h10v10H7z' : 'M8 5v14l11-7z')
}
film.onload = () => { film.hidden = false }
film.onerror = () => run(false)
play.hidden = false
play.onclick = () => run(!film.hasAttribute('src'))
isStill.addEventListener('change', () => run(!isStill.matches))
addEventListener('storage', () => { if (film.hasAttribute('src')) run(true) }) // the theme was turned
addEventListener('load', () => { if (!isStill.matches && matchMedia('(min-width: 700px)').matches) run(true) })
takeFiles([], () => {}, tellProblem)
requestAnimationFrame(() => performance.mark('first-picture'))
