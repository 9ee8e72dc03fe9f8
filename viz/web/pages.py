#!/usr/bin/python3 -B
"""Makes a page: pages.py PAGE OUT BUILD [ADDRESS].

A page's source begins with lines "key: value" up to an empty one; the rest is its body.

    title, description   of the page, and of links to it
    script               its module; what that imports, and the files of `fetch`, are asked for at once
    class                of the body; tilewalk.css stands in the page: it paints after one request
    room                 the room that it lies in
    engine               "no": it loads no program, and may not

@NAME@ is a block of blocks.html, which more than one page has; @PILES@ the picture of the front page; @POSTER@ in the scene the first picture
of See, with @WHAT@, @WHY@, @MOVED@, @WHOLE@, @CHIP@ and @SIZE@ the words around it; @LESSONS@, @LANGUAGE@ and @EMBED@ what learn.py prints.
"""
import base64
import hashlib
import html
import json
import pathlib
import re
import sys

import poster

PAGES = pathlib.Path(__file__).parent / 'page'
BLOCKS = dict(line.split(' ', 1) for line in (PAGES.parent / 'blocks.html').read_text(encoding='utf-8').splitlines())
# What is shorter in a source than in a page: what opens a panel, an icon, a scene's tab, a button, a field for code.
ICON = r'<svg viewBox="0 0 24 24" aria-hidden="true"><path d="\1"/></svg>'
SHORT = [('<opens ', '<button aria-expanded="false" aria-controls="panel" '), (' plain>', ' spellcheck="false" autocapitalize="off" autocomplete="off" autocorrect="off" wrap="off">'), (r'<icon d="([^"]*)"/>', ICON), ('<tab (.*)<icon>(.*)</icon>(.*)</tab>', r'<button role="tab" aria-controls="stage" aria-selected="false" tabindex="-1" \1<svg viewBox="0 0 38 24" aria-hidden="true">\2</svg>\3</button>'),
         (r'<button (?![^>]*\b(?:type|value)=)', '<button type="button" ')]
POSTERS = {'large': (1770, 780), 'middle': (1214, 475), 'narrow': (390, 505)}  # the picture's box at 1920, 1366 and 390
PILES = 'algorithm=standard,fa2 N=1024 d=64 block=128 scene=piles step=544', {'large': (1056, 594), 'narrow': (350, 480)}
PREVIEW = 'Standard attention carries every score out and back; FlashAttention-2 carries none and moves 3.8 times less.'


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def modules(script):
    """What it imports, each behind what that imports."""
    found = []
    for name in re.findall(r"from '\./(.+)'", (PAGES / script).read_text(encoding='utf-8')):
        found += [module for module in (*modules(name), name) if module not in found]
    return found


def head(keys, name, address):
    script = (PAGES / 'early.js').read_text(encoding='utf-8')
    style = (PAGES / 'tilewalk.css').read_text(encoding='utf-8')
    program = '' if keys.get('engine') == 'no' else " 'wasm-unsafe-eval'"
    policy = (f"default-src 'none'; script-src 'self' {digest(script)}{program}; style-src {digest(style)}; font-src 'self'; "
              "connect-src 'self'; img-src 'self' data: blob:; worker-src 'self'; manifest-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'")
    title, said = html.escape(keys['title']), html.escape(keys['description'])
    lines = ['<meta charset="utf-8">', f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
             '<meta name="viewport" content="width=device-width, initial-scale=1">', '<meta name="referrer" content="no-referrer">',
             f'<title>{title}</title>', f'<meta name="description" content="{said}">', '<meta property="og:type" content="website">',
             f'<meta property="og:title" content="{title}">', f'<meta property="og:description" content="{said}">',
             f'<meta property="og:image" content="{address}preview.png">', f'<meta property="og:image:alt" content="{PREVIEW}">',
             '<meta name="twitter:card" content="summary_large_image">']
    if address:
        lines.append(f'<link rel="canonical" href="{address}{"" if name == "index.html" else name}">')
    lines += ['<link rel="icon" href="icon.svg">', '<link rel="manifest" href="manifest.json">', f'<script>{script}</script>', f'<style>{style}</style>']
    lines += [f'<link rel="modulepreload" href="{module}">' for module in modules(keys['script'])]
    lines += [f'<link rel="preload" href="{file}" as="fetch" crossorigin>' for file in keys.get('fetch', '').split()]
    lines.append(f'<script type="module" src="{keys["script"]}"></script>')
    return '\n'.join(lines)


def main():
    page, out, build, *rest = sys.argv[1:]
    page, build, address = pathlib.Path(page), pathlib.Path(build), rest[0].rstrip('/') + '/' if rest and rest[0] else ''
    above, _, body = page.read_text(encoding='utf-8').partition('\n\n')
    keys = dict(line.split(': ', 1) for line in above.split('\n'))
    here = {'index.html': './'}.get(page.name, keys.get('room', page.name))
    mark = f'href="{here}"'
    places = {**{name: text.replace(mark, mark + ' aria-current="page"') for name, text in BLOCKS.items()}, **dict.fromkeys(('WHAT', 'WHY', 'MOVED', 'WHOLE', 'POSTER', 'TABLE'), '')}
    native = build / 'web_native'
    if '@PILES@' in body:
        places['PILES'], _ = poster.posters(native, *PILES)
    if page.name == 'see.html':
        first = re.search(r"^const FIRST = '(.*)'$", (PAGES / 'see.js').read_text(encoding='utf-8'), flags=re.M)[1]
        drawn, said = poster.posters(native, first, POSTERS)
        places.update(POSTER=f'<div id="poster" aria-hidden="true">{drawn}</div>', TABLE=', and under Numbers as a table', WHAT=said['what'], WHY=said['why'], MOVED=said['moved'], WHOLE='of ' + said['whole'], CHIP=said['title'], SIZE=f"N {said['N']}, d {said['d']}")
    places.update(json.loads((build / 'learn/parts.json').read_text(encoding='utf-8')))
    while re.search('@[A-Z]+@', body):
        body = re.sub('@([A-Z]+)@', lambda place: places[place[1]], body)
    for short, whole in SHORT:
        body = re.sub(short, whole, body)
    kind = f' class="{keys["class"]}"' if 'class' in keys else ''
    pathlib.Path(out).write_text(f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head(keys, page.name, address)}\n</head>\n<body{kind}>\n{body.rstrip()}\n</body>\n</html>\n', encoding='utf-8')


main()
