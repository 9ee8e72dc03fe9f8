#!/usr/bin/python3 -B
"""Makes all pages: pages.py BUILD [ADDRESS] writes BUILD/web/*.html; learn-NAME.json of each lesson: the words and the picture
that walking it begins with (page/early.js); and kernels.json, the examples of the page of kernels.

A page's source (page/*.html) begins with lines "key: value" up to an empty one; the rest is its body.

    title, description   of the page, and of links to it
    script               its module; what that imports, and the files of `fetch`, are asked for at once
    class                of the body; tilewalk.css stands in the page: it paints after one request
    room                 the room that it lies in
    engine               "no": it loads no program, and may not

@NAME@ is a block of blocks.html, which more than one page has; @PILES@ the picture of the front page; @POSTER@ in the scene the first picture
of See, with @WHAT@, @WHY@, @MOVED@, @WHOLE@, @CHIP@ and @SIZE@ the words around it; @LESSONS@ the list that Learn begins with, @LANGUAGE@
that of programs, @EMBED@ how to embed. The course as pages to read: the lessons' own pages, and what they show as pictures;
the glossary, whose words they link.
"""
import base64
import hashlib
import html
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import poster

build, address = pathlib.Path(sys.argv[1]), sys.argv[2].rstrip('/') + '/' if len(sys.argv) > 2 else ''
native, web = build / 'web_native', build / 'web'
PAGES = pathlib.Path(__file__).parent / 'page'
PLACES = dict(line.split(' ', 1) for line in (PAGES.parent / 'blocks.html').read_text(encoding='utf-8').splitlines())
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


def head(keys, name):
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


def page(name, keys, body, more={}):
    mark = f'href="{"./" if name == "index.html" else keys.get("room", name)}"'
    while re.search('@[A-Z]+@', body):
        body = re.sub('@([A-Z]+)@', lambda place: {**PLACES, **more}.get(place[1], '').replace(mark, mark + ' aria-current="page"'), body)
    for short, whole in SHORT:
        body = re.sub(short, whole, body)
    kind = f' class="{keys["class"]}"' if 'class' in keys else ''
    (web / name).write_text(f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head(keys, name)}\n</head>\n<body{kind}>\n{body.rstrip()}\n</body>\n</html>\n', encoding='utf-8')


# ---- the course


def printed(name):
    with tempfile.TemporaryDirectory() as nothing:
        text = subprocess.run([native, name], check=True, capture_output=True, text=True, env={**os.environ, 'XDG_STATE_HOME': nothing}).stdout
    text = re.sub(r'<a href="(\d\d-[\w-]+)\.md"', r'<a href="learn-\1.html"', text)
    return text.replace('<a href="glossary.md', '<a href="glossary.html').replace('<pre>', '<pre tabindex="0">')


def lesson(name):
    above, _, body = printed(name).partition('\n\n')
    return dict(line.partition(' ')[::2] for line in above.split('\n')), body


# What the usual story begins with; its own scene comes with its program.
STORY = ('Why is FlashAttention fast?', '<p>The same attention twice. Below each lies what it has carried.</p>',
         'algorithm=standard,fa2 N=1024 d=64 block=128 scene=piles')
SIZES = {'middle large': (744, 470), 'narrow': (374, 300)}  # the picture's box at 1280 x 720 and 390 x 844


def begins(name, title, words, state):
    picture, said = poster.posters(native, state, SIZES)
    (web / f'learn-{name}.json').write_text(json.dumps({**said, 'title': title, 'page': words, 'state': state, 'picture': picture}), encoding='utf-8')


def figures(body):
    """What a lesson's figures show, drawn."""
    count = itertools.count()

    def figure(state):
        picture, said = poster.posters(native, html.unescape(state[1]), {f'f{next(count)}': (760, 456)})
        picture = picture.replace('aria-hidden="true"', 'role="img" aria-label="{title}, N {N}, d {d}: step {step} of {steps}."'.format(**said))
        return f'<figure>{picture}<figcaption>{html.escape(said["what"])} {html.escape(said["why"])}</figcaption></figure>'
    return re.sub('<figure>(.*?)</figure>', figure, body)


