//! How many elements of a page may nest, as `_may_nest` of `core/document/bounds.py` counts them.

use memchr::memmem;

use crate::config::Config;
use crate::elements::{is_between, is_space};

/// Whether more elements may nest than are harmless. `tags`: every `<`.
pub fn may_nest(config: &Config, body: &[u8], tags: usize) -> bool {
    let is_mixed = contains_word(body, b"<svg") || contains_word(body, b"<math");
    let starts = &config.not_nesting_starts;
    let most = config.limits.MAX_NESTING as usize;
    let mut count = tags;
    for start in if is_mixed { &starts[..1] } else { starts } {
        if count <= most {
            break;
        }
        count = count.saturating_sub(occurrences(body, start));
    }
    count += nesting_items(body);
    is_too_many(config, count, tags) && is_too_many(config, count.saturating_sub(leaves(body, &starts[1..])), tags)
}

fn is_too_many(config: &Config, nesting: usize, tags: usize) -> bool {
    let limits = &config.limits;
    nesting > limits.HARMLESS_TAGS as usize
        || (nesting > limits.MAX_NESTING as usize && nesting * tags > limits.HARMLESS_STEPS as usize)
}

fn nesting_items(body: &[u8]) -> usize {
    let descriptions = occurrences(body, b"<dt") + occurrences(body, b"<dd");
    if descriptions == 0 { 0 } else { 2 * occurrences(body, b"<li").min(descriptions) }
}

fn occurrences(body: &[u8], part: &[u8]) -> usize {
    memmem::find_iter(body, part).count()
}

/// Whether a tag of small letters occurs, in whatever case.
fn contains_word(body: &[u8], word: &[u8]) -> bool {
    memchr::memchr_iter(b'<', body).any(|at| body[at..].get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word)))
}

/// The number of matches of `_LEAVES`: elements with nothing but text, other than those that cannot nest.
fn leaves(body: &[u8], others: &[Vec<u8>]) -> usize {
    memchr::memchr_iter(b'<', body)
        .filter(|&at| {
            let rest = &body[at..];
            let is_start = rest.get(1).is_some_and(u8::is_ascii_alphabetic);
            is_start && !others.iter().any(|other| rest.starts_with(other)) && is_leaf(&rest[1..]).is_some()
        })
        .count()
}

/// `rest`: what follows `<`.
fn is_leaf(rest: &[u8]) -> Option<()> {
    let name_end = until(rest, 1, |byte| is_between(byte) || byte == b'>' || byte == b'<');
    let mut at = name_end;
    loop {
        at = until(rest, at, |byte| !is_between(byte));
        match *rest.get(at)? {
            b'>' => break,
            b'<' => return None,
            _ => {}
        }
        at = until(rest, at + 1, |byte| is_between(byte) || matches!(byte, b'>' | b'=' | b'<'));
        let equals = until(rest, at, |byte| !is_space(byte));
        if rest.get(equals) == Some(&b'=') {
            at = value_end(rest, until(rest, equals + 1, |byte| !is_space(byte)))?;
        }
    }
    let end = until(rest, at + 1, |byte| byte == b'<');
    let after = rest[end..].strip_prefix(b"</")?.strip_prefix(&rest[..name_end])?;
    (after.first() == Some(&b'>')).then_some(())
}

fn value_end(rest: &[u8], at: usize) -> Option<usize> {
    match *rest.get(at)? {
        quote @ (b'"' | b'\'') => {
            let end = until(rest, at + 1, |byte| byte == quote || byte == b'<');
            (rest.get(end) == Some(&quote)).then_some(end + 1)
        }
        b'>' | b'<' => None,
        _ => Some(until(rest, at + 1, |byte| is_space(byte) || byte == b'>' || byte == b'<')),
    }
}

fn until(rest: &[u8], start: usize, is_end: impl Fn(u8) -> bool) -> usize {
    rest.get(start..).and_then(|tail| tail.iter().position(|&byte| is_end(byte))).map_or(rest.len(), |length| start + length)
}
