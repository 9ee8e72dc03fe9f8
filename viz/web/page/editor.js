// A text area in which programs are written.

import { element } from './element.js'

// Under the text area, whose own letters are clear, the same text in colours: `words` is the language's, as C lists them.
export function colours(words) {
  const kinds = new Map(words)
  const colour = part => {
    const kind = part[0] === '#' ? 'words' : kinds.get(part)
    return kind ? element('span.' + kind, part) : part
  }
  const paint = line => {
    const [first] = line.match(/^[a-z]+/) ?? ['']
    if (kinds.get(first) === 'prose') return [colour(first), line.slice(first.length)]
    return (line.match(/#.*|[A-Za-z][A-Za-z0-9]*'*(_[A-Za-z]+)?|[^A-Za-z#]+/g) ?? []).map(colour)
  }
  return text => text.split('\n').flatMap(line => [...paint(line), '\n'])
}

// Return keeps the indentation, and goes one level in after a line that opens a block.
export function newLine(event, edited) {
  if (event.key !== 'Enter' || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.isComposing) return
  const { value, selectionStart: at } = event.target
  const line = value.slice(value.lastIndexOf('\n', at - 1) + 1, at)
  const indent = line.match(/^ */)[0] + (/^\s*(for|kernel)\b|\{\s*$/.test(line) ? '  ' : '')
  event.preventDefault()
  if (!document.execCommand('insertText', false, '\n' + indent)) { // it keeps what can be undone
    event.target.setRangeText('\n' + indent, at, event.target.selectionEnd, 'end')
    edited()
  }
}
