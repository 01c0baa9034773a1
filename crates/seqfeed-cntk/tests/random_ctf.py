"""Random CTF files, good and broken, with what the model of CNTK makes of them.

    SEQFEED_SHARED=... python3 random_ctf.py COUNT [SEED]

Prints one JSON object a line. The model is CNTK's bugs included, but for two that seqfeed does not
have: see `Model`.
"""
import json, os, random, sys, tempfile

sys.path.insert(0, os.path.join(os.environ.get('SEQFEED_SHARED', '../shared'), 'oracles'))
from cntk_model import CTF, Corpus, CntkError, SPACE, ctf_index


class Model(CTF):
    def row(s, p, e, buf, cnt):
        """Symbolic ids are read over up to white space."""
        if not s.corpus.numeric and s.data[p] != 0x7C:
            while p < e and s.data[p] not in SPACE:
                p += 1
            if p < e and 48 <= s.data[p] <= 57:
                raise AssertionError
        return super().row(p, e, buf, cnt)

    def dense(s, p, e, v, ix, dim):
        """The last sample of a file without a final newline is as any other."""
        mark = len(v)
        ok, q = super().dense(p, e, v, ix, dim)
        if ok and q >= e:
            k = len(v) - mark
            if k > dim:
                return False, q
            v.extend([0.0] * (dim - k))
        return ok, q


def number(r):
    k = r.random()
    if k < .3: return str(r.randrange(300))
    if k < .6: return '%.*f' % (r.randrange(9), r.gauss(0, 10))
    if k < .7: return '%.*e' % (r.randrange(20), r.gauss(0, 1) * 10 ** r.randrange(-30, 30))
    if k < .75: return '%s%s.%s' % (r.choice(['', '+', '-']), digits(r, 25), digits(r, 25))
    if k < .8: return '%s%s' % (r.choice(['+', '-']), digits(r, 20))
    if k < .85: return '%se%s%d' % (number_short(r), r.choice(['', '+', '-']), r.choice([0, 5, 22, 23, 38, 45, 400]))
    return number_short(r)

def number_short(r): return '%d.%d' % (r.randrange(10), r.randrange(100))
def digits(r, n): return ''.join(r.choice('0123456789') for _ in range(r.randrange(1, n)))
def junk(r): return r.choice(['', '.5', 'nan', '1.e5', '1e', '-', '1-2', '0x1', ':', '|', '||', '|#', '\r', '\t', ' ', '\x01', '\xff', '\x7f', '1:', ':1', '99:1', '1:x', '1.', '1.:2', '18446744073709551616:1', '\n', '\n\n', '|a', '|unknown 1', '|aa', '|abc 1', 'x', '#', '7', '\0', '\x0b', '\x0c'])


def sample(r, st):
    if r.random() < .02: return '|' + r.choice(['zz', 'A', '', st['alias'] + 'x']) + ' 1 2'
    if st['sparse']:
        values = ['%d:%s' % (r.randrange(st['dim']), number(r)) for _ in range(r.choice([0, 1, 1, 2, 5]))]
    else:
        n = st['dim'] if r.random() < .95 else r.randrange(st['dim'] + 3)
        values = [number(r) for _ in range(n)]
    return '|' + st['alias'] + ''.join(r.choice([' ', ' ', ' ', '\t', '  ']) + v for v in values)


