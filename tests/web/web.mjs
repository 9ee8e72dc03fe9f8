// The folder build/web in a real Chromium, against the C renderer: node tests/web/web.mjs BUILD CHROMIUM [NAME...]

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { open as openPage, serve, start } from './browser.mjs'

const [build, chromium, ...only] = process.argv.slice(2)
const PREFIX = '/some folder/of any name/' // nothing may depend on where the folder lies
const SCENES = ['walk', 'softmax', 'piles', 'time']
const scratch = mkdtempSync(join(tmpdir(), 'tilewalk-web-'))

function check(holds, ...what) {
  if (!holds) throw new Error(what.map(part => typeof part === 'string' ? part : JSON.stringify(part)).join(' '))
}
function same(got, wanted, what) {
  check(got === wanted, `${what}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`)
}
const PAGES = ['', 'see.html', 'embed.html', 'lessons.html', 'workbench.html', 'kernel.html', 'embed-example.html']
const HAS_SCENE = /^(see|embed|lessons|workbench|kernel)\.html/
const pause = ms => new Promise(resolve => setTimeout(resolve, ms))
const addressOf = (server, name, line = '') =>
  server.origin + encodeURI(PREFIX) + name + (line ? '#' + line.replaceAll(' ', '&') : '')

// What a person puts into a field.
const fill = (page, id, value, event = 'input') => page.evaluate(`(() => { const e = $('${id}'); e.value = ${JSON.stringify(value)}; e.dispatchEvent(new Event('${event}', { bubbles: true })) })()`)

async function open(world, line = '', name = 'see.html', how = {}, until = 'window.tilewalk') {
  const page = await world.page(how)
  await page.visit(addressOf(world.server, name, line))
  await page.until(until)
  return page
}
const ready = (world, name) => open(world, '', name, {}, HAS_SCENE.test(name) ? 'window.tilewalk && tilewalk.ready !== false' : `document.readyState === 'complete'`)
const textOf = (page, id) => page.evaluate(`$('${id}').textContent`)
const stateOf = page => page.evaluate('tilewalk.state()')
const has = async (page, part) => check((await stateOf(page) + ' ').includes(part + ' '), part, await stateOf(page))
const settle = page => page.evaluate('new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 60))')

// ---- what is drawn

const PROBLEMS = ['', 'N=64 d=16 causal=1 block=8 step=41', 'algorithm=standard N=64 d=16 block=8 step=100',
  'algorithm=fa1 N=100 d=24 causal=1 block-q=16 block-k=32 step=57',
  'algorithm=fa2-split N=1 seq-len-k=8192 d=128 block-q=1 block-k=128 splits=8 step=90',
  'N=4096 d=128 heads=32 kv-heads=8 dtype=bf16 causal=1 block-q=128 block-k=64 gpu=h200 step=1000',
  'N=16384 d=128 causal=1 window=4096 block=128 gpu=a100-80gb step=20000', 'N=65536 d=128 causal=1 block=64 step=300000']

async function primitives(world) {
  const lines = SCENES.flatMap(scene => PROBLEMS.map(problem => `${problem} scene=${scene}`.trim()))
  const [width, height] = [1280, 720]
  const output = execFileSync(`${build}/web_native`, [width, height],
    { input: lines.join('\n') + '\n', maxBuffer: 1 << 28, encoding: 'utf8' })
  const native = output.split(/^state /m).slice(1).map(part => {
    const head = part.indexOf('\n'), words = part.indexOf('\nwords\n')
    return { line: part.slice(0, head), list: part.slice(head + 1, words + 1), words: part.slice(words + 7, part.lastIndexOf('end\n')) }
  })
  same(native.length, lines.length, 'states that C drew')
  const page = await open(world)
  await page.evaluate(`import(new URL('canvas.js', location)).then(({ Ruler }) => { // as the C beside it does
    Ruler.prototype.measure = (engine, size, style, at, length) => [...engine.readPart(at, length)].length * size * (style & 4 ? 0.6 : style & 1 ? 0.55 : 0.5)
    tilewalk.engine.call('web_l2_later', 0)
  })`)
  let count = 0
  for (const one of native) {
    check(!one.list.startsWith('refused'), `C refuses ${one.line}`)
    const [list, words] = await page.evaluate(`(() => {
      const { engine } = tilewalk
      if (!engine.call('web_open', ${JSON.stringify(one.line)})) return ['refused ' + engine.text('web_message'), '']
      engine.call('web_look', 0, 0)
      engine.call('web_picture', ${width}, ${height}, true)
      return [engine.taken('web_svg'), engine.text('web_describe')]
    })()`)
    same(list, one.list, one.line)
    same(words.trimEnd(), one.words.trimEnd(), `${one.line}: description`)
    count += one.list.split('\n').length
  }
  return `${native.length} states, ${count} elements`
}

// cairo's own pixels against the canvas's, but where text stands: glyphs are antialiased differently. What the text is,
// and where, is compared above.
async function pixels(world) {
  const page = await open(world), shares = []
  for (const scene of SCENES) {
    const line = `${PROBLEMS[1]} scene=${scene}`, file = join(scratch, 'wanted.png')
    execFileSync(`${build}/tilewalk`, ['render', '--state', line, '--size', '1280x720', '-o', file])
    const [share, compared] = await page.evaluate(`(async () => {
      tilewalk.engine.call('web_open', ${JSON.stringify(line)})
      tilewalk.engine.call('web_look', 0, 0)
      const pixelsOf = async source => {
        const context = new OffscreenCanvas(1280, 720).getContext('2d')
        context.drawImage(await createImageBitmap(source), 0, 0)
        return context.getImageData(0, 0, 1280, 720).data
      }
      const got = await pixelsOf(await tilewalk.picturePng())
      const image = Object.assign(new Image(), { src: 'data:image/png;base64,${readFileSync(file).toString('base64')}' })
      await image.decode()
      const wanted = await pixelsOf(image)
      const text = new Uint8Array(1280 * 720)
      const svg = new DOMParser().parseFromString(tilewalk.pictureSvg(), 'image/svg+xml').documentElement
      document.body.append(svg)
      for (const piece of svg.querySelectorAll('text')) {
        const { x, y, width, height } = piece.getBBox()
        for (let row = Math.max(0, Math.floor(y - 1)); row < Math.min(720, y + height + 1); row++)
          text.fill(1, row * 1280 + Math.max(0, Math.floor(x - 3)), row * 1280 + Math.min(1280, Math.ceil(x + 1.02 * width + 3)))
      }
      svg.remove()
      let off = 0, compared = 0
      for (let k = 0; k < got.length; k += 4) {
        if (text[k / 4]) continue
        compared++
        if (Math.max(...[0, 1, 2].map(i => Math.abs(got[k + i] - wanted[k + i]))) > 64) off++
      }
      return [off, compared]
    })()`)
    check(compared > 640 * 720, `${scene}: only ${compared} pixels without text`)
    check(share < 60, `${scene}: ${share} of ${compared} pixels without text differ by more than a quarter`)
    shares.push(share)
  }
  return `at most ${Math.max(...shares)} pixels without text differ by more than a quarter`
}

// ---- how it is driven

async function keys(world) {
  const page = await open(world, 'N=64 d=16 causal=1 block=8 scene=tiles step=0')
  await page.evaluate('tilewalk.canvas.focus()')
  for (const [key, state] of [['ArrowRight', 'step=1'], ['ArrowRight', 'step=2'], ['ArrowLeft', 'step=1'], ['3', 'scene=softmax']]) {
    await page.press(key)
    await has(page, state)
  }
  for (const [key, title] of [['p', 'Problem'], ['c', 'Code'], ['n', 'Numbers'], ['s', 'Share'], ['?', 'Keys and help']]) {
    await page.evaluate('tilewalk.canvas.focus()')
    await page.press(key)
    same(await page.evaluate(`document.querySelector('#panel:not([hidden]) h2').textContent`), title, key)
    await page.press('Escape')
    await page.until(`$('panel').hidden && document.activeElement === tilewalk.canvas`)
  }
  await page.press('p')
  // A field has its own keys; what it is given is taken, or refused in one line.
  await page.evaluate(`document.querySelector('[data-parameter="N"]').select()`)
  await page.evaluate(`document.querySelector('[data-parameter="N"]').focus()`)
  await page.keyboard.sendCharacter('128')
  await page.press('Enter')
  await page.until(`tilewalk.state().includes('N=128')`)
  // A key of the problem takes what goes with it along.
  for (const [key, value, part] of [['block-q', '16', 'block-q=16 block-k=8'], ['heads', '4/2', 'heads=4 kv-heads=2'], ['sram', '96 KiB', 'sram=98304'], ['gpu', 'h200', 'block-k=8 gpu=h200'], ['heads', '1', 'heads=1 causal=1']]) {
    await page.evaluate(`tilewalk.set('${key}', '${value}')`)
    await has(page, part)
    await settle(page)
  }
  await page.evaluate(`tilewalk.set('gpu', 'none')`)
  check((await page.until(`!$('note').hidden && $('note').innerText`)).includes("no GPU 'none'"), 'a wrong GPU is refused')
  await page.evaluate(`($('note-close').click(), tilewalk.canvas.focus())`)
  await page.press(' ')
  await page.until(`Number(tilewalk.state().match(/step=(\\d+)/)?.[1]) > 3`)
  await page.press(' ')
  same(await page.evaluate(`tilewalk.engine.call('web_is_playing')`), 0, 'paused')
  await page.press('t')
  same(await page.evaluate(`document.documentElement.dataset.theme + tilewalk.engine.call('web_is_dark')`), 'dark1', 't: the other theme')
  await page.reload()
  await page.until('window.tilewalk')
  same(await page.evaluate(`document.documentElement.dataset.theme + tilewalk.engine.call('web_is_dark')`), 'dark1', 'it is kept')
  // Who wants no motion has none, whatever the theme: a step is there at once.
  const moves = () => page.evaluate(`(tilewalk.engine.call('web_is_playing') && tilewalk.input('play'), tilewalk.input('start'), tilewalk.input('next'), tilewalk.engine.call('web_is_moving'))`)
  same(await moves(), 1, 'a step moves')
  await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }])
  await page.until(`tilewalk.input('next'), tilewalk.engine.call('web_is_moving') === 0`)
  await page.press('t')
  same(await page.evaluate('document.documentElement.dataset.theme') + await moves(), 'light0', 'nothing moves in the other theme')
  return 'steps, scenes, five panels, a field, the theme'
}

