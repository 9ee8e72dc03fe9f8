// What every page has: the theme, which is kept, and whether anything may move.

import { keep, kept } from './kept.js'

export const prefersDark = matchMedia('(prefers-color-scheme: dark)')
export const isStill = matchMedia('(prefers-reduced-motion: reduce)')
const given = () => new URLSearchParams(location.search).get('theme') ?? kept('theme')
export const isDark = () => given() === 'dark' || given() !== 'light' && prefersDark.matches

function showTheme() {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light'
}
export function turnTheme() {
  keep('theme', isDark() ? 'light' : 'dark')
  showTheme()
  dispatchEvent(new Event('storage'))
}
showTheme()
prefersDark.addEventListener('change', showTheme)
addEventListener('storage', showTheme)
document.getElementById('theme')?.addEventListener('click', turnTheme)

// What this page has used is kept for later, once it is all there.
if ('serviceWorker' in navigator && location.protocol.startsWith('http') && !document.body?.classList.contains('embed'))
  addEventListener('load', () => navigator.serviceWorker.register('worker.js').then(() => navigator.serviceWorker.ready).then(({ active }) => {
    const tell = () => active.postMessage([location.href.split('#')[0], ...performance.getEntriesByType('resource').map(entry => entry.name)])
    setTimeout(tell, 500)
    setTimeout(tell, 3000)
  }).catch(() => {}))
