//! The walk of `core/change/snapshot.py`, line by line.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use rustc_hash::FxHashSet;

use crate::config::{item, Config};
use crate::text;
use crate::tree::{Attribute, Node};

const INLINE: u8 = 0;
const TEXT: u8 = 1;
const PHRASE: u8 = 2;
const LINK: u8 = 3;
const IMAGE: u8 = 4;
const BREAK: u8 = 5;
const CELL: u8 = 6;
const BLOCK: u8 = 7;
const LEAF: u8 = 8;
const PART: u8 = 9;
const HEADER: u8 = 10;
const ARTICLE_NODE: u8 = 11;
const MAIN_NODE: u8 = 12;
const SITE_NODE: u8 = 13;
const DROP: u8 = 14;
const CARD: u8 = 15;
const BUTTON: u8 = 16;

const BODY: u32 = 0;
const ARTICLE: u32 = 1;
const MAIN: u32 = 2;
const SITE_BY_NAME: u32 = 3;
const SITE: u32 = 4;
const REGION_BITS: u32 = 0b111;
const LINKED: u32 = 0b1000;
const PARAGRAPH: u32 = 0b10_0000;
const ROW: u32 = 0b100_0000;
const ENTRY: u32 = 0b1000_0000;
const STEPS: u32 = 0x100;
const FLAG_BITS: u32 = 0xFF;
const PATH_MIX: u64 = 0x9E37_79B1;
const OWN_START: u32 = 1;
const SITE_START: u32 = 2;
const ADVERT_MARK: u32 = 0xAD;

const INLINE_BORDER: char = '\u{2063}';
const CELL_BORDER: &str = "\u{2064}";
const START_CHARS: usize = 2;

/// Numbers, limits and word lists of the reference, and its functions for names and labels.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Rules {
    kinds: Vec<u8>,
    marks: HashMap<usize, u32>,
    hollow: FxHashSet<usize>,
    lists: FxHashSet<usize>,
    sections: FxHashSet<usize>,
    leaf_flags: HashMap<usize, u32>,
    ol: usize,
    li: usize,
    tr: usize,
    roles: FxHashSet<String>,
    advert_starts: FxHashSet<String>,
    segment_borders: String,
    sentence_ends: String,
    name_class: Py<PyAny>,
    advert_label: Py<PyAny>,
    reference: Py<PyAny>,
    max_blocks: usize,
    max_chars: usize,
    max_links: usize,
    max_sign_chars: usize,
    max_reference_chars: usize,
    max_marked_spaces: usize,
    min_linked_share: f64,
    card_chars: usize,
    max_advert_chars: usize,
    max_advert_label_chars: usize,
    max_advert_share: f64,
    max_part_chars: usize,
    sentence_spaces: usize,
    max_cached_names: usize,
}

static RULES: OnceLock<Rules> = OnceLock::new();

pub fn set_rules(settings: &Bound<'_, PyDict>) -> PyResult<()> {
    let _ = item(settings, "kinds")?;
    let _ = RULES.set(settings.extract()?);
    Ok(())
}

/// What the names of an element say: mark, part of the site, part of the site outside of the main element.
type NameClass = (u32, bool, bool);

thread_local! {
    static NAME_CLASSES: RefCell<HashMap<String, NameClass>> = RefCell::new(HashMap::new());
}

struct Reference {
    path: u32,
    name: u32,
    flag: u32,
    is_image: bool,
    label: String,
    url: String,
}

struct Open {
    node: Node,
    kind: u8,
    path: u32,
    name: u32,
    flag: u32,
    card_at: usize,
    first_text: usize,
}

struct Walk<'a, 'py> {
    py: Python<'py>,
    config: &'a Config,
    rules: &'a Rules,
    paths: Vec<u32>,
    names: Vec<u32>,
    flags: Vec<u32>,
    texts: Vec<String>,
    references: Vec<Reference>,
    chars: usize,
    pieces: String,
    /// Where the pieces end.
    ends: Vec<usize>,
    has_cells: bool,
    linked: usize,
    first_reference: usize,
    path: u32,
    name: u32,
    flag: u32,
    card_at: usize,
    advert_at: usize,
    adverts: Vec<(usize, usize)>,
    /// One more than the number of the last text of a link.
    link_end: usize,
    stack: Vec<Open>,
    card_starts: Vec<(usize, usize)>,
}