async function pointer(world) {
  const page = await open(world, 'N=64 d=16 causal=1 block=8 step=0')
  const box = id => page.evaluate(`(({ left, top, width, height }) => ({ left, top, width, height }))($('${id}').getBoundingClientRect())`)
  const strip = await box('strip')
  const at = part => [strip.left + part * strip.width, strip.top + strip.height / 2]
  await page.mouse.move(...at(0.1))
  await page.mouse.down()
  await page.mouse.move(...at(0.5))
  await page.mouse.up()
  const step = Number((await stateOf(page)).match(/step=(\d+)/)?.[1])
  check(Math.abs(step - 138) < 6, 'scrubbed to the middle of 276:', await stateOf(page))
  same(await page.evaluate(`$('place').getAttribute('aria-valuetext')`), `step ${step} of 276, ${await page.evaluate('tilewalk.words.moved')} moved`, 'the slider says')
  // A press on a tile goes to it. Where it lies is asked of C by moving.
  const picture = await box('canvas')
  await page.mouse.click(picture.left + 0.2 * picture.width, picture.top + 0.75 * picture.height)
  check((await stateOf(page)) !== `step=${step}`, 'a tile was pressed')
  const before = await stateOf(page)
  await page.mouse.wheel({ deltaY: 300 })
  await settle(page)
  same(await stateOf(page), before, 'the wheel steps nothing')
  // Back undoes a scene, a problem and a panel, not steps.
  await page.locator('[data-scene="time"]').click()
  await page.until(`location.hash.includes('scene=time')`)
  await page.locator('#chip').click()
  await page.locator('.choose button').click()
  await page.until(`!location.hash.includes('causal=1')`)
  for (const [what, is] of [['causal', `location.hash.includes('causal=1')`], ['the panel', `$('panel').hidden`], ['time', `!location.hash.includes('scene=time')`]]) {
    await page.evaluate('history.back()')
    await page.until(is + ' && 1').catch(() => check(false, 'Back did not undo', what))
  }
  await page.until(`tilewalk.state() === ${JSON.stringify(before)}`).catch(async () => same(await stateOf(page), before, 'after Back'))
  return `step ${step}; Back undid a problem, a panel and a scene`
}

async function touch(world) {
  const page = await open(world, 'N=64 d=16 causal=1 block=8 step=0', 'see.html', { width: 390, height: 844, deviceScaleFactor: 3, isMobile: true })
  const tap = async selector => {
    await page.tap(selector)
    await settle(page).catch(() => 0) // a tap may lead to another page
  }
  await tap('#next')
  await page.until(`tilewalk.state().includes('step=1')`)
  await tap('[data-scene="piles"]')
  await page.until(`tilewalk.state().includes('scene=piles')`)
  await tap('#chip')
  await page.select('[data-parameter="gpu"]', 'h200')
  await has(page, 'gpu=h200')
  // The rooms of the head are behind one button here, and the theme.
  await tap('#rooms')
  same(await page.evaluate(`$$('#panel a').map(a => a.textContent + (a.ariaCurrent ?? '')).join()`), 'Seepage,Learn,Write,Your kernel', 'rooms')
  same(await page.evaluate(`(document.querySelector('#panel .stack button').click(), document.documentElement.dataset.theme)`), 'dark', 'the theme')
  await tap('#panel a[href="workbench.html"]')
  await page.until(`location.pathname.endsWith('/workbench.html') && window.tilewalk`)
  await page.evaluate('history.back()').catch(() => 0)
  await page.until(`location.pathname.endsWith('/see.html') && window.tilewalk`)
  const low = await page.evaluate(`$$('button, select, input:not([type=range])').filter(e => e.offsetHeight && e.offsetHeight < 38).map(e => e.outerHTML.slice(0, 60)).join()`)
  same(low, '', 'controls too low for a finger')
  return 'a tap steps, a list chooses'
}

// The picture has its share of the page; in it no text is below 12 pixels, leaves it, or lies on other text.
async function layout(world) {
  const shares = []
  for (const [name, width, height, least] of [['see.html', 1920, 1080, 0.69], ['see.html', 1366, 700, 0.59], ['see.html', 390, 844, 0.57], ['embed.html', 900, 560, 0.67], ['embed.html', 320, 240, 0.6]]) {
    const page = await open(world, 'N=1024 d=64 block=128 step=153', name, { width, height })
    const share = await page.evaluate(`(({ width, height }) => width * height / (innerWidth * innerHeight))($('picture').getBoundingClientRect())`)
    check(share >= least, `${name} at ${width} x ${height}: the picture has ${(100 * share).toFixed(1)} %`)
    await page.until(`tilewalk.engine.taken('web_svg').length > 2000`)
    shares.push((100 * share).toFixed(1))
    await page.close()
  }
  const sizes = [[320, 150], [320, 196], [568, 276], [768, 307], [3736, 1950], [326, 380], [390, 340], [390, 541], [600, 640], [834, 398], [1024, 463], [1246, 463], [1808, 841]]
  const page = await open(world, 'N=1024 d=64 block=128 step=0')
  await page.evaluate('tilewalk.whole')
  const { states, faults } = await page.evaluate(`(() => {
    const { engine } = tilewalk, rule = document.createElement('canvas').getContext('2d'), faults = []
    const texts = () => [...new DOMParser().parseFromString(engine.taken('web_svg'), 'image/svg+xml').querySelectorAll('text')].map(text => {
      const of = (name, it = text) => it?.getAttribute(name) ?? '', n = (...name) => Number(of(...name)), inside = text.closest('pattern')
      rule.font = [of('font-style'), of('font-weight'), of('font-size') + 'px', of('font-family') ? '"Tilewalk Mono"' : '"Tilewalk Sans"'].join(' ')
      return { x: n('x') + n('x', inside), y: n('y') + n('y', inside), size: n('font-size'), width: rule.measureText(text.textContent).width, text: text.textContent }
    }).filter(({ text }) => text.trim())
    let states = 0
    for (const scene of ${JSON.stringify([...SCENES, 'piles', 'bank', 'many'])}) {
      engine.call('web_open', 'algorithm=fa2 N=1024 d=64 block=128 step=153 scene=' + scene)
      for (const [w, h] of ${JSON.stringify(sizes)}) {
        engine.call('web_picture', w, h, 0)
        const all = texts(), say = (what, text) => faults.push([scene, w, h, what, text].join(' '))
        states++
        for (const t of all) {
          if (t.size < 11.95) say('small', t.text)
          if (t.x < -1 || t.x + t.width > w + 1.5 || t.y > h + 1 || t.y < 0.75 * t.size - 1) say('outside', t.text)
        }
        all.forEach((a, k) => all.slice(k + 1).forEach(b => {
          if (a.x + 1 < b.x + b.width && b.x + 1 < a.x + a.width && a.y - 0.7 * a.size + 1 < b.y && b.y - 0.7 * b.size + 1 < a.y && !(a.text === b.text && Math.abs(a.x - b.x) < 2)) say('overlap', a.text + ' / ' + b.text)
        }))
      }
    }
    return { states, faults }
  })()`)
  check(faults.length === 0, faults.length, faults.slice(0, 5))
  return `pictures of ${shares.join(', ')} %; ${states} states without text that is small, cut or on other text`
}

// ---- links

async function permalinks(world) {
  const page = await open(world)
  const lines = SCENES.flatMap(scene => PROBLEMS.map(problem => `${problem} scene=${scene}`))
  lines.push('algorithm=standard,fa2 N=64 d=16 block=8 scene=piles step=7')
  const { taken, bad } = await page.evaluate(`(async () => {
    const { lineOf, hashOf } = await import('./viewer.js')
    const links = [], bad = []
    for (const line of ${JSON.stringify(lines)}) {
      if (!tilewalk.engine.call('web_open', line)) continue
      const state = tilewalk.state(), words = tilewalk.engine.text('web_describe')
      links.push({ line, state, words, link: new URL(hashOf(state), location.href).hash })
    }
    for (const { line, state, words, link } of links) { // another problem was shown before each
      tilewalk.engine.call('web_open', lineOf(link))
      if (tilewalk.state() !== state || tilewalk.engine.text('web_describe') !== words) bad.push([line, state, tilewalk.state()])
    }
    return { taken: links.length, bad: bad.slice(0, 3) }
  })()`)
  check(bad.length === 0, 'did not come back:', bad)
  same(taken, lines.length, 'possible problems')
  // A real link, opened, changed by a key, reloaded.
  const other = await open(world, 'N=100 d=16 block=8 causal=1 scene=causal step=9')
  await other.evaluate('tilewalk.canvas.focus()')
  await other.press('ArrowRight')
  await other.until(`location.hash.includes('step=10')`)
  const before = await stateOf(other)
  await other.reload()
  await other.until('window.tilewalk')
  same(await stateOf(other), before, 'after a reload')
  const hostile = await open(world, `gpu=../../etc/passwd N=99999999999999 '"><script>alert(1)</script>`)
  check((await hostile.until(`$('note').textContent.trim().length > 8 && $('note').textContent`)).includes('is left out'), 'a bad link says why', await textOf(hostile, 'note'))
  // What is wrong is named and left out, the rest is kept, and the address stays as it came.
  for (const [line, kept, says] of [['N=64 d=16 zork=1 block=8 scene=time', 'N=64 d=16 block=8 scene=time', "zork=1 is left out: there is no state key 'zork'"],
    ['N=64 d=16 block=8 heads=-4 step=3', 'N=64 d=16 block=8', 'heads=-4 is left out'], ['N=64 d=16 block=8 step=99999', 'N=64 d=16 block=8 step=408', 'step=99999 is past the end, step 408']]) {
    const odd = await open(world, line)
    const [state, said, hash] = await odd.evaluate(`[tilewalk.state(), document.querySelector('#note span').textContent, location.hash]`)
    check(kept.split(' ').every(part => state.includes(part)), line, state)
    check(said.includes(says), line, said)
    same(hash, '#' + line.replaceAll(' ', '&'), 'the address')
    await odd.close()
  }
  return `${taken} states`
}

// ---- files

