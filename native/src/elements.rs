//! The elements with links and metadata, as `core/document/elements.py` collects them, and the limits on markup.

use std::borrow::Cow;
use std::collections::HashSet;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::config::Config;
use crate::nesting::may_nest;
use crate::links::Links;
use crate::text;
use crate::tree::{Attribute, Node};

const LINKED_DATA: &str = "application/ld+json";
const SPACE_FACTOR: usize = 4;

/// An anchor that refers to something else than those before: its bytes are in the tree.
struct Anchor {
    node: Node,
    reference: Cow<'static, str>,
    is_nofollow: bool,
}

/// The anchors of a page. The root keeps the tree alive.
#[pyclass(frozen)]
pub struct Anchors {
    _root: Py<PyAny>,
    found: Vec<Anchor>,
}

/// The anchors, the texts of the headings (only if wanted), and (tag, attributes, text, tag of the parent, number of
/// anchors before) of each other element of interest.
pub type Scanned<'py> = (Anchors, Bound<'py, PyList>, Bound<'py, PyList>);

pub fn scan<'py>(config: &Config, root: &Bound<'py, PyAny>, top: Node, wants_texts: bool) -> PyResult<Scanned<'py>> {
    let py = root.py();
    let (headings, others) = (PyList::empty(py), PyList::empty(py));
    let mut found = Vec::new();
    let mut seen: HashSet<&'static [u8]> = HashSet::new();
    let tags = &config.tags;
    let mut at = Some(top);
    while let Some(node) = at {
        at = node.following(top);
        let tag = node.tag();
        if tag == tags.text {
            continue;
        }
        if tag == tags.a {
            if let Some(anchor) = new_anchor(py, config, node, &mut seen)? {
                found.push(anchor);
            }
        } else if tag == tags.h1 || tag == tags.h2 || tag == tags.h3 {
            if wants_texts {
                headings.append(node.text())?;
            }
        } else if config.metadata_tags.contains(&tag) {
            if tag == tags.link && !is_wanted_link(py, config, node)? {
                continue;
            }
            let has_text = config.metadata_text_tags.contains(&tag);
            let text = if has_text { node.text() } else { String::new() };
            let parent = node.parent().map_or(0, Node::tag);
            others.append((tag, attributes(py, config, node)?, text, parent, found.len()))?;
        } else if tag == tags.script && is_linked_data(py, config, node)? {
            others.append((tag, PyDict::new(py), node.text(), 0, found.len()))?;
        }
    }
    Ok((Anchors { _root: root.clone().unbind(), found }, headings, others))
}

/// Whether a link element is one of those that lead to other pages.
fn is_wanted_link(py: Python<'_>, config: &Config, node: Node) -> PyResult<bool> {
    let Some(rel) = node.value(config.names.rel) else { return Ok(false) };
    let lowered = text::lower(py, &rel)?;
    let is_wanted = text::words(&lowered).any(|word| config.linking.contains(word));
    Ok(is_wanted)
}

#[pymethods]
impl Anchors {
    fn __len__(&self) -> usize {
        self.found.len()
    }