/// Paths, name paths, flags, marked texts and references of the blocks of a page.
pub type Blocks<'py> = (Vec<u32>, Vec<u32>, Bound<'py, PyBytes>, Vec<String>, Bound<'py, PyList>);

pub fn walk_blocks<'py>(py: Python<'py>, config: &Config, body: Node) -> PyResult<Blocks<'py>> {
    let rules = RULES.get().ok_or_else(|| pyo3::exceptions::PyRuntimeError::new_err("no rules for snapshots"))?;
    let mut walk = Walk::new(py, config, rules);
    walk.run(body)?;
    if !walk.adverts.is_empty() {
        walk.set_adverts_apart();
    }
    let flags: Vec<u8> = walk.flags.iter().map(|&flag| flag as u8).collect();
    let references = PyList::empty(py);
    for link in walk.references {
        let fields = (link.path, link.name, link.flag, link.is_image, link.label, link.url);
        references.append(config.tuple_new.bind(py).call1((&rules.reference, fields))?)?;
    }
    Ok((walk.paths, walk.names, PyBytes::new(py, &flags), walk.texts, references))
}

fn mix(path: u32, mark: u64) -> u32 {
    (path as u64 * PATH_MIX + mark) as u32
}

/// `len(" ".join(text.split()))`
fn collapsed_chars(text: &str) -> usize {
    let (mut chars, mut words) = (0, 0);
    for word in text::words(text) {
        chars += text::chars(word);
        words += 1;
    }
    chars + usize::max(words, 1) - 1
}

fn is_border(character: char) -> bool {
    matches!(character, INLINE_BORDER | '\u{2064}' | ' ')
}

fn filled(value: Option<&str>) -> Option<&str> {
    value.filter(|value| !value.is_empty())
}

impl<'a, 'py> Walk<'a, 'py> {
    fn new(py: Python<'py>, config: &'a Config, rules: &'a Rules) -> Self {
        Walk {
            py,
            config,
            rules,
            paths: Vec::new(),
            names: Vec::new(),
            flags: Vec::new(),
            texts: Vec::new(),
            references: Vec::new(),
            chars: 0,
            pieces: String::new(),
            ends: Vec::new(),
            has_cells: false,
            linked: 0,
            first_reference: 0,
            path: OWN_START,
            name: OWN_START,
            flag: BODY,
            card_at: rules.max_blocks,
            advert_at: rules.max_blocks,
            adverts: Vec::new(),
            link_end: 0,
            stack: Vec::new(),
            card_starts: Vec::new(),
        }
    }

    fn kind_of(&self, tag: usize) -> u8 {
        self.rules.kinds.get(tag).copied().unwrap_or(INLINE)
    }

    fn run(&mut self, body: Node) -> PyResult<()> {
        let text_tag = self.config.tags.text;
        let mut at = body.first_child();
        loop {
            let Some(node) = at else {
                let Some(opened) = self.stack.pop() else { break };
                at = opened.node.next();
                if opened.kind >= BLOCK {
                    self.leave(&opened)?;
                } else if opened.kind == CELL {
                    self.end_part(true)?;
                } else {
                    self.push_border();
                }
                continue;
            };
            at = node.next();
            let tag = node.tag();
            let kind = self.kind_of(tag);
            match kind {
                TEXT => {
                    let text = node.own_text();
                    if !text.is_empty() && (!self.pieces.is_empty() || !text::is_blank(&text)) {
                        self.begin_part(&text)?;
                        self.push(&text);
                    }
                }
                LINK => {
                    if self.holds_blocks(node) {
                        self.open_card(node)?;
                        at = node.first_child();
                        continue;
                    }
                    self.add_link(node)?;
                }
                PHRASE => {
                    let text = format!("{INLINE_BORDER}{}{INLINE_BORDER}", node.text());
                    self.push(&text);
                }
                IMAGE => self.add_reference(node, "", true),
                BREAK => self.end_part(false)?,
                BUTTON => self.add_button(node)?,
                INLINE | CELL => {
                    let Some(child) = node.first_child() else { continue };
                    if kind == INLINE && child.next().is_none() && child.tag() == text_tag {
                        let text = child.own_text();
                        self.begin_part(&text)?;
                        self.push(&format!("{INLINE_BORDER}{text}{INLINE_BORDER}"));
                    } else {
                        if kind == INLINE {
                            self.push_border();
                        }
                        self.open(node, kind);
                        at = Some(child);
                    }
                }
                DROP => {}
                _ => {
                    if !self.pieces.is_empty() {
                        self.flush()?;
                    }
                    if self.chars > self.rules.max_chars || self.texts.len() >= self.rules.max_blocks {
                        break;
                    }
                    if let Some(child) = node.first_child() {
                        if self.enter(node, child, kind, tag)? {
                            at = Some(child);
                        }
                    }
                }
            }
        }
        if !self.pieces.is_empty() {
            self.flush()?;
        }
        Ok(())
    }

