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

// What this page has used is kept for later: what it fetched before its worker had it is asked for again, which the browser
// still has.
const { serviceWorker } = navigator
if (serviceWorker && location.protocol.startsWith('http') && !document.body?.classList.contains('embed')) {
  serviceWorker.oncontrollerchange = () => setTimeout(() => {
    for (const name of [location.href, ...performance.getEntriesByType('resource').map(({ name }) => name)]) fetch(name, { cache: 'force-cache' }).catch(() => {})
  }, 1000)
  addEventListener('load', () => serviceWorker.register('worker.js').catch(() => {}))
}
