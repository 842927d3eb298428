//! How deep the elements of a page nest, as `_dangerous_at` of `core/document/bounds.py` measures it.

use memchr::memmem;
use rustc_hash::FxHashSet as HashSet;

/// The lists of the reference.
pub struct NestingRules {
    pub not_nesting: HashSet<Vec<u8>>,
    pub closes_open_children: HashSet<Vec<u8>>,
    pub scope_limits: HashSet<Vec<u8>>,
    pub table_scope_limits: HashSet<Vec<u8>>,
    pub raw_text: Vec<Vec<u8>>,
    pub foreign: HashSet<Vec<u8>>,
    pub max_nesting: usize,
    pub max_end_tag_reach: usize,
}

/// Whether the nesting exceeds the limit somewhere. `lowered`: the page in lower case.
pub fn is_too_deep(rules: &NestingRules, lowered: &[u8]) -> bool {
    let mut stack: Vec<&[u8]> = Vec::new();
    let mut foreign = 0;
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'<', &lowered[at..]) {
        let start = at + offset;
        if foreign == 0 {
            if let Some(end) = comment_end(lowered, start).or_else(|| raw_text_end(rules, lowered, start)) {
                at = end;
                continue;
            }
        }
        let Some(end) = name_end(lowered, start + 1) else {
            at = start + 1;
            continue;
        };
        at = end;
        let name = &lowered[start + 1..end];
        if rules.not_nesting.contains(name) {
            continue;
        }
        if let Some(closed) = name.strip_prefix(b"/") {
            let kept = kept_after(rules, &stack, closed);
            foreign -= stack[kept..].iter().filter(|name| rules.foreign.contains(**name)).count();
            stack.truncate(kept);
        } else {
            stack.push(name);
            foreign += usize::from(rules.foreign.contains(name));
            if stack.len() > rules.max_nesting {
                return true;
            }
        }
    }
    false
}

fn comment_end(page: &[u8], start: usize) -> Option<usize> {
    let rest = page[start..].strip_prefix(b"<!--")?;
    let begin = start + 4;
    if rest.starts_with(b">") {
        return Some(begin + 1);
    }
    if rest.starts_with(b"->") {
        return Some(begin + 2);
    }
    let mut from = 0;
    while let Some(offset) = memmem::find(&rest[from..], b"--") {
        let mut after = from + offset + 2;
        while rest.get(after) == Some(&b'-') {
            after += 1;
        }
        if rest[after..].starts_with(b">") {
            return Some(begin + after + 1);
        }
        if rest[after..].starts_with(b"!>") {
            return Some(begin + after + 2);
        }
        from = after;
    }
    Some(page.len())
}

fn raw_text_end(rules: &NestingRules, page: &[u8], start: usize) -> Option<usize> {
    let rest = &page[start + 1..];
    if !matches!(rest.first(), Some(b's' | b't' | b'x' | b'i' | b'n')) {
        return None;
    }
    let name = rules.raw_text.iter().find(|name| rest.starts_with(name) && ends_name(rest.get(name.len())))?;
    let begin = start + 1 + name.len();
    let end_tag = [b"</", name.as_slice()].concat();
    for offset in memmem::find_iter(&page[begin..], &end_tag) {
        let after = begin + offset + end_tag.len();
        if ends_name(page.get(after)) {
            return Some(after);
        }
    }
    Some(page.len())
}

fn name_end(page: &[u8], start: usize) -> Option<usize> {
    let letter = start + usize::from(page.get(start) == Some(&b'/'));
    if !page.get(letter).is_some_and(u8::is_ascii_lowercase) {
        return None;
    }
    let length = page[letter..].iter().position(|&byte| ends_name(Some(&byte)));
    Some(length.map_or(page.len(), |length| letter + length))
}

fn ends_name(byte: Option<&u8>) -> bool {
    matches!(byte, Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | b'/' | b'>'))
}

/// How much of the stack remains after an end tag.
fn kept_after(rules: &NestingRules, stack: &[&[u8]], name: &[u8]) -> usize {
    if stack.last() == Some(&name) {
        return stack.len() - 1;
    }
    if rules.closes_open_children.contains(name) {
        let limits = if name == b"table" { &rules.table_scope_limits } else { &rules.scope_limits };
        for index in (stack.len().saturating_sub(rules.max_end_tag_reach)..stack.len()).rev() {
            if stack[index] == name {
                return index;
            }
            if limits.contains(stack[index]) {
                break;
            }
        }
    }
    stack.len()
}