    /// The links of the page: `others` are (number of anchors before, reference, text, is nofollow).
    fn links<'py>(
        &self,
        py: Python<'py>,
        resolver: &Bound<'py, PyAny>,
        others: Vec<(usize, String, Bound<'py, PyString>, bool)>,
        most: usize,
        anchor_chars: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let config = crate::config()?;
        let mut links = Links::new(config, resolver, most)?;
        let mut others = others.into_iter().peekable();
        for (number, anchor) in self.found.iter().enumerate() {
            while let Some((_, reference, text, is_nofollow)) = others.next_if(|other| other.0 <= number) {
                if !links.add(&reference, is_nofollow, || text)? {
                    return links.finish(py);
                }
            }
            let text = || {
                let text = if anchor_chars > 0 { label(config, anchor.node, anchor_chars) } else { String::new() };
                PyString::new(py, &text)
            };
            if !links.add(&anchor.reference, anchor.is_nofollow, text)? {
                return links.finish(py);
            }
        }
        for (_, reference, text, is_nofollow) in others {
            if !links.add(&reference, is_nofollow, || text)? {
                break;
            }
        }
        links.finish(py)
    }
}
fn new_anchor(
    py: Python<'_>,
    config: &Config,
    node: Node,
    seen: &mut HashSet<&'static [u8]>,
) -> PyResult<Option<Anchor>> {
    let names = &config.names;
    let href = node.attribute(names.href).and_then(Attribute::value);
    let written = href.unwrap_or_default();
    let cut = written.iter().position(|&byte| byte == b'#');
    let bare = &written[..cut.unwrap_or(written.len())];
    let key: &[u8] = if bare.is_empty() && cut.is_some() { b"#" } else { bare };
    if seen.contains(key) {
        return Ok(None);
    }
    let rel = node.value(names.rel);
    let nofollow = match rel {
        Some(rel) => text::words(&text::lower(py, &rel)?).any(|word| word == "nofollow"),
        None => false,
    };
    if !nofollow && (bare.last().is_some_and(|&byte| byte > b' ') || (bare.is_empty() && cut.is_some())) {
        seen.insert(if bare.is_empty() { b"#" } else { bare });
    }
    let reference = match href {
        Some(href) => Some(String::from_utf8_lossy(href)),
        None => node.value(names.xlink),
    };
    Ok(reference.map(|reference| Anchor { node, reference, is_nofollow: nofollow }))
}

fn label(config: &Config, node: Node, most: usize) -> String {
    let text = collapse(&node.text(), most);
    if !text.is_empty() {
        return text;
    }
    let alternative = node.all(config.tags.img).into_iter().find_map(|image| image.attribute(config.names.alt));
    let alternative = alternative.and_then(Attribute::value).unwrap_or_default();
    collapse(&String::from_utf8_lossy(alternative), most)
}

/// `collapse_space(text, most)`
fn collapse(text: &str, most: usize) -> String {
    if text.len() <= most || text::chars(text) <= most {
        return text::collapse(text);
    }
    let mut collapsed = text::collapse(text::cut(text, most * SPACE_FACTOR));
    let kept = text::cut(&collapsed, most).len();
    collapsed.truncate(kept);
    collapsed
}

fn is_linked_data(py: Python<'_>, config: &Config, node: Node) -> PyResult<bool> {
    match node.value(config.names.kind) {
        Some(kind) => Ok(text::lower(py, text::strip(&kind))?.starts_with(LINKED_DATA)),
        None => Ok(false),
    }
}

fn attributes<'py>(py: Python<'py>, config: &Config, node: Node) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    for attribute in node.attributes() {
        let value = attribute.value().map(String::from_utf8_lossy);
        let letters = attribute.letters();
        if letters.is_empty() {
            let known = config.known_names.get(&attribute.number()).ok_or_else(|| {
                pyo3::exceptions::PyLookupError::new_err("an attribute of the HTML parser is not known")
            })?;
            result.set_item(known.bind(py), value)?;
        } else {
            result.set_item(PyString::new(py, &String::from_utf8_lossy(letters)), value)?;
        }
    }
    Ok(result)
}

/// The page is surely within the limits on markup; it may have open shadow roots; an attribute may name a licence.
pub const IS_HARMLESS: u8 = 1;
pub const MAY_HAVE_ROOTS: u8 = 2;
pub const MAY_NAME_LICENCE: u8 = 4;

/// What the bytes of a page tell before it is parsed.
pub fn survey(config: &Config, body: &[u8]) -> u8 {
    let mut marks = 0;
    if is_harmless(config, body) {
        marks |= IS_HARMLESS;
    }
    if memchr::memmem::find(body, b"shadowrootmode").is_some() {
        marks |= MAY_HAVE_ROOTS;
    }
    if may_name_licence(config, body) {
        marks |= MAY_NAME_LICENCE;
    }
    marks
}

