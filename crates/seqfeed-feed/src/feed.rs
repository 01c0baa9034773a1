//! The feed: threads that load and pack ahead, and an iterator of minibatches.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use seqfeed_core::{Element, Error, ErrorKind, Result, Source, Stream};

use crate::buffers::Buffers;
use crate::delivered::{Components, Delivered};
use crate::minibatch::{Minibatch, Recycled, Shape};
use crate::pack::{Packer, Slots};
use crate::plan::{Plan, Planner};
use crate::prepared::Prepared;
use crate::residency::{Loader, Residency};
use crate::settings::Settings;
use crate::stages::{Planned, Position};
use crate::state::State;
use crate::sweeps::Sweeps;
use crate::swept_chunk::SweptChunk;

/// An iterator of minibatches of a corpus. Threads load and pack them ahead.
///
/// The minibatches depend only on the corpus, the settings and the state, never on the number of
/// threads or on timing. After an error the feed ends.
///
/// ```
/// # use std::sync::Arc;
/// # use seqfeed_core::{Block, Element, Extent, Index, IndexBuilder, Key, Kind};
/// # use seqfeed_core::{Result, Source, Stream};
/// # struct Memory(Vec<Stream>, Arc<Index>);
/// # impl Source for Memory {
/// #     fn name(&self) -> &str { "memory" }
/// #     fn streams(&self) -> &[Stream] { &self.0 }
/// #     fn index(&self) -> &Arc<Index> { &self.1 }
/// #     fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
/// #         for &s in sequences { blocks[0].push_f32(self.1.samples(s) as usize).fill(s as f32); }
/// #         Ok(())
/// #     }
/// # }
/// # let mut builder = IndexBuilder::new(100);
/// # for key in ["a", "b", "c"] { builder.push(Key(key.as_bytes()), 10); }
/// # let stream = Stream { name: "x".into(), kind: Kind::Dense, element: Element::F32, dim: 2,
/// #                       extent: Extent::Samples };
/// # let corpus = Arc::new(Memory(vec![stream], Arc::new(builder.finish())));
/// use seqfeed_feed::{BatchSize, Feed, Settings};
///
/// let batch = BatchSize::Samples(8);
/// let settings = Settings { batch, sweeps: Some(1), ..Settings::default() };
/// let mut feed = Feed::new(corpus, settings, None)?;
/// let mut samples = 0;
/// for minibatch in &mut feed {
///     let minibatch = minibatch?;
///     assert_eq!(minibatch.dense("x").unwrap().len(), minibatch.samples() * 2);
///     samples += minibatch.samples();
/// }
/// assert_eq!(samples, 30);
/// let state = feed.state().to_json(); // to go on later: Feed::new(corpus, settings, Some(&state))
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
pub struct Feed {
    queue: Option<Receiver<Receiver<Result<Minibatch>>>>,
    /// The next minibatch, while the caller waits for it.
    promised: Option<Receiver<Result<Minibatch>>>,
    threads: Vec<JoinHandle<()>>,
    streams: Vec<Stream>,
    state: State,
    memory_bound: u64,
    /// What was delivered of each component of a mixture.
    delivered: Vec<Delivered>,
}

/// The data that packing threads share.
struct Work {
    planning: Mutex<Planning>,
    /// Whether a minibatch has failed, so that no more are begun. This is not part of `planning`: a
    /// thread that waits for room in the queue holds `planning`, and room comes only after the
    /// answer.
    failed: AtomicBool,
    packer: Packer,
    shape: Arc<Shape>,
    components: Option<Components>,
}

struct Planning {
    planner: Planner,
    residency: Residency,
    /// The position of the order when chunks were last asked for.
    asked_at: Option<Position>,
    queue: SyncSender<Receiver<Result<Minibatch>>>,
}

