#!/usr/bin/python3
"""The viewer as one page that needs no server: single.py FOLDER OUT.

Everything that index.html loads is put into it. Modules become functions that return what they export; the program and its
files are compressed and in base64, and `fetch` finds them; the L2 of a launch is worked out in the page, for a page that was
opened from a file may start no Worker.
"""
import base64
import gzip
import pathlib
import re
import sys

folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def read(name):
    return (folder / name).read_text(encoding='utf-8')


def module(name):
    text = read(name)
    text = re.sub(r"^import \{ (.*?) \} from './(\w+)\.js'$", r'const { \1 } = modules.\2', text, flags=re.M)
    names = re.findall(r'^export (?:async )?(?:function|class|const) ([\w$]+)', text, flags=re.M)
    text = re.sub(r'^export ', '', text, flags=re.M)
    if re.search(r'^(import|export)\b', text, flags=re.M):
        sys.exit(f'single.py: {name} has an import or export of another form')
    return f"modules.{name[:-3]} = await (async () => {{\n{text}\nreturn {{ {', '.join(names)} }}\n}})()"


def packed(name):
    return base64.b64encode(gzip.compress((folder / name).read_bytes(), 9, mtime=0)).decode()


def data(name, kind):
    return f'data:{kind};base64,' + base64.b64encode((folder / name).read_bytes()).decode()


LOAD = '''const modules = {}, Worker = undefined
const fetch = async address => {
  const packed = document.getElementById(String(address).split('/').pop()).textContent
  const bytes = Uint8Array.from(atob(packed), letter => letter.charCodeAt(0))
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')))
}
'''
POLICY = ("default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; font-src data:; "
          "img-src data: blob:; base-uri 'none'; form-action 'none'")

page = read('see.html')
style = re.sub(r'url\("([\w-]+\.woff2)"\)', lambda m: f"url({data(m[1], 'font/woff2')})", re.search(r'<style>(.*?)</style>', page, flags=re.S)[1])
script = LOAD + '\n'.join(module(name) for name in (*re.findall('rel="modulepreload" href="(.*?)"', page), 'see.js'))
if '</script' in script:
    sys.exit('single.py: a script holds </script')
page = re.sub(r'content="default-src[^"]*"', f'content="{POLICY}"', page)
page = re.sub(r'^<link rel="(?:icon|manifest|preload|modulepreload|stylesheet)".*\n', '', page, flags=re.M)
page = re.sub(r'^<script.*?</script>\n|^<style>.*?</style>\n', '', page, flags=re.M | re.S)
page = re.sub(r'<nav .*?</nav>|^<button[^>]* id="rooms".*\n|<label class="file.*?</label>|<div id="poster".*?</svg></div>', '', page, flags=re.M)
page = re.sub(r'<a class="brand" href="./">(.*?)</a>', r'<span class="brand">\1</span>', page)
files = ''.join(f'<script type="application/gzip" id="{name}">{packed(name)}</script>\n'
                for name in ('tilewalk.wasm', 'assets.bundle', 'pipeline.bundle'))
page = page.replace('</head>', f"<link rel=\"icon\" href=\"{data('icon.svg', 'image/svg+xml')}\">\n<style>\n{style}</style>\n</head>")
page = page.replace('</body>', f'{files}<script type="module">\n{script}\n</script>\n</body>')
out.write_text(page, encoding='utf-8')
