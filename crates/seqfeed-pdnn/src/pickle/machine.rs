//! The stack machine of pickles.

use std::collections::HashMap;

use seqfeed_core::{Error, ErrorKind, Problem, Result};
use seqfeed_io::Input;

use super::bytes::read;
use super::callable::Callable;
use super::calls::{build, call};
use super::objects::{Heap, Object, StackValue};
use super::text::{self, ended};
use super::{PICKLE, Value};

/// Limits for a pickle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory for objects, without the bytes of strings and arrays; 256 MiB.
    pub object_bytes: u64,
    /// Bytes of one string or array; no limit, since memory is taken only as data come. A
    /// compressed file may hold a thousand times its size.
    pub string_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { object_bytes: 256 << 20, string_bytes: u64::MAX }
    }
}

/// Reads the first object of a pickle. Bytes after it are not read.
///
/// ```
/// use seqfeed_io::Input;
/// use seqfeed_pdnn::pickle::{Limits, Value, load};
///
/// let mut input = Input::from_reader("memory", &b"(I1\nF2.5\nNt."[..]);
/// let value = load(&mut input, &Limits::default())?;
/// assert_eq!(value, Value::Tuple([Value::Int(1), Value::Float(2.5), Value::None].into()));
///
/// let mut evil = Input::from_reader("memory", &b"cos\nsystem\n(S'true'\ntR."[..]);
/// let error = load(&mut evil, &Limits::default()).unwrap_err().to_string();
/// assert!(error.starts_with("memory @ 0: pickle: it names `os.system`, which is not run here"));
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
///
/// # Errors
///
/// Fails with the offset of an opcode that cannot be executed: it names a callable that does not
/// make arrays, it is invalid, it finds too little or the wrong objects on the stack, the stream
/// ends, or a limit is exceeded.
pub fn load(input: &mut Input, limits: &Limits) -> Result<Value> {
    let mut machine = Machine {
        heap: Heap::new(limits.object_bytes),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
        string_bytes: limits.string_bytes,
    };
    let root = loop {
        let start = input.position();
        match machine.step(input) {
            Ok(None) => {}
            Ok(Some(root)) => break root,
            Err(error) => return Err(error.in_file(input.name()).at_byte(start)),
        }
    };
    let name = input.name();
    machine.heap.into_value(root).map_err(|error| error.in_file(name))
}

struct Machine {
    heap: Heap,
    stack: Vec<StackValue>,
    /// Heights of the stack at marks.
    marks: Vec<usize>,
    memo: HashMap<u64, StackValue>,
    string_bytes: u64,
}

/// The approximate size of an entry of the memo.
const MEMO_BYTES: usize = 48;

fn wrong(what: impl Into<String>) -> Error {
    Error::format(PICKLE, Problem::Unsupported(what.into().into()))
}

