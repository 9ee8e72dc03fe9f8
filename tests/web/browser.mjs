// A folder served, and browsers that open it: Chromium and Firefox as they are installed, driven by puppeteer-core, which
// web.sh puts into the build folder.

import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { readFileSync, statSync } from 'node:fs'
import { extname, join, normalize, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml', '.json': 'application/json', '.woff2': 'font/woff2' }

// Serves a folder below `prefix` on 127.0.0.1. A file is packed once.
export async function serve(folder, prefix = '/') {
  const packed = new Map()
  const server = createServer((request, answer) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname)
    const name = normalize(path.slice(prefix.length) || 'index.html')
    try {
      if (!path.startsWith(prefix) || name.startsWith('..')) throw new Error('outside')
      const file = join(folder, name), key = `${file} ${statSync(file).mtimeMs}` // of a folder the reading fails
      if (!packed.has(key)) packed.set(key, gzipSync(readFileSync(file), { level: 6 }))
      answer.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream', 'Content-Encoding': 'gzip', 'Cache-Control': 'no-store' })
      answer.end(packed.get(key))
    } catch {
      answer.writeHead(404)
      answer.end('no such file')
    }
  })
  await new Promise(done => server.listen(0, '127.0.0.1', done))
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => { server.closeAllConnections(); server.close() } }
}

const ARGUMENTS = ['--no-sandbox', '--hide-scrollbars', '--force-color-profile=srgb', '--disable-dev-shm-usage']

// "chrome" or "firefox".
export const start = (build, browser, executablePath) => createRequire(resolve(build) + '/')('puppeteer-core').launch({ browser, executablePath, protocolTimeout: 0, args: browser === 'chrome' ? ARGUMENTS : [] })

// A page of its own context: no cache, no storage of others. It notes what it asks for and what goes wrong in it; its tests
// have $ and $$ in it.
export async function open(browser, { width = 1280, height = 720, deviceScaleFactor = 1, isMobile = false, downloadPath } = {}) {
  const context = await browser.createBrowserContext(downloadPath && { downloadBehavior: { policy: 'allow', downloadPath } }), page = await context.newPage()
  Object.assign(page, { requests: [], errors: [],
    size: (width, height) => page.setViewport({ width, height, deviceScaleFactor, ...isMobile && { isMobile, hasTouch: true } }),
    close: () => context.close(), // and the workers that it has started
    visit: address => page.goto(address, { waitUntil: 'domcontentloaded' }),
    // Until an expression holds; returns its value.
    async until(expression, seconds = 120) {
      let last = false
      for (const end = Date.now() + seconds * 1000; Date.now() < end; await new Promise(done => setTimeout(done, 25))) {
        const value = await page.evaluate(`(async value => (value = await value) instanceof Node || value)((${expression}))`).catch(error => { last = error; return false })
        if (value) return value
      }
      throw new Error(`not within ${seconds} s: ${expression}; at ${page.url()}; ${last && last.message}; errors: ${page.errors.join('; ')}`)
    },
    // Keys, the last one pressed while the others are down.
    async press(...keys) {
      const last = keys.pop()
      for (const key of keys) await page.keyboard.down(key)
      await page.keyboard.press(last)
      for (const key of keys) await page.keyboard.up(key)
    } })
  page.on('request', request => page.requests.push(request.url()))
  page.on('pageerror', error => page.errors.push(error.stack ?? String(error)))
  page.on('console', message => { if (message.type() === 'error') page.errors.push(`${message.text()} ${message.location().url ?? ''}`) })
  await page.evaluateOnNewDocument(`window.$ = id => document.getElementById(id), window.$$ = words => [...document.querySelectorAll(words)]`)
  await page.size(width, height)
  return page
}
