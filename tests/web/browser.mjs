// Drives a real Chromium, headless, over its debugging pipe: --remote-debugging-pipe, file descriptors 3 and 4.
// https://chromedevtools.github.io/devtools-protocol/

import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join, normalize } from 'node:path'
import { gzipSync } from 'node:zlib'

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml', '.json': 'application/json', '.woff2': 'font/woff2' }

// Serves a folder below `prefix` on 127.0.0.1. A file is packed once.
export async function serve(folder, prefix = '/', port = 0) {
  const packed = new Map()
  const server = createServer((request, answer) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname)
    const name = normalize(path.slice(prefix.length) || 'index.html')
    try {
      if (!path.startsWith(prefix) || name.startsWith('..')) throw new Error('outside')
      const file = join(folder, name.endsWith('/') ? name + 'index.html' : name)
      const { mtimeMs } = statSync(file), key = `${file} ${mtimeMs}` // of a folder the reading fails
      if (!packed.has(key)) packed.set(key, gzipSync(readFileSync(file), { level: 6 }))
      answer.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
        'Content-Encoding': 'gzip', 'Cache-Control': 'no-store' })
      answer.end(packed.get(key))
    } catch {
      answer.writeHead(404)
      answer.end('no such file')
    }
  })
  await new Promise(resolve => server.listen(port, '127.0.0.1', resolve))
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => { server.closeAllConnections(); server.close() } }
}

export class Browser {
  static async start(program) {
    const home = mkdtempSync(join(tmpdir(), 'tilewalk-web-'))
    const child = spawn(program, ['--headless=new', '--remote-debugging-pipe', '--no-sandbox', '--no-first-run',
      '--disable-extensions', '--disable-background-networking', '--disable-component-update', '--disable-sync',
      '--hide-scrollbars', '--force-color-profile=srgb', '--disable-dev-shm-usage', `--user-data-dir=${home}`, 'about:blank'],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] })
    const browser = new Browser()
    Object.assign(browser, { child, home, next: 1, waiting: new Map(), listeners: [], rest: '' })
    child.stdio[4].setEncoding('utf8')
    child.stdio[4].on('data', text => browser.receive(text))
    child.on('exit', () => browser.waiting.forEach(({ reject }) => reject(new Error('the browser ended'))))
    return browser
  }
  receive(text) {
    const messages = (this.rest + text).split('\0')
    this.rest = messages.pop()
    for (const message of messages.map(JSON.parse)) {
      const waiting = this.waiting.get(message.id)
      this.waiting.delete(message.id)
      if (!message.id) this.listeners.forEach(call => call(message))
      else if (message.error) waiting.reject(new Error(`${waiting.method}: ${message.error.message}`))
      else waiting.resolve(message.result)
    }
  }
  send(method, params = {}, sessionId = undefined) {
    const id = this.next++
    this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0')
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject, method }))
  }
  async close() {
    await Promise.race([this.send('Browser.close').catch(() => {}), new Promise(resolve => setTimeout(resolve, 3000))])
    this.child.kill('SIGKILL')
    for (let k = 0; k < 20; k++) { // its helpers may still be writing
      await new Promise(resolve => setTimeout(resolve, 250))
      try { return rmSync(this.home, { recursive: true, force: true }) } catch { /* again */ }
    }
  }
  // A page of its own context: no cache, no storage of others.
  async page({ width = 1280, height = 720, scale = 1, dark = false, mobile = false } = {}) {
    const { browserContextId } = await this.send('Target.createBrowserContext')
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank', browserContextId })
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true })
    const page = new Page(this, sessionId, targetId)
    this.opened?.(page)
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await page.send(domain + '.enable')
    await page.size(width, height, scale, mobile)
    await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] })
    return page
  }
}

class Page {
  constructor(browser, sessionId, targetId) {
    Object.assign(this, { browser, sessionId, targetId, requests: [], errors: [] })
    browser.listeners.push(message => {
      if (message.sessionId !== sessionId) return
      const { method, params } = message
      if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url)
      if (method === 'Runtime.exceptionThrown') this.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text)
      if (method === 'Log.entryAdded' && params.entry.level === 'error') this.errors.push(params.entry.text + ' ' + (params.entry.url ?? ''))
      if (method === 'Runtime.consoleAPICalled' && params.type === 'error') this.errors.push(params.args.map(a => a.value ?? a.description).join(' '))
    })
  }
  send(method, params) { return this.browser.send(method, params, this.sessionId) }
  async size(width, height, scale = 1, mobile = false) {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: scale, mobile })
    if (mobile) await this.send('Emulation.setTouchEmulationEnabled', { enabled: true })
  }
  async open(url) {
    await this.send('Page.navigate', { url })
  }
  // Evaluates an expression, which may be a promise.
  async value(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    if (exceptionDetails) throw new Error(`${expression.slice(0, 120)}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`)
    return result.value
  }
  async until(expression, seconds = 120) {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await new Promise(r => setTimeout(r, 25))) {
      const value = await this.value(expression).catch(() => false)
      if (value) return value
    }
    throw new Error(`not within ${seconds} s: ${expression}; errors: ${this.errors.join('; ')}`)
  }
  async press(key, { text, code = key, shift = false, control = false } = {}) {
    const modifiers = (shift ? 8 : 0) + (control ? 2 : 0)
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', key, code, text, modifiers, windowsVirtualKeyCode: KEY_CODES[key] })
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', key, code, modifiers, windowsVirtualKeyCode: KEY_CODES[key] })
  }
  type(text) { return this.press(text, { text }) }
  async mouse(type, x, y, more = {}) {
    await this.send('Input.dispatchMouseEvent', { type, x, y, button: type === 'mouseMoved' ? 'none' : 'left', clickCount: 1, ...more })
  }
  async click(x, y) {
    await this.mouse('mouseMoved', x, y)
    await this.mouse('mousePressed', x, y)
    await this.mouse('mouseReleased', x, y)
  }
  async close() {
    await this.browser.send('Target.closeTarget', { targetId: this.targetId })
  }
}
const KEY_CODES = { Backspace: 8, Tab: 9, Enter: 13, Escape: 27, ArrowLeft: 37, ArrowRight: 39, ArrowDown: 40, Home: 36, End: 35, ' ': 32 }