impl Machine {
    /// Executes one opcode. Returns the result after the last one.
    fn step(&mut self, input: &mut Input) -> Result<Option<StackValue>> {
        let [opcode] = array(input)?;
        match opcode {
            b'.' => return self.pop().map(Some),
            // Marks and pops.
            b'(' => {
                self.heap.charge(size_of::<usize>())?;
                self.marks.push(self.stack.len());
            }
            b'0' if self.marks.last() == Some(&self.stack.len()) => drop(self.marks.pop()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_mark()?),
            b'2' => {
                let item = self.top()?;
                self.push(item)?;
            }
            // Protocols 2 and 4: their announcements do not matter here.
            0x80 => {
                let [protocol] = array(input)?;
                if protocol > 5 {
                    return Err(wrong(format!("protocol {protocol} is not known")));
                }
            }
            0x95 => drop(array::<8>(input)?),
            // Numbers.
            b'N' => self.push(StackValue::None)?,
            0x88 => self.push(StackValue::Bool(true))?,
            0x89 => self.push(StackValue::Bool(false))?,
            b'J' => self.push(StackValue::Int(i32::from_le_bytes(array(input)?).into()))?,
            b'K' => self.push(StackValue::Int(array::<1>(input)?[0].into()))?,
            b'M' => self.push(StackValue::Int(u16::from_le_bytes(array(input)?).into()))?,
            b'G' => self.push(StackValue::Float(f64::from_be_bytes(array(input)?)))?,
            b'I' => {
                let item = match &text::line(input)?[..] {
                    b"00" => StackValue::Bool(false),
                    b"01" => StackValue::Bool(true),
                    text => StackValue::Int(number(text)?),
                };
                self.push(item)?;
            }
            b'L' => {
                let line = text::line(input)?;
                self.push(StackValue::Int(number(line.strip_suffix(b"L").unwrap_or(&line))?))?;
            }
            b'F' => self.push(StackValue::Float(number(&text::line(input)?)?))?,
            0x8a => {
                let [len] = array(input)?;
                self.long(input, len.into())?;
            }
            0x8b => {
                let len = u32::from_le_bytes(array(input)?);
                self.long(input, len.into())?;
            }
            // Strings.
            b'S' => {
                let object = text::quoted(input)?;
                self.push_object(object)?;
            }
            b'V' => {
                let object = text::raw_unicode(input)?;
                self.push_object(object)?;
            }
            b'U' | b'C' => {
                let [len] = array(input)?;
                self.string(input, len.into())?;
            }
            b'T' | b'B' => {
                let len = u32::from_le_bytes(array(input)?);
                if opcode == b'T' && len > i32::MAX as u32 {
                    return Err(wrong("a string of negative length"));
                }
                self.string(input, len.into())?;
            }
            0x8e | 0x96 => {
                let len = u64::from_le_bytes(array(input)?);
                self.string(input, len)?;
            }
            0x8c => {
                let [len] = array(input)?;
                self.text(input, len.into())?;
            }
            b'X' => {
                let len = u32::from_le_bytes(array(input)?);
                self.text(input, len.into())?;
            }
            0x8d => {
                let len = u64::from_le_bytes(array(input)?);
                self.text(input, len)?;
            }
            // Containers.
            b')' => self.push_object(Object::Tuple(Vec::new()))?,
            b']' => self.push_object(Object::List(Vec::new()))?,
            b'}' => self.push_object(Object::Dict(Vec::new()))?,
            b't' => {
                let items = self.pop_mark()?;
                self.push_object(Object::Tuple(items))?;
            }
            b'l' => {
                let items = self.pop_mark()?;
                self.push_object(Object::List(items))?;
            }
            b'd' => {
                let items = pairs(&self.pop_mark()?)?;
                self.push_object(Object::Dict(items))?;
            }
            0x85..=0x87 => {
                let count = usize::from(opcode - 0x84);
                let items = self.pop_many(count)?;
                self.push_object(Object::Tuple(items))?;
            }
            b'a' => {
                let items = self.pop_many(1)?;
                self.append(&items)?;
            }
            b'e' => {
                let items = self.pop_mark()?;
                self.append(&items)?;
            }
            b's' => {
                let items = self.pop_many(2)?;
                self.set(&items)?;
            }
            b'u' => {
                let items = self.pop_mark()?;
                self.set(&items)?;
            }
            // The memo.
            b'p' => {
                let index = number(&text::line(input)?)?;
                self.put(index)?;
            }
            b'q' => {
                let [index] = array(input)?;
                self.put(index.into())?;
            }
            b'r' => {
                let index = u32::from_le_bytes(array(input)?);
                self.put(index.into())?;
            }
            0x94 => self.put(self.memo.len() as u64)?,
            b'g' => {
                let index = number(&text::line(input)?)?;
                self.get(index)?;
            }
            b'h' => {
                let [index] = array(input)?;
                self.get(index.into())?;
            }
            b'j' => {
                let index = u32::from_le_bytes(array(input)?);
                self.get(index.into())?;
            }
            // Names, and the objects that they make.
            b'c' => {
                let (module, name) = (text::line(input)?, text::line(input)?);
                self.push_object(Object::Callable(Callable::find(&module, &name)?))?;
            }
            0x93 => {
                let items = self.pop_many(2)?;
                let (Some(module), Some(name)) =
                    (self.heap.bytes(items[0]), self.heap.bytes(items[1]))
                else {
                    return Err(wrong("a name that is no text"));
                };
                let callable = Callable::find(module.as_slice(), name.as_slice())?;
                self.push_object(Object::Callable(callable))?;
            }
            b'R' => {
                let items = self.pop_many(2)?;
                let made = call(&mut self.heap, items[0], items[1])?;
                self.push(made)?;
            }
            b'b' => {
                let state = self.pop()?;
                let object = self.top()?;
                build(&mut self.heap, object, state)?;
            }
            b'i' => {
                let (module, name) = (text::line(input)?, text::line(input)?);
                Callable::find(&module, &name)?;
                return Err(wrong("it makes an object of a class"));
            }
            b'o' | 0x81 | 0x92 => return Err(wrong("it makes an object of a class")),
            b'P' | b'Q' => return Err(wrong("it refers to an object outside of it")),
            0x82..=0x84 => return Err(wrong("it uses a registered extension")),
            0x8f..=0x91 => return Err(wrong("it holds a set, which has no order")),
            // Buffers outside of the pickle; read-only ones are treated like others.
            0x97 => {
                return Err(wrong("its arrays are kept outside of it (out-of-band buffers)")
                    .with_help("write it without a buffer_callback"));
            }
            0x98 => drop(self.top()?),
            other => {
                let problem =
                    Problem::Unexpected { expected: "an opcode".into(), found: vec![other] };
                return Err(Error::format(PICKLE, problem).with_help("is this a pickle?"));
            }
        }
        Ok(None)
    }

    fn push(&mut self, item: StackValue) -> Result<()> {
        // Popped values count too: mostly they went into a container.
        self.heap.charge(size_of::<StackValue>())?;
        self.stack.push(item);
        Ok(())
    }

