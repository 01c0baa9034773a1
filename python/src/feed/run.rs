//! A running feed. It is started on demand, and stopped at the end of each loop.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use seqfeed::{Feed, Minibatch, Opened, Result, State};

/// The result of a wait.
pub(super) enum Found {
    Minibatch(Box<Minibatch>),
    /// The end of the loop.
    End,
    /// Nothing yet.
    Nothing,
}

/// The feed of one process.
pub(super) struct Run {
    opened: Arc<Opened>,
    feed: Option<Feed>,
    /// The state from which the feed will start, before it has been started.
    from: Option<State>,
    /// The first minibatch of the sweep after that of the last loop.
    ahead: Option<Minibatch>,
    /// The sweep of the current loop, once it is known.
    sweep: Option<u64>,
}

impl Run {
    pub(super) fn new(opened: Arc<Opened>, from: Option<State>, sweep: Option<u64>) -> Self {
        Self { opened, feed: None, from, ahead: None, sweep }
    }

    pub(super) fn begin_loop(&mut self) {
        self.sweep = None;
    }

    pub(super) fn next_within(&mut self, patience: Duration, by_sweeps: bool) -> Result<Found> {
        let minibatch = match self.ahead.take() {
            Some(minibatch) => minibatch,
            None => {
                let feed = match &mut self.feed {
                    Some(feed) => feed,
                    None => self.feed.insert(self.opened.feed(self.from.as_ref())?),
                };
                match feed.next_within(patience) {
                    Poll::Pending => return Ok(Found::Nothing),
                    Poll::Ready(None) => return Ok(Found::End),
                    Poll::Ready(Some(minibatch)) => minibatch?,
                }
            }
        };
        if by_sweeps {
            if self.sweep.is_some_and(|sweep| minibatch.sweep() > sweep) {
                (self.sweep, self.ahead) = (None, Some(minibatch));
                return Ok(Found::End);
            }
            self.sweep = Some(minibatch.sweep());
        }
        Ok(Found::Minibatch(Box::new(minibatch)))
    }

    /// Goes on from a state.
    pub(super) fn go_to(&mut self, state: Option<State>) -> Result<()> {
        // It is started at once, so that a state that does not fit is reported here.
        let feed = self.opened.feed(state.as_ref())?;
        (self.feed, self.ahead, self.sweep) = (Some(feed), None, None);
        self.from = state;
        Ok(())
    }

    pub(super) fn stop(&mut self) {
        (self.feed, self.ahead) = (None, None);
    }
}