/// Whether an attribute may name a licence (`_may_name_licence` of `core/usage_terms.py`).
fn may_name_licence(config: &Config, body: &[u8]) -> bool {
    let mut rest = body;
    for _ in 0..config.limits.MAX_MENTIONS as usize {
        let Some(at) = find_word(rest, b"licen") else { return false };
        let end = body.len() - rest.len() + at;
        let before = body[end.saturating_sub(config.limits.MAX_VALUE_BYTES as usize)..end].to_ascii_lowercase();
        if [b'"', b'\'', b'='].into_iter().any(|mark| is_value_of_licence(&before, mark)) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    true
}

fn is_value_of_licence(before: &[u8], mark: u8) -> bool {
    let Some(at) = memchr::memrchr(mark, before) else { return false };
    let space: &[u8] = b" \t\n\r\x0b\x0c";
    let name = without_end(&before[..at], space);
    let attribute = without_end(name, b"= \t\n\x0c\r");
    (mark == b'=' || name.ends_with(b"=")) && (attribute.ends_with(b"rel") || attribute.ends_with(b"itemprop"))
}

fn without_end<'a>(mut text: &'a [u8], signs: &[u8]) -> &'a [u8] {
    while let [rest @ .., last] = text {
        if !signs.contains(last) {
            break;
        }
        text = rest;
    }
    text
}

/// Where a word of small letters occurs first, in whatever case.
fn find_word(body: &[u8], word: &[u8; 5]) -> Option<usize> {
    let is_at = |window: &[u8]| (0..5).fold(true, |is_equal, at| is_equal & (window[at] | 0x20 == word[at]));
    let mut rest = body;
    while rest.len() >= 68 {
        // Without a branch for each byte, the compiler compares many at once.
        let block: &[u8; 68] = rest[..68].try_into().unwrap_or(&[0; 68]);
        let found = (0..64).fold(false, |found, at| found | is_at(&block[at..at + 5]));
        if found {
            break;
        }
        rest = &rest[64..];
    }
    rest.windows(5).position(is_at).map(|at| body.len() - rest.len() + at)
}

/// Whether `truncate_markup` surely keeps a page whole: no tag may be too long, and few can nest.
pub fn is_harmless(config: &Config, body: &[u8]) -> bool {
    let limits = &config.limits;
    if body.len() <= limits.HARMLESS_BYTES as usize {
        return true;
    }
    if body.len() > limits.MAX_MARKUP_BYTES as usize {
        return false;
    }
    let (mut tags, mut work) = (0usize, 0usize);
    for start in memchr::memchr_iter(b'<', body) {
        tags += 1;
        let rest = &body[start..];
        if rest.get(1).is_some_and(u8::is_ascii_alphabetic) {
            match tag_bytes(&rest[1..]) {
                Some(length) => work += length,
                None => return false,
            }
        }
        if work > 4 * body.len() {
            return false;
        }
    }
    tags <= limits.MAX_NESTING as usize || (tags <= limits.MAX_TAGS as usize && !may_nest(config, body, tags))
}

const MAX_ATTRIBUTES: usize = 31;
const MAX_NAME: usize = 63;
const MAX_VALUE: usize = 512;

/// The bytes read of a tag after `<`; None if it may have too many attributes (see `_MAYBE_LONG_TAG`).
fn tag_bytes(rest: &[u8]) -> Option<usize> {
    let mut at = run(rest, 0, MAX_NAME, |byte| !is_between(byte) && byte != b'>')?;
    for _ in 0..=MAX_ATTRIBUTES {
        at = skip(rest, at, is_between);
        match rest.get(at) {
            None | Some(b'>') => return Some(at),
            Some(_) => {}
        }
        at = run(rest, at + 1, MAX_NAME, |byte| !is_between(byte) && byte != b'>' && byte != b'=')?;
        let equals = skip(rest, at, is_space);
        if rest.get(equals) == Some(&b'=') {
            at = skip(rest, equals + 1, is_space);
            at = match rest.get(at) {
                Some(&quote @ (b'"' | b'\'')) => at + 1 + memchr::memchr(quote, &rest[at + 1..])? + 1,
                _ => run(rest, at, MAX_VALUE, |byte| !is_space(byte) && byte != b'>')?,
            };
        }
    }
    None
}

pub fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

pub fn is_between(byte: u8) -> bool {
    is_space(byte) || byte == b'/'
}

fn skip(rest: &[u8], start: usize, is_part: fn(u8) -> bool) -> usize {
    rest[start..].iter().position(|&byte| !is_part(byte)).map_or(rest.len(), |length| start + length)
}

/// The end of a name or value; None if it is too long.
fn run(rest: &[u8], start: usize, most: usize, is_part: fn(u8) -> bool) -> Option<usize> {
    let end = skip(rest, start, is_part);
    (end - start <= most).then_some(end)
}
