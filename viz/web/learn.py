#!/usr/bin/python3 -B
"""Prints the course: learn.py WEB_LEARN WEB_NATIVE COURSE WEB OUT. For each lesson a page's source (pages.py)
learn-NAME.html in OUT; in WEB learn-NAME.json, the words and the picture that walking it begins with (page/early.js); glossary.html, whose words lessons link; parts.json, what other pages have of it: the list that Learn
begins with, the language, how to embed.
"""
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

program, native, course, web, out = sys.argv[1:]
out = pathlib.Path(out)


def printed(name):
    with tempfile.TemporaryDirectory() as nothing:
        text = subprocess.run([program, name], check=True, capture_output=True, text=True, env={**os.environ, 'XDG_STATE_HOME': nothing}).stdout
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
    pathlib.Path(web, f'learn-{name}.json').write_text(json.dumps({**said, 'title': title, 'page': words, 'state': state, 'picture': picture}), encoding='utf-8')


def figures(body):
    """What a lesson's figures show, drawn."""
    count = itertools.count()

    def figure(state):
        picture, said = poster.posters(native, html.unescape(state[1]), {f'f{next(count)}': (760, 456)})
        picture = picture.replace('aria-hidden="true"', 'role="img" aria-label="{title}, N {N}, d {d}: step {step} of {steps}."'.format(**said))
        return f'<figure>{picture}<figcaption>{html.escape(said["what"])} {html.escape(said["why"])}</figcaption></figure>'
    return re.sub('<figure>(.*?)</figure>', figure, body)


def page(title, idea, body):
    return (f'title: {title}\ndescription: {idea}\nscript: top.js\nclass: prose\nroom: lessons.html\nengine: no\n\n'
            f'@HEAD@\n@THEME@\n<main>\n{body}</main>\n')


def anchored(heading):
    word = html.unescape(re.sub('<.*?>', '', heading[1]))
    return f'<h2 id="{re.sub(r"[^a-z0-9 -]", "", word.lower()).strip().replace(" ", "-")}">{heading[1]}</h2>'


def main():
    out.mkdir(parents=True, exist_ok=True)
    names = sorted(file.stem for file in pathlib.Path(course).glob('[0-9][0-9]-*.md'))
    lessons = {name: lesson(name) for name in names}
    rows = []
    begins('story', *STORY)
    for k, (name, (keys, body)) in enumerate(lessons.items()):
        walk = f'<a class="button main" href="lessons.html#{name}">Walk it: your answers are judged</a>'
        words = re.sub('<figure>.*?</figure>', '', body.partition('<section class="ask">')[0])
        begins(name, keys['title'], words, keys['state'])
        beside = [f'<a rel="{way}" href="learn-{names[at]}.html">{words} {html.escape(lessons[names[at]][0]["title"])}</a>'
                  for way, at, words in (('prev', k - 1, 'Before:'), ('next', k + 1, 'Next:')) if 0 <= at < len(names)]
        (out / f'learn-{name}.html').write_text(page(f'{keys["title"]}: a lesson of Tilewalk', keys['idea'],
            f'<p class="soft"><a href="lessons.html">All lessons</a>, {k + 1} of {len(names)}; {keys["minutes"]} minutes</p>\n<h1>{html.escape(keys["title"])}</h1>\n'
            f'<p>{walk}</p>\n{figures(body)}<hr>\n<p>{walk}</p>\n<p class="beside">{" ".join(beside)}</p>\n'), encoding='utf-8')
        rows.append(f'<li><a href="learn-{name}.html">{html.escape(keys["title"])}</a> <span class="soft">{keys["minutes"]} minutes</span>'
                    f'<div>{html.escape(keys["idea"])}</div></li>')
    language = ''.join(re.findall('<table>.*?</table>', printed('sim/algorithms/LANGUAGE.md'), flags=re.S)[:3])
    (out / 'parts.json').write_text(json.dumps({'EMBED': printed('viz/web/EMBED.md'), 'LANGUAGE': language, 'LESSONS': '<h2>Lessons</h2><ol>' + '\n'.join(rows) + '</ol>'}), encoding='utf-8')
    glossary = re.sub(r'<h2>(.*?)</h2>', anchored, printed('lessons/course/glossary.md').replace('<h1>Glossary</h1>', '<h1>Glossary</h1>\n<p class="soft"><a href="lessons.html">All lessons</a></p>'))
    (out / 'glossary.html').write_text(page('Glossary of Tilewalk', 'The words of attention, memory and kernels, a sentence or two each.', glossary), encoding='utf-8')


main()
