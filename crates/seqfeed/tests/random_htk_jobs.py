"""Random jobs of CNTK's readers of HTK files, with what an executable model of CNTK makes of them.

    random_htk_jobs.py DIRECTORY-OF-cntk_model.py FIRST COUNT [MOST-BYTES]

Prints what random_jobs.py does, and `binary` (name: hexadecimal digits), the parameter files.
(`random_htk_jobs.jsonl` is 100000 44 4500).

Where seqfeed does otherwise than CNTK on purpose (docs/htk-differences.md) the model is changed
here to do so too.
"""
import os, random, struct, sys

import random_jobs
from random_jobs import model


# ---- what seqfeed does otherwise

def shorter(features, key, by_key=model.HTK.by_key):
    """Streams too short for their sequences are found by `wrong`."""
    if features.frame and not features.expand and key[0] in features.bykey:
        chunk, place = features.bykey[key[0]]
        key = (key[0], min(key[1], features.chunks[chunk][0][place][4] - 1))
    return by_key(features, key)


def parse(labels, data, sequence, parse=model.MLF.parse):
    """What cannot be parsed is one sequence's fault."""
    try:
        found = parse(labels, data, sequence)
    except (model.CntkError, LookupError, ValueError):
        return None
    return found if found and all(u < labels.dim for _, _, u in found) else None


def get(labels, chunk, number, length=None, get=model.MLF.get):
    found = get(labels, chunk, number, length)
    if not labels.frame and found[0].valid:
        found[0].key = labels.chunks[chunk][1][number].key
    return found


def init(features, config, *rest, init=model.HTK.__init__):
    stream = next(iter(config['input'].values()))
    features.CHUNK = stream.get('framesPerChunk', 90000)
    init(features, config, *rest)


def wrong(reader):
    """Keys of sequences that are not delivered, of those that all streams have."""
    keys, primary = set(), reader.ds[0]
    if isinstance(primary, model.CTF):
        lengths = {q.key: q.n for c in primary.chunks for q in c}
    else:
        lengths = {u[0]: u[4] for c in primary.chunks for u in c[0]}
    for key in [key for key in lengths if all(key in d.bykey for d in reader.ds)]:
        for d in reader.ds[1:]:
            if isinstance(d, model.MLF):
                chunk, number, _ = d.bykey[key]
                data, sequences, _ = d.chunks[chunk]
                bad = d.parse(data, sequences[number]) is None
                frames = sequences[number].n
            elif isinstance(d, model.HTK) and not d.expand:
                chunk, number = d.bykey[key]
                bad, frames = False, d.chunks[chunk][0][number][4]
            else:
                continue
            if bad or reader.frame and frames < lengths[key]:
                keys.add(key)
    return keys


def open_reader(reader, config, init=model.Reader.__init__):
    init(reader, config)
    for d in reader.ds:
        if isinstance(d, model.HTK):
            for chunk in range(len(d.chunks)):
                d.frames(chunk, 0)
    reader.wrong = wrong(reader)
    if len(reader.wrong) > reader.maxerr:
        raise model.CntkError('too many wrong sequences')


def fetch(reader, most, own):
    """Wrong sequences keep their places. They are counted once, when the corpus is opened."""
    references, end_of_sweep, end_of_epoch = reader.rnd.next(most, own)
    data = []
    for chunk, number in references:
        if reader.wrong:
            original = reader.d.chunks[chunk][2] if isinstance(reader.d, model.Bundler) else chunk
            if reader.ds[0].seq_infos(original)[number][3][0] in reader.wrong:
                continue
        data.append(reader.d.get(chunk, number))
    return data, end_of_sweep, end_of_epoch


model.HTK.by_key = shorter
model.HTK.__init__ = init
model.MLF.parse = parse
model.MLF.get = get
model.Reader.__init__ = open_reader
model.Reader.fetch = fetch


# ---- files

def parameters(r, frames, columns, kind, compressed, order):
    """A parameter file with the values of so many frames."""
    header = struct.pack(order + 'iihH', frames + 4 * compressed, 100000, columns * (2 if compressed else 4),
                         kind | (0o2000 if compressed else 0))
    values = range(frames * columns)
    if compressed:
        scales = [struct.pack(order + '%df' % columns, *[r.choice([.5, 1, 2, 8]) for _ in range(columns)]),
                  struct.pack(order + '%df' % columns, *[r.randint(-50, 50) for _ in range(columns)])]
        return header + b''.join(scales) + b''.join(struct.pack(order + 'h', r.randint(-999, 999)) for _ in values)
    return header + b''.join(struct.pack(order + 'f', r.randint(-999, 999) / 4) for _ in values)