async function exports(world) {
  const page = await open(world, 'N=64 d=16 causal=1 block=8 step=41')
  page.mayFail = /inline style/ // of an embed's code, which is parsed here
  const [size, type] = await page.evaluate(`tilewalk.picturePng().then(async blob => { const b = await createImageBitmap(blob); return [b.width + 'x' + b.height, blob.type] })`)
  same(type, 'image/png', 'type')
  check(/^\d+x\d+$/.test(size), size)
  const [valid, texts, drawn] = await page.evaluate(`(async () => {
    const svg = new DOMParser().parseFromString(tilewalk.pictureSvg(), 'image/svg+xml'), drawn = [], of = CanvasRenderingContext2D.prototype, { fillText } = of
    of.fillText = function (text, ...place) { drawn.push(text); fillText.call(this, text, ...place) }
    await tilewalk.picturePng()
    of.fillText = fillText
    return [!svg.querySelector('parsererror') && svg.querySelector('desc').textContent === tilewalk.state(),
      [...svg.querySelectorAll('text')].map(t => t.textContent), drawn]
  })()`)
  check(valid, 'the SVG is not well-formed, or does not carry its state')
  same(JSON.stringify(texts), JSON.stringify(drawn.slice(0, texts.length)), 'its text')
  const command = await page.evaluate(`import('./viewer.js').then(m => m.commandOf(tilewalk.state()))`)
  const line = command.match(/--state '(.*)'$/)[1]
  execFileSync(`${build}/tilewalk`, ['render', '--describe', '--state', line])
  // Where frames are taken out of a text, as Moodle's HTML Purifier does, their content stays: a link to the same state.
  const [frame, link] = await page.evaluate(`import('./panels.js').then(m => {
    const text = m.embedCode(tilewalk, 'A "tile" & more'), frame = new DOMParser().parseFromString(text, 'text/html').querySelector('iframe')
    return [frame, new DOMParser().parseFromString(frame.textContent, 'text/html').querySelector('a')].map(one => [one.src ?? one.href, one.title || one.textContent].join(' '))
  })`)
  same(link, frame.replace('embed.html', 'see.html'), 'the link inside the embed code')
  check(frame.includes('&causal=1') && frame.endsWith(' A "tile" & more'), frame)
  // Copied as it stands, and, by the choice beside it, as it plays; the link inside is the same.
  const codes = await page.evaluate(`(() => {
    const copied = [], { copy } = tilewalk, copyEmbed = () => $('copy-embed').click()
    tilewalk.copy = text => copied.push(text)
    $('share').click()
    copyEmbed()
    $('embed-plays').click()
    copyEmbed()
    tilewalk.copy = copy
    return copied
  })()`)
  same(codes[1].replace('embed.html?play=1#', 'embed.html#'), codes[0], 'the code of an embed that plays')
  check(codes[1] !== codes[0] && /src="[^"]*embed\.html#/.test(codes[0]), codes)
  return `PNG ${size}, SVG with ${texts.length} texts, ${command}`
}

// ---- stories

// Walked as a reader would: a wrong letter, a right one, a click on the card, and away.
async function story(world) {
  const page = await open(world, '', 'story.html', {}, 'location.pathname.endsWith("/lessons.html") && window.tilewalk') // leads on
  const until = text => page.until(`$('live').textContent.includes('${text}')`)
  await until('1 of 6.')
  await page.evaluate('location.hash = "story-my-kernel"')
  await until('1 of 5.')
  await page.press('Escape')
  await page.until(`!$('list').hidden && $$('#list li').length > 5`)
  return 'why-fast and my-kernel, with answers'
}

// ---- lessons

const LESSON = '02-one-row'
const click = (page, selector) => page.evaluate(`(() => { const e = document.querySelector(${JSON.stringify(selector)}); e?.click(); return Boolean(e) })()`)
const html = page => page.evaluate(`$('page').innerText`)

// Goes on until a question is open, or the lesson is done. Returns the question's kind, or 'done'.
async function toQuestion(page) {
  for (let k = 0; k < 200; k++) {
    const at = await page.evaluate(`(() => {
      const page = $('page')
      if (page.querySelector('.box.bad strong')?.textContent.includes('cannot go on')) return 'broken: ' + page.innerText
      if (page.querySelector('form.answer')) return 'number'
      if (page.querySelector('.choice:not(:disabled)')) return page.innerText.includes('Press them in order') ? 'order' : 'choice'
      return page.querySelector('.foot [data-press="next"]') ? '' : 'done'
    })()`)
    if (at) return at
    await click(page, '.foot [data-press="next"]')
  }
  return 'endless'
}

async function type(page, text) {
  await fill(page, 'answer', text)
  await click(page, 'form.answer button')
}

// A wrong answer, a hint, the right answer, to the end; what was done is there after a reload, and the terminal's
// program grades what is handed in.
async function lesson(world) {
  const first = await open(world, LESSON, 'lessons.html')
  same(await first.evaluate(`performance.getEntriesByName('first-picture').length`), 2, 'its picture before any program, and by one')
  await click(first, '#next')
  await has(first, 'step=1')
  const answers = []
  for (let kind; (kind = await toQuestion(first)) !== 'done';) { // skips all, and notes what the answers are
    check(['number', 'choice', 'order'].includes(kind), kind)
    await click(first, '.foot [data-press="next"]')
    const said = [...(await html(first)).matchAll(/The answer is (.*?)\. /g)].pop()
    answers.push({ kind, said: said?.[1] })
  }
  await first.close()
  const page = await open(world, LESSON, 'lessons.html')
  let wrong = 0, hints = 0, right = 0
  for (const { kind, said } of answers) {
    same(await toQuestion(page), kind, 'the same questions come')
    const before = await page.evaluate(`$$('.box.good').length`)
    if (kind === 'number' && said) {
      if (wrong === 0) {
        await type(page, '123456789')
        check(/Not quite|Not yet/.test(await html(page)), 'a wrong answer is not right:', await html(page))
        wrong++
        if (await click(page, '[data-press="hint"]')) hints++
        check((await html(page)).includes('Hint 1 of'), 'a hint')
      }
      await type(page, said.replace(/ .*$/, ''))
      check(await page.evaluate(`$$('.box.good').length`) > before, `'${said}' is right:`, await html(page))
      right++
    } else await click(page, '.foot [data-press="next"]')
  }
  same(await toQuestion(page), 'done', 'the end')
  check((await html(page)).includes('The lesson is done'), 'the end says so')
  check(wrong && right > 1, { wrong, hints, right })
  const record = await page.evaluate(`Object.entries(localStorage).find(([key]) => key.endsWith('lessons.json'))[1]`)
  check(JSON.parse(record).lessons[LESSON].finished === true, record)
  await page.visit(addressOf(world.server, 'lessons.html'))
  await page.until(`$('list')?.innerText.includes('done, ${right} of')`)
  // Handed in, and graded by the program: the first answers.
  await page.evaluate(`location.hash = '${LESSON}'`)
  const handed = await page.until(`tilewalk.engine.text('web_lesson_hand_in', 'Ada')`)
  const file = join(scratch, 'handed.json')
  writeFileSync(file, handed)
  const graded = execFileSync(`${build}/tilewalk`, ['lesson', '--answers', file, '--json'], { encoding: 'utf8' })
  const verdicts = JSON.parse(graded).answers.map(row => row.verdict)
  same(verdicts.filter(verdict => verdict === 'right').length, right - wrong, 'the program grades the first answers')
  same(verdicts.length, right, 'each is there')
  return `${answers.length} questions; ${wrong} wrong, ${hints} hint, ${right} right; graded alike by tilewalk lesson`
}

// Programs and kernels that answer: the start is refused with a word, a known mutant is told its sentence, the reference passes.
async function written(world) {
  const done = []
  for (const [name, task, find, put, says] of [
    ['02-one-row', 'row-maximum', 'max(m_i, row max of S)', 'row max of S', 'the last block alone'],
    ['05-the-machine', 'online', null, null, null]]) {
    const page = await open(world, name, 'lessons.html')
    for (let k = 0; k < 80 && !await page.evaluate(`document.querySelector('#answer.program')?.getAttribute('aria-label')?.startsWith('${task}.')`); k++)
      await click(page, '.foot [data-press="next"]')
    const text = readFileSync(`lessons/tasks/${task}.task`, 'utf8')
    const cuda = /^entry /m.test(text), entry = cuda && text.match(/^entry +(\S+)/m)[1]
    const declared = [...text.matchAll(/^(input|output) +(.*\n)/gm)].map(([, word, rest]) => `${word} ${rest}`).join('')
    const reference = cuda // a page has no compiler: PTX, of which the first entry is the reference
      ? readFileSync(`lessons/tasks/${task}.ptx`, 'utf8').split(/^\.visible/m).slice(0, 2).join('.visible').replaceAll(entry + '_0', entry)
      : text.match(/^reference\n((?: .*\n|\n)+)/m)[1].replace(/^ {4}/gm, '').replace(/^algorithm .*\n/, first => first + declared)
    const judged = async value => {
      if (value !== undefined) await fill(page, 'answer', value)
      await click(page, '#open [data-press="check"]')
      return page.until(`$$('#open .box.bad, #open .box.warn, #open .box.good').pop()?.innerText`)
    }
    const start = await judged()
    check(cuda ? /not compiled here/.test(start) : /Not|moves/.test(start), 'the start:', start)
    if (says) check((await judged(reference.replace(find, put))).includes(says), 'a mutant:', await html(page))
    check(/Right/.test(await judged(reference)), 'the reference:', await html(page))
    page.mayFail = /\/ptx/ // nothing here compiles
    done.push(task)
  }
  return done.join(', ')
}

