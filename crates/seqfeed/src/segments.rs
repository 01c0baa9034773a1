//! The segments of a description: how utterances are cut.

use seqfeed_core::{Error, Result, SegmentRule};

use crate::description::{CorpusSpec, Description};

impl Description {
    /// How utterances are cut; `None` if they stay whole.
    pub(crate) fn segment_rule(&self) -> Result<Option<SegmentRule>> {
        let spec = &self.corpus;
        let mut given = CorpusSpec::OPTIONS.iter().filter(|option| option.section == "segments");
        let given = given.find(|option| spec.get(option.key).is_some());
        let Some(length) = spec.segment_length else {
            return match given {
                None => Ok(None),
                Some(option) => Err(Error::usage(format!("{} has no effect here", option.place()))
                    .with_help("give segment-length, or leave it out")),
            };
        };
        if self.is_mixture() {
            return Err(Error::usage("[segments] is not for a mixture as a whole")
                .with_help("give it in the descriptions of the corpora that are mixed"));
        }
        let (left, right) = (spec.segment_left.unwrap_or(0), spec.segment_right.unwrap_or(0));
        if spec.segment_ends.is_some() && left == 0 && right == 0 {
            let what = "[segments] segment-ends has no effect here: segments have no context";
            return Err(
                Error::usage(what).with_help("give segment-left or segment-right, or leave it out")
            );
        }
        Ok(Some(SegmentRule {
            length,
            shift: spec.segment_shift.unwrap_or(length),
            left,
            right,
            ends: spec.segment_ends.map(Into::into).unwrap_or_default(),
            rest: spec.segment_rest.map(Into::into).unwrap_or_default(),
        }))
    }
}
