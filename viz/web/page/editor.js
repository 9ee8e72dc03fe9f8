// A text area in which programs are written.

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