def features(r, name, keys, lengths, binary, files, columns, single=False):
    """A script, and one or two archives that it names."""
    kind, order = r.choice([6, 7, 9, 0o406, 0o1406]), r.choice('<>>')
    compressed = r.random() < .2
    archives = [[] for _ in range(r.choice([1, 1, 2, 3]))]
    lines = []
    for key in keys:
        archive = r.randrange(len(archives))
        frames = 1 if single else lengths[key]
        first = sum(archives[archive]) + (r.randint(0, 3) if r.random() < .1 else 0)
        archives[archive].append(frames + first - sum(archives[archive]))
        lines.append((key, archive, first, first + frames - 1))
    suffix = r.choice(['.mfc', '.x', ''])
    text = []
    for key, archive, first, last in lines:
        text.append('%s%s=.../%s%d.chunk[%d,%d]' % (key, suffix, name, archive, first, last))
    if r.random() < .03 and len(lines) > 2:
        text.append(text[0])
    end = r.choice(['\n', '\n', '\r\n'])
    files['d/%s.scp' % name] = end.join(text) + end
    for number, parts in enumerate(archives):
        if parts:
            cut = r.random() < .01
            content = parameters(r, sum(parts) + r.randint(0, 2) - 2 * cut, columns, kind, compressed, order) \
                if sum(parts) > 2 or not cut else parameters(r, sum(parts), columns, kind, compressed, order)
            binary['d/%s%d.chunk' % (name, number)] = content.hex()


def labels(r, keys, lengths, states, columns, wrong):
    text = []
    for key in keys:
        frames = lengths[key]
        if r.random() < wrong:
            frames = max(1, frames + r.choice([-1, 1, 2, 5]))
        cuts = sorted({0, frames} | {r.randint(0, frames) for _ in range(r.randint(0, 3))})
        unit = r.choice([1, 100000])
        lines = []
        for a, b in zip(cuts, cuts[1:]):
            jitter = r.randint(-30000, 30000) if unit > 1 and 0 < b < frames else 0
            state = r.randrange(len(states))
            line = '%d %d %s' % (a * unit, b * unit + (0 if jitter < 0 and b == a + 1 else 0), states[state])
            lines.append(line + (' %d' % state if columns == 4 else r.choice(['', ' 1.5', ' -1 word'])))
        if r.random() < wrong:
            at = r.randrange(len(lines))
            # Not the end of the last line, which would be another length.
            lines[at] = r.choice(['%d %d nostate 99999' % (cuts[at] * unit, cuts[at + 1] * unit), lines[at][0] + lines[at]])
            if at == len(lines) - 1 and not lines[at].split(' ')[1].isdigit():
                lines.pop()
        if not lines:
            continue
        text.append('"%s%s.lab"' % (r.choice(['', '*/']), key))
        text += lines + ['.']
    return '#!MLF!#\n' + ''.join(line + '\n' for line in text)


# ---- jobs

