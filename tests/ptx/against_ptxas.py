#!/usr/bin/env python3
"""Wrong PTX, against ptxas: makes one error in a valid PTX file, and compares the line of ptxas's first error with ours.

usage: tests/ptx/against_ptxas.py [--warptime BINARY] [--count N] [--seed S] [--keep FOLDER] FILE.ptx...

Each mutation is in one of these classes; `what ptxas says` is syntax (a parsing error), name (something that is not declared,
or declared twice) or meaning (types, targets, alignments: what the parser leaves alone):
  same line    both refuse, in the same line
  both take    the mutation is still PTX
  meaning      ptxas refuses for the meaning of what is there, and the parser takes it
  WE TAKE      ptxas refuses for its syntax or its names, and we take it
  WE REFUSE    ptxas takes it, and we do not
  LINE         both refuse, in different lines
Exit 1 where one of the last three occurs. Needs ptxas on the PATH or in /usr/local/cuda/bin.
"""
import argparse
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"[^"]*"|\s+|[A-Za-z_$%][\w$]*(?:(?:\.|::)[\w$]+)*|\.[A-Za-z_][\w$]*|'
                   r'0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|\d[\w.]*|.', re.S)
SYNTAX = re.compile(r'Parsing error|syntax error|Unexpected (?:non-ASCII|EOF)|Unknown directive|not closed|illegal character', re.I)
NAME = re.compile(r'Unknown symbol|Undefined|not defined|Duplicate|redefin|Label expected|Unknown (?:variable|label|function)', re.I)


def significant(tokens):
    return [i for i, t in enumerate(tokens) if not t.isspace() and not t.startswith(('//', '/*'))]


def misspelled(word, rng):
    i = rng.randrange(len(word))
    return rng.choice([word[:i] + word[i + 1:], word[:i] + 'q' + word[i:], word[:i] + word[i:i + 1] * 2 + word[i + 1:]])


def pick(tokens, places, wanted, rng):
    found = [i for i in places if wanted(tokens[i])]
    return rng.choice(found) if found else None


def mutate(text, rng):
    """One error: the text with it, and what was done. None where the file has no place for it."""
    tokens = TOKEN.findall(text)
    places = significant(tokens)
    if len(places) < 20:
        return None
    i = rng.choice(places)
    k = places.index(i)
    kind = rng.choice(['delete', 'duplicate', 'swap', 'misspell', 'drop mark', 'add mark', 'register', 'directive', 'number',
                       'type', 'insert', 'cut', 'opcode', 'label'])
    if kind == 'delete':
        tokens[i] = ''
    elif kind == 'duplicate':
        tokens[i] += ' ' + tokens[i]
    elif kind == 'swap':
        if k + 1 == len(places):
            return None
        j = places[k + 1]
        tokens[i], tokens[j] = tokens[j], tokens[i]
    elif kind == 'misspell':
        i = pick(tokens, places, lambda t: len(t) > 2 and (t[0].isalpha() or t[0] in '.%$_'), rng)
        tokens[i] = misspelled(tokens[i], rng)
    elif kind == 'drop mark':
        i = pick(tokens, places, lambda t: t in '{}[]();,:@|', rng)
        kind += ' ' + tokens[i]
        tokens[i] = ''
    elif kind == 'add mark':
        mark = rng.choice('{}[]();,:@|!+-<>=.')
        kind += ' ' + mark
        tokens[i] = rng.choice([mark + tokens[i], tokens[i] + mark, mark])
    elif kind == 'register':
        i = pick(tokens, places, lambda t: re.fullmatch(r'%[a-z]+\d+', t), rng)
        if i is None:
            return None
        tokens[i] = rng.choice(['%undeclared7', tokens[i] + '999', 'undeclared7'])
    elif kind == 'directive':
        i = pick(tokens, places, lambda t: t.startswith('.') and len(t) > 1, rng)
        tokens[i] = rng.choice(['.nosuch', '.reg', '.entry', '.visible', '.align', '.loc'])
    elif kind == 'number':
        i = pick(tokens, places, lambda t: t[0].isdigit(), rng)
        if i is None:
            return None
        tokens[i] = rng.choice(['0x', '09', '12abc', '0f123', '99999999999999999999', '1.5.2', '0b2', '0xFFFFFFFFFFFFFFFFF'])
    elif kind == 'type':
        i = pick(tokens, places, lambda t: re.search(r'\.[busf]\d+$', t), rng)
        tokens[i] = re.sub(r'\.[busf]\d+$', rng.choice(['.b33', '.q32', '.f', '.32', '..u32', '.reg', '.']), tokens[i])
    elif kind == 'insert':
        tokens[i] += ' ' + rng.choice(['%r1', '1', 'foo', '.b32', 'ret;', '"text"', '\\', '#', '`', 'é', '0x1', '.reg .b32 %zz;',
                                       '{', '}', ';;', 'L_new:', '@%p1', '.nosuch'])
    elif kind == 'cut':
        tokens = tokens[:i]
    elif kind == 'opcode':
        i = pick(tokens, places, lambda t: re.match(r'(?:ld|st|add|mul|mov|setp|bra|mad|fma|cvt)\b', t), rng)
        if i is None:
            return None
        tokens[i] = rng.choice([tokens[i].replace('.', ' ', 1), tokens[i].replace('.', '..', 1), tokens[i] + '.', 'nosuch' + tokens[i]])
    elif kind == 'label':
        i = pick(tokens, places, lambda t: t.startswith(('$L', 'L', 'BB')) and len(t) > 2, rng)
        if i is None:
            return None
        tokens[i] += 'q'
    return ''.join(tokens), kind


