// What lies beside a scene: the problem, the program's lines, tables of data, what can be shared, and the keys.

import { $, button, element, quoted, save, table } from './element.js'
import { commandOf, lineWith, valueIn } from './viewer.js'

// A link to another room; a page in one file has no others.
const room = (href, textContent) => document.querySelector('.top nav') ? element('a', { href }, textContent) : textContent

const LABELS = { algorithm: 'Algorithm', N: 'Tokens N', d: 'Head size d', 'block-q': 'Rows of a tile, B_r', 'block-k': 'Columns of a tile, B_c', sram: 'SRAM of one CTA', gpu: 'GPU', heads: 'Heads', dtype: 'Data type' }
const PROBLEMS = [['first look', 'algorithm=fa2 N=64 d=16 causal=1 block=8', '8 x 8 tiles, small enough to follow every one'],
  ['naive', 'algorithm=standard N=64 d=16 block=8', 'S and P go to HBM and come back'],
  ['ragged', 'algorithm=fa2 N=100 d=24 causal=1 block-q=16 block-k=32', 'nothing divides anything'],
  ['GPT-2 small', 'algorithm=fa2 N=1024 d=64 heads=12 causal=1 block=128', '12 heads of 64, 1,024 tokens'],
  ['Llama 3 8B', 'algorithm=fa2 N=8192 d=128 heads=32 kv-heads=8 dtype=bf16 causal=1 block-q=128 block-k=64', 'GQA: 32 query heads share 8 of K and V'],
  ['sliding window', 'algorithm=fa2 N=16384 d=128 causal=1 window=4096 block=128', 'a query sees 4,096 keys'],
  ['decode', 'algorithm=fa2-split N=1 seq-len-k=8192 d=128 block-q=1 block-k=128 splits=8', 'one new token against 8,192 keys, in 8 parts'],
  ['long context', 'algorithm=fa2 N=65536 d=128 causal=1 block=64', '1,024 x 1,024 tiles'],
  ['too large a block', 'algorithm=fa2 N=4096 d=128 block=512', 'the tiles do not fit SRAM']]

// A list of [value, name], of which `value` is chosen; it may be none of them.
function list(choices, value, change) {
  const input = element('select')
  for (const [of, name] of choices) input.add(new Option(name, of, false, of === value))
  if (!choices.some(([of]) => of === value)) input.selectedIndex = -1
  input.onchange = () => change(input.value)
  return input
}

function field(viewer, menu, key) {
  const line = viewer.state(), { words } = viewer, own = words.name
  const value = { algorithm: own, 'block-q': words.rows, 'block-k': words.columns, gpu: valueIn(line, 'gpu') || 'paper', dtype: valueIn(line, 'dtype') || 'fp16',
    heads: [valueIn(line, 'heads') || 1, valueIn(line, 'kv-heads')].filter(Boolean).join('/') }[key] ?? words[key]
  const choices = { algorithm: menu.algorithm.includes(own) ? menu.algorithm : [own, ...menu.algorithm], gpu: menu.gpu }[key]?.map(name => [name, name]) ?? menu[key]?.map(([name, bytes]) => [name, `${name}: ${bytes} bytes an element`])
  const change = value => viewer.set(key, value)
  const input = choices ? list(choices, value, change) : element('input', { type: 'text', value, title: Object.fromEntries(menu.wants)[key].replaceAll('--', ''), inputMode: 'text', autocomplete: 'off', onchange: () => change(input.value) })
  input.dataset.parameter = key
  return element('label.field', LABELS[key], input)
}

function problems(viewer) {
  const line = viewer.question(), seed = valueIn(line, 'seed')
  return element('label.field', 'A whole problem', list(PROBLEMS.map(([name, line, remark]) => [line, `${name}: ${remark}`]), lineWith(line, { seed: '' }), line => viewer.take(lineWith(line, { seed, step: 0 }))))
}

// N by a slider too, a power of two a notch.
function tokens(viewer, menu) {
  const label = field(viewer, menu, 'N'), value = Number(viewer.words.N.replaceAll(',', ''))
  const slider = element('input', { type: 'range', min: 4, max: 17, step: 1, value: Math.round(Math.log2(value || 64)), ariaLabel: 'Tokens N, a power of two' })
  slider.oninput = () => { label.querySelector('input').value = 2 ** slider.value; viewer.set('N', String(2 ** slider.value)) }
  return element('div', label, slider)
}

function masks(viewer) {
  const of = key => valueIn(viewer.state(), key), window = of('window'), n = Number(viewer.words.N.replaceAll(',', '')) || 64
  const open = values => viewer.restore(lineWith(viewer.state(), values))
  const choice = (name, on, values) => button(name, () => open({ causal: '', window: '', mask: '', ...values }), { ariaPressed: Boolean(on) })
  return element('div.field', element('label.field', 'Mask'), element('div.choose', { role: 'group', ariaLabel: 'Mask' },
    choice('None', !of('causal') && !window && !of('mask')), choice('Causal', of('causal') && !window, { causal: 1 }), choice('Window', window, { causal: 1, window: Math.max(1, n >> 2) })),
  window ? element('label.field', 'Keys that a query sees', element('input', { type: 'text', value: window, title: 'keys that a query sees', onchange: ({ target }) => open({ window: target.value }) })) : '')
}

