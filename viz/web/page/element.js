// What pages are made of.

export function element(tag, more = {}, ...children) {
  const { data, ...properties } = more
  const made = Object.assign(document.createElement(tag), properties)
  Object.assign(made.dataset, data)
  made.append(...children)
  return made
}

export const $ = id => document.getElementById(id)
export const elements = new Proxy({}, { get: (_, id) => $(id) }) // of the page, by their ids
// What is done by pressing things of the page, by their ids.
export const onPress = calls => Object.entries(calls).forEach(([id, call]) => { $(id).onclick = call })
export const button = (textContent, onclick, more) => element('button', { type: 'button', textContent, onclick, ...more })

// What keeps the page from what it is for; "": nothing does.
export function tellProblem(text) {
  $('problem').hidden = !text
  $('problem').textContent = text
}

// What a page says after it was asked to copy a text.
export const copied = text => navigator.clipboard.writeText(text).then(() => text.length < 400 ? `Copied: ${text}` : 'Copied.', () => `The browser does not let this page copy. Here it is: ${text}`)

export function save(blob, name) {
  const link = element('a', { href: URL.createObjectURL(blob), download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}

// A table; a cell is text or an element, and may be { is, className }.
export function table(title, columns, rows, className = 'data') {
  const cell = (given, k) => element(k ? 'td' : 'th', { className: given?.className ?? '', ...k ? {} : { scope: 'row' } }, given?.is ?? given)
  return element('div', { className: 'scrolls', tabIndex: 0 }, element('table', { className }, element('caption', { textContent: title }),
    element('thead', {}, element('tr', {}, ...columns.map(textContent => element('th', { scope: 'col', textContent })))),
    element('tbody', {}, ...rows.map(row => element('tr', {}, ...row.map(cell))))))
}

export const quoted = word => /^[\w.,:/=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