def first_line(output):
    lines = re.findall(r'line (\d+); (?:error|fatal)\s*: (.*)', output)
    if not lines:
        lines = [(line, message) for message, line in re.findall(r'(Unexpected .*) on line (\d+)', output)]
    return (int(lines[0][0]), lines[0][1]) if lines else (None, output.strip().split('\n')[0])


def parse_errors(output):
    """Errors of the parser carry a column, those of the analysis do not."""
    return [(int(line), message) for line, message in re.findall(r':(\d+):\d+: error: (.*)', output)] or \
        [(int(line), message) for line, message in re.findall(r':(\d+): error: (label .*|.* is not declared)', output)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('files', nargs='+')
    parser.add_argument('--warptime', default='build/warptime')
    parser.add_argument('--count', type=int, default=500)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--keep', help='folder for the files that do not agree')
    options = parser.parse_args()
    ptxas = shutil.which('ptxas') or '/usr/local/cuda/bin/ptxas'
    if not os.path.exists(ptxas):
        sys.exit('no ptxas here')
    rng = random.Random(options.seed)
    classes = collections.Counter()
    used = set()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'wrong.ptx')
        while sum(classes.values()) < options.count:
            source = rng.choice(options.files)
            with open(source, encoding='utf-8', errors='replace') as file:
                made = mutate(file.read(), rng)
            if made is None:
                continue
            text, kind = made
            used.add(source)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
            target = re.search(r'\.target\s+(sm_\d+[af]?)', text)
            arch = target.group(1) if target and int(re.sub(r'\D', '', target.group(1))) >= 75 else 'sm_75'
            theirs = subprocess.run([ptxas, '-arch', arch, '-O0', path, '-o', '/dev/null'], capture_output=True, text=True, errors='replace')
            ours = subprocess.run([options.warptime, 'analyze', path, '-o', '/dev/null'], capture_output=True, text=True, errors='replace')
            if ours.returncode not in (0, 1):
                print('CRASH', ours.returncode, source, kind)
            line, message = first_line(theirs.stdout + theirs.stderr)
            errors = parse_errors(ours.stderr)
            says = 'takes' if theirs.returncode == 0 else 'syntax' if SYNTAX.search(message) else 'name' if NAME.search(message) else 'meaning'
            if says == 'takes':
                result = 'WE REFUSE' if errors else 'both take'
            elif not errors:
                result = 'meaning' if says == 'meaning' else 'WE TAKE'
            else:
                result = 'same line' if errors[0][0] == line else 'LINE'
            classes[says, result] += 1
            if result.isupper():
                print(f'{result} ({kind}) {source}\n    ptxas: line {line}: {message}\n    ours:  ' +
                      (f'line {errors[0][0]}: {errors[0][1]}' if errors else 'takes it'))
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    name = f'{result.replace(" ", "-").lower()}-{options.seed}-{sum(classes.values())}.ptx'
                    shutil.copy(path, os.path.join(options.keep, name))
    print(f'{sum(classes.values())} mutations of {len(used)} files')
    for (says, result), count in sorted(classes.items()):
        print(f'  ptxas: {says:8} {result:10} {count}')
    sys.exit(any(result.isupper() for _, result in classes))


if __name__ == '__main__':
    main()