function problem(viewer, page) {
  const menu = viewer.menu(), of = key => field(viewer, menu, key)
  const more = element('details', { open: page.isOpen === 'sizes' }, element('summary', 'Tile sizes, type, SRAM'),
    element('div.two', of('block-q'), of('block-k'), of('dtype'), of('sram')))
  more.ontoggle = () => { page.isOpen = more.open ? 'sizes' : '' }
  return [of('algorithm'), tokens(viewer, menu), element('div.two', of('d'), of('heads')), masks(viewer), of('gpu'), more,
    element('details', element('summary', 'Whole problems to choose from'), problems(viewer))]
}

function code(viewer) {
  const { lines, at } = viewer.engine.json('web_code')
  const list = element('ol.code', { tabIndex: 0, ariaLabel: 'The program' }, ...lines.map(({ indent, text }, k) => {
    const line = element('li', ' '.repeat(2 * indent) + text)
    if (k === at) line.setAttribute('aria-current', 'step')
    return line
  }))
  return [list, element('p', document.querySelector('.top nav') ? room('workbench.html' + viewer.hash(), 'Change it in Write') : '')]
}

const csvOf = tables => tables.map(({ title, columns, rows }) => [['# ' + title], columns.split('|'), ...rows]
  .map(row => row.map(text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text).join(',')).join('\n')).join('\n\n') + '\n'

// The same problem as a question of the command line.
const report = (viewer, command, text) => room('kernel.html#' + encodeURI(`${command} --state ${quoted(viewer.question())}`), text)

function numbers(viewer) {
  const { tables } = viewer.engine.json('web_numbers')
  return [element('p.soft', `Step ${viewer.words.step.toLocaleString('en')} of ${viewer.words.steps.toLocaleString('en')}. One head.`), ...tables.map(({ title, columns, rows }) => table(title, columns.split('|'), rows)),
    element('div.stack', report(viewer, 'sim', 'One run, as a report'), report(viewer, 'sweep --over block', 'A sweep over blocks'), button('Save these as CSV', () => save(new Blob([csvOf(tables)], { type: 'text/csv' }), viewer.fileName('.csv'))))]
}

// The link inside is what is left where frames are taken out of a text.
export function embedCode(viewer, title, plays = false) {
  const address = name => new URL(name, location.href).href + viewer.hash()
  return element('iframe', { src: address(plays ? 'embed.html?play=1' : 'embed.html'), width: 900, height: 560, style: 'border:0;max-width:100%', loading: 'lazy', title },
    element('a', { href: address('see.html') }, title)).outerHTML
}

function share(viewer, page) {
  const link = () => location.href.split('#')[0] + viewer.hash()
  const plays = element('input', { type: 'checkbox', id: 'embed-plays' })
  const shown = element('textarea', { rows: 3, readOnly: true, value: link(), ariaLabel: 'The link to this step' })
  return [shown, element('div.stack',
    button('Copy link', () => viewer.copy(link())),
    button('Copy embed code', () => viewer.copy(embedCode(viewer, `${viewer.words.title}, step by step`, plays.checked)), { id: 'copy-embed' }),
    element('label.switch', plays, 'The embed plays by itself; else it stands at this step'),
    button('Copy as command', () => viewer.copy(commandOf(viewer.state()))),
    button('Copy the state line', () => viewer.copy(viewer.state())),
    button('Save as PNG', () => viewer.savePng()),
    button('Save as SVG', () => viewer.saveSvg())),
    element('p.soft', 'In a lecture page: ', room('embed-example.html', 'how an embed is asked and told'))]
}

const KEYS = [['Space', 'play, pause'], ['Right, Left', 'one step on, back'], ['Shift + Right, Left', 'one tile on, back'], ['Page Down, Page Up', 'one row of tiles on, back'],
  ['Home, End', 'to the start, to the end'], ['1 to 6', 'the scenes, as listed'], ['p', 'the problem'], ['c', 'the program, line by line'],
  ['n', 'numbers, as tables'], ['s', 'share'], ['f', 'full screen'], ['t', 'light or dark'], ['?', 'this page'], ['Escape', 'closes what is open']]
function keys() {
  return [table('', [], KEYS.map(([key, does]) => [element('kbd', key), does])),
    element('h3', 'What the colours mean'),
    element('p', 'Outlined: empty. Grey: holds data. Amber: at work now. Blue: done. Hatched: never loaded. Sand or umber: bytes that come again. Vermillion: bytes that need not move.'),
    element('p', 'New here? ', room('lessons.html#story', 'The story'), ' takes two minutes; ', room('lessons.html', 'the lessons'), ' ask first.'), $('load') ? openFile() : '']
}

const openFile = () => button('Open file', () => $('load').click())
// Where the head has no room for the rooms.
function rooms() {
  const theme = $('theme')
  return [element('div.stack', ...[...document.querySelectorAll('.top nav a')].map(link => link.cloneNode(true)), button(theme.title.replace(/ \(.*/, ''), () => theme.click()), openFile())]
}

export const PANELS = {
  rooms: { title: 'Rooms', make: rooms },
  problem: { title: 'Problem', make: problem, key: 'p', follows: 'state' },
  code: { title: 'Code', make: code, key: 'c', follows: 'step' },
  numbers: { title: 'Numbers', make: numbers, key: 'n', follows: 'step' },
  share: { title: 'Share', make: share, key: 's', follows: 'state' },
  help: { title: 'Keys and help', make: keys, key: '?' },
}
