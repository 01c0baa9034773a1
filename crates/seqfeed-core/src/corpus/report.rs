//! The sequences that a join dropped, and the reasons.

use std::fmt;

/// The sequences that a join dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JoinReport {
    /// The dropped sequences, grouped by reason, in the order they were found.
    pub dropped: Vec<Dropped>,
}

/// Sequences dropped for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The reason: "not in stream labels".
    pub reason: String,
    /// How many.
    pub count: u64,
    /// The first few keys, with details of each.
    pub examples: Vec<String>,
}

impl JoinReport {
    /// Most examples kept for a reason.
    const EXAMPLES: usize = 10;

    /// Counts a dropped sequence.
    pub fn add(&mut self, reason: &str, example: String) {
        let group = match self.dropped.iter_mut().find(|group| group.reason == reason) {
            Some(group) => group,
            None => {
                self.dropped.push(Dropped {
                    reason: reason.to_owned(),
                    count: 0,
                    examples: Vec::new(),
                });
                self.dropped.last_mut().expect("just pushed")
            }
        };
        group.count += 1;
        if group.examples.len() < Self::EXAMPLES {
            group.examples.push(example);
        }
    }

    /// Number of sequences dropped.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.dropped.iter().map(|group| group.count).sum()
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.count, self.reason, self.examples.join(", "))?;
        if self.count > self.examples.len() as u64 {
            f.write_str(", ...")?;
        }
        Ok(())
    }
}
