"""Random label files and MLFs, good and broken, with what the models of HTK and CNTK make of them.

    python3 random_labels.py ORACLES htk|cntk COUNT [SEED]

Prints one JSON object a line; bytes are strings of as many characters.
"""
import json, random, re, sys, types

ORACLES, WHAT, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
sys.path.insert(0, ORACLES)


def text(data): return data.decode('latin1')


def finite(x):
    """JSON has no infinite numbers."""
    if isinstance(x, float) and x in (float('inf'), float('-inf')): return None
    if isinstance(x, list): return [finite(y) for y in x]
    if isinstance(x, dict): return {k: finite(v) for k, v in x.items()}
    return x


def htk():
    from htk_label_model import Err, parse
    words = [b'a', b'sil', b'3ah', b'5.', b'.5', b'-', b'+x', b'1-2', b'1e3', b'1e', b'1e999', b'-7.25', b'.', b'///', b'"x y"', b"'q'", b'"12"', b'""',
             b"it's", b'\\"', b'a\\ b', b'\\303\\251', b'\\', b'\\18', b'"', b"'", b'\xff', b'x\x00y', b';', b'a,b', b'9007199254740993', b'\x0b', b'\x0c']
    weights = [8, 8] + [1] * (len(words) - 2)
    ends = [b'\n'] * 12 + [b'\r\n', b'\r', b'\n\n', b' \n', b'']

    def line():
        k = rng.random()
        if k < .12: return b'///' + rng.choice(ends)
        if k < .18: return b'.' + rng.choice(ends)
        parts = []
        if rng.random() < .6:
            parts = [b'%d' % rng.randrange(10 ** rng.randrange(1, 9)) for _ in range(rng.choice([1, 2, 2, 2, 2, 3]))]
        if rng.random() < .95: parts.append(rng.choices(words, weights)[0])
        if rng.random() < .3: parts.append(b'%.3f' % rng.uniform(-100, 100))
        if rng.random() < .2: parts += rng.choices(words, weights, k=rng.randrange(1, 4))
        gap = rng.choice([b' '] * 5 + [b'\t', b'  '])
        return rng.choice([b''] * 9 + [b' ']) + gap.join(parts) + rng.choice(ends)

    for _ in range(COUNT):
        while True:
            data = b''.join(line() for _ in range(rng.randrange(6))); mlf = rng.random() < .5
            # A dot at the very end is the end here.
            if not (mlf and re.search(rb'(^|[\r\n])\.$', data)): break
        out = dict(data=text(data), mlf=mlf, error=None)
        try: out['alts'] = finite(parse(data, mlf))
        except Err as e: out['error'] = e.args[0]
        print(json.dumps(out))


def cntk():
    try: import numpy
    except ImportError:
        # What is used of the model needs no arrays.
        fake = types.ModuleType('numpy'); fake.float32 = fake.float64 = float; sys.modules['numpy'] = fake
    import cntk_model as m
    from collections import OrderedDict

    def number(frame, units):
        if not units: return rng.choice(['%d'] * 9 + ['%d.0', '%d.25x', '%d']) % frame
        x = frame * 100000 + (rng.randrange(-49999, 50000) if rng.random() < .1 else 0)
        x = max(x, 0)
        return rng.choice(['%d' % x] * 9 + ['%.1f' % x, '%re0' % float(x), '%de-1' % (10 * x)])

    def utterance(i, names, states):
        nl = '\r\n' if rng.random() < .1 else '\n'
        key = rng.choice(['"k%d.lab"', '"*/s/k%d.lab"', '"k%d"', '"d.x/k%d.lab"  ', '"k%d.a.lab"']) % (i if rng.random() < .9 else 0)
        if rng.random() < .04: key = rng.choice(['k', '""', '"', ' "k"'])
        out = key + nl; t = 0; units = rng.random() < .7
        for _ in range(rng.choice([0] + [1, 2, 3, 4] * 4)):
            e = t + rng.choice([0, 1, 2, 5, 30]) + (1 if units else 0); s = t
            if rng.random() < .03: s += rng.choice([-1, 1])
            if rng.random() < .02: s, e = e, s
            n = rng.randrange(len(names)); name = names[n] if rng.random() < .98 else 'none'
            if states: tail = rng.choice(['', ' -1.5 x', ' '])
            else: tail = ' %s' % (n if rng.random() < .97 else rng.choice(['x', '70000', '5 ', '-1', '']))
            if rng.random() < .02: tail = tail[1:]
            out += '%s %s%s%s%s' % (number(s, units), number(e, units), ' ' if rng.random() < .99 else '  ', name, tail) + nl; t = e
            if rng.random() < .03: out += nl
        if rng.random() < .97: out += rng.choice(['.'] * 30 + ['. ']) + nl
        return out

    class File:
        pass

    for _ in range(COUNT):
        states = rng.random() < .7; names = ['a', 'b_s2', 'c[3]', 'd', 'a']; dim = rng.choice([5, 5, 5, 3])
        data = rng.choice(['#!MLF!#\n'] * 20 + ['#!MLF!#\r\n', '\n#!MLF!#\n'])
        for i in range(rng.randrange(1, 6)):
            if rng.random() < .05: data += '#!MLF!#\n'
            data += utterance(i, names, states)
        if rng.random() < .1: data = data[:rng.randrange(20, len(data) + 20)]
        data = data.encode()
        mlf = m.MLF.__new__(m.MLF); mlf.dim = dim; mlf.corpus = m.Corpus(False, False)
        mlf.states = {x: i for i, x in enumerate(names)} if states else None
        good, bad = {}, 0
        # The model ends at the first line that is none; here the utterance is left out. So each is
        # asked about alone.
        for entry in entries(data):
            try: seqs = mlf.index(b'#!MLF!#\n' + entry, '')
            except Exception: bad += 1; continue
            for q in seqs:
                key = mlf.corpus.id_to_key(q.key)
                if key in good or q.n <= 0: bad += 1; continue
                good[key] = None
                try: r = mlf.parse(b'#!MLF!#\n' + entry, q)
                except Exception: r = None
                if r is None or any(not 0 <= u < dim for _, _, u in r): bad += 1; continue
                good[key] = [[u, 2.0 if t == a else 1.0] for a, b, u in r for t in range(a, b)]
        good = {k: v for k, v in good.items() if v is not None}
        print(json.dumps(dict(data=text(data), states='\n'.join(names) + '\n' if states else None, dim=dim, good=good, bad=bad)))


def entries(data):
    """The pieces of an MLF up to each dot, without headers, as CNTK's index cuts them."""
    out = []; entry = b''; inside = False; first = True
    for line in re.findall(rb'[^\n]*\n|[^\n]+$', data):
        s = line.rstrip(b'\n'); s = s[:-1] if s.endswith(b'\r') else s
        if not s: entry += line if inside else b''; continue
        if first:
            if s != b'#!MLF!#': return []
            first = False; continue
        if not inside and s == b'#!MLF!#': continue
        entry += line
        if inside and s == b'.': out.append(entry); entry = b''; inside = False
        else: inside = True
    return out


dict(htk=htk, cntk=cntk)[WHAT]()