    fn push_object(&mut self, object: Object) -> Result<()> {
        let item = self.heap.add(object)?;
        self.push(item)
    }

    /// The start of the part of the stack that may be popped.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self) -> Result<StackValue> {
        if self.stack.len() <= self.floor() {
            return Err(wrong("too little lies on the stack"));
        }
        self.stack.pop().ok_or_else(|| wrong("too little lies on the stack"))
    }

    fn top(&self) -> Result<StackValue> {
        match self.stack.last() {
            Some(item) if self.stack.len() > self.floor() => Ok(*item),
            _ => Err(wrong("too little lies on the stack")),
        }
    }

    fn pop_many(&mut self, count: usize) -> Result<Vec<StackValue>> {
        match self.stack.len().checked_sub(count) {
            Some(at) if at >= self.floor() => Ok(self.stack.split_off(at)),
            _ => Err(wrong("too little lies on the stack")),
        }
    }

    fn pop_mark(&mut self) -> Result<Vec<StackValue>> {
        let mark = self.marks.pop().ok_or_else(|| wrong("there is no mark on the stack"))?;
        Ok(self.stack.split_off(mark))
    }

    fn append(&mut self, items: &[StackValue]) -> Result<()> {
        let list = self.top()?;
        match self.heap.get_mut(list) {
            Some(Object::List(list)) => {
                list.extend_from_slice(items);
                Ok(())
            }
            _ => Err(wrong(format!("nothing can be appended to {}", self.heap.describe(list)))),
        }
    }

    fn set(&mut self, items: &[StackValue]) -> Result<()> {
        let dict = self.top()?;
        let new = pairs(items)?;
        match self.heap.get_mut(dict) {
            Some(Object::Dict(dict)) => {
                dict.extend_from_slice(&new);
                Ok(())
            }
            _ => Err(wrong(format!("{} has no keys", self.heap.describe(dict)))),
        }
    }

    fn put(&mut self, index: u64) -> Result<()> {
        let item = self.top()?;
        self.heap.charge(MEMO_BYTES)?;
        self.memo.insert(index, item);
        Ok(())
    }

    fn get(&mut self, index: u64) -> Result<()> {
        match self.memo.get(&index) {
            Some(&item) => self.push(item),
            None => Err(wrong(format!("number {index} of the memo is not set"))),
        }
    }

    fn long(&mut self, input: &mut Input, len: u64) -> Result<()> {
        if len > 8 {
            return Err(wrong(format!("an integer of {len} bytes; they may have 8")));
        }
        let bytes = read(input, len).map_err(|error| input.error(error))?;
        let bytes = bytes.as_slice();
        if (bytes.len() as u64) < len {
            return Err(ended("an integer", Some(len - bytes.len() as u64)));
        }
        let negative = bytes.last().is_some_and(|byte| *byte >= 0x80);
        let mut all = [if negative { 0xff } else { 0 }; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        self.push(StackValue::Int(i64::from_le_bytes(all)))
    }

    fn check_string(&self, len: u64) -> Result<()> {
        let limit = self.string_bytes;
        if len > limit {
            return Err(Error::new(ErrorKind::Limit {
                what: "bytes of a string in a pickle",
                wanted: len,
                limit,
            }));
        }
        Ok(())
    }

    fn string(&mut self, input: &mut Input, len: u64) -> Result<()> {
        self.check_string(len)?;
        if let Some(remaining) = input.remaining(len)
            && remaining < len
        {
            return Err(ended("a string", Some(len - remaining)));
        }
        let bytes = read(input, len).map_err(|error| input.error(error))?;
        if (bytes.len() as u64) < len {
            return Err(ended("a string", Some(len - bytes.len() as u64)));
        }
        self.push_object(Object::Bytes(bytes))
    }

    fn text(&mut self, input: &mut Input, len: u64) -> Result<()> {
        self.check_string(len)?;
        let object = text::utf8(input, len)?;
        self.push_object(object)
    }
}

fn pairs(items: &[StackValue]) -> Result<Vec<(StackValue, StackValue)>> {
    let (pairs, rest) = items.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(wrong("a key without a value"));
    }
    Ok(pairs.iter().map(|[key, value]| (*key, *value)).collect())
}

fn number<T: std::str::FromStr>(text: &[u8]) -> Result<T> {
    let parsed = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok());
    parsed.ok_or_else(|| {
        let found = text[..text.len().min(32)].to_vec();
        Error::format(PICKLE, Problem::InvalidNumber { what: "a number", found })
    })
}

/// The next bytes, as many as the type has.
fn array<const N: usize>(input: &mut Input) -> Result<[u8; N]> {
    let bytes = input.ensure(N);
    let found = match bytes {
        Ok(bytes) => bytes.first_chunk::<N>().copied().ok_or(bytes.len()),
        Err(error) => return Err(input.error(error)),
    };
    match found {
        Ok(bytes) => {
            std::io::BufRead::consume(input, N);
            Ok(bytes)
        }
        Err(count) => Err(ended("the pickle", Some((N - count) as u64))),
    }
}
