// What a browser keeps for this folder, by name.

const placeOf = name => `tilewalk${location.pathname.replace(/[^/]*$/, '')}${name}` // as early.js
export function kept(name) {
  try { return localStorage.getItem(placeOf(name)) } catch { return null }
}
export function keep(name, text) {
  try {
    if (text === '') localStorage.removeItem(placeOf(name))
    else localStorage.setItem(placeOf(name), text)
    return 1
  } catch { return 0 }
}
// What was kept as JSON of an object; what is damaged is told, set aside and begun anew.
export function keptObject(name, tell) {
  const text = kept(name)
  if (text === null) return {}
  try {
    const value = JSON.parse(text)
    if (value && typeof value === 'object' && !Array.isArray(value)) return value
  } catch { /* told below */ }
  keep(name + '.damaged', text)
  keep(name, '')
  tell?.(`What this browser kept as ${name} is damaged. It is set aside as ${name}.damaged, and begun anew.`)
  return {}
}