impl Feed {
    /// Starts feeding, from the beginning or from a state.
    ///
    /// # Errors
    ///
    /// Fails if the settings contradict themselves or the corpus; if the state belongs to another
    /// corpus or order; or if more memory may be needed than allowed.
    pub fn new(source: Arc<dyn Source>, settings: Settings, state: Option<&State>) -> Result<Self> {
        let Prepared { sweeps, index, selection, context, streams, arrange, planner, bound } =
            Prepared::new(source, &settings, state)?;
        let memory_bound = bound.total();
        if let Some(limit) = settings.memory
            && memory_bound > limit
        {
            let what = "memory for chunks and minibatches, in bytes";
            let wanted = memory_bound;
            return Err(Error::new(ErrorKind::Limit { what, wanted, limit })
                .with_help(
                    "use a smaller window or batch, a shorter queue, map the data, or allow more memory",
                ));
        }
        let most = settings.queue.max(1) + 2;
        let recycled = Recycled { buffers: Mutex::new(Vec::new()), most };
        let shape = Arc::new(Shape {
            index: Arc::clone(&index),
            streams: streams.clone(),
            arrange: arrange.clone(),
            recycled,
        });
        let packer = Packer {
            index,
            unit: settings.unit,
            arrange,
            streams: streams.clone(),
            context,
            selection,
        };
        let state = planner.state();
        let (sender, queue) = sync_channel(settings.queue.max(1));
        let (residency, loader) = Residency::new(bound.chunks);
        let planning = Planning { planner, residency, asked_at: None, queue: sender };
        let (planning, failed) = (Mutex::new(planning), AtomicBool::new(false));
        let components = settings.mixture.as_ref().map(Components::of);
        let delivered = components.as_ref().map_or_else(Vec::new, Components::none);
        let work = Arc::new(Work { planning, failed, packer, shape, components });
        let threads = start_threads(&work, &sweeps, &loader, settings.threads)?;
        let (queue, promised) = (Some(queue), None);
        Ok(Self { queue, promised, threads, streams, state, memory_bound, delivered })
    }

    /// The next minibatch, if it comes within a time. This is for callers that do other work while
    /// they wait. It may be mixed with calls of the iterator.
    pub fn next_within(&mut self, patience: Duration) -> Poll<Option<Result<Minibatch>>> {
        // A time beyond the range of the clock means to wait without a limit.
        let until = Instant::now().checked_add(patience);
        let promised = match self.promised.take() {
            Some(promised) => promised,
            None => {
                let Some(queue) = &self.queue else { return Poll::Ready(None) };
                match receive(queue, until) {
                    Ok(promised) => promised,
                    Err(RecvTimeoutError::Timeout) => return Poll::Pending,
                    Err(RecvTimeoutError::Disconnected) => return Poll::Ready(self.end()),
                }
            }
        };
        let minibatch = match receive(&promised, until) {
            Ok(minibatch) => minibatch,
            Err(RecvTimeoutError::Timeout) => {
                self.promised = Some(promised);
                return Poll::Pending;
            }
            Err(RecvTimeoutError::Disconnected) => Err(panicked()),
        };
        match &minibatch {
            Ok(minibatch) => {
                self.state.clone_from(&minibatch.after);
                Delivered::add(&mut self.delivered, &minibatch.delivered);
            }
            Err(_) => self.queue = None,
        }
        Poll::Ready(Some(minibatch))
    }

    /// The end of the feed. If a thread has crashed, this is an error instead.
    fn end(&mut self) -> Option<Result<Minibatch>> {
        self.queue = None;
        let crashed = self.threads.drain(..).filter_map(|thread| thread.join().err()).count();
        (crashed > 0).then(|| Err(panicked()))
    }

    /// The state after the last minibatch that the iterator returned.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The streams as they are delivered: dims include the context.
    #[must_use]
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// What the iterator has returned of each component of a mixture. Empty if the corpus is no
    /// mixture.
    #[must_use]
    pub fn delivered(&self) -> &[Delivered] {
        &self.delivered
    }

    /// The most bytes that the feed takes: chunks, minibatches with padding (if the caller holds
    /// one at a time), orders, and the memory of sources.
    #[must_use]
    pub fn memory_bound(&self) -> u64 {
        self.memory_bound
    }
}

impl Iterator for Feed {
    type Item = Result<Minibatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Poll::Ready(next) = self.next_within(Duration::MAX) {
                return next;
            }
        }
    }
}

