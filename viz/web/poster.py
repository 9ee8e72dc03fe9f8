"""A scene as SVG for a page that has no program yet: what web_native prints of it (viz/web/native.c), light and dark at once.

The two lists differ in colours alone, so each pair of them is a class.
"""
import json
import re
import subprocess

NUMBERS = {'move': 2, 'line': 2, 'rectangle': 4}


def number(text):
    return f'{round(float(text), 1):g}'


def colour(parts):
    return '#' + ''.join(f'{round(255 * float(part)):02x}' for part in (parts if parts[3] != '1.000' else parts[:3]))


class Classes:
    """Pairs of colours by name, and their rules."""

    def __init__(self):
        self.names = {}

    def name(self, pair):
        return self.names.setdefault(pair, f'c{len(self.names)}')

    def rules(self):
        return ''.join(f'.{name}{{--c:light-dark({light},{dark})}}' for (light, dark), name in self.names.items()) + '\n'


def svg(light, dark, width, height, classes, kind):
    """The SVG of two lists; fails on what a poster's scene does not draw."""
    out, path, states = [], '', []
    now = {'c': '', 'width': '2', 'dash': ''}
    if len(light) != len(dark):
        raise SystemExit('poster.py: light and dark are drawn by different lists')
    for one, other in zip(light, dark):
        op, *of = one.split(' ')
        if op == 'colour':
            now['c'] = classes.name((colour(of), colour(other.split(' ')[1:])))
            continue
        if one != other:
            raise SystemExit(f'poster.py: light draws {one!r}, dark {other!r}')
        if op == 'save':
            states.append(dict(now, n=0))
        elif op == 'restore':
            now = states.pop()
            out.append('</g>' * now.pop('n'))
        elif op == 'begin':
            path = ''
        elif op in ('move', 'line'):
            path += ('M' if op == 'move' or not path else 'L') + ' '.join(map(number, of))
        elif op == 'rectangle':
            x, y, w, h = map(number, of)
            path += f'M{x} {y}h{w}v{h}h{number(-float(w))}z'
        elif op == 'close':
            path += 'z'
        elif op == 'fill':
            out.append(f'<path class="{now["c"]}" d="{path}"/>')
        elif op == 'stroke':
            dash = f' stroke-dasharray="{now["dash"]}"' if now['dash'] else ''
            out.append(f'<path class="{now["c"]} s" stroke-width="{now["width"]}"{dash} d="{path}"/>')
        elif op == 'clip':
            out.append(f'<clipPath id="{kind}{len(out)}"><path d="{path}"/></clipPath><g clip-path="url(#{kind}{len(out)})">')
            states[-1]['n'] += 1
        elif op == 'width':
            now['width'] = number(of[0])
        elif op == 'dash':
            now['dash'] = ' '.join(map(number, of[2:]))
        elif op == 'paint':
            out.append(f'<path class="{now["c"]}" d="M0 0h{width}v{height}h-{width}z"/>')
        elif op == 'text':
            x, y, size, style, *words = of
            bold = ' font-weight="700"' if int(float(style)) & 1 else ''
            words = ' '.join(words).replace('&', '&amp;').replace('<', '&lt;')
            out.append(f'<text class="{now["c"]}" x="{number(x)}" y="{number(y)}" font-size="{number(size)}"{bold}>{words}</text>')
        elif op != 'join':
            raise SystemExit(f'poster.py: nothing here draws {op!r}')
    # One path for all that has one colour in a row: most are tiles.
    body = ''.join(out)
    while True:
        joined = re.sub(r'<path class="(c\d+)" d="([^"]*)"/><path class="\1" d="([^"]*)"/>', r'<path class="\1" d="\2\3"/>', body)
        if joined == body:
            break
        body = joined
    return f'<svg class="{kind}" viewBox="0 0 {width} {height}" aria-hidden="true">{body}</svg>'


def posters(native, bundle, state, sizes):
    """(SVGs of `sizes` = {class: (width, height)}, their style, the words around them)."""
    classes, out, words = Classes(), [], {}
    for kind, (width, height) in sizes.items():
        said = subprocess.run([native, bundle, str(width), str(height), 'framed'], input=state + '\n', capture_output=True, text=True, check=True).stdout
        drawn, _, rest = said.partition('\nwords\n')
        light, dark = drawn.split('\ndark\n')
        words = json.loads(rest[:rest.rindex('end')])
        out.append(svg(light.split('\n')[1:], dark.split('\n'), width, height, classes, kind))
    return ''.join(out), classes.rules(), words
