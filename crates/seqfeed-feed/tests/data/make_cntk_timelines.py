"""Makes cntk_timelines.json: minibatches of CNTK's local-timeline randomizers, by a model of them.

python make_cntk_timelines.py MODEL_DIRECTORY [lt.json]: the directory holds cntk_model.py, an
executable model of CNTK's readers (for its random numbers); with recordings of CNTK, the model
is compared with them first."""
import json, random, sys
sys.path.insert(0, sys.argv[1])
from cntk_model import MT64
def chunk_order(n, seed):
    r=MT64(seed); o=list(range(n))
    for i in range(n):
        j=r()%n; o[i],o[j]=o[j],o[i]
    return o
def stream(job):
    """endless list of (chunk, number, samples) or 'E'"""
    ch=job['chunks']; n=len(ch); w=job['workers']; k=job['rank']; seed=job.get('seed',0)
    if not job.get('randomize',True):
        while True:
            c=0
            for i,q in enumerate(ch):
                for j,s in enumerate(q):
                    if c%w==k: yield (i,j,s)
                    c+=1
            yield 'E'
    sweep=0; pos=0; order=chunk_order(n,seed)
    full=max(1,job['window'])
    while True:
        # draw one window: collect parts
        got=0; cur=[]; begin=pos
        while got<full:
            if pos%w==k:
                cur.append(order[pos]); got+= sum(ch[order[pos]]) if job['windowInSamples'] else 1
            pos+=1
            if pos==n or got>=full:
                seqs=[(c,j,s) for c in cur for j,s in enumerate(ch[c])]
                r=MT64((begin+sweep+seed)&((1<<64)-1))
                for i in range(len(seqs)):
                    j=i+r()%(len(seqs)-i); seqs[i],seqs[j]=seqs[j],seqs[i]
                yield from seqs
                cur=[]
                if pos==n:
                    yield 'E'; sweep+=1; pos=0; order=chunk_order(n,seed+sweep)
                begin=pos
def run(job, calls=10**9):
    g=stream(job); w=job['workers']; k=job['rank']
    lim_s=job.get('sweeps'); lim_n=job.get('samples')
    if lim_n is not None: lim_n=lim_n//w+(1 if k<lim_n%w else 0)
    sw=n=0; nxt=next(g); res=[]
    over=lambda: (lim_s is not None and sw>=lim_s) or (lim_n is not None and n>=lim_n)
    while len(res)<calls:
        l=0; seqs=[]; se=False
        while l<job['mb'] and not over():
            if nxt=='E': se=True; sw+=1
            else:
                if seqs and l+nxt[2]>job['mb']: break
                seqs.append(list(nxt[:2])); l+=nxt[2]; n+=nxt[2]
            nxt=next(g)
        res.append((se,over(),seqs))
        if over(): break
    return res
if __name__=='__main__':
    d = json.load(open(sys.argv[2])) if len(sys.argv) > 2 else []; ok = 0
    for i,e in enumerate(d):
        if not e['modelAgrees']: continue
        out=[(c['sweepEnd'],c['epochEnd'],c['seqs']) for c in e['out'] if c['seqs'] or c['epochEnd']]
        r=run(e['job'])
        ok+= r[:len(out)]==out
        if r[:len(out)]!=out: print(i,'differs', r[:3], out[:3], len(r),len(out))
    print(ok, 'recordings agree')
    rnd=random.Random(7); cases=[]
    for w in (1,2,3):
        for t in range(20):
            chunks=[[rnd.randint(1,6) for _ in range(rnd.randint(1,5))] for _ in range(rnd.randint(3,9))]
            job=dict(chunks=chunks,workers=w,mb=rnd.choice([1,5,9,40]),seed=rnd.choice([0,3,77]))
            if t%5==4: job['randomize']=False
            else:
                job['windowInSamples']=rnd.random()<.5; job['window']=rnd.choice([1,10,25,1000]) if job['windowInSamples'] else rnd.choice([1,2,3,20])
            if rnd.random()<.5: job['sweeps']=rnd.randint(1,3)
            else: job['samples']=rnd.choice([30,101,200])
            out=[run(dict(job,rank=k)) for k in range(w)]
            # minibatches that are not empty: [sweep ends, sequences as global numbers]
            first=[0]
            for q in chunks: first.append(first[-1]+len(q))
            job['minibatches']=[[[se,[first[c]+j for c,j in s]] for se,ee,s in o if s] for o in out]
            cases.append(job)
    open('cntk_timelines.json', 'w').write('[\n'+',\n'.join(json.dumps(c,separators=(',',':')) for c in cases)+'\n]\n')
