// What lies beside a scene: the problem, the program's lines, tables of data, what can be shared, and the keys.

import { button, element, quoted, save, table } from './element.js'
import { commandOf } from './viewer.js'

// A link to another room; a page in one file has no others.
const room = (href, textContent) => document.querySelector('.top nav') ? element('a', { href, textContent }) : textContent

const PRESET = 0, ALGORITHM = 1, N = 2, D = 3, BLOCK_Q = 4, BLOCK_K = 5, SRAM = 6, GPU = 7, HEADS = 8, DTYPE = 9
const LABELS = ['A whole problem', 'Algorithm', 'Tokens N', 'Head size d', 'Rows of a tile, B_r', 'Columns of a tile, B_c', 'SRAM of one CTA', 'GPU', 'Heads', 'Data type']

const keyOf = part => part.slice(0, part.indexOf('='))
// A state line with other values; "" leaves a key out.
export function lineWith(line, values) {
  const parts = line.split(' ').filter(part => part && !(keyOf(part) in values))
  return [...parts, ...Object.entries(values).filter(([, value]) => value !== '').map(([key, value]) => `${key}=${value}`)].join(' ')
}
const valueIn = (line, key) => line.split(' ').find(part => keyOf(part) === key)?.slice(key.length + 1) ?? ''

function field(viewer, menu, which) {
  const row = menu[which]
  let input
  if (row.choices.length) {
    input = element('select')
    row.choices.forEach((choice, k) => input.add(new Option(choice.name + (choice.remark ? `: ${choice.remark}` : ''), choice.name, false, k === row.at)))
    if (row.at < 0) input.selectedIndex = -1
    if (which === ALGORITHM && !row.choices.some(choice => choice.name === row.value)) input.add(new Option(row.value, row.value, true, true), 0)
  } else {
    input = element('input', { type: 'text', value: which === N ? viewer.words.N : row.value, title: row.wants.replaceAll('--', ''), inputMode: 'text', autocomplete: 'off' })
  }
  input.onchange = () => viewer.set(which, input.value)
  input.dataset.parameter = which
  return element('label', { className: 'field' }, LABELS[which], input)
}

// N by a slider too, a power of two a notch.
function tokens(viewer, menu) {
  const label = field(viewer, menu, N), value = Number(viewer.words.N.replaceAll(',', ''))
  const slider = element('input', { type: 'range', min: 4, max: 17, step: 1, value: Math.round(Math.log2(value || 64)), ariaLabel: 'Tokens N, a power of two' })
  slider.oninput = () => { label.querySelector('input').value = 2 ** slider.value; viewer.set(N, String(2 ** slider.value)) }
  return element('div', {}, label, slider)
}

function masks(viewer) {
  const line = viewer.state(), isCausal = /\bcausal=1\b/.test(line), window = valueIn(line, 'window'), words = valueIn(line, 'mask')
  const open = values => viewer.restore(lineWith(viewer.state(), values))
  const n = Number(viewer.words.N.replaceAll(',', '')) || 64
  const choice = (name, on, values) => button(name, () => open(values), { ariaPressed: String(on) })
  const row = element('div', { className: 'choose', role: 'group', ariaLabel: 'Mask' },
    choice('None', !isCausal && !window && !words, { causal: '', window: '', mask: '' }), choice('Causal', isCausal && !window, { causal: 1, window: '', mask: '' }),
    choice('Window', Boolean(window), { causal: 1, window: Math.max(1, n >> 2), mask: '' }))
  const made = element('div', { className: 'field' }, element('label', { className: 'field' }, 'Mask'), row)
  if (!window) return made
  const wide = element('input', { type: 'text', value: window, title: 'keys that a query sees' })
  wide.onchange = () => open({ window: wide.value })
  made.append(element('label', { className: 'field' }, 'Keys that a query sees', wide))
  return made
}

function problem(viewer, page) {
  const menu = viewer.menu(), of = which => field(viewer, menu, which)
  const more = element('details', { open: page.isOpen === 'sizes' }, element('summary', { textContent: 'Tile sizes, type, SRAM' }),
    element('div', { className: 'two' }, of(BLOCK_Q), of(BLOCK_K), of(DTYPE), of(SRAM)))
  more.ontoggle = () => { page.isOpen = more.open ? 'sizes' : '' }
  return [of(ALGORITHM), tokens(viewer, menu), element('div', { className: 'two' }, of(D), of(HEADS)), masks(viewer), of(GPU), more,
    element('details', { open: page.isOpen === 'whole' }, element('summary', { textContent: 'Whole problems to choose from' }), of(PRESET))]
}

function code(viewer) {
  const { lines, at } = viewer.engine.json('web_code')
  const list = element('ol', { className: 'code', tabIndex: 0, ariaLabel: 'The program' }, ...lines.map(({ indent, text }, k) => {
    const line = element('li', { textContent: ' '.repeat(2 * indent) + text })
    if (k === at) line.setAttribute('aria-current', 'step')
    return line
  }))
  return [list, element('p', {}, document.querySelector('.top nav') ? room('workbench.html' + viewer.hash(), 'Change it in Write') : '')]
}