// Progress is the terminal's file: saved here and read there, written there and loaded here; a damaged one changes
// nothing. What is handed in is a file.
const MACHINE = '05-the-machine'
async function records(world) {
  const folder = join(scratch, 'downloads'), home = join(scratch, 'state'), page = await open(world, MACHINE, 'lessons.html', { downloadPath: folder })
  mkdirSync(join(home, 'tilewalk'), { recursive: true })
  const file = async name => {
    for (let k = 0; k < 4800; k++) { try { return readFileSync(join(folder, name), 'utf8') } catch { await pause(25) } }
    throw new Error(`no ${name} was saved`)
  }
  const shell = (...args) => execFileSync(resolve(build, 'tilewalk'), args, { encoding: 'utf8', env: { ...process.env, XDG_STATE_HOME: home } })
  same(await toQuestion(page), 'number', 'the first question')
  await type(page, '3 MiB')
  check((await html(page)).includes('each matrix once'), 'a wrong answer is diagnosed:', await html(page))
  const before = (await html(page)).match(/\d \d*(?=\d)/)?.[0]
  await type(page, '65 MiB') // Q once, K and V for each of 32 blocks of queries, 1 MiB each
  check(await page.evaluate(`$$('.box.good').length`) === 1, 'right:', before ?? '', await html(page))
  // The name is asked for; what is handed in is the first answer, and the terminal grades it for that name.
  const student = async (name, seed) => {
    await fill(page, 'student-name', name)
    await fill(page, 'student-seed', seed)
    await click(page, '#student-done')
  }
  await click(page, '#hand-in')
  await student('', '')
  check(await page.evaluate(`$('student').open`), 'no file without a name')
  await student(' Ada "<b>" ', '')
  const handed = JSON.parse(await file(MACHINE + '-Ada-b-.json'))
  same(JSON.stringify([handed[0].student, handed[0].seed, handed[0].answers]), '["Ada \\"<b>\\"",1,{"asked":"3 MiB"}]', 'handed in')
  same(shell('lesson', '--answers', join(folder, MACHINE + '-Ada-b-.json'), '--scores', '--csv'), 'student,right,counted,remark\n"Ada ""<b>""",0,1,\n', 'graded')
  // A number of one's own draws its numbers, as the terminal does.
  const go = async (hash, there) => {
    await page.evaluate(`location.hash = '${hash}'`)
    await page.until(there)
  }
  await go('', `!$('export').hidden`)
  await click(page, '#name')
  await student('Ada', '265346656')
  await go('01-bytes', `document.title.includes('Bytes')`)
  await click(page, '.foot [data-press="next"]') // what is only looked at is not kept
  await page.until(`Object.entries(localStorage).find(([key]) => key.endsWith('lessons.json'))[1].includes('"seed": 265346656')`) // the student's own
  await go('', `!$('export').hidden`)
  await click(page, '#export')
  const saved = await file('lessons.json')
  writeFileSync(join(home, 'tilewalk/lessons.json'), saved)
  check(/05-the-machine.*1 of/.test(shell('lesson', '--list')), 'the terminal reads the progress:', shell('lesson', '--list'))
  check(/^5\/asked,.*,5,0,1,0,0$/m.test(shell('practice', '--list', '--csv')), 'what was wrong here is practised there:', shell('practice', '--list', '--csv'))
  // Finished there, loaded here.
  const finished = JSON.parse(saved)
  finished.lessons[MACHINE].finished = true
  finished.lessons['03-the-loop'] = { ...finished.lessons[MACHINE], answers: {} }
  const back = join(scratch, 'back.json'), broken = join(scratch, 'broken.json')
  writeFileSync(back, JSON.stringify(finished))
  writeFileSync(broken, '{"tilewalk-lessons": 1, "lessons": [')
  const load = async name => (await page.$('#load')).uploadFile(name)
  await load(back)
  const listed = await page.until(`$('list').innerText.includes('done, 1 of') && $('list').innerText`)
  same((listed.match(/done, /g) ?? []).length, 2, 'two lessons are done')
  await load(broken)
  await page.until(`!$('problem').hidden && $('problem').textContent.includes('is none of what is read here')`)
  check((await page.evaluate(`$('list').innerText`)).includes('done, 1 of'), 'a damaged file changes nothing')
  // What was handed in is graded, as the terminal grades it.
  await load(join(folder, MACHINE + '-Ada-b-.json'))
  same(await page.until(`document.querySelector('#list h2').textContent.includes('-Ada') && $$('#list td, #list th[scope="row"]').slice(0, 5).map(e => e.textContent).join('|')`),
    `Ada "<b>"|${MACHINE}|asked|3 MiB|${JSON.parse(shell('lesson', '--answers', join(folder, MACHINE + '-Ada-b-.json'), '--json')).answers[0].verdict}`, 'graded here')
  check((await page.evaluate(`document.querySelector('#list h2').textContent`)).endsWith('0 of 1 right'), 'counted', await page.evaluate(`document.querySelector('#list h2').textContent`))
  // What the browser kept may be damaged: it is said, and set aside.
  const damaged = await page.evaluate(`(() => { const key = Object.keys(localStorage).find(key => key.endsWith('lessons.json')); localStorage[key] = '{"tilewalk-les'; return key })()`)
  await page.reload()
  await page.until(`window.tilewalk && $('problem').innerText.includes('damaged; it was set aside')`)
  same(await page.evaluate(`localStorage[${JSON.stringify(damaged + '.damaged')}] + $$('#list li').length`), '{"tilewalk-les' + JSON.parse(shell('lesson', '--list', '--json')).lessons.length, 'set aside')
  return 'saved for the terminal, loaded from it; a damaged file refused'
}

// The course as pages that need no program: all lessons, their questions, and pictures that are there.
async function read(world) {
  const dead = spawnSync('tests/support/links.py', readdirSync(join(build, 'web')).filter(name => name.endsWith('.html')).map(name => join(build, 'web', name)), { encoding: 'utf8' })
  same(dead.stdout, '', 'links of the pages')
  const page = await world.page()
  await page.setJavaScriptEnabled(false)
  const show = async name => { await page.visit(addressOf(world.server, name)); await page.until(`document.readyState === 'complete' && document.querySelector('footer, main')`) }
  await show('lessons.html')
  const names = await page.evaluate(`$$('#list li > a').map(a => a.getAttribute('href'))`)
  const wanted = execFileSync(`${build}/tilewalk`, ['lesson', '--list', '--json'], { encoding: 'utf8' })
  same(names.length, JSON.parse(wanted).lessons.length, 'lessons in the list without a script')
  let figures = 0, questions = 0
  for (const name of names) {
    await show(name)
    const [title, asks, words, n] = await page.evaluate(`[document.querySelector('h1').textContent, $$('.ask').length, document.querySelector('main').innerText.length, $$('figure svg').filter(svg => svg.getBBox().width > 700).length]`)
    check(title && asks >= 2 && words > 2500 && n >= 1, name, { title, asks, words, n })
    figures += n
    questions += asks
  }
  return `${names.length} lessons without a script, ${questions} questions, ${figures} pictures`
}

async function course(world) {
  const page = await open(world, '', 'lessons.html')
  const names = await page.until(`tilewalk && $$('#list li > a').map(a => a.hash.slice(1))`)
  for (const name of names) {
    await page.evaluate(`location.hash = '${name}'`)
    await page.until(`document.querySelector('#page .foot')`)
    const end = await page.evaluate(`(() => {
      for (let k = 0; k < 400; k++) {
        const text = tilewalk.engine.text('web_lesson_page')
        if (text.includes('cannot go on')) return text
        if (text.includes('The lesson is done')) return 'done'
        tilewalk.engine.call('web_lesson_press', 'next', 0)
      }
      return 'endless'
    })()`)
    same(end, 'done', name)
  }
  check(names.length >= 6, names)
  return `${names.length} lessons to their ends`
}

// ---- L2 in a Worker

// The picture comes at once, L2's figures later, the terminal's to the byte; of many changes in a row the last one's.
async function background(world) {
  const gpu = 'gpu=h200 d=128 heads=4 causal=1 block=128 scene=hierarchy'
  const words = N => execFileSync(`${build}/tilewalk`, ['render', '--describe', '--state', `N=${N} ${gpu}`], { encoding: 'utf8' }).trimEnd()
  const page = await open(world, `N=65536 ${gpu} step=0`)
  const described = `tilewalk.engine.text('web_describe').trimEnd()`
  await page.until(`${described}.includes(' hits.')`)
  same(await page.evaluate(described), words(65536), 'what the Worker found')
  const [gaps, waited] = await page.evaluate(`(async () => {
    const gaps = [], waited = []
    let last = performance.now(), goes = true
    const tick = now => { gaps.push(now - last); last = now; if (goes) requestAnimationFrame(tick) }
    requestAnimationFrame(tick)
    for (const N of [4096, 16384, 8192, 32768]) {
      const start = performance.now()
      tilewalk.set('N', String(N))
      if (!${described}.includes('being worked out')) throw new Error('nothing is left to the Worker')
      while (!${described}.includes(' hits.')) await new Promise(done => setTimeout(done, 4))
      waited.push(performance.now() - start)
    }
    for (let k = 0; k < 12; k++) { tilewalk.set('N', String(4096 + 128 * k)); await new Promise(done => setTimeout(done, 10)) }
    while (!${described}.includes(' hits.')) await new Promise(done => setTimeout(done, 4))
    goes = false
    return [gaps.sort((a, b) => a - b), waited]
  })()`)
  same(await page.evaluate(described), words(4096 + 128 * 11), 'the last of many changes')
  // Without a Worker it is as before.
  await page.evaluate(`(tilewalk.machine.ask = async () => ({ wrong: 'no Worker' }), tilewalk.set('N', '8192'))`)
  await page.until(`${described}.includes(' hits.')`)
  same(await page.evaluate(described), words(8192), 'without a Worker')
  return `answers after ${waited.map(ms => ms.toFixed(0)).join(', ')} ms; between frames ${gaps[gaps.length >> 1].toFixed(0)}, at most ${gaps.at(-1).toFixed(0)} ms`
}

// ---- the workbench

