#!/usr/bin/python3
"""The viewer as one page that needs no server: single.py FOLDER OUT.

Everything that see.html loads is put into it. Modules are data: addresses under their names; the program and its files are
compressed and in base64, and `fetch` finds them; the L2 of a launch is worked out in the page, for a page that was
opened from a file may start no Worker.
"""
import base64
import gzip
import json
import pathlib
import re
import sys

folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def packed(content):
    return base64.b64encode(content).decode()


def data(name, kind):
    return f'data:{kind};base64,' + packed((folder / name).read_bytes())


def module(name):
    return re.sub(r"'\./(\w+)\.js'", r"'\1'", (folder / name).read_text(encoding='utf-8'))


LOAD = '''delete globalThis.Worker
globalThis.fetch = async name => {
  const bytes = Uint8Array.from(atob(document.getElementById(name).textContent), letter => letter.charCodeAt(0))
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')))
}
'''
POLICY = ("default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' data:; style-src 'unsafe-inline'; font-src data:; "
          "img-src data: blob:; base-uri 'none'; form-action 'none'")

page = (folder / 'see.html').read_text(encoding='utf-8')
imports = {name: 'data:text/javascript;base64,' + packed(module(name + '.js').encode()) for name in re.findall(r'rel="modulepreload" href="(\w+)\.js"', page)}
files = ''.join(f'<script type="application/gzip" id="{name}">{packed(gzip.compress((folder / name).read_bytes(), 9, mtime=0))}</script>\n'
                for name in ('tilewalk.wasm', 'assets.bundle', 'pipeline.bundle'))
page = re.sub(r'url\("([\w-]+\.woff2)"\)', lambda font: f"url({data(font[1], 'font/woff2')})", page)
page = re.sub(r'content="default-src[^"]*"', f'content="{POLICY}"', page)
page = re.sub(r'^<link rel="(?:manifest|preload|modulepreload)".*?\n|^<script.*?</script>\n', "", page, flags=re.M | re.S)
page = re.sub(r'<nav .*?</nav>|^<button[^>]* id="rooms".*\n|<label class="file.*?</label>|<div id="poster".*?</svg></div>', '', page, flags=re.M)
page = re.sub(r'<a class="brand" href="./">(.*?)</a>', r'<span class="brand">\1</span>', page)
page = page.replace('icon.svg', data('icon.svg', 'image/svg+xml'))
page = page.replace('</body>', f'''{files}<script>{LOAD}</script>
<script type="importmap">{json.dumps({'imports': imports})}</script>
<script type="module">
{module('see.js')}
</script>
</body>''')
out.write_text(page, encoding='utf-8')
