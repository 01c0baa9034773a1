//! A format of your own, `.toy`: a key and its labels a line.
use std::io::Write;
use std::sync::Arc;

use seqfeed::io::{Input, Opener, Output, WxFilename};
use seqfeed::*;
use seqfeed_convert::{ConvertOptions, ConvertPlan, Target};

pub(crate) struct Toy;
struct ToySink(Output);

impl Format for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }
    fn capabilities(&self) -> &Capabilities {
        &Capabilities { ends: &["toy"], ..Capabilities::LABELS }
    }
    fn open(&self, names: &[String], wanted: &Wanted<'_>) -> Result<Arc<dyn Source>> {
        let file = Input::open(&wanted.place(&names[0]).into(), &wanted.opener)?;
        let text = std::io::read_to_string(file);
        let text = text.map_err(|error| Error::io("reading", error).in_file(&names[0]))?;
        let name = wanted.stream.unwrap_or("labels").to_owned();
        let (kind, element, extent) = (Kind::Label, Element::I32, Extent::Samples);
        let stream = Stream { name, kind, element, dim: 1, extent };
        let mut toy = CorpusSpool::new(&names[0], vec![stream])?;
        for line in text.lines() {
            let (key, labels) = line.split_once(' ').unwrap_or((line, ""));
            let labels: Result<Vec<i32>, _> = labels.split(' ').map(str::parse).collect();
            let labels = labels.map_err(|_| Error::corpus(format!("`{line}`: no labels")))?;
            let mut blocks = toy.new_blocks();
            blocks[0].push_i32(labels.len()).copy_from_slice(&labels);
            toy.push(Key(key.as_bytes()), &blocks, 0)?;
        }
        Ok(toy.finish()?)
    }
    fn sink(&self, writing: &Writing<'_>) -> Result<Box<dyn Sink>> {
        let name = WxFilename::parse(writing.name)?;
        Ok(Box::new(ToySink(Output::create(&name, writing.opener)?)))
    }
}
impl Sink for ToySink {
    fn write(&mut self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<()> {
        let labels = blocks[0].samples(number).bytes().as_chunks().0.iter();
        let labels: Vec<String> = labels.map(|one| i32::from_ne_bytes(*one).to_string()).collect();
        let written = writeln!(self.0, "{key} {}", labels.join(" "));
        written.map_err(|error| self.0.error(error))
    }
    fn finish(self: Box<Self>) -> Result<Written> {
        self.0.finish().map(|()| Written::default())
    }
}
fn main() -> Result<()> {
    register(&Toy)?;
    let names: Vec<String> = std::env::args().skip(1).collect();
    let opener = Opener::default();
    let corpus = Description::of_name(&names[0])?.description.open(&opener)?;
    let plan = ConvertPlan::new(corpus.corpus(), ConvertOptions::new(Target::parse(&names[1])?))?;
    plan.run(&|_| {}).map(drop)
}
