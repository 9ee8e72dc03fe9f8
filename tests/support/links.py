#!/usr/bin/python3
"""Relative links that lead nowhere: links.py FILE... (.md, .html). Prints each; status 1 when there is one.

A link's file must exist, and its anchor: a heading of a .md as GitHub names it, an id of a .html. What a page's own program
reads behind # (a state, a lesson) is no anchor; ../../releases is the repository's own, where GitHub shows the page."""
import html
import pathlib
import re
import sys

READS_HASH = {'see.html', 'embed.html', 'lessons.html', 'workbench.html', 'kernel.html', 'index.html'}
anchors = {}


def slug(heading):
    words = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', heading.replace('`', ''))
    return re.sub(r'[^\w -]', '', words.lower()).strip().replace(' ', '-')


def anchors_of(path):
    if path not in anchors:
        text = path.read_text(encoding='utf-8', errors='replace')
        if path.suffix == '.md':
            plain = re.sub(r'^```.*?^```', '', text, flags=re.M | re.S)
            anchors[path] = {slug(heading) for heading in re.findall(r'^#+ +(.*?)\s*$', plain, flags=re.M)}
        else:
            anchors[path] = set(re.findall(r'\bid="([^"]+)"', text))
    return anchors[path]


def links_of(path):
    text = path.read_text(encoding='utf-8', errors='replace')
    if path.suffix == '.html':
        text = re.sub(r'<script>.*?</script>|<style>.*?</style>|<pre.*?</pre>', '', text, flags=re.S)
        return [html.unescape(link) for link in re.findall(r'\b(?:href|src)="([^"]*)"', text)]
    text = re.sub(r'^```.*?^```|`[^`\n]*`', '', text, flags=re.M | re.S)
    return re.findall(r'\]\(<?([^)\s>]+)', text) + re.findall(r'^\[[^]]+\]: *(\S+)', text, flags=re.M) + re.findall(r'\b(?:href|src)="([^"]*)"', text)


def is_dead(path, link):
    if re.match(r'[a-z][a-z0-9+.-]*:|//', link) or re.fullmatch(r'\.\./\.\./(deployments/github-pages|releases)', link):
        return False
    file, _, anchor = link.partition('#')
    file = file.partition('?')[0]
    to = (path.parent / file) if file else path
    if to.is_dir() and path.suffix == '.html':
        to = to / 'index.html'
    if not to.exists():
        return True
    if not anchor or to.is_dir() or to.suffix not in ('.md', '.html') or to.name in READS_HASH and '=' not in anchor and (to.name != path.name or '%20' in anchor):
        return False
    return '=' not in anchor and anchor not in anchors_of(to)


dead = [(file, link) for file in sys.argv[1:] for link in links_of(pathlib.Path(file)) if is_dead(pathlib.Path(file), link)]
for file, link in dead:
    print(f'{file}: {link} leads nowhere')
sys.exit(1 if dead else 0)