    fn push(&mut self, piece: &str) {
        self.has_cells |= piece == CELL_BORDER;
        self.pieces.push_str(piece);
        self.ends.push(self.pieces.len());
    }

    fn push_border(&mut self) {
        self.pieces.push(INLINE_BORDER);
        self.ends.push(self.pieces.len());
    }

    fn open(&mut self, node: Node, kind: u8) {
        let (path, name, flag, card_at) = (self.path, self.name, self.flag, self.card_at);
        self.stack.push(Open { node, kind, path, name, flag, card_at, first_text: self.texts.len() });
    }

    fn flush(&mut self) -> PyResult<()> {
        let collapsed = text::collapse(&self.pieces);
        let text = collapsed.trim_matches(is_border);
        let linked = std::mem::take(&mut self.linked);
        let first = std::mem::replace(&mut self.first_reference, self.references.len());
        self.pieces.clear();
        self.ends.clear();
        self.has_cells = false;
        if text.is_empty() {
            return Ok(());
        }
        let is_linked = linked as f64 > self.rules.min_linked_share * text::chars(text) as f64;
        if is_linked {
            for link in self.references.iter_mut().skip(first) {
                link.flag |= LINKED;
            }
        }
        let (path, name, flag) = (self.path, self.name, self.flag);
        let is_long = text.matches(' ').count() > self.rules.max_marked_spaces && text.contains(INLINE_BORDER);
        if is_long && !is_linked {
            let plain = text.replace(INLINE_BORDER, "");
            return self.add_part(&plain, path, name, flag, is_linked);
        }
        if !is_long {
            return self.add_part(text, path, name, flag, is_linked);
        }
        for part in text.split(INLINE_BORDER) {
            self.add_part(part, path, name, flag, is_linked)?;
        }
        Ok(())
    }

    fn add_part(&mut self, part: &str, path: u32, name: u32, flag: u32, is_linked: bool) -> PyResult<()> {
        let kept = part.trim_matches(is_border);
        if kept.is_empty() { Ok(()) } else { self.add(kept.to_owned(), path, name, flag, is_linked) }
    }

    fn open_card(&mut self, node: Node) -> PyResult<()> {
        if !self.pieces.is_empty() {
            self.flush()?;
        }
        self.card_starts.push((self.references.len(), self.texts.len()));
        self.add_reference(node, &node.text(), false);
        self.first_reference = self.references.len();
        self.open(node, CARD);
        Ok(())
    }

    fn close_card(&mut self) {
        let Some((number, at)) = self.card_starts.pop() else { return };
        if number < self.references.len() && at < self.texts.len() {
            let link = &mut self.references[number];
            (link.path, link.name, link.flag) = (self.paths[at], self.names[at], self.flags[at]);
        }
    }

    fn begin_part(&mut self, text: &str) -> PyResult<()> {
        let most = self.rules.max_part_chars;
        if self.has_cells && text.len() > most && text::chars(text) > most {
            self.flush()?;
        }
        Ok(())
    }