// The program is typed into by keys: to an error, whose message is the terminal's and stands beside its line, and back;
// shared by a link that a stranger opens.
async function workbench(world) {
  const page = await open(world, '', 'workbench.html')
  const text = () => page.evaluate(`$('program').value`)
  const verdict = what => page.until(`$('verdict').textContent.includes('${what}')`)
  const native = async (...more) => {
    writeFileSync(join(scratch, 'mine.walk'), await text())
    return spawnSync(resolve(build, 'tilewalk'), ['sim', '--algorithm', 'mine.walk', '-N', '64', '-d', '16', '--block', '8', '--causal', ...more],
      { cwd: scratch, encoding: 'utf8' })
  }
  // The whole of it, as the page says it in words, against the terminal's count.
  const moves = async () => {
    const bytes = JSON.parse((await native('--json')).stdout).runs[0].traffic.total_bytes
    await page.until(`tilewalk.engine.text('web_describe').includes('This run moves ${bytes / 1024} KiB')`)
    return bytes
  }
  await verdict('Nothing wrong')
  await click(page, '#next')
  await has(page, 'step=1')
  await click(page, '#back')
  for (const name of ['standard', 'fa1', 'fa2', 'fa2-split']) { // begun from each, O is right
    await fill(page, 'sample', name, 'change')
    await page.until(`tilewalk.program.startsWith('algorithm mine') && $('verdict').textContent.includes('O is right')`)
  }
  await fill(page, 'sample', 'fa2', 'change')
  await verdict('O is right')
  check((await stateOf(page)).startsWith('algorithm=mine.walk N=64'), await stateOf(page))
  const before = await text(), first = await moves()
  // Beside each line what it moves: 8 tiles of Q and O of 256 bytes, and the 36 of 64 tiles that the mask lets be seen.
  const beside = () => page.evaluate(`$$('#moves span').map((e, k) => e.textContent.trim() && ($('program').value.split('\\n')[k].trim() + ': ' + e.textContent.trim())).filter(Boolean).join(', ')`)
  same(await beside(), 'load Q_i: 2 KiB, load K_j: 9 KiB, load V_j: 9 KiB, store O_i: 2 KiB', 'bytes of each line')
  // A word that is meant is put in by the button.
  await fill(page, 'program', before.replace('load K_j', 'laod K_j'))
  await page.until(`!$('fix').hidden && ($('fix').click(), 1)`)
  await verdict('O is right')
  same(await text(), before, 'the word that was meant')
  const caretBehind = text => page.evaluate(`(() => { const e = $('program'); e.focus(); e.selectionStart = e.selectionEnd = e.value.indexOf('${text}') + ${text.length} })()`)
  await caretBehind('load V_j')
  await page.press('Backspace')
  await verdict('Line 14: ')
  const [why, line, off, state] = await page.evaluate(`(() => {
    const bad = document.querySelector('#numbers .bad').getBoundingClientRect(), note = $('fault').getBoundingClientRect()
    return [document.querySelector('#fault span').textContent, document.querySelector('#numbers .bad').textContent, Math.abs(note.top - bad.top), tilewalk.state()] })()`)
  same(Number(line), before.slice(0, before.indexOf('load V_j')).split('\n').length, 'the marked line')
  check(off < 20, `the message stands ${off} pixels from its line`)
  check((await native()).stderr.includes(`mine.walk:${line}: ${why}`), 'another message than the terminal\'s:', why, (await native()).stderr)
  check(state.startsWith('algorithm=mine.walk'), 'the last picture stays:', state)
  await page.reload() // what is wrong is not lost
  await page.until('window.tilewalk')
  await verdict('Line ')
  check((await text()).includes('load V_\n'), 'after a reload:', await text())
  await caretBehind('load V_')
  await page.press('j')
  await verdict('Nothing wrong')
  same(await page.evaluate(`$('fault').hidden`), true, 'the message is gone')
  same(await moves(), first, 'moved as before')
  // Right in form says nothing about O.
  await verdict('O is right')
  const sound = await text()
  for (const [what, by, says] of [["l_i, O_i *= e^(m_i - m')", '# left out', 'O is wrong: without a mask'], ['mask S', '# left out', 'O is wrong: with a causal mask'],
    ['row sum of P', '2 x row sum of P', 'O is wrong: without a mask']]) {
    check(sound.replace(what, by) !== sound, 'there is such a line:', what)
    await fill(page, 'program', sound.replace(what, by))
    await verdict(says)
  }
  await fill(page, 'program', sound)
  await verdict('O is right')
  // Its words are coloured as C lists them; the colours lie under the letters, which are the text's.
  const painted = () => page.evaluate(`[$('paint').textContent, $$('#paint .line').map(e => e.textContent).join(' ')]`)
  same((await painted())[0], await text() + '\n', 'the coloured text is the text')
  check(/kernel for every row block load/.test((await painted())[1]), 'words in colour:', (await painted())[1])
  // Control and Space go on from what is there: one word alone is taken, of several one is chosen.
  const insert = what => page.evaluate(`(() => { const e = $('program'), at = e.value.indexOf('    O_i = O_i / l_i'); e.focus(); e.setRangeText(${JSON.stringify(what)}, at, at, 'end'); e.dispatchEvent(new Event('input')) })()`)
  const offers = () => page.evaluate(`$$('#offers:not([hidden]) li').map(e => e.textContent).join(' ')`)
  await insert('      loa')
  await page.press('Control', ' ')
  check((await text()).includes('      load    O_i = O_i'), 'the one word that goes on:', await text())
  same(await offers(), '', 'nothing is offered')
  await insert(' x\n      l_i = ')
  await insert('l')
  await page.press('Control', ' ')
  same(await offers(), 'lse log l_i', 'what goes on from l')
  await page.press('ArrowDown')
  await page.press('Enter')
  check((await text()).includes('      l_i = log    O_i = O_i'), 'the second is taken:', await text())
  await fill(page, 'program', sound)
  await verdict('O is right')
  // A line more: Enter keeps the indentation. What it moves is seen at once.
  await caretBehind('load V_j')
  await page.press('Enter')
  await page.keyboard.sendCharacter('load K_j # again')
  await page.until(`tilewalk.program.includes('      load K_j # again')`)
  check(await moves() > first, 'K again moves more')
  const link = await page.until(`location.hash.includes('program=') && tilewalk.hash() === location.hash && location.hash`)
  for (const name of ['workbench.html', 'see.html', 'embed.html']) {
    const other = await open(world, '', name + link)
    same(await other.evaluate('tilewalk.program'), await text(), `${name}: the program of the link`)
    same((await stateOf(other)).replace(/ step=\d+/, ''), await stateOf(page), `${name}: its state`)
  }
  await fill(page, 'rival', 'standard', 'change')
  await page.until(`/algorithm=mine.walk,standard .*scene=piles|scene=piles.*algorithm=mine.walk,standard/.test(tilewalk.state())`)
  const worst = deflateRawSync(Buffer.alloc(50 << 20, ' ')).toString('base64url')
  for (const [bad, says] of [[worst, 'longer than'], [worst.slice(0, 11000), 'more than 6143 bytes'], ['%00***', 'damaged'], ['AAAA', 'damaged'],
    [deflateRawSync('algorithm x\nkernel <b>').toString('base64url'), 'mine.walk:']]) {
    const hostile = await open(world, '', 'workbench.html#N=64&program=' + bad)
    check((await hostile.evaluate(`tilewalk.engine.text('web_message') + tilewalk.linkError`)).includes(says), says, await hostile.evaluate(`tilewalk.engine.text('web_message')`))
  }
  // Editing for long takes no more memory: older programs are forgotten.
  const grown = await page.evaluate(`(async () => {
    const { engine } = tilewalk, text = $('program').value
    const edit = k => { engine.text('web_program', text + '# ' + k); return engine.call('web_open', 'algorithm=mine.walk N=64 d=16 block=8 scene=' + (k % 2 ? 'time' : 'main')) }
    for (let k = 0; k < 20; k++) if (!edit(k)) return 'refused: ' + engine.text('web_message')
    const bytes = engine.calls.memory.buffer.byteLength
    for (let k = 0; k < 100; k++) edit(k)
    return engine.calls.memory.buffer.byteLength - bytes
  })()`)
  same(grown, 0, 'bytes of memory after a hundred edits more')
  return `line ${line}: ${why}`
}

// ---- the front page

// It is whole without an engine or a font, at most 20 KB; a film follows where things may move, and what stands in its text
// is what the model and the counters say.
async function front(world) {
  const page = await open(world, '', '', {}, `document.querySelector('#piles img:not([hidden])')`)
  const before = [...new Set(page.requests.map(url => url.slice(addressOf(world.server, '').length)))].filter(name => name !== 'worker.js')
  check(!before.some(name => /wasm|woff|bundle/.test(name)), before)
  const size = names => names.map(name => gzipSync(readFileSync(join(build, 'web', name || 'index.html'))).length).reduce((a, b) => a + b)
  const bytes = size(before.filter(name => !name.endsWith('.webp')))
  check(bytes <= 20000 && size(before) <= bytes + 60000, `${bytes} bytes, ${size(before)} with the film`)
  await click(page, '#play')
  check(await page.evaluate(`document.querySelector('#piles img').hidden && $$('#piles svg.large path').length > 10`), 'stopped, the picture stands')
  const run = JSON.parse(execFileSync(`${build}/tilewalk`, ['sim', '-N', '4096', '-d', '128', '--gpu', 'h200', '--kernel', 'fa2_tensor', '--json'], { encoding: 'utf8' })).runs[0]
  const counted = readFileSync('assets/counters/h200/kernels/first.csv', 'utf8').split('\n').map(line => line.split(',')).find(row => row.slice(0, 9).join() === 'fa2_tensor,fp16,1,1,1,4096,4096,128,0')
  same((await page.evaluate(`$$('.equal tbody td').map(e => e.textContent).join('; ')`)).replace(/[^\d;]/g, ''), [run.l2.read_bytes, counted[11], run.hbm.read_bytes, counted[16]].join(';'), 'counted and read')
  await open(world, 'N=64 d=16 block=8 scene=tiles step=3', '', {}, // a link from before
    `location.pathname.endsWith('see.html') && window.tilewalk && tilewalk.state().includes('step=3')`)
  return `${bytes} bytes gzip in ${before.length} files, and a film`
}

// ---- questions

// libtilewalk in the page and the program: the same question, the same bytes, in all three forms.
async function questions(world) {
  const page = await open(world, '', 'measure.html#kvcache%20--model%20llama-3-8b%20-N%208192', {}, // leads on
    `location.pathname.endsWith('kernel.html') && $$('#table tbody tr').length > 2`)
  const counters = 'assets/counters/h200/kernels/first.csv'
  const asked = ['kvcache --model llama-3-8b -N 8192', 'sweep --over block -N 2048 -d 64', 'roofline --gpu h200 --causal', 'advise --gpu a100-80gb -N 4096 -d 64', 'sim -N 1024 -d 64 --gpu h200 --heads 4',
    'check --only P-fa1-traffic', 'gpus', 'algorithms', 'sim -N 0', 'sim --gpu none', 'kvcache --model nobody', 'zork', 'eligible --gpu h200 -d 64 -N 100', 'warp --stride 8']
  const environment = { ...process.env, COLUMNS: '100', LC_ALL: 'C.UTF-8', NO_COLOR: '' }
  for (const line of asked) {
    const answers = await page.evaluate(`Promise.all(['--text --details', '--csv', '--json'].map(form => tilewalk.ask(${JSON.stringify(line)} + ' ' + form)))`)
    ;['--text', '--csv', '--json'].forEach((form, k) => {
      const words = [...line.split(' '), ...form === '--text' ? ['--details'] : [form]]
      const native = spawnSync(`${build}/tilewalk`, words, { encoding: 'utf8', env: environment, maxBuffer: 1 << 26 })
      same(answers[k].status, native.status, `${line} ${form}: status (${answers[k].remark}; ${native.stderr})`)
      if (native.status !== 2) same(answers[k].text, native.stdout, `${line} ${form}`)
      else if (line !== 'zork') check(native.stderr.includes(answers[k].remark.split(';')[0]), line, answers[k].remark, native.stderr)
    })
  }
  await page.until('tilewalk.ready')
  for (const address of await page.evaluate(`$$('#report a').map(link => link.getAttribute('href'))`)) { // each example
    await page.evaluate(`location.hash = ${JSON.stringify(address)}`)
    await page.until(`$('report').dataset.line === ${JSON.stringify(decodeURIComponent(address.slice(1)))} && $('words').textContent.length > 100`)
  }
  await page.evaluate(`location.hash = encodeURI('sweep -N 0')`)
  await page.until(`/-N|seq/.test(document.querySelector('#status.bad')?.textContent)`)
  return `${asked.length} questions, ${3 * asked.length} answers equal`
}

