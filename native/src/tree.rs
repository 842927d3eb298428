//! Read access to the tree that selectolax built with lexbor.
//!
//! A node is the address that selectolax calls `mem_id`. The layout below is lexbor's on 64-bit machines;
//! `setup` reads a known page through it and refuses to work if anything is not where it should be.

use std::borrow::Cow;

const LOCAL_NAME: usize = 8;
const NEXT: usize = 40;
const PREV: usize = 48;
const PARENT: usize = 56;
const FIRST_CHILD: usize = 64;
const LAST_CHILD: usize = 72;
const TYPE: usize = 88;
const TEXT_DATA: usize = 96;
const TEXT_LENGTH: usize = 104;
const FIRST_ATTRIBUTE: usize = 120;
const QUALIFIED_NAME: usize = 104;
const VALUE: usize = 112;
const NEXT_ATTRIBUTE: usize = 128;

const ELEMENT_TYPE: u32 = 1;
const TEXT_TYPE: u32 = 3;
const INSTRUCTION_TYPE: u32 = 7;
const COMMENT_TYPE: u32 = 8;

/// Numbers below this stand for names that lexbor knows; larger ones are addresses of a name.
const FIRST_ADDRESS: usize = 1 << 16;
const SHORT_NAME: usize = 16;
const NAME_LENGTH: usize = 24;

/// A node of a tree that outlives it: the caller holds the parser during the whole pass. That is why the texts
/// below are `'static`: nothing keeps them beyond the pass.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Node(*const u8);

// SAFETY: a pass only reads, and nobody else changes the tree meanwhile.
unsafe impl Send for Node {}
unsafe impl Sync for Node {}

#[derive(Clone, Copy)]
pub struct Attribute(*const u8);

unsafe fn word(base: *const u8, at: usize) -> usize {
    base.add(at).cast::<usize>().read()
}

impl Node {
    /// Safety: `address` is the `mem_id` of a node whose parser is alive and unchanged.
    pub unsafe fn at(address: usize) -> Option<Node> {
        (address != 0).then_some(Node(address as *const u8))
    }

    pub fn address(self) -> usize {
        self.0 as usize
    }

    fn link(self, at: usize) -> Option<Node> {
        // SAFETY: see `at`; lexbor's links are null or nodes of the same tree.
        unsafe { Node::at(word(self.0, at)) }
    }

    pub fn next(self) -> Option<Node> {
        self.link(NEXT)
    }

    pub fn prev(self) -> Option<Node> {
        self.link(PREV)
    }

    pub fn parent(self) -> Option<Node> {
        self.link(PARENT)
    }

    pub fn first_child(self) -> Option<Node> {
        self.link(FIRST_CHILD)
    }

    pub fn last_child(self) -> Option<Node> {
        self.link(LAST_CHILD)
    }

    pub fn tag(self) -> usize {
        // SAFETY: see `at`.
        unsafe { word(self.0, LOCAL_NAME) }
    }

    fn kind(self) -> u32 {
        // SAFETY: see `at`.
        unsafe { self.0.add(TYPE).cast::<u32>().read() }
    }

    pub fn is_element(self) -> bool {
        self.kind() == ELEMENT_TYPE
    }

