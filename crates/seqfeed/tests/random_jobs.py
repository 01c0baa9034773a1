"""Random jobs of CNTK's readers, with what an executable model of CNTK makes of them.

    random_jobs.py DIRECTORY-OF-cntk_model.py FIRST COUNT [MOST-BYTES]

Prints one line of JSON a job: `files` (name: text), `reader` (the dictionary), `options` (as in a
corpus.toml), `error` (whether the run fails) and `minibatches`; or `crash`, where the model
itself gives up. `section` is the reader as a section of a configuration, where it is to be read
so. After the first of `changes` (number of minibatches, options) the run goes on from its state
with other options, and so on. A job is a function of its number. With MOST-BYTES only jobs whose
line is no longer, and which are worth keeping, are counted and printed (`random_jobs.jsonl` is
100000 60 3000).

Where seqfeed does otherwise than CNTK on purpose (docs/cntk-differences.md) the model is changed
here to do so too.
"""
import json, os, random, sys, tempfile

sys.path.insert(0, sys.argv[1])
import cntk_model as model

MOST_MINIBATCHES = 3000


# ---- what seqfeed does otherwise

def go_back(randomizer, offset, sweep, seek=model.BlockRandomizer.seek):
    """Going back shuffles as everywhere: the seed is not forgotten."""
    return seek(randomizer, offset, sweep + randomizer.seed)


def get_once(ctf, chunk, number):
    """Errors are counted once, and only those of sequences that are used."""
    if (chunk, number) not in ctf.cache:
        ctf.cache[chunk, number] = ctf.parse(ctf.chunks[chunk][number])
    return ctf.cache[chunk, number]


def pass_over_id(ctf, at, end, buffers, counts, row=model.CTF.row):
    """Symbolic ids are no errors."""
    if not ctf.corpus.numeric:
        while at < end and ctf.data[at] not in model.SPACE:
            at += 1
    return row(ctf, at, end, buffers, counts)


model.BlockRandomizer.seek = go_back
model.CTF.get = get_once
model.CTF.row = pass_over_id


# ---- files

def number(r):
    """Few digits, and a double exactly."""
    value = r.randrange(-400, 400)
    form = r.randrange(8)
    if form == 0:
        return '%d' % value
    if form == 1:
        return '%de%d' % (value, r.randrange(3))
    if form == 2:
        return '%+d.E1'.replace('.E', 'E') % value
    if form == 3:
        return '%.3fe+1' % (value / 8)
    return '%.*f' % (3, value / 8)


def sample(r, stream, whole):
    """The text of a sample; unless `whole`, a dense one can be short."""
    gap = r.choice([' ', ' ', ' ', '\t', '  '])
    if stream['format'] == 'sparse':
        indices = list(range(stream['dim']))
        if r.random() < .3:
            r.shuffle(indices)
        count = r.choice([0, 1, 1, 2, 3, len(indices)])
        kept = sorted(r.sample(range(len(indices)), min(count, len(indices))))
        if kept and r.random() < .03:
            kept.append(kept[0])
        # A whole one has something in it: nothing at all is an error at the end of a file.
        kept = kept or ([0] if whole else [])
        return gap.join(['|' + stream['alias']] + ['%d:%s' % (indices[k], number(r)) for k in kept])
    count = stream['dim'] if whole or r.random() < .95 else r.randrange(stream['dim'] + 1)
    return gap.join(['|' + stream['alias']] + [number(r) for _ in range(count)])


BROKEN = ['|%s 1 x', 'garbage', '|%s 999999:1', '| 1', '|%s ' + '1 ' * 60, '|%s .5', '|%s 1:', '']


