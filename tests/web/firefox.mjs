// Drives a real Firefox, headless, over Marionette: "LENGTH:[0, id, command, parameters]" on a local port.
// https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const pause = ms => new Promise(resolve => setTimeout(resolve, ms))

export class Firefox {
  static async start(program) {
    const home = mkdtempSync(join(tmpdir(), 'tilewalk-firefox-'))
    writeFileSync(join(home, 'user.js'), Object.entries({ 'marionette.port': 0, 'datareporting.policy.dataSubmissionEnabled': false,
      'app.update.enabled': false, 'browser.shell.checkDefaultBrowser': false, 'browser.startup.page': 0, 'network.captive-portal-service.enabled': false,
      'network.connectivity-service.enabled': false, 'toolkit.telemetry.enabled': false, 'extensions.getAddons.cache.enabled': false })
      .map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`).join(''))
    const child = spawn(program, ['--headless', '--marionette', '--no-remote', '--profile', home, 'about:blank'],
      { stdio: 'ignore', env: { ...process.env, HOME: home, MOZ_DISABLE_CONTENT_SANDBOX: '1' } })
    const browser = Object.assign(new Firefox(), { child, home, next: 1, waiting: new Map(), rest: Buffer.alloc(0) })
    let port = 0
    for (let k = 0; k < 4000 && !port && child.exitCode === null; k++) {
      await pause(50)
      try { port = Number(readFileSync(join(home, 'MarionetteActivePort'), 'utf8')) } catch { /* not yet */ }
    }
    if (!port) throw new Error('Firefox gives no port of Marionette')
    browser.socket = connect(port, '127.0.0.1')
    browser.socket.on('data', bytes => browser.receive(bytes))
    await browser.send('WebDriver:NewSession', { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } })
    return browser
  }
  receive(bytes) {
    this.rest = Buffer.concat([this.rest, bytes])
    for (let colon; (colon = this.rest.indexOf(58)) > 0;) {
      const length = Number(this.rest.subarray(0, colon)), end = colon + 1 + length
      if (this.rest.length < end) return
      const message = JSON.parse(this.rest.subarray(colon + 1, end))
      this.rest = this.rest.subarray(end)
      if (!Array.isArray(message)) continue // who it is
      const [, id, error, result] = message, { resolve, reject, command } = this.waiting.get(id)
      this.waiting.delete(id)
      if (error) reject(new Error(`${command}: ${error.message}`))
      else resolve(result)
    }
  }
  send(command, parameters = {}) {
    const id = this.next++, text = JSON.stringify([0, id, command, parameters])
    this.socket.write(`${Buffer.byteLength(text)}:${text}`)
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject, command }))
  }
  open(url) { return this.send('WebDriver:Navigate', { url }) }
  // Evaluates an expression, which may be a promise.
  async value(expression) {
    const script = `const done = arguments[arguments.length - 1]; Promise.resolve().then(() => (${expression})).then(value => done({ value: value ?? null }), error => done({ error: String(error) }))`
    const { value } = await this.send('WebDriver:ExecuteAsyncScript', { script, args: [], sandbox: null, newSandbox: false })
    if (value.error) throw new Error(`${expression.slice(0, 120)}: ${value.error}`)
    return value.value
  }
  async until(expression, seconds = 120) {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await pause(50)) {
      const value = await this.value(expression).catch(() => false)
      if (value) return value
    }
    throw new Error(`not within ${seconds} s: ${expression}`)
  }
  async close() {
    await Promise.race([this.send('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => {}), pause(5000)])
    this.socket.destroy()
    this.child.kill('SIGKILL')
    for (let k = 0; k < 20; k++) {
      try { return rmSync(this.home, { recursive: true, force: true }) } catch { await pause(250) }
    }
  }
}