    /// The bytes of a text node; empty for other nodes.
    pub fn text_bytes(self) -> &'static [u8] {
        if self.kind() == TEXT_TYPE { self.data() } else { &[] }
    }

    /// What selectolax calls the text of a node that has no children: that of a comment or instruction is in it.
    pub fn text_or_comment(self) -> String {
        match self.kind() {
            COMMENT_TYPE | INSTRUCTION_TYPE => decode(self.data().to_vec()),
            _ => self.text(),
        }
    }

    /// The bytes of a text node, comment or instruction.
    fn data(self) -> &'static [u8] {
        // SAFETY: such nodes have these two fields; the data is null or has the length.
        unsafe {
            let (data, length) = (word(self.0, TEXT_DATA), word(self.0, TEXT_LENGTH));
            if data == 0 {
                return &[];
            }
            std::slice::from_raw_parts(data as *const u8, length)
        }
    }

    /// The text of a text node, as selectolax's `text_content`.
    pub fn own_text(self) -> Cow<'static, str> {
        String::from_utf8_lossy(self.text_bytes())
    }

    /// The next node in document order inside of `root`.
    pub fn following(self, root: Node) -> Option<Node> {
        if let Some(child) = self.first_child() {
            return Some(child);
        }
        self.after(root)
    }

    /// The next node in document order that is not inside of this one.
    pub fn after(self, root: Node) -> Option<Node> {
        let mut node = self;
        while node != root {
            if let Some(next) = node.next() {
                return Some(next);
            }
            node = node.parent()?;
        }
        None
    }

    /// The text of all text nodes inside, as selectolax's `text_lexbor`.
    pub fn text(self) -> String {
        let mut bytes = Vec::new();
        let mut at = Some(self);
        while let Some(node) = at {
            bytes.extend_from_slice(node.text_bytes());
            at = node.following(self);
        }
        decode(bytes)
    }

    /// The first element with this tag among the node and all inside of it.
    pub fn first(self, tag: usize) -> Option<Node> {
        let mut at = Some(self);
        while let Some(node) = at {
            if node.tag() == tag && node.is_element() {
                return Some(node);
            }
            at = node.following(self);
        }
        None
    }

    /// All elements with this tag among the node and all inside of it.
    pub fn all(self, tag: usize) -> Vec<Node> {
        let mut found = Vec::new();
        let mut at = Some(self);
        while let Some(node) = at {
            if node.tag() == tag && node.is_element() {
                found.push(node);
            }
            at = node.following(self);
        }
        found
    }

    pub fn attributes(self) -> Attributes {
        if !self.is_element() {
            return Attributes(0);
        }
        // SAFETY: elements have this field.
        Attributes(unsafe { word(self.0, FIRST_ATTRIBUTE) })
    }

    /// The value of an attribute; None: it is not there, or has no value.
    pub fn value(self, name: Name) -> Option<Cow<'static, str>> {
        self.attribute(name).and_then(|attribute| attribute.value()).map(String::from_utf8_lossy)
    }

    pub fn attribute(self, name: Name) -> Option<Attribute> {
        self.attributes().find(|attribute| attribute.is_named(name))
    }

    pub fn has(self, name: Name) -> bool {
        self.attribute(name).is_some()
    }
}

pub fn decode(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
}

/// An attribute's name: its number if lexbor knows it, and its letters.
#[derive(Clone, Copy, Default)]
pub struct Name {
    pub number: usize,
    pub letters: &'static str,
}

pub struct Attributes(usize);

impl Iterator for Attributes {
    type Item = Attribute;

    fn next(&mut self) -> Option<Attribute> {
        if self.0 == 0 {
            return None;
        }
        let attribute = Attribute(self.0 as *const u8);
        // SAFETY: lexbor's list of attributes ends with null.
        self.0 = unsafe { word(attribute.0, NEXT_ATTRIBUTE) };
        Some(attribute)
    }
}

impl Attribute {
    /// The number of the name as written, which is an address if lexbor does not know the name.
    pub fn number(self) -> usize {
        // SAFETY: attributes have these fields.
        unsafe {
            match word(self.0, QUALIFIED_NAME) {
                0 => word(self.0, LOCAL_NAME),
                number => number,
            }
        }
    }

    pub fn is_named(self, name: Name) -> bool {
        let number = self.number();
        if number < FIRST_ADDRESS {
            return number == name.number && number != 0;
        }
        name.number == 0 && self.letters() == name.letters.as_bytes()
    }

    /// The letters of a name that lexbor does not know.
    pub fn letters(self) -> &'static [u8] {
        let number = self.number();
        if number < FIRST_ADDRESS {
            return &[];
        }
        let entry = number as *const u8;
        // SAFETY: the number is the address of an entry of the document's table of names.
        unsafe {
            let length = word(entry, NAME_LENGTH);
            let letters = if length <= SHORT_NAME { entry } else { word(entry, 0) as *const u8 };
            std::slice::from_raw_parts(letters, length)
        }
    }

    pub fn value(self) -> Option<&'static [u8]> {
        // SAFETY: the value is null or lexbor's string of an address and a length.
        unsafe {
            let value = word(self.0, VALUE);
            if value == 0 {
                return None;
            }
            let data = word(value as *const u8, 0);
            if data == 0 {
                return None;
            }
            Some(std::slice::from_raw_parts(data as *const u8, word(value as *const u8, 8)))
        }
    }
}