// Every kind of file in every room, dropped and opened: it comes to where it is read, or what is read is said.
async function files(world) {
  const kernel = readFileSync('viz/web/kernels/sum.cu', 'utf8'), rooms = ['', 'see.html', 'lessons.html', 'workbench.html', 'kernel.html']
  const ptx = JSON.parse(readFileSync(join(build, 'web/kernels.json'), 'utf8'))['sum.cu'].ptx
  const config = { model_type: 'llama', hidden_size: 4096, num_attention_heads: 32, num_key_value_heads: 8, num_hidden_layers: 32, torch_dtype: 'bfloat16', max_position_embeddings: 8192 }
  const KINDS = [
    ['sum.ptx', ptx, 'kernel.html', `$('ptx').value.includes('.entry') && tilewalk.ready`],
    ['sum.cu', kernel, 'kernel.html', `$('ptx').value.includes('.entry') && $('source').textContent.includes('__global__') && tilewalk.ready`],
    ['mine.walk', 'algorithm mine\n', 'workbench.html', `$('program').value === 'algorithm mine\\n'`],
    ['config.json', JSON.stringify(config), 'kernel.html', `$('words').textContent.includes('128 KiB')`], // 2 x 32 x 8 x 128 x 2
    ['mine.csv', readFileSync('assets/counters/h200/kernels/first.csv', 'utf8').split('\n').slice(0, 14).join('\n') + '\n', 'kernel.html', `$$('#table tbody tr').length > 12`],
    ['progress.json', '{"tilewalk-lessons": 1, "lessons": {}}', 'lessons.html', `localStorage.getItem('tilewalk' + new URL('.', location.href).pathname + 'lessons.json')?.includes('tilewalk-lessons')`],
    ['handed.csv', `student,lesson,id,answer\nAda,${LESSON},score,0.15\n`, 'lessons.html', `document.querySelector('#list h2')?.textContent === 'handed.csv: 1 of 1 right'`],
    ['handed.json', JSON.stringify({ student: 'Ada', lesson: LESSON, answers: { score: '0.15' } }), 'lessons.html', `document.querySelector('#list h2')?.textContent === 'handed.json: 1 of 1 right'`],
    ['photo.png', '\u0089PNG\u0000', '', `document.body.innerText.includes('photo.png is none of what is read here')`],
  ]
  const folder = mkdtempSync(join(scratch, 'files-')) // other tests, in the other browser, have a mine.walk and a handed.json too
  KINDS.forEach(([name, text]) => writeFileSync(join(folder, name), text))
  await Promise.all(rooms.map(async room => { for (const [name, text, to, holds] of KINDS) for (const opened of [false, true]) {
    const page = await open(world, '', room, {}, room ? 'window.tilewalk && tilewalk.ready !== false' : `!!$('load')?.onchange`)
    if (opened) await (await page.$('#load')).uploadFile(join(folder, name))
    else await page.evaluate(`(() => { const data = new DataTransfer(); data.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}))
      document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })) })()`)
    await page.until(`location.pathname.endsWith(${JSON.stringify(to || room)}) && (${holds})`).catch(error => { throw new Error(`${name} ${opened ? 'opened' : 'dropped'} in ${room || 'front'}: ${error.message}`) })
    await page.close()
  } }))
  return `${rooms.length} rooms, ${KINDS.length} kinds of file, dropped and opened`
}

// ---- where it lies

async function folder(world) {
  const frames = await open(world, '', 'embed-example.html', {}, `document.querySelector('iframe').contentWindow.tilewalk`)
  same(await frames.evaluate(`document.querySelector('iframe').contentWindow.tilewalk.state().includes('causal=1')`), true, 'the frame shows its state')
  // It is told what to show by its page, and by no other.
  await frames.until(`document.readyState === 'complete'`)
  await frames.evaluate(`$('tell-standard').click()`)
  await frames.until(`$('told').textContent.startsWith('Step 80 of ')`)
  await frames.evaluate(`$('tell-step').click()`)
  await frames.until(`$('told').textContent.startsWith('Step 100 of ')`)
  await frames.evaluate(`window.scrollTo(0, 0)`)
  const { left: x, top: y } = await frames.evaluate(`(({ left, top }) => ({ left, top }))($('frame').getBoundingClientRect())`)
  await frames.mouse.move(x + 300, y + 200)
  await frames.mouse.wheel({ deltaY: 600 })
  await frames.until(`Math.round(scrollY) === Math.min(600, document.documentElement.scrollHeight - innerHeight)`)
  same(await frames.evaluate(`$('frame').contentWindow.tilewalk.words.step`), 100, 'the wheel steps nothing')
  const viewer = await open(world)
  const outside = [...frames.requests, ...viewer.requests].filter(url => !/^(data|blob):/.test(url) && !url.startsWith(addressOf(world.server, '')))
  check(outside.length === 0, 'requests that leave the folder:', outside)
  const refused = await (await viewer.createCDPSession()).send('Runtime.evaluate', { allowUnsafeEvalBlockedByCSP: false, returnByValue: true,
    expression: `(() => { try { return String(eval('1')) } catch (e) { return e.name } })()` })
  same(refused.result.value, 'EvalError', 'eval')
  same(await viewer.evaluate(`fetch('http://127.0.0.1:1/').then(() => 'allowed', e => e.name)`), 'TypeError', 'another origin')
  check(viewer.errors.some(text => text.includes('Content Security Policy')), 'the policy refused it')
  viewer.mayFail = /Content Security Policy/
  const local = await world.page()
  local.mayFail = /file:/
  await local.visit(`file://${join(process.cwd(), build, 'web/see.html')}`)
  check((await local.until(`$('problem')?.textContent`)).includes('make web-serve'), 'a file says why not')
  return `${frames.requests.length + viewer.requests.length} requests, all in the folder`
}

// The page in one file, without a server.
async function alone(world) {
  const page = await world.page()
  await page.visit(`file://${join(process.cwd(), build, 'tilewalk.html')}#N=64&d=16&block=8&scene=tiles&step=3`)
  await page.until(`window.tilewalk && performance.getEntriesByName('first-picture').length`)
  check(/N=64.*step=3$/.test(await stateOf(page)), 'a link', await stateOf(page))
  same(await page.evaluate(`[...document.fonts].every(font => font.status === 'loaded')`), true, 'its fonts')
  check(page.requests.every(url => /^(data|blob|file):/.test(url)), page.requests)
}

// In pages of another origin (another port): what an address does not allow is refused, and what it allows is done; twenty
// frames start when they are seen; a frame without an origin says what it wants.
async function embeds(world) {
  const host = join(scratch, 'host'), of = (line, more = '') => addressOf(world.server, 'embed.html' + more, line).replaceAll('&', '&amp;')
  mkdirSync(host)
  const frames = [...Array(20).keys()].map(k => `<iframe src="${of(`N=${64 + 8 * k} d=16 block=8 scene=tiles step=3`)}" width="900" height="560"></iframe>`).join('<p>Words of a lecture.</p>')
  writeFileSync(join(host, 'index.html'), `<!doctype html><link rel="icon" href="data:,"><body>${frames}</body>`)
  const { origin, close } = await serve(host)
  writeFileSync(join(host, 'tell.html'), `<!doctype html><iframe id="no" src="${of('N=64 d=16 block=8 step=3')}" width="900" height="560"></iframe>
    <iframe id="yes" src="${of('N=64 d=16 block=8 step=3', `?theme=dark&controls=0&origin=${origin}`)}" width="900" height="560"></iframe>
    <iframe id="plays" src="${of('N=64 d=16 block=8 step=0', `?play=1&origin=${origin}`)}" width="900" height="120"></iframe>
    <iframe id="box" sandbox="allow-scripts" src="${of('N=64')}" width="900" height="300"></iframe>`)
  const page = await world.page({ width: 1280, height: 1600 })
  page.mayFail = /favicon|sandboxed|CORS|Failed to load/
  await page.visit(origin + '/tell.html')
  await page.evaluate(`(window.heard = {}, addEventListener('message', ({ source, data }) => { for (const f of $$('iframe')) if (f.contentWindow === source) heard[f.id] = data }), 1)`)
  const tell = async (id, message, is) => {
    await page.evaluate(`$('${id}').contentWindow.postMessage({ tilewalk: 1, ...${JSON.stringify(message)} }, '*')`)
    return page.until(`heard.${id} && ${is} && heard.${id}`)
  }
  await page.until(`document.readyState === 'complete'`)
  const refused = await tell('no', { type: 'set', state: 'N=128 d=16 block=8' }, `heard.no.type === 'refused'`)
  same(refused.why, `add origin=${origin} to the frame's address`, 'a page that the address does not name')
  await tell('yes', { type: 'set', state: 'N=128 d=16 block=8 step=7' }, `heard.yes.state?.includes('N=128') && heard.yes.step === 7`)
  // What is to play does so from the step that its link names.
  await page.until(`($('plays').contentWindow.postMessage({ tilewalk: 1, type: 'state' }, '*'), heard.plays?.step > 2)`)
  const place = await page.evaluate(`(({ left, top }) => ({ left, top }))($('yes').getBoundingClientRect())`)
  await page.mouse.click(place.left + 450, place.top + 300) // into the frame; Escape gives the keyboard back
  await page.until(`document.activeElement.id === 'yes'`)
  await page.press('Escape')
  await page.until(`document.activeElement === document.body`)
  const said = await page.frames().at(-1).evaluate('document.body.innerText')
  check(said.includes('This frame is sandboxed, and may not load its own program'), 'a sandboxed frame says why it does not start')
  await page.close()
  const many = await world.page({ width: 1000, height: 700 })
  const began = Date.now()
  await many.visit(origin + '/')
  await many.evaluate(`(window.heard = new Set(), addEventListener('message', ({ source, data }) => data.type === 'refused' && heard.add(source)), 1)`)
  const asked = n => many.until(`($$('iframe').forEach(f => f.contentWindow.postMessage({ tilewalk: 1, type: 'set', state: '' }, '*')), heard.size >= ${n} && heard.size)`)
  const first = await asked(1), seen = Date.now() - began
  for (let n = first; n < 20;) { // each frame starts when it is seen
    await many.evaluate(`$$('iframe').find(f => !heard.has(f.contentWindow))?.scrollIntoView()`)
    n = await asked(n + 1)
  }
  const { JSHeapUsedSize: heap } = await many.metrics()
  close()
  return `another origin refused, one named by origin= heard; ${first} of 20 at first after ${seen} ms, all after ${Date.now() - began} ms, ${(heap / 2 ** 20).toFixed(0)} MiB of the page's heap`
}