def case(r):
    names = r.sample(['a', 'B', 'ab', 'feat', 'x'], r.randrange(1, 4))
    streams = {n: dict(dim=r.randrange(1, 5), format=r.choice(['dense', 'sparse'])) for n in names}
    for n in names:
        if r.random() < .3: streams[n]['alias'] = n + r.choice(['1', 'a', '_', '.'])
    main = r.choice(names) if r.random() < .35 else None
    if main: streams[main]['definesMBSize'] = True
    ordered = [dict(name=n, alias=v.get('alias', n), dim=v['dim'], sparse=v['format'] == 'sparse', main=n == main) for n, v in sorted(streams.items(), key=lambda kv: kv[0].lower())]
    keys = r.choice(['numeric'] * 6 + ['symbolic', 'hashed'])
    skip = keys == 'numeric' and r.random() < .2
    with_ids = r.random() < .75 or keys != 'numeric'
    lines = []
    for s in range(r.randrange(1, 6)):
        ident = str(r.randrange(20)) if keys == 'numeric' else r.choice(['u', 'u-1', 'spk', '7z', 'b\xe9', 'c#']) + str(r.randrange(4))
        if r.random() < .02: ident = r.choice(['99999999999999999999', '18446744073709551615', '184467440737095516150', '007'])
        for t in range(r.randrange(1, 5)):
            parts = [sample(r, st) for st in ordered if t == 0 or r.random() < .9 or st['main']]
            if r.random() < .15: r.shuffle(parts)
            if r.random() < .1: parts.insert(r.randrange(len(parts) + 1), '|# remark ' + r.choice(['', '1 2', '#', ordered[0]['alias']]))
            lead = ident + r.choice([' ', ' ', '\t', '']) if with_ids and (t == 0 or r.random() < .7) else r.choice(['', '', ' '])
            if keys != 'numeric' and lead == ident: lead += ' '
            lines.append(lead + r.choice([' ', ' ', '', '\t']).join(parts) + r.choice(['', '', '', '\r', ' ']))
    text = '\n'.join(lines) + r.choice(['\n', '\n', '\n', '', '\n\n', '\n5', '\n5 ', ' '])
    text = r.choice(['', '', '', '', '\xef\xbb\xbf', '\xef\xbb', ' ', '\n', '\r\n \n', '\xff\xfe', '\xff']) + text if r.random() < .3 else text
    data = text.encode('latin-1')
    if r.random() < .4:
        for _ in range(r.choice([1, 1, 2, 5])):
            p = r.randrange(len(data) + 1); q = p + r.choice([0, 0, 1, 2, 5]); data = data[:p] + junk(r).encode('latin-1') + data[q:]
    if r.random() < .03: data = r.choice([b'', b' \n', b'\xff', b'\xef', b'\xef\xbb\xbf', b'1', b'1\n', b'|', b'\n1'])
    return data, streams, ordered, keys, skip


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    path = tempfile.mktemp('.ctf')
    for number in range(count):
        r = random.Random('%d-%d' % (seed, number))
        data, streams, ordered, keys, skip = case(r)
        budget = r.choice([0, 0, 1, 3, 1000, 1000])
        double = r.random() < .4
        limit = r.choice([1, 30, 60, 100, 32 << 20])
        with open(path, 'wb') as f: f.write(data)
        out = dict(data=data.hex(), streams=ordered, keys=keys, skip=skip, maxErrors=budget, double=double, limit=limit, error=None)
        corpus = Corpus(keys == 'numeric', keys == 'hashed')
        try:
            main = next((s['alias'].encode() for s in ordered if s['main']), None)
            index = ctf_index(data, corpus, skip, main)
            out['index'] = [[q.key, q.n, q.off, q.size] for q in index]
            out['names'] = [n.hex() for n in corpus.names]
        except CntkError as e:
            out['error'] = str(e)
            print(json.dumps(out)); continue
        corpus = Corpus(keys == 'numeric', keys == 'hashed')
        m = Model(dict(file=path, input=streams, skipSequenceIds=skip, maxErrors=budget, chunkSizeInBytes=limit), corpus, True, 'double' if double else 'float')
        out['chunks'] = [len(c) for c in m.chunks]
        out['sequences'] = []
        try:
            for q in (q for c in m.chunks for q in c):
                rows = []
                for st, x in zip(ordered, m.parse(q)):
                    values = m.np(x.v) if st['sparse'] else x.a.ravel()
                    bits = [int.from_bytes(m.np(v).tobytes(), 'little') for v in values]
                    rows.append([bits, x.ix if st['sparse'] else [], x.o[1:] if st['sparse'] else [], x.n])
                out['sequences'].append(rows)
        except CntkError as e:
            out['error'] = str(e).replace(path, 'F')
        out['left'] = m.errors
        print(json.dumps(out))
    os.path.exists(path) and os.remove(path)


main()
