"""A scene as SVG for a page that has no program yet: what web_native prints of it (viz/web/native.c), light and dark at once.

The two lists differ in colours alone, so each pair of them is a class.
"""
import json
import re
import subprocess

COLOUR = re.compile(r'(fill|stroke)="#(\w+)"(?: \1-opacity="([\d.]+)")?')


def colour(found):
    code, alpha = found
    return f'#{code}' + (f'{round(255 * float(alpha)):02x}' if alpha else '')


def shorter(tag):
    return re.sub(r'\d+\.\d+', lambda number: f'{float(number[0]):.1f}'.removesuffix('.0'), re.sub(r' (?:fill="none"|xml:space="preserve")', '', tag[0]))


class Classes:
    """Pairs of colours by name, and their rules."""

    def __init__(self):
        self.names = {}

    def name(self, pair):
        return self.names.setdefault(pair, f'c{len(self.names)}')

    def rules(self):
        return ''.join(f'.{name}{{--c:light-dark({light},{dark})}}' for (light, dark), name in self.names.items()) + '\n'


def svg(light, dark, width, height, classes, kind):
    """The SVG of two pictures that differ in colours alone."""
    if COLOUR.sub('', light) != COLOUR.sub('', dark):
        raise SystemExit('poster.py: light and dark are drawn by different lists')
    names = iter(zip(COLOUR.findall(light), COLOUR.findall(dark)))

    def classed(_):
        (use, *one), (_, *other) = next(names)
        return f'class="{classes.name(tuple(map(colour, (one, other))))}{" s" * (use == "stroke")}"'
    body = re.sub('<[^>]*>', shorter, COLOUR.sub(classed, light)).replace('\n', '')
    body = re.sub(r'(id="|#)s(\d+)', rf'\1{kind}\2', body)
    # One path for all that has one colour in a row: most are tiles.
    while True:
        joined = re.sub(r'<path d="([^"]*)" class="(c\d+)"/><path d="([^"]*)" class="\2"/>', r'<path d="\1\3" class="\2"/>', body)
        if joined == body:
            break
        body = joined
    return f'<svg class="{kind}" viewBox="0 0 {width} {height}" aria-hidden="true">{body}</svg>'


def posters(native, bundle, state, sizes):
    """(SVGs of `sizes` = {class: (width, height)}, their style, the words around them)."""
    classes, out, words = Classes(), [], {}
    for kind, (width, height) in sizes.items():
        said = subprocess.run([native, bundle, str(width), str(height), 'framed'], input=state + '\n', capture_output=True, text=True, check=True).stdout
        light, dark = re.findall(r'</desc>(.*?)</svg>', said, flags=re.S)
        words = json.loads(said[said.index('\nwords\n') + 7:said.rindex('end')])
        out.append(svg(light, dark, width, height, classes, kind))
    return ''.join(out), classes.rules(), words