async function offline(world) {
  const server = await serve(join(build, 'web'), PREFIX)
  const page = await world.page()
  const link = addressOf(server, 'see.html', 'N=64 d=16 block=8 scene=tiles step=3')
  await page.visit(link)
  await page.until('window.tilewalk')
  await page.until('navigator.serviceWorker.controller !== null')
  await page.until(`caches.keys().then(async names => names.length === 1 && ((cached, used) => used.every(url => cached.includes(url)))((await (await caches.open(names[0])).keys()).map(r => r.url), performance.getEntriesByType('resource').map(e => e.name).filter(url => !/worker.js|ttf/.test(url))))`)
  server.close()
  await page.visit('about:blank')
  await page.visit(link)
  await page.until('window.tilewalk')
  await has(page, 'step=3')
  return 'opened again without a server'
}

// ---- access

// Everything that can be focused has a name, and text stands out from its ground (WCAG 2.1, 1.4.3).
async function accessible(world) {
  const page = await open(world, 'N=64 d=16 block=8 step=0')
  await page.evaluate(`$('chip').click()`)
  await settle(page)
  const { nodes } = await (await page.createCDPSession()).send('Accessibility.getFullAXTree')
  const nameless = nodes.filter(n => !n.ignored && n.properties?.some(p => p.name === 'focusable' && p.value.value) &&
    n.role?.value !== 'RootWebArea' && !n.name?.value && !['generic', 'none'].includes(n.role?.value))
  check(nameless.length === 0, 'no name:', nameless.map(n => n.role.value))
  await page.evaluate(`tilewalk.input('next')`)
  check((await page.until("$('live').textContent === `${tilewalk.words.what} ${tilewalk.words.why}` && tilewalk.words.step === 1 && $('live').textContent")).split(' ').length <= 35, 'a step is said in at most 35 words')
  const low = await page.evaluate(`(() => {
    const part = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4
    const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map(part); return 0.2126 * r + 0.7152 * g + 0.0722 * b }
    const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c)) return c } return 'rgb(255,255,255)' }
    return $$('a, button, label, summary, p, h1').filter(e => e.offsetHeight).map(e => {
      const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x)
      return [e.textContent.slice(0, 30), (a + 0.05) / (b + 0.05)]
    }).filter(([, ratio]) => ratio < 4.5)
  })()`)
  check(low.length === 0, 'contrast below 4.5:', low)
  // AXE names axe-core's axe.min.js (npm install axe-core): then its rules are asked too.
  const pages = process.env.AXE ? [...PAGES, 'lessons.html#' + LESSON] : []
  for (const name of pages) {
    const audited = await ready(world, name)
    await audited.evaluate(readFileSync(process.env.AXE, 'utf8') + ';0')
    const found = await audited.evaluate(`axe.run(document, { iframes: false }).then(r => r.violations.map(v => [v.impact, v.id, v.nodes[0].html.slice(0, 90)]))`)
    check(found.length === 0, name, found)
  }
  return `${nodes.length} nodes of the accessibility tree${pages.length ? `; axe-core finds nothing on ${pages.length} pages` : ''}`
}

const WINDOWS = [[320, 240], [360, 640], [390, 844], [640, 360], [640, 480], [844, 390], [768, 1024], [1024, 768], [1280, 720], [1440, 900], [1920, 1080], [3840, 2160]]
// A page wider than its window, a line that is cut, a picture that is not in sight.
const FAULTS = `$$('html, #canvas, body *').filter(e => e.matches('html') ? e.scrollWidth > innerWidth
  : e.matches('#canvas') ? !document.querySelector('#desk[hidden]') && e.clientHeight < 90
  : e.offsetParent && getComputedStyle(e).overflowX === 'hidden' && getComputedStyle(e).clipPath === 'none' && e.matches('p, b, span') && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 4)).map(e => e.outerHTML.slice(0, 80)).join()`

// Each page, in windows of twelve sizes.
async function sizes(world) {
  for (const name of [...PAGES, 'lessons.html#' + LESSON]) {
    const page = await ready(world, name)
    same(await page.evaluate(`$$('#problem:not([hidden])').map(e => e.textContent).join()`), '', name)
    for (const [width, height] of WINDOWS) {
      await page.size(width, height)
      await settle(page)
      same(await page.evaluate(FAULTS), '', `${name} at ${width} x ${height}`)
    }
    await page.close()
  }
}

// A keyboard alone is enough: Tab reaches all that can be used, in each page, sees where it is, and leaves again; what
// is reached works by Enter, Space and the arrows.
async function keyboard(world) {
  let reached = 0
  for (const name of [...PAGES, 'lessons.html#' + LESSON]) {
    const page = await ready(world, name)
    await page.evaluate(`($$('details').forEach(d => { d.open = true }), window.wanted = new Set($$('a[href], button, input, select, textarea, summary, canvas')
      .filter(e => !e.disabled && e.tabIndex >= 0 && e.getClientRects().length && !e.closest('dialog:not([open])'))), wanted.size)`)
    await settle(page)
    const total = await page.evaluate('wanted.size')
    for (let k = 0, left = total; k < 2 * total + 60 && left; k++) {
      await page.press('Tab')
      const [unseen, n] = await page.evaluate(`(() => { const e = document.activeElement; wanted.delete(e)
        const outline = n => n && getComputedStyle(n).outlineStyle !== 'none'
        return [e === document.body || e.tagName === 'IFRAME' || outline(e) || outline(e.closest('label')) ? '' : e.outerHTML.slice(0, 90), wanted.size] })()`)
      check(!unseen, `${name}: nobody sees that this has the focus:`, unseen)
      left = n
    }
    same(await page.evaluate(`[...wanted].map(e => e.outerHTML.slice(0, 80)).join()`), '', `${name}: not reached by Tab`)
    reached += total
    await page.close()
  }
  const page = await open(world, 'N=64 d=16 causal=1 block=8 step=0')
  const to = async (what, limit = 90) => { for (let k = 0; k < limit && !await page.evaluate(`document.activeElement?.matches(${JSON.stringify(what)})`); k++) await page.press('Tab')
    check(await page.evaluate(`document.activeElement?.matches(${JSON.stringify(what)})`), 'Tab comes to', what) }
  const enter = () => page.press('Enter')
  await to('#next')
  await enter()
  await has(page, 'step=1')
  await to('#place')
  await page.until(`document.activeElement.value === '1'`)
  await page.press('ArrowRight')
  await has(page, 'step=2')
  await to('[role="tab"]')
  await page.press('ArrowDown')
  await page.until(`tilewalk.state().includes('scene=softmax') && document.activeElement.dataset.scene === 'softmax'`)
  await to('#chip')
  await enter()
  await to('[data-parameter="N"]')
  await page.evaluate(`document.activeElement.select()`)
  await page.keyboard.sendCharacter('128')
  await enter()
  await page.until(`tilewalk.state().includes('N=128')`)
  // A lesson from the list to its first answer.
  const lessons = await open(world, '', 'lessons.html')
  for (let k = 0; k < 40 && !await lessons.evaluate(`document.activeElement?.getAttribute('href') === '#${LESSON}'`); k++) await lessons.press('Tab')
  await lessons.press('Enter')
  await lessons.until(`document.querySelector('#page .foot')`)
  for (let k = 0; k < 30 && !await lessons.evaluate(`document.activeElement?.id === 'answer'`); k++)
    if (await lessons.evaluate(`document.activeElement?.matches('.foot .main')`)) { await lessons.press('Enter'); await settle(lessons) }
    else await lessons.press('Tab')
  await lessons.keyboard.sendCharacter('1.75') // 0.05 + 0.5 + 1 + 0.2
  await lessons.press('Enter')
  check((await lessons.until(`document.querySelector('#page .box.bad, #page .box.warn')?.innerText`)).includes('You added all four'), 'a diagnosis by keyboard:', await html(lessons))
  return `${reached} things reached by Tab; a problem, a place and an answer by keys`
}

// ---- speed: a loose limit, since a test machine does other things too; bench.mjs measures

async function speed(world) {
  const page = await open(world, 'N=64 d=16 causal=1 block=8', 'see.html', { width: 1920, height: 1080 })
  const times = await page.evaluate(`(() => {
    const { engine, painter, context, canvas } = tilewalk, times = []
    for (let k = 0; k < 60; k++) {
      const start = performance.now()
      engine.call('web_act', 'next')
      engine.calls.web_frame(0)
      painter.paint(context, engine, 0, canvas.width, canvas.height)
      context.getImageData(0, 0, 1, 1)
      times.push(performance.now() - start)
    }
    return times.sort((a, b) => a - b)
  })()`)
  check(times[0] < 50, 'a frame takes', times) // the fastest: others are slowed by what runs beside
  return `a frame takes ${times[30].toFixed(1)} ms`
}