def ctf_file(r, keys, streams, mode, equal, broken, longest):
    """The text of a file. Modes: numeric, symbolic, lines (no ids), skipped (ids that are
    not used)."""
    main = next((s for s in streams if s.get('main')), None)
    end = r.choice(['\n', '\n', '\n', '\r\n'])
    lines = []
    for key in keys:
        n = r.randint(1, longest)
        if mode in ('lines', 'skipped'):
            n = 1
        # Streams of their own lengths, one of them the longest; with a main stream, that one.
        lengths = {s['alias']: n if equal or r.random() < .5 else r.randint(1, n) for s in streams}
        lengths[(main or r.choice(streams))['alias']] = n
        rows = n
        if main is not None and not equal and mode not in ('lines', 'skipped') and r.random() < .3:
            rows = n + r.randint(0, 3)
            for s in streams:
                if s is not main and r.random() < .5:
                    lengths[s['alias']] = r.randint(1, rows)
        samples = [[] for _ in range(rows)]
        for s in streams:
            count = lengths[s['alias']]
            at = range(count) if s is main or count == n or r.random() < .6 else sorted(r.sample(range(rows), count))
            for row in at:
                samples[row].append(s)
        for row, here in enumerate(samples):
            if r.random() < .2:
                r.shuffle(here)
            last = row == rows - 1 and key is keys[-1]
            parts = [sample(r, s, last) for s in here]
            if r.random() < .06:
                parts.insert(0, '|Unknown 1 2:3 x')
            if r.random() < .06:
                parts.insert(0, '|# a comment')
            elif r.random() < .05 and not last:
                parts.append('|# a comment behind')
            if broken and r.random() < broken:
                bad = r.choice(BROKEN)
                bad = bad % r.choice(streams)['alias'] if '%s' in bad else bad
                if r.random() < .5:
                    parts.insert(r.randint(0, len(parts)), bad)
                else:
                    parts[r.randrange(len(parts)) if parts else 0:][:1] = [bad]
            line = ' '.join(parts)
            if mode == 'lines':
                pass
            elif mode == 'numeric' and row > 0 and r.random() < .3:
                line = r.choice(['', ' ']) + line
            else:
                line = str(key) + r.choice([' ', ' ', '\t']) + line
            lines.append(line)
    text = end.join(lines) + (end if r.random() < .85 else '')
    return ('\ufeff' if r.random() < .03 else '') + (end if mode == 'numeric' and r.random() < .05 else '') + text


# ---- jobs

def run_of(r, options, settings, samples, most_workers):
    """Draws workers, epochs and where to start, for a corpus of so many samples: how
    many epochs."""
    if r.random() < .5:
        settings['workers'] = r.randint(1, most_workers)
        settings['rank'] = r.randrange(settings['workers'])
        options.update({'ranks': settings['workers'], 'rank': settings['rank']})
    if r.random() < .3:
        settings['cross'] = options['cross-sweeps'] = r.random() < .3
    epochs, kind = 1, r.random()
    if kind < .4:
        settings['sweeps'] = options['sweeps'] = r.randint(1, 3)
    elif kind < .6:
        epochs = r.randint(1, 3)
        options.update({'epoch': 'sweep', 'sweeps': epochs})
    else:
        epochs = r.randint(1, 4)
        settings['epoch'] = options['epoch'] = r.randint(1, 2 * samples + 1)
        options['samples'] = settings['epoch'] * epochs
    if r.random() < .25:
        most = samples * settings['sweeps'] if settings['sweeps'] else samples
        if settings['epoch'] != 'sweep':
            # In the first epoch: a later one begins at its start.
            most = min(settings['epoch'] - 1, 3 * samples)
        options['start'] = r.randint(0, max(0, most))
    if r.random() < .3:
        options.update({'threads': r.randint(1, 3), 'queue': r.randint(1, 4)})
    return epochs