    fn end_part(&mut self, is_cell: bool) -> PyResult<()> {
        let (mut chars, mut start) = (0, 0);
        for &end in &self.ends {
            let piece = &self.pieces[start..end];
            chars = if is_cell && piece == CELL_BORDER { 0 } else { chars + collapsed_chars(piece) };
            start = end;
        }
        if chars > self.rules.max_part_chars {
            self.flush()?;
        } else if !self.pieces.is_empty() {
            self.push(CELL_BORDER);
        }
        Ok(())
    }

    fn add(&mut self, text: String, path: u32, name: u32, flag: u32, is_linked: bool) -> PyResult<()> {
        let mut flag = flag;
        let chars = text::chars(&text);
        if is_linked || !self.card_starts.is_empty() || self.is_card_text(&text, chars) {
            flag |= LINKED;
        }
        if is_linked || !self.card_starts.is_empty() {
            self.link_end = self.texts.len() + 1;
        }
        if chars <= self.rules.max_advert_label_chars && self.may_be_advert(&text) {
            let label: Option<String> = self.rules.advert_label.bind(self.py).call1((&text,))?.extract()?;
            if label.is_some_and(|label| !is_linked || label != text) {
                self.advert_at = self.texts.len();
            }
        }
        self.flags.push(flag & FLAG_BITS);
        self.texts.push(text);
        self.paths.push(path);
        self.names.push(name);
        self.chars += chars;
        Ok(())
    }

    /// Whether a segment begins as one of the words for advertising does.
    fn may_be_advert(&self, text: &str) -> bool {
        text.split(|character| self.rules.segment_borders.contains(character)).any(|segment| {
            let start = text::cut(segment.trim_start_matches(text::is_space), START_CHARS);
            !start.is_ascii() || self.rules.advert_starts.contains(&start.to_ascii_lowercase())
        })
    }

    fn is_card_text(&self, text: &str, chars: usize) -> bool {
        let Some(&flag) = self.flags.get(self.card_at) else { return false };
        if flag & LINKED == 0 || chars >= self.rules.card_chars {
            return false;
        }
        text.matches(' ').count() < self.rules.sentence_spaces || !self.rules.sentence_ends.contains(text::last(text))
    }

    fn leave(&mut self, opened: &Open) -> PyResult<()> {
        if !self.pieces.is_empty() {
            self.flush()?;
        }
        if self.advert_at < self.rules.max_blocks {
            self.close_advert(opened.first_text);
        }
        (self.path, self.name, self.flag, self.card_at) = (opened.path, opened.name, opened.flag, opened.card_at);
        if opened.kind == CARD {
            self.close_card();
        }
        Ok(())
    }

    fn close_advert(&mut self, first: usize) {
        if self.advert_at < first || self.link_end <= first {
            return;
        }
        self.advert_at = self.rules.max_blocks;
        let chars: usize = self.texts[first..].iter().map(|text| text::chars(text)).sum();
        if chars <= self.rules.max_advert_chars {
            self.adverts.push((first, self.texts.len()));
        }
    }

    fn set_adverts_apart(&mut self) {
        let adverts: Vec<usize> = self.adverts.iter().flat_map(|&(first, end)| first..end).collect();
        let chars: usize = adverts.iter().map(|&at| text::chars(&self.texts[at])).sum();
        if chars as f64 > self.rules.max_advert_share * self.chars as f64 {
            return;
        }
        for at in adverts {
            self.flags[at] = self.flags[at] & !REGION_BITS | SITE_BY_NAME;
            self.paths[at] = mix(self.paths[at], ADVERT_MARK as u64);
            self.names[at] = mix(self.names[at], ADVERT_MARK as u64);
        }
    }

