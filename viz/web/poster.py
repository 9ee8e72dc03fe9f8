"""A scene as SVG for a page that has no program yet: what web_native prints of it (viz/web/native.c), light and dark at once.

The two lists differ in colours alone.
"""
import json
import re
import subprocess

COLOUR = re.compile(r'(fill|stroke)="#(\w+)"(?: \1-opacity="([\d.]+)")?')


def colour(code, alpha):
    return f'#{code}' + (f'{round(255 * float(alpha)):02x}' if alpha else '')


def shorter(tag):
    return re.sub(r'\d+\.\d+', lambda number: f'{float(number[0]):.1f}'.removesuffix('.0'), tag[0].replace(' xml:space="preserve"', ''))


def svg(light, dark, width, height, kind):
    """The SVG of two pictures that differ in colours alone."""
    if COLOUR.sub('', light) != COLOUR.sub('', dark):
        raise SystemExit('poster.py: light and dark are drawn by different lists')
    others = COLOUR.finditer(dark)

    def both(found):
        return f'{found[1]}="light-dark({colour(*found.groups()[1:])},{colour(*next(others).groups()[1:])})"'
    body = re.sub('<[^>]*>', shorter, COLOUR.sub(both, light)).replace('\n', '')
    body = re.sub(r'(id="|#)s(\d+)', rf'\1{kind.split()[0]}\2', body)
    # One path for all that has one colour in a row: most are tiles.
    while True:
        joined = re.sub(r'<path d="([^"]*)" (fill="l[^"]*")/><path d="([^"]*)" \2/>', r'<path d="\1\3" \2/>', body)
        if joined == body:
            break
        body = joined
    return f'<svg class="{kind}" viewBox="0 0 {width} {height}" aria-hidden="true">{body}</svg>'


def posters(native, state, sizes):
    """(SVGs of `sizes` = {class: (width, height)}, the words around them)."""
    out, words = [], {}
    for kind, (width, height) in sizes.items():
        said = subprocess.run([native, str(width), str(height), 'framed'], input=state + '\n', capture_output=True, text=True, check=True).stdout
        light, dark = re.findall(r'</desc>(.*?)</svg>', said, flags=re.S)
        words = json.loads(said[said.index('\nwords\n') + 7:said.rindex('end')])
        out.append(svg(light, dark, width, height, kind))
    return ''.join(out), words