// Random states, programs, keys and clicks through the page: no exception, no trap. SECONDS of it, by SEED.
async function anything(world) {
  const seconds = Number(process.env.SECONDS ?? 5)
  const page = await open(world)
  const result = await page.evaluate(`(async () => {
    let seed = ${Number(process.env.SEED ?? 1)}
    const random = n => (seed = (seed * 1103515245 + 12345) % 2147483648) % n
    const KEYS = ['ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End', 'Tab', 'Enter', 'Escape', 'Backspace', 'F1']
    const WORDS = ['N=', 'd=', 'block=', 'block-q=', 'heads=', 'kv-heads=', 'seed=', 'step=', 'row=', 'window=', 'sram=', 'splits=', 'q-scale=', 'seq-len-k=', 'batch=', 'scene=', 'algorithm=', 'gpu=', 'dtype=', 'causal=', 'kernel=', 'x=']
    const VALUES = ['0', '1', '7', '64', '-1', '1e9', '9223372036854775807', '1K', '4G', 'main', 'charts', 'tiles', 'fa1', 'fa2', 'standard', 'fa2-split', 'h200', 'paper', 'fp8', 'on', '../x', '', '\\u{1f600}', '%00', "'"]
    // A shipped program, with lines left out, doubled and swapped, and letters changed: most are refused, some are not.
    const NAMES = tilewalk.engine.json('web_language').names
    const program = () => {
      const lines = tilewalk.engine.text('web_program_text', NAMES[random(NAMES.length)]).replace(/^algorithm.*/m, 'algorithm mine').split('\\n')
      for (let k = random(4); k > 0; k--) {
        const at = random(lines.length), other = random(lines.length), how = random(5)
        if (how === 0) lines.splice(at, 1)
        else if (how === 1) lines.splice(at, 0, lines[other])
        else if (how === 2) [lines[at], lines[other]] = [lines[other], lines[at]]
        else if (how === 3) lines[at] = lines[at].replace(/[ijs]\\b/, 'ijs'[random(3)])
        else { const to = random(lines[at].length + 1); lines[at] = lines[at].slice(0, to) + String.fromCharCode(32 + random(300)) + lines[at].slice(to + random(2)) }
      }
      return lines.join('\\n')
    }
    const end = performance.now() + ${seconds} * 1000
    let n = 0, taken = 0
    try {
      for (; performance.now() < end; n++) {
        const what = random(10), { engine, canvas } = tilewalk
        if (what < 3) tilewalk.restore(Array.from({ length: random(5) }, () => WORDS[random(WORDS.length)] + VALUES[random(VALUES.length)]).join(' '))
        else if (what < 6) window.dispatchEvent(new KeyboardEvent('keydown', { key: random(2) ? KEYS[random(KEYS.length)] : String.fromCharCode(32 + random(95)), shiftKey: random(4) === 0 }))
        else if (what < 9) {
          engine.call('web_motion', random(canvas.width), random(canvas.height))
          engine.call('web_press', random(4) ? 1 : 3)
          engine.call('web_motion', random(canvas.width), random(canvas.height))
          engine.call('web_release', 1)
        } else if (!engine.text('web_program', program())) {
          taken++
          engine.call('web_open', 'algorithm=mine.walk' + [',fa2', ',standard', '', ''][random(4)] + ' N=' + (1 + random(200)) + ' block=' + (1 << random(6)) + (random(2) ? ' causal=1' : '') +
            ' scene=' + ['main', 'tiles', 'hierarchy', 'softmax', 'causal', 'time', 'code', 'piles', 'bank'][random(9)] + ' step=' + random(500))
        }
        engine.calls.web_frame(0.05)
        if (n % 20 === 0) { tilewalk.painter.paint(tilewalk.context, engine, 0, canvas.width, canvas.height); tilewalk.engine.text('web_describe'); JSON.parse(engine.text('web_menu')); JSON.parse(engine.text('web_numbers')); await 0 }
      }
      return { n, taken, bytes: tilewalk.engine.calls.memory.buffer.byteLength }
    } catch (error) { return { n, error: String(error.stack) } }
  })()`)
  check(!result.error, `after ${result.n}:`, result.error ?? '', await stateOf(page).catch(String))
  return `${result.n} inputs in ${seconds} s, ${result.taken} programs taken, ${result.bytes >> 20} MiB`
}

// ---- kernels

// The same PTX and launch by the page's machine and by C's: every key of the answer is equal. By hand: 32 lanes of a store
// to a column touch 32 sectors, 65,536 in all; a row of a tile of 32 words lies in one bank, 32 passes where 1 would do.
async function kernels(world) {
  const page = await open(world, '', 'kernel.html')
  await page.until('tilewalk.ready')
  const ask = async (sample, entry, checks = {}) => {
    await page.evaluate(`(async () => {
      await tilewalk.example(${JSON.stringify(sample)})
      $('entry').value = ${JSON.stringify(entry)}
      $('entry').onchange()
      $('faults').checked = ${Boolean(checks.faults)}
      $('caches').checked = ${!checks.faults}
      await tilewalk.run()
    })()`)
    const { status, text, remark } = await page.evaluate(`tilewalk.question('--json ${checks.faults ? '' : '--no-faults'}')`)
    check(status !== 2, sample, remark)
    return JSON.parse(text)
  }
  const beside = async (sample, counted) => {
    const ptx = join(scratch, 'kernel.ptx'), [text, source, command] = await page.evaluate(`[$('ptx').value, tilewalk.examples[${JSON.stringify(sample)}].source, tilewalk.command()]`)
    writeFileSync(ptx, text)
    writeFileSync(join(scratch, sample), source)
    const wanted = JSON.parse(execFileSync('bash', ['-c', `${build}/tilewalk ${command.replace('tilewalk ', '').replace(/(?<=kernel )\S+/, ptx)} --json`], { encoding: 'utf8', maxBuffer: 1 << 26 }))
    const [a, b] = [counted, wanted].map(one => one.output.weighted_sum) // of cosines, which two libraries have
    check(Math.abs(a - b) <= 1e-9 * Math.abs(b), 'weighted sums', a, b)
    delete wanted.output.weighted_sum
    delete counted.output.weighted_sum
    same(JSON.stringify(counted), JSON.stringify(wanted), `${sample}: the page and C`)
  }
  const plain = await ask('transpose.cu', 'transpose_plain')
  same(plain.global.store.sectors, 65536, 'sectors of stores by columns')
  const tiled = await ask('transpose.cu', 'transpose_tiled')
  same(tiled.shared.load.conflicts, 31 * 2048, 'conflicts of the tile')
  await beside('transpose.cu', tiled)
  // By hand: a column of 32 rows of 128 bytes lies in one bank. XORed by 3 bits of the row, in 8, with 4 words each.
  const drawn = words => page.until(`document.querySelector('#picture-of svg')?.textContent.includes(${JSON.stringify(words)})`)
  await drawn('32 passes, where 1 would do')
  await page.select('#swizzle', '128')
  await drawn('Swizzled by rows of 128 B: 4 passes; as it is, 32')
  await page.evaluate(`$('swizzle').value = 0`)
  const padded = await ask('transpose.cu', 'transpose_padded')
  same(padded.shared.load.conflicts, 0, 'conflicts with padding')
  await drawn('and no bank is in conflict')
  check((await textOf(page, 'words-of')).includes('Source lines by cost'), 'what the program says')
  await page.evaluate(`$$('#source span')[33].click()`)
  await drawn('Line 34 ')
  check((await page.evaluate(`(() => { const a = $('ptx'); return a.value.slice(a.selectionStart, a.selectionEnd) })()`)).includes('.loc'), 'the line in the PTX')
  const [line, x, y] = await page.evaluate(`(() => {
    const words = $('words-of'), range = document.createRange(), row = /^ *(\\d+) .*$/m.exec(words.textContent)
    range.setStart(words.firstChild, row.index + 1)
    range.setEnd(words.firstChild, row.index + row[0].length)
    words.scrollTop = words.scrollHeight
    $('line').scrollIntoView({ block: 'end' })
    const at = range.getBoundingClientRect()
    return [row[1], at.x + 40, at.y + at.height / 2]
  })()`)
  await page.mouse.click(x, y)
  same(await page.evaluate(`$('line').value`), line, 'a row of the table')
  await fill(page, 'line', '', 'change')
  same(await page.evaluate(`$('line').value`), '', 'the dearest again')
  const attention = await ask('flash.cu', 'flash')
  same(attention.output.agrees, true, 'O is attention')
  await beside('flash.cu', attention)
  const sum = await ask('sum.cu', 'sum', { faults: true })
  same(sum.faults[0]?.kind, 'race', 'the fault')
  check((await page.evaluate(`$('words-of').textContent.replace(/\\s+/g, ' ')`)).includes('with no barrier between'), 'the fault is shown')
  // What is wrong is said in a line, with its place.
  await page.evaluate(`$('launch').value = 'grid 16\\nblock 0'`)
  await page.evaluate('tilewalk.run()')
  check((await textOf(page, 'verdict')).startsWith(`Launch, line 2: --block '0' is not`), await textOf(page, 'verdict'))
  check((await page.evaluate(`tilewalk.take('bad.ptx', '.version 8.0\\n.target sm_80\\n.entry nothing(').then(() => $('verdict').textContent)`)).startsWith('bad.ptx:'), 'PTX that is cut off')
  // A link holds source, PTX, launch and settings: another browser finds the same.
  await ask('sum.cu', 'sum', { faults: true })
  const other = await open(world, '', 'kernel.html' + (await page.evaluate('tilewalk.link()')).replace(/^[^#]*/, ''), {}, 'window.tilewalk?.ready')
  same(await other.evaluate('tilewalk.answer.text'), await page.evaluate('tilewalk.answer.text'), 'by a link')
  same(await other.evaluate(`$('source').textContent.includes('__global__')`), true, 'with its source')
  // Without an end, and stopped; the page works on.
  const forever = '.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry forever() {\n$L: bra $L;\n}\n'
  await page.evaluate(`tilewalk.take('forever.ptx', ${JSON.stringify(forever)}).then(() => { window.ended = tilewalk.run(); return 1 })`)
  await page.until(`!$('stop').disabled`)
  await page.evaluate(`($('stop').click(), window.ended)`)
  same(await textOf(page, 'verdict'), 'Stopped.', 'an endless kernel')
  await ask('sum.cu', 'sum', { faults: true })
  return `${await textOf(page, 'verdict')}`
}

// ---- all of them

const TESTS = { keyboard, sizes, files, questions, workbench, primitives, pixels, keys, pointer, touch, layout, permalinks, exports, background, front, story, lesson, written, records, read, course, kernels, folder, embeds, offline, alone, accessible, anything }
const FIREFOX = { primitives, sizes, lesson, kernels, alone }
// Two at a time, a browser each, for most of a test is waiting; the longest first, what is timed last and alone.
const choose = tests => Object.entries(tests).filter(([name]) => !only.length || only.some(part => name.includes(part)))
const server = await serve(join(build, 'web'), PREFIX)
let passed = 0, failed = 0
async function run(world, name, test) {
  const start = Date.now()
  try {
    world.pages.length = 0
    const limit = new Promise((_, reject) => setTimeout(reject, 1000 * (600 + Number(process.env.SECONDS ?? 0)), new Error('took more than ten minutes')).unref())
    const said = await Promise.race([test(world), limit])
    for (const { errors, mayFail } of world.pages) check(errors.every(error => mayFail?.test(error)), errors)
    passed++
    console.log(`  ${name.padEnd(18)} ok  ${Date.now() - start} ms  ${said ?? ''}`)
  } catch (error) {
    failed++
    console.log(`  ${name.padEnd(18)} FAILED  ${error.stack}`)
  }
}
async function lane(tests, kind = 'chrome', program = chromium) {
  const browser = await start(build, kind, program), world = { server, pages: [], async page(how) {
    const page = await openPage(browser, how)
    world.pages.push(page)
    return page
  } }
  for (let next; (next = tests.shift());) await run(world, ...next)
  await browser.close()
}
const timed = choose({ speed }), others = choose(TESTS), firefox = process.env.FIREFOX ?? spawnSync('which', ['firefox-esr', 'firefox'], { encoding: 'utf8' }).stdout.split('\n')[0]
await Promise.all([lane(others), others.length > 1 && lane(others)])
if (firefox) await lane(choose(FIREFOX).map(([name, test]) => ['Firefox ' + name, test]), 'firefox', firefox)
else console.log('  no Firefox (Debian: firefox-esr): left out')
if (timed.length) await lane(timed)
server.close()
rmSync(scratch, { recursive: true, force: true })
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0) // a server that a failed test has left open would wait for ever