def job(r):
    frames = r.random() < .5
    truncated = not frames and r.random() < .35
    count = r.randint(1, r.choice([2, 8, 25]))
    longest = r.choice([1, 3, 8, 14])
    keys = ['%sutt%d' % (r.choice(['', 's1/', 's2/t/']), k) for k in range(count)]
    lengths = {key: r.randint(1, longest) for key in keys}
    reader, files, binary = {'deserializers': []}, {}, {}
    wrong = r.choice([.02, .2]) if r.random() < .3 and not truncated else 0

    def add(name, here, here_lengths, columns, **more):
        features(r, name, here, here_lengths, binary, files, columns, more.get('expandToUtterance', False))
        stream = dict({'scpFile': 'd/%s.scp' % name, 'dim': columns}, **more)
        form = r.randrange(4)
        if form == 0:
            stream['contextWindow'] = r.choice([1, 3, 5])
        elif form == 1:
            stream['contextWindow'] = [r.randint(0, 3), r.randint(0, 3)]
        elif form == 2:
            stream['dim'] = columns * r.choice([1, 3, 5])
        if r.random() < .8:
            stream['framesPerChunk'] = r.choice([1, 5, 20, 60])
        reader['deserializers'].append({'type': 'HTKFeatureDeserializer', 'input': {name: stream}})

    add(r.choice(['features', 'b']), keys, lengths, r.choice([1, 2, 3]))
    if r.random() < .1:
        reader['deserializers'][0]['input']['maxSequenceSize'] = r.randint(1, longest)

    def others():
        here = [key for key in keys if r.random() > r.choice([0, 0, .2])] + ['other%d' % k for k in range(r.randint(0, 2))]
        for key in here:
            lengths.setdefault(key, r.randint(1, longest))
        if r.random() < .5:
            r.shuffle(here)
        return here or keys[:1]

    for name in ['c', 'Second'][:r.choice([0, 0, 1, 1, 2])]:
        here = others()
        longer = dict(lengths)
        if not truncated and r.random() < .3:
            for key in here:
                longer[key] += r.choice([0, 0, 1, 4, -1 if wrong and longer[key] > 1 else 0])
        add(name, here, longer, r.choice([1, 2]))
    if r.random() < .25:
        add('iv', others(), lengths, r.choice([1, 2]), expandToUtterance=True)
    if r.random() < .8:
        states = ['st_%d' % k for k in range(r.choice([1, 3, 7]))]
        columns = r.choice([3, 3, 4])
        stream = {'dim': len(states) + r.randint(0, 2)}
        names = ['m.mlf'] if r.random() < .7 else ['m.mlf', 'n.mlf']
        here = others()
        for number, name in enumerate(names):
            files[name] = labels(r, here[number::len(names)], lengths, states, columns, wrong)
        if len(names) == 1:
            stream['mlfFile'] = names[0]
        else:
            stream['mlfFileList'] = names
        if columns == 3:
            files['states'] = '\n'.join(states) + '\n'
            stream['labelMappingFile'] = 'states'
        if not frames and r.random() < .2:
            stream['phoneBoundaries'] = True
        d = {'type': 'HTKMLFDeserializer', 'input': {'labels': stream}}
        if r.random() < .4:
            d['chunkSizeInBytes'] = r.choice([50, 200])
        reader['deserializers'].append(d)
    if not frames and not truncated and r.random() < .15:
        rows = [(key, '|g %d %d' % (r.randint(0, 9), r.randint(0, 9))) for key in others() for _ in range(r.randint(1, 3))]
        files['g.ctf'] = ''.join('%s %s\n' % row for row in rows)
        reader['deserializers'].append({'type': 'CNTKTextFormatDeserializer', 'file': 'g.ctf',
                                        'input': {'g': {'dim': 2, 'format': 'dense'}}})
    if wrong:
        reader['maxErrors'] = r.choice([0, 1, 100, 100, 100])
    if r.random() < .1:
        reader['precision'] = 'double'
    reader['frameMode'] = frames
    reader['randomize'] = r.random() < .7
    if reader['randomize']:
        if r.random() < .9:
            reader['randomizationWindow'] = r.choice([1, 2, 3, 4, 7, 20, 50, 128, 1000])
            if r.random() < .9:
                reader['sampleBasedRandomizationWindow'] = r.random() < .5
        if r.random() < .7:
            reader['randomizationSeed'] = r.choice([1, 2, 5, 77, 123456])
    if r.random() < .4:
        reader['localTimeline'] = r.random() < .5
    if r.random() < .1:
        reader['hashSequenceKeys'] = True
    batch = r.choice([1, 2, 5, 8, 16, 25, 64, 200])
    if truncated:
        reader['truncated'] = True
        reader['truncationLength'] = r.choice([1, 2, 3, 5, 10])
        batch = r.choice([1, 6, 10, 20, 50, 64])
    options = {'batch-size': batch}
    settings = {'mb': batch, 'workers': 1, 'rank': 0, 'cross': True, 'sweeps': None, 'epoch': 'sweep'}
    samples = sum(lengths[key] for key in keys)
    epochs = random_jobs.run_of(r, options, settings, samples, 4)
    return files, binary, reader, options, settings, epochs


def outcome(number):
    r = random.Random('htk job %d' % number)
    files, binary, reader, options, settings, epochs = job(r)
    changes = []
    if 'truncated' not in reader and r.random() < .3:
        after = 0
        for _ in range(r.randint(1, 3)):
            after += r.randint(1, 5)
            changes.append([after, {'batch-size': r.choice([1, 3, 10, 30, 100])}])
    result = {'job': number, 'files': files, 'binary': binary, 'reader': reader, 'options': options, 'changes': changes}
    with random_jobs.tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        os.mkdir('d')
        for name, text in files.items():
            with open(name, 'w', newline='', encoding='utf-8') as out:
                out.write(text)
        for name, digits in binary.items():
            with open(name, 'wb') as out:
                out.write(bytes.fromhex(digits))
        model.read_htk.__defaults__[0].clear()
        try:
            found = random_jobs.minibatches(model.Reader(reader), settings, epochs, options.get('start'), changes)
            result.update({'error': None, 'minibatches': found})
        except model.CntkError as error:
            result['error'] = str(error)
        except (random_jobs.TooMuch, ArithmeticError, LookupError, ValueError, TypeError, AttributeError) as problem:
            result['crash'] = repr(problem)
        os.chdir('/')
    return result


random_jobs.outcome = outcome
if __name__ == '__main__':
    random_jobs.main()
