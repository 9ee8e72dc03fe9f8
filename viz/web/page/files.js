// Files, opened or dropped in any room: what a file is, its name and its first letters say, and a file that another room
// reads is handed over to it as { kind, name, text }, all three, in a list.

import { $ } from './element.js'
import { keep, keptObject } from './kept.js'

const MOST = 32 << 20, MANY = 8, HANDED = 'handed.json'
const ROOMS = { ptx: 'kernel.html', cuda: 'kernel.html', model: 'kernel.html', counters: 'kernel.html', program: 'workbench.html', progress: 'lessons.html', answers: 'lessons.html' }
const READ = "a kernel's .ptx or .cu, a program .walk, a model's config.json, ncu's .csv, progress or answers of lessons"

export function kindOf(name, text) {
  const has = (suffix, begin) => suffix.test(name) || begin.test(text)
  if (text.slice(0, 4096).includes('\0') || /^.?(PNG|GIF8|JFIF|%PDF)/.test(text)) return ''
  if (has(/\.ptx$/i, /^\s*(\/\/.*\n\s*)*\.version\b/)) return 'ptx'
  if (has(/\.cuh?$/i, /\b__global__\b/)) return 'cuda'
  if (has(/\.walk$/i, /^\s*(#.*\n\s*)*algorithm\s/)) return 'program'
  let value
  try { value = JSON.parse(text) } catch { /* no JSON */ }
  if (value?.['tilewalk-lessons']) return 'progress'
  if ([value].flat()[0]?.answers || /^[^\n]*\bstudent\b.*\banswer\b/.test(text)) return 'answers'
  if (value && typeof value === 'object') return 'model'
  return has(/\.csv$/i, /^(==PROF==|"?ID"?,|# gpu:|rung,)/m) ? 'counters' : ''
}

document.addEventListener('dragover', event => event.preventDefault())

// Files of `kinds` go to `take`, a list at a time; those of other rooms go there; of any other `tell` says what is read.
// What another room handed over is taken now: then what `take` returns comes back.
export function takeFiles(kinds, take, tell) {
  async function read(files) {
    const list = []
    for (const file of [...files].slice(0, MANY)) {
      if (file.size > MOST) return tell(`${file.name} has ${file.size.toLocaleString('en')} bytes; at most ${MOST.toLocaleString('en')} are read.`)
      const text = await file.text(), kind = kindOf(file.name, text)
      if (!kind) return tell(`${file.name} is none of what is read here: ${READ}.`)
      list.push({ kind, name: file.name.replace(/[^\w.-]/g, '_').slice(-60), text })
    }
    const own = list.filter(file => kinds.includes(file.kind))
    if (own.length) return take(own)
    if (!list.length) return
    if (!keep(HANDED, JSON.stringify({ list }))) return tell(`${list[0].name} is too large to hand over: open it in ${ROOMS[list[0].kind]}.`)
    location.assign(ROOMS[list[0].kind])
  }
  document.addEventListener('drop', event => { event.preventDefault(); read(event.dataTransfer.files) })
  $('load').onchange = async ({ target }) => { await read(target.files); target.value = '' }
  const { list } = keptObject(HANDED, tell), isList = Array.isArray(list) && list.every(file => [file?.name, file?.text].every(text => typeof text === 'string'))
  const own = isList ? list.filter(file => kinds.includes(file.kind)) : []
  if (!own.length) return null
  keep(HANDED, '')
  return take(own)
}