def job(r):
    mode = r.choices(['numeric', 'symbolic', 'lines', 'skipped'], [14, 3, 2, 2])[0]
    truncated = r.random() < .25
    frames = not truncated and mode in ('lines', 'skipped') and r.random() < .5
    equal = truncated and r.random() < .97 or r.random() < .3
    broken = r.choice([.01, .05, .2]) if r.random() < .12 else 0
    parts = r.choices([1, 2, 3], [6, 3, 1])[0]
    longest = r.choice([1, 2, 4, 8, 14])
    count = r.randint(1, r.choice([3, 12, 40]))
    pool = list(range(3 * count + 5))
    r.shuffle(pool)
    names = iter(['a', 'x', 'Feature', 'lab', 'b2', 'M', 'weights', 'zz', 'q'])
    main_part = r.randrange(parts) if not truncated and r.random() < .2 else None
    reader, files = {'deserializers': []}, {}
    keys = pool[:count]
    if r.random() < .5:
        keys.sort()
    for part in range(parts):
        streams = []
        for _ in range(r.choice([1, 2, 2, 3])):
            name = next(names)
            s = {'name': name, 'alias': name, 'dim': r.choice([1, 2, 3, 5]), 'format': r.choice(['dense', 'dense', 'sparse'])}
            if r.random() < .3:
                s['alias'] = r.choice(['F', 'G', 'long.alias']) + str(len(streams))
            if s['format'] == 'sparse':
                s['dim'] = r.choice([1, 4, 10, 1000])
            streams.append(s)
        if part == main_part:
            r.choice(streams)['main'] = True
        here = list(keys)
        if part > 0:
            here = [k for k in keys if r.random() > r.choice([0, .1, .5])] + pool[count:count + r.randint(0, 4)]
            here = here or keys[:1]
            if r.random() < .6:
                r.shuffle(here)
            if truncated and r.random() < .5:
                # Lengths would differ.
                truncated = False
        elif mode == 'numeric' and r.random() < .06 and len(here) > 2:
            here.append(here[0])
        if mode == 'symbolic':
            here = ['s%d/u' % k for k in here]
        text = ctf_file(r, here, streams, mode, equal, broken, longest)
        file = 'part%d.ctf' % part
        files[file] = text
        inputs = {}
        for s in streams:
            inputs[s['name']] = {'dim': s['dim'], 'format': s['format']}
            if s['alias'] != s['name']:
                inputs[s['name']]['alias'] = s['alias']
            if s.get('main'):
                inputs[s['name']]['definesMBSize'] = True
        d = {'type': 'CNTKTextFormatDeserializer', 'module': 'CNTKTextFormatReader', 'file': file, 'input': inputs}
        if r.random() < .85:
            d['chunkSizeInBytes'] = r.choice([1, 30, 100, 300, 1000, 5000])
        if mode == 'skipped':
            d['skipSequenceIds'] = True
        if broken:
            d['maxErrors'] = r.choice([0, 1, 3, 10, 10000, 100000])
        reader['deserializers'].append(d)
    if mode == 'symbolic':
        reader['useNumericSequenceKeys'] = False
    if r.random() < .1:
        reader['precision'] = 'double'
    reader['randomize'] = r.random() < .65
    if reader['randomize']:
        if r.random() < .85:
            reader['randomizationWindow'] = r.choice([1, 2, 3, 4, 7, 20, 50, 128, 1000])
            if r.random() < .9:
                reader['sampleBasedRandomizationWindow'] = r.random() < .5
        if r.random() < .7:
            reader['randomizationSeed'] = r.choice([1, 2, 5, 77, 123456])
    if r.random() < .4:
        reader['localTimeline'] = r.random() < .5
    if frames:
        reader['frameMode'] = True
    batch = r.choice([1, 2, 5, 8, 16, 25, 64, 200])
    if truncated:
        reader['truncated'] = True
        reader['truncationLength'] = r.choice([1, 2, 3, 5, 10])
        if r.random() < .2 and reader['truncationLength'] > 1:
            reader['rightSplice'] = r.randrange(reader['truncationLength'])
        batch = r.choice([1, 6, 10, 20, 50, 64])
    options = {'batch-size': batch}
    settings = {'mb': batch, 'workers': 1, 'rank': 0, 'cross': True, 'sweeps': None, 'epoch': 'sweep'}
    samples = count * (longest + 1) // 2
    epochs = run_of(r, options, settings, samples, 5)
    return files, reader, options, settings, epochs


def more(r, files, reader, options, settings, epochs):
    """What a job has besides: hashed keys, a start in a later epoch, other sizes on the way,
    readers that stand alone."""
    changes, section = [], None
    if reader.get('useNumericSequenceKeys') is False and r.random() < .5:
        reader['hashSequenceKeys'] = True
    if epochs > 1 and r.random() < .3:
        size = settings['epoch'] if settings['epoch'] != 'sweep' else 40
        options['start'] = r.randint(0, min(size, 300) * epochs)
    # A run that goes on begins a new budget of errors.
    budget = any(d.get('maxErrors') for d in reader['deserializers'])
    if 'truncated' not in reader and not budget and r.random() < .3:
        after = 0
        for _ in range(r.randint(1, 3)):
            after += r.randint(1, 5)
            changes.append([after, {'batch-size': r.choice([1, 3, 10, 30, 100])}])
    numeric = reader.get('useNumericSequenceKeys', True)
    if len(files) == 1 and numeric and 'truncated' not in reader and r.random() < .4:
        d = reader.pop('deserializers')[0]
        for name in ['type', 'module']:
            del d[name]
        reader.pop('localTimeline', None)
        reader.update(d, readerType='CNTKTextFormatReader')
        if r.random() < .3:
            reader['keepDataInMemory'] = True
        if r.random() < .5:
            section = 'S=[\nreader=' + text_of(reader) + '\n]\n'
            settings['cross'] = options.get('cross-sweeps', False)
    return changes, section


def text_of(value):
    if isinstance(value, dict):
        return '[\n' + ''.join('%s = %s\n' % (k, text_of(v)) for k, v in value.items()) + ']'
    if isinstance(value, bool):
        return 'true' if value else 'false'
    return '"%s"' % value if isinstance(value, str) else str(value)