/// Waits for a message until a time, or without a limit.
fn receive<T>(channel: &Receiver<T>, until: Option<Instant>) -> Result<T, RecvTimeoutError> {
    match until {
        Some(until) => channel.recv_timeout(until.saturating_duration_since(Instant::now())),
        None => channel.recv().map_err(|_| RecvTimeoutError::Disconnected),
    }
}

fn panicked() -> Error {
    Error::corpus("a thread of the feed panicked")
        .with_help("this is a bug in seqfeed; please report it")
}

impl Drop for Feed {
    fn drop(&mut self) {
        // Threads notice that nobody listens, and end.
        (self.queue, self.promised) = (None, None);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").field("state", &self.state).finish_non_exhaustive()
    }
}

fn start_threads(
    work: &Arc<Work>,
    sweeps: &Arc<Sweeps>,
    loader: &Loader,
    count: usize,
) -> Result<Vec<JoinHandle<()>>> {
    let mut threads = Vec::with_capacity(2 * count);
    let mut start = |name: &str, run: Box<dyn FnOnce() + Send>| {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
        threads.push(thread.map_err(|error| Error::io("starting a thread", error))?);
        Ok::<(), Error>(())
    };
    for _ in 0..count {
        let (loader, sweeps) = (loader.share(), Arc::clone(sweeps));
        start("seqfeed-load", Box::new(move || loader.run(&sweeps)))?;
        let work = Arc::clone(work);
        start("seqfeed-pack", Box::new(move || work.run()))?;
    }
    Ok(threads)
}

impl Work {
    /// Packs minibatches until the end, an error, or until nobody listens.
    fn run(&self) {
        while let Some((plan, slots, answer)) = self.next_job() {
            let packed = self.pack(plan, &slots);
            drop(slots);
            if packed.is_err() {
                self.failed.store(true, Relaxed);
            }
            if answer.send(packed).is_err() {
                return;
            }
        }
    }

    fn next_job(&self) -> Option<(Plan, Slots, SyncSender<Result<Minibatch>>)> {
        let mut planning = self.planning.lock().ok()?;
        if self.failed.load(Relaxed) {
            return None;
        }
        let plan = planning.planner.next()?;
        let slots = planning.slots(&plan.units);
        // The place in the queue is taken while nobody else can plan. So minibatches come in the
        // order of their plans, whichever thread packs them first.
        let (answer, promised) = sync_channel(1);
        planning.queue.send(promised).ok()?;
        Some((plan, slots, answer))
    }

    fn pack(&self, plan: Plan, slots: &Slots) -> Result<Minibatch> {
        let recycled = self.shape.recycled.buffers.lock().ok().and_then(|mut free| free.pop());
        let mut buffers = recycled.unwrap_or_else(|| Buffers::new(&self.shape.streams));
        self.packer.pack(&plan.units, slots, &mut buffers)?;
        let components = self.components.as_ref();
        Ok(Minibatch {
            shape: Arc::clone(&self.shape),
            index: plan.index,
            sweep: plan.units.sweep,
            end_of_sweep: plan.units.end_of_sweep,
            after: plan.after,
            buffers,
            delivered: components.map_or_else(Vec::new, |all| all.count(&plan.units.items)),
        })
    }
}

impl Planning {
    /// The chunks of a plan. When the order's window has moved, its chunks are asked for too.
    fn slots(&mut self, plan: &Planned) -> Slots {
        // Neighbours are often of one chunk.
        let of_chunks = plan.items.chunk_by(|one, next| one.swept() == next.swept());
        let chunks = of_chunks.map(|items| self.planner.resident(items[0].swept()));
        let mut chunks: Vec<SweptChunk> = chunks.collect();
        chunks.sort_unstable_by_key(|chunk| chunk.key());
        chunks.dedup();
        let slots = chunks.iter().map(|&chunk| (chunk, self.residency.slot(chunk))).collect();
        let position = self.planner.position();
        if self.asked_at != Some(position) {
            self.asked_at = Some(position);
            self.residency.want(&self.planner.window());
        }
        slots
    }
}

const _: () = {
    const fn sendable<T: Send>() {}
    sendable::<Feed>();
    sendable::<Minibatch>();
    let _ = Element::F32;
};