const csvOf = tables => tables.map(({ title, columns, rows }) => [['# ' + title], columns.split('|'), ...rows]
  .map(row => row.map(text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text).join(',')).join('\n')).join('\n\n') + '\n'

// The same problem as a question of the command line.
const report = (viewer, command, text) => room('kernel.html#' + encodeURI(`${command} --state ${quoted(viewer.question())}`), text)

function numbers(viewer) {
  const { tables } = viewer.engine.json('web_numbers')
  return [element('p', { className: 'soft', textContent: `Step ${viewer.words.step.toLocaleString('en')} of ${viewer.words.steps.toLocaleString('en')}. One head.` }), ...tables.map(({ title, columns, rows }) => table(title, columns.split('|'), rows)),
    element('div', { className: 'stack' }, report(viewer, 'sim', 'One run, as a report'), report(viewer, 'sweep --over block', 'A sweep over blocks'), button('Save these as CSV', () => save(new Blob([csvOf(tables)], { type: 'text/csv' }), viewer.fileName('.csv'))))]
}

// The link inside is what is left where frames are taken out of a text.
export function embedCode(viewer, title, plays = false) {
  const quoted = text => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;'), address = name => quoted(new URL(name, location.href).href + viewer.hash())
  return `<iframe src="${address(plays ? 'embed.html?play=1' : 'embed.html')}" width="900" height="560" style="border:0;max-width:100%" loading="lazy" title="${quoted(title)}"><a href="${address('see.html')}">${quoted(title)}</a></iframe>`
}

function share(viewer, page) {
  const link = () => location.href.split('#')[0] + viewer.hash()
  const plays = element('input', { type: 'checkbox', id: 'embed-plays' })
  const shown = element('textarea', { rows: 3, readOnly: true, value: link(), ariaLabel: 'The link to this step' })
  return [shown, element('div', { className: 'stack' },
    button('Copy link', () => viewer.copy(link())),
    button('Copy embed code', () => viewer.copy(embedCode(viewer, `${viewer.words.title}, step by step`, plays.checked)), { id: 'copy-embed' }),
    element('label', { className: 'switch soft' }, plays, 'The embed plays by itself; else it stands at this step'),
    button('Copy as command', () => viewer.copy(commandOf(viewer.state()))),
    button('Copy the state line', () => viewer.copy(viewer.state())),
    button('Save as PNG', () => viewer.savePng()),
    button('Save as SVG', () => viewer.saveSvg())),
    element('p', { className: 'soft' }, 'In a lecture page: ', room('embed-example.html', 'how an embed is asked and told'))]
}

const KEYS = [['Space', 'play, pause'], ['Right, Left', 'one step on, back'], ['Shift + Right, Left', 'one tile on, back'], ['Page Down, Page Up', 'one row of tiles on, back'],
  ['Home, End', 'to the start, to the end'], ['1 to 6', 'the scenes, as listed'], ['p', 'the problem'], ['c', 'the program, line by line'],
  ['n', 'numbers, as tables'], ['s', 'share'], ['f', 'full screen'], ['t', 'light or dark'], ['?', 'this page'], ['Escape', 'closes what is open']]
function keys() {
  return [element('table', { className: 'data' }, element('caption', { textContent: 'Keys', className: 'unseen' }), element('tbody', {}, ...KEYS.map(([key, does]) =>
    element('tr', {}, element('th', { scope: 'row' }, element('kbd', { textContent: key })), element('td', { textContent: does }))))),
    element('h3', { textContent: 'What the colours mean' }),
    element('p', { textContent: 'Outlined: empty. Grey: holds data. Amber: at work now. Blue: done. Hatched: never loaded. Sand or umber: bytes that come again. Vermillion: bytes that need not move.' }),
    element('p', {}, 'New here? ', room('lessons.html#story', 'The story'), ' takes two minutes; ', room('lessons.html', 'the lessons'), ' ask first.'), document.getElementById('load') ? openFile() : '']
}

const openFile = () => button('Open file', () => document.getElementById('load').click())
// Where the head has no room for the rooms.
function rooms() {
  const theme = document.getElementById('theme')
  return [element('div', { className: 'stack' }, ...[...document.querySelectorAll('.top nav a')].map(link => link.cloneNode(true)), button(theme.title.replace(/ \(.*/, ''), () => theme.click()), openFile())]
}

export const PANELS = {
  rooms: { title: 'Rooms', make: rooms },
  problem: { title: 'Problem', make: problem, key: 'p', follows: 'state' },
  code: { title: 'Code', make: code, key: 'c', follows: 'step' },
  numbers: { title: 'Numbers', make: numbers, key: 'n', follows: 'step' },
  share: { title: 'Share', make: share, key: 's', follows: 'state' },
  help: { title: 'Keys and help', make: keys, key: '?' },
}