    fn add_reference(&mut self, node: Node, label: &str, is_image: bool) {
        if self.flag & REGION_BITS == SITE || self.references.len() >= self.rules.max_links {
            return;
        }
        let names = &self.config.names;
        let url = if is_image { self.image_url(node) } else { node.value(names.href) };
        let Some(url) = url.filter(|url| {
            !url.is_empty() && text::chars(url) <= self.rules.max_reference_chars && !url.starts_with("data:")
        }) else {
            return;
        };
        let shown = if is_image { text::collapse(&node.value(names.alt).unwrap_or_default()) } else { text::collapse(label) };
        self.references.push(Reference {
            path: self.path,
            name: self.name,
            flag: self.flag & FLAG_BITS,
            is_image,
            label: text::cut(&shown, self.rules.card_chars).to_owned(),
            url: text::collapse(&url),
        });
    }

    fn image_url(&self, node: Node) -> Option<std::borrow::Cow<'static, str>> {
        let url = node.value(self.config.names.src);
        if url.as_deref().is_some_and(|url| !url.is_empty() && !url.starts_with("data:")) {
            return url;
        }
        let is_lazy = |attribute: &Attribute| {
            let letters = attribute.letters();
            letters.starts_with(b"data-") && letters.ends_with(b"src")
        };
        match node.attributes().find(is_lazy) {
            Some(attribute) => attribute.value().map(String::from_utf8_lossy),
            None => url,
        }
    }

    fn add_link(&mut self, node: Node) -> PyResult<()> {
        let text = node.text();
        if !text.is_empty() && !text::is_blank(&text) {
            let is_sign = text::chars(&text) <= self.rules.max_sign_chars && !text::has_alnum(&text);
            if is_sign && node.value(self.config.names.href).is_some_and(|url| url.starts_with('#')) {
                return Ok(());
            }
            let marked = self.link_text(node, &text);
            self.push(&format!("{INLINE_BORDER}{marked}{INLINE_BORDER}"));
            self.linked += text::chars(&text);
            self.add_reference(node, &text, false);
        } else if let Some(image) = node.first(self.config.tags.img) {
            self.add_reference(image, "", true);
        }
        Ok(())
    }

    fn add_button(&mut self, node: Node) -> PyResult<()> {
        let label = text::collapse(&node.text());
        if label.is_empty() || self.texts.len() >= self.rules.max_blocks {
            return Ok(());
        }
        let mark = self.mark(node.tag());
        let (path, name) = (mix(SITE_START, mark), mix(self.name, mark));
        self.add(label, path, name, SITE, true)
    }

    fn mark(&self, tag: usize) -> u64 {
        self.rules.marks.get(&tag).copied().unwrap_or(0) as u64
    }

    fn enter(&mut self, node: Node, child: Node, kind: u8, tag: usize) -> PyResult<bool> {
        let (path, name, flag) = self.inside(node, kind, tag)?;
        let tags = &self.config.tags;
        let only = child.next().is_none().then(|| child.tag());
        let mut found = None;
        if only == Some(tags.text) {
            found = Some(text::collapse(&child.own_text()));
        } else if only == Some(tags.a) && !self.holds_blocks(child) {
            let text = child.text();
            if !text.is_empty() && !text::is_blank(&text) {
                let outside = (self.path, self.name, self.flag);
                (self.path, self.name, self.flag) = (path, name, flag | LINKED);
                self.add_reference(child, &text, false);
                (self.path, self.name, self.flag) = outside;
                self.first_reference = self.references.len();
                found = Some(text::collapse(self.link_text(child, &text).trim_matches(is_border)));
            }
        }
        let Some(text) = found else {
            self.open(node, kind);
            (self.path, self.name, self.flag) = (path, name, flag);
            if kind == BLOCK {
                self.card_at = self.texts.len();
            }
            return Ok(true);
        };
        if !text.is_empty() {
            self.add(text, path, name, flag, only == Some(tags.a))?;
        }
        Ok(false)
    }

    fn holds_blocks(&self, link: Node) -> bool {
        let mut child = link.first_child();
        while let Some(node) = child {
            if (BLOCK..DROP).contains(&self.kind_of(node.tag())) {
                return true;
            }
            child = node.next();
        }
        false
    }

    fn link_text(&self, node: Node, text: &str) -> String {
        let mut child = node.first_child().filter(|child| child.next().is_some());
        if child.is_none() {
            return text.to_owned();
        }
        let mut result = String::with_capacity(text.len() + 16);
        while let Some(part) = child {
            if part.tag() == self.config.tags.text {
                result.push_str(&part.own_text());
            } else {
                result.push(INLINE_BORDER);
                result.push_str(&part.text_or_comment());
                result.push(INLINE_BORDER);
            }
            child = part.next();
        }
        result
    }

    /// `_inside`
    fn inside(&self, node: Node, kind: u8, tag: usize) -> PyResult<(u32, u32, u32)> {
        let rules = self.rules;
        let names = self.name_class(node, tag)?;
        let region = self.flag & REGION_BITS;
        let inner = if kind > PART || names.2 { region_inside(kind, region, names) } else { region };
        let is_step = tag == rules.li && self.flag & STEPS != 0;
        let is_hollow = rules.hollow.contains(&tag);
        let kept = if self.flag & ENTRY != 0 && is_hollow { ROW | ENTRY | PARAGRAPH } else { ROW | ENTRY };
        let mut flag = (self.flag & kept) | inner;
        if kind == LEAF {
            flag |= rules.leaf_flags.get(&tag).copied().unwrap_or(0);
        } else if is_step {
            flag |= PARAGRAPH;
        } else if rules.lists.contains(&tag) {
            flag |= ENTRY | if tag == rules.ol { STEPS } else { 0 };
        } else if tag == rules.tr {
            flag = (flag | ROW) & !ENTRY;
        }
        let mark = self.mark(tag);
        let name = mix(self.name, mark + names.0 as u64);
        let mut path = self.path;
        if inner != region && inner >= SITE_BY_NAME {
            path = SITE_START;
        }
        if !is_hollow {
            path = mix(path, mark);
        }
        Ok((path, name, flag))
    }

    fn name_class(&self, node: Node, tag: usize) -> PyResult<NameClass> {
        let names = &self.config.names;
        if node.attributes().next().is_none() {
            return Ok((0, false, false));
        }
        let classes = node.value(names.class);
        let classes = classes.as_deref().unwrap_or_default();
        if node.attributes().count() == 1 && node.has(names.class) {
            return self.classify(classes);
        }
        let id = node.value(names.id);
        let id = filled(id.as_deref());
        let mut found = match id {
            Some(id) => self.classify(&format!("{classes} {id}"))?,
            None => self.classify(classes)?,
        };
        let is_section = || self.rules.sections.contains(&tag) || text::words(classes).any(|name| name == "section");
        if found.2 && id.is_some() && is_section() {
            let (_, is_site, is_site_outside) = self.classify(classes)?;
            found = (found.0, is_site, is_site_outside);
        }
        let has_role = || match node.value(names.role) {
            Some(role) => Ok::<bool, PyErr>(self.rules.roles.contains(&text::lower(self.py, text::strip(&role))?)),
            None => Ok(false),
        };
        if !found.1
            && (has_role()? || node.has(names.hidden) || node.value(names.aria_hidden).as_deref() == Some("true"))
        {
            return Ok((found.0, true, true));
        }
        Ok(found)
    }

    /// `NAME_CLASSES[names]`
    fn classify(&self, names: &str) -> PyResult<NameClass> {
        let known = NAME_CLASSES.with_borrow(|known| known.get(names).copied());
        if let Some(found) = known {
            return Ok(found);
        }
        let found: NameClass = self.rules.name_class.bind(self.py).call1((names,))?.extract()?;
        NAME_CLASSES.with_borrow_mut(|known| {
            if known.len() >= self.rules.max_cached_names {
                known.clear();
            }
            known.insert(names.to_owned(), found);
        });
        Ok(found)
    }
}

/// `_region`
fn region_inside(kind: u8, region: u32, names: NameClass) -> u32 {
    match kind {
        _ if region >= SITE_BY_NAME => region,
        MAIN_NODE => MAIN,
        SITE_NODE => SITE,
        HEADER if region == BODY => SITE,
        _ if names.1 || (names.2 && region == BODY) => SITE_BY_NAME,
        ARTICLE_NODE if region == BODY => ARTICLE,
        _ => region,
    }
}
