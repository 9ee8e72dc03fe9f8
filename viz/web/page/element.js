// What pages are made of.

// element('p.soft', { id: 'x' }, 'text', element('b')): a tag and its classes; what it has; what is in it.
export function element(name, ...parts) {
  const [tag, ...classes] = name.split('.'), made = document.createElement(tag)
  made.classList.add(...classes)
  for (const part of parts)
    if (part.constructor === Object) Object.assign(made, part)
    else made.append(part)
  return made
}

export const $ = id => document.getElementById(id)
export const elements = new Proxy({}, { get: (_, id) => $(id) }) // of the page, by their ids
// What is done by pressing things of the page, by their ids.
export const onPress = calls => Object.entries(calls).forEach(([id, call]) => { $(id).onclick = call })
export const button = (words, onclick, more) => element('button', { type: 'button', onclick, ...more }, words)

// What keeps the page from what it is for; "": nothing does.
export function tellProblem(text) {
  $('problem').hidden = !text
  $('problem').textContent = text
}

// A line that can be closed; "": none.
export function putNote(text) {
  $('note').hidden = !text
  $('note').firstElementChild.textContent = text
}

// What a page says after it was asked to copy a text.
export const copied = text => navigator.clipboard.writeText(text).then(() => text.length < 400 ? `Copied: ${text}` : 'Copied.', () => `The browser does not let this page copy. Here it is: ${text}`)

export function save(blob, name) {
  const link = element('a', { href: URL.createObjectURL(blob), download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}

export function table(title, columns, rows) {
  const row = ([head, ...cells]) => element('tr', element('th', { scope: 'row' }, head), ...cells.map(cell => element('td', cell)))
  return element('div.scrolls', { tabIndex: 0 }, element('table.data', element('caption', title),
    element('thead', element('tr', ...columns.map(column => element('th', { scope: 'col' }, column)))), element('tbody', ...rows.map(row))))
}

export const quoted = word => /^[\w.,:/=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