def composite(reader):
    """The composite reader that does what one that stands alone does."""
    if 'deserializers' in reader:
        return reader
    reader = dict(reader, localTimeline=False)
    by_samples = reader.setdefault('sampleBasedRandomizationWindow', False)
    chunks = 4 * 2**30 // reader.get('chunkSizeInBytes', 32 * 2**20)
    reader.setdefault('randomizationWindow', 2**62 - 1 if by_samples else chunks)
    reader['deserializers'] = [dict(reader, type='CNTKTextFormatDeserializer')]
    # The reader's budget is the deserializer's.
    reader.pop('maxErrors', None)
    return reader


# ---- what the model makes of them

class TooMuch(Exception):
    pass


def numbers(values):
    return [int(v) if v == int(v) else v for v in map(float, values)]


def stream_of(stream, description):
    rows, width, sequences = stream
    found = {'rows': rows, 'width': width, 'places': [], 'values': []}
    for _, _, row, begin, end, data, first in sequences:
        length = min(end, width) - max(begin, 0)
        found['places'] += [row, max(begin, 0), length]
        for t in range(first, first + length):
            if description['sparse']:
                pairs = data.pairs(t)
                found['values'].append([x for i, v in pairs for x in [i] + numbers([v])])
            else:
                found['values'].append(numbers(data.a[t]))
    return found


def minibatches(reader, settings, epochs, start, changes):
    """Those that have data, and those without in the middle of an epoch."""
    found, changes = [], list(changes)
    first = 0
    if start is not None and epochs > 1:
        reader.start_epoch(dict(settings, index=0))
        first = start // reader.rnd.epoch_size()
    for epoch in range(first, epochs):
        reader.start_epoch(dict(settings, index=epoch))
        if epoch == first and start is not None:
            reader.rnd.set_state(start)
        while True:
            streams, end_of_sweep, end_of_epoch = reader.read()
            if streams or not end_of_epoch:
                keys = [reader.corpus.id_to_key(sequence[1]) for sequence in streams[0][2]] if streams else []
                described = zip(reader.streams, streams or [])
                data = {d['name']: stream_of(s, d) for d, s in described}
                found.append({'end_of_sweep': end_of_sweep, 'keys': keys, 'streams': data})
                if changes and changes[0][0] == len(found):
                    settings = dict(settings, mb=changes.pop(0)[1]['batch-size'])
                    reader.configure(dict(settings, index=epoch))
            if end_of_epoch:
                break
            if len(found) > MOST_MINIBATCHES:
                raise TooMuch('more minibatches than are of use')
    return found


def certain(reader, files_read_once):
    """Whether a run that comes through must do so: however often chunks are read again, errors are
    few enough."""
    times = 1 if files_read_once else 1000
    unlimited = 1 << 60
    for ctf in reader.ds:
        most, ctf.errors = ctf.errors, unlimited
        try:
            for chunk in ctf.chunks:
                for sequence in chunk:
                    ctf.parse(sequence)
        except model.CntkError:
            return False
        if (unlimited - ctf.errors) * times > most:
            return False
    return True


def epoch_size(randomizer):
    return randomizer.epoch


model.BlockRandomizer.epoch_size = model.NoRandomizer.epoch_size = epoch_size


def outcome(number):
    files, reader, options, settings, epochs = job(random.Random('job %d' % number))
    r = random.Random('more of job %d' % number)
    changes, section = more(r, files, reader, options, settings, epochs)
    result = {'job': number, 'files': files, 'reader': reader, 'options': options, 'changes': changes}
    if section:
        result['section'] = section
    reader = composite(reader)
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for name, text in files.items():
            with open(name, 'w', newline='', encoding='utf-8') as out:
                out.write(text)
        try:
            found = minibatches(model.Reader(reader), settings, epochs, options.get('start'), changes)
            sweep = settings['sweeps'] == 1 or settings['epoch'] == 'sweep' and not settings['sweeps'] and epochs == 1
            once = sweep and len(files) == 1 and settings['workers'] == 1 and 'start' not in options and not changes
            if not certain(model.Reader(reader), once):
                raise TooMuch('whether errors are too many depends on how often chunks are read')
            result.update({'error': None, 'minibatches': found})
        except model.CntkError as error:
            result['error'] = str(error)
        except (TooMuch, ArithmeticError, LookupError, ValueError, TypeError, AttributeError) as problem:
            result['crash'] = repr(problem)
        os.chdir('/')
    return result


def says_much(result):
    """Whether a job is worth keeping."""
    return result.get('error') or len(result.get('minibatches', [])) > 2


def main():
    number, count = int(sys.argv[2]), int(sys.argv[3])
    most = int(sys.argv[4]) if len(sys.argv) > 4 else None
    while count > 0:
        result = outcome(number)
        text = json.dumps(result, separators=(',', ':'))
        number += 1
        if most is None or len(text) <= most and says_much(result):
            print(text, flush=True)
            count -= 1


if __name__ == '__main__':
    main()
