//! The elements with links and metadata, as `core/document/elements.py` collects them, and the limits on markup.

use std::collections::HashSet;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::config::Config;
use crate::nesting::is_too_deep;
use crate::text;
use crate::tree::{Attribute, Node};

const LINKED_DATA: &str = "application/ld+json";
const SPACE_FACTOR: usize = 4;

/// Items in document order (texts of anchors and headings only if `anchor_chars` is above zero): (reference, text, is nofollow) of each anchor that refers to something else than those
/// before; the text of each heading; (tag, attributes, text, tag of the parent) of each other element of interest.
pub fn scan<'py>(
    py: Python<'py>,
    config: &Config,
    root: Node,
    anchor_chars: usize,
) -> PyResult<Bound<'py, PyList>> {
    let items = PyList::empty(py);
    let mut seen: HashSet<&'static [u8]> = HashSet::new();
    let tags = &config.tags;
    let mut at = Some(root);
    while let Some(node) = at {
        at = node.following(root);
        let tag = node.tag();
        if tag == tags.a {
            if let Some((reference, nofollow)) = new_reference(py, config, node, &mut seen)? {
                let label = if anchor_chars > 0 { label(config, node, anchor_chars) } else { String::new() };
                items.append((reference, label, nofollow))?;
            }
        } else if tag == tags.h1 || tag == tags.h2 || tag == tags.h3 {
            if anchor_chars > 0 {
                items.append(node.text())?;
            }
        } else if config.metadata_tags.contains(&tag) {
            let has_text = config.metadata_text_tags.contains(&tag);
            let text = if has_text { node.text() } else { String::new() };
            let parent = node.parent().map_or(0, Node::tag);
            items.append((tag, attributes(py, config, node)?, text, parent))?;
        } else if tag == tags.script && is_linked_data(py, config, node)? {
            items.append((tag, PyDict::new(py), node.text(), 0))?;
        }
    }
    Ok(items)
}

fn new_reference(
    py: Python<'_>,
    config: &Config,
    node: Node,
    seen: &mut HashSet<&'static [u8]>,
) -> PyResult<Option<(String, bool)>> {
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
        Some(href) => Some(String::from_utf8_lossy(href).into_owned()),
        None => node.value(names.xlink).map(|other| other.into_owned()),
    };
    Ok(reference.map(|reference| (reference, nofollow)))
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

/// Whether `truncate_markup` surely keeps a page whole: no tag may be too long, and few can nest.
pub fn is_harmless(config: &Config, body: &[u8]) -> bool {
    let limits = &config.limits;
    if body.len() <= limits.HARMLESS_BYTES as usize {
        return true;
    }
    if body.len() > limits.MAX_MARKUP_BYTES as usize {
        return false;
    }
    let (mut tags, mut nesting, mut work) = (0usize, 0usize, 0usize);
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'<', &body[at..]) {
        let start = at + offset;
        at = start + 1;
        tags += 1;
        let rest = &body[start..];
        if !config.not_nesting_starts.iter().any(|harmless| rest.starts_with(harmless)) {
            nesting += 1;
        }
        if rest.get(1).is_some_and(u8::is_ascii_alphabetic) {
            let length = tag_bytes(&rest[2..]);
            match length {
                Some(length) => work += length,
                None => return false,
            }
        }
        if work > 4 * body.len() {
            return false;
        }
    }
    tags <= limits.MAX_TAGS as usize
        && (nesting <= limits.HARMLESS_TAGS as usize || !is_too_deep(&config.nesting, &body.to_ascii_lowercase()))
}

const MAX_RUN: usize = 511;
const MAX_QUOTED: usize = 31;

/// The bytes read of a tag after its first letter; None if it may be too long.
fn tag_bytes(rest: &[u8]) -> Option<usize> {
    let mut at = run(rest, 0);
    for _ in 0..MAX_QUOTED {
        let Some(&quote @ (b'"' | b'\'')) = rest.get(at) else { break };
        let Some(end) = memchr::memchr(quote, &rest[at + 1..]) else { break };
        at = run(rest, at + 1 + end + 1);
    }
    match rest.get(at) {
        None | Some(b'<' | b'>') => Some(at),
        Some(_) => None,
    }
}

fn run(rest: &[u8], start: usize) -> usize {
    let most = rest.len().min(start + MAX_RUN);
    let mut at = start;
    while at < most && !matches!(rest[at], b'<' | b'>' | b'"' | b'\'') {
        at += 1;
    }
    at
}