def prose(name, title, idea, body):
    page(name, {'title': title, 'description': idea, 'script': 'top.js', 'class': 'prose', 'room': 'lessons.html', 'engine': 'no'}, f'@HEAD@\n@THEME@\n<main>\n{body}</main>\n')


def anchored(heading):
    word = html.unescape(re.sub('<.*?>', '', heading[1]))
    return f'<h2 id="{re.sub(r"[^a-z0-9 -]", "", word.lower()).strip().replace(" ", "-")}">{heading[1]}</h2>'


def kernel(file):
    """An example of the page of kernels: what it is, its source and its PTX."""
    source = file.read_text(encoding='utf-8')
    ptx = subprocess.run([build / 'tilewalk', 'kernel', file, '--ptx'], capture_output=True, text=True, check=True).stdout
    ptx = re.sub(r'^(\s*\.file\s+\d+ ").*/', r'\1', ptx, flags=re.M) # not where it was built
    return {'title': re.match(r'// (.*?)[:,.]\s', source)[1], 'source': source, 'ptx': ptx}


def main():
    names = sorted(file.stem for file in pathlib.Path('lessons/course').glob('[0-9][0-9]-*.md'))
    lessons = {name: lesson(name) for name in names}
    begins('story', *STORY)
    for k, (name, (keys, body)) in enumerate(lessons.items()):
        walk = f'<a class="button main" href="lessons.html#{name}">Walk it: your answers are judged</a>'
        begins(name, keys['title'], re.sub('<figure>.*?</figure>', '', body.partition('<section class="ask">')[0]), keys['state'])
        beside = [f'<a rel="{way}" href="learn-{names[at]}.html">{words} {html.escape(lessons[names[at]][0]["title"])}</a>'
                  for way, at, words in (('prev', k - 1, 'Before:'), ('next', k + 1, 'Next:')) if 0 <= at < len(names)]
        prose(f'learn-{name}.html', f'{keys["title"]}: a lesson of Tilewalk', keys['idea'],
              f'<p class="soft"><a href="lessons.html">All lessons</a>, {k + 1} of {len(names)}; {keys["minutes"]} minutes</p>\n<h1>{html.escape(keys["title"])}</h1>\n'
              f'<p>{walk}</p>\n{figures(body)}<hr>\n<p>{walk}</p>\n<p class="beside">{" ".join(beside)}</p>\n')
    glossary = re.sub(r'<h2>(.*?)</h2>', anchored, printed('lessons/course/glossary.md').replace('<h1>Glossary</h1>', '<h1>Glossary</h1>\n<p class="soft"><a href="lessons.html">All lessons</a></p>'))
    prose('glossary.html', 'Glossary of Tilewalk', 'The words of attention, memory and kernels, a sentence or two each.', glossary)
    PLACES.update(EMBED=printed('viz/web/EMBED.md'), LANGUAGE=''.join(re.findall('<table>.*?</table>', printed('sim/algorithms/LANGUAGE.md'), flags=re.S)[:3]),
                  LESSONS='<h2>Lessons</h2>' + re.sub('href="#(.*?)"', r'href="learn-\1.html"', re.sub('<p>.*?</p>', '', printed('list'))), PILES=poster.posters(native, *PILES)[0])
    first = re.search(r"^const FIRST = '(.*)'$", (PAGES / 'see.js').read_text(encoding='utf-8'), flags=re.M)[1]
    drawn, said = poster.posters(native, first, POSTERS)
    see = {'POSTER': f'<div id="poster" aria-hidden="true">{drawn}</div>', 'TABLE': ', and under Numbers as a table', 'WHAT': said['what'], 'WHY': said['why'],
           'MOVED': said['moved'], 'WHOLE': 'of ' + said['whole'], 'CHIP': said['title'], 'SIZE': f"N {said['N']}, d {said['d']}"}
    (web / 'kernels.json').write_text(json.dumps({file.name: kernel(file) for file in sorted(pathlib.Path('viz/web/kernels').glob('*.cu'))}), encoding='utf-8')
    for file in PAGES.glob('*.html'):
        above, _, body = file.read_text(encoding='utf-8').partition('\n\n')
        page(file.name, dict(line.split(': ', 1) for line in above.split('\n')), body, see if file.name == 'see.html' else {})


main()
