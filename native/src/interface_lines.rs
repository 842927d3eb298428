//! Lines of a text that `core/document/interface_lines.py` may recognise; all others are known not to be such lines.

use pyo3::prelude::*;

use crate::config::Config;
use crate::text;

const MAX_SPACES_BEFORE_NUMBER: usize = 4; // "Items in your wish list: 3" has as many.
const START_CHARS: usize = 4;
const LEAST_START_CHARS: usize = 2;

/// The text without such lines; unchanged if it has no others (`without_interface_lines`).
pub fn without_interface_lines(py: Python<'_>, config: &Config, text: String) -> PyResult<String> {
    let mut dropped = Vec::new();
    let mut lines = 0;
    for (index, line) in text.split('\n').enumerate() {
        lines += 1;
        if may_be_interface_line(config, line) && config.is_interface_line(py, line)? {
            dropped.push(index);
        }
    }
    if dropped.is_empty() || dropped.len() == lines {
        return Ok(text);
    }
    let kept = text.split('\n').enumerate().filter(|(index, _)| dropped.binary_search(index).is_err());
    Ok(kept.map(|(_, line)| line).collect::<Vec<_>>().join("\n"))
}

fn may_be_interface_line(config: &Config, line: &str) -> bool {
    let most = config.limits.MAX_INTERFACE_LINE_CHARS as usize;
    if line.is_empty() || line.len() > most * 4 || (line.len() > most && text::chars(line) > most) {
        return false;
    }
    let is_list_of_names = line.ends_with([':', '：']) && line.matches([':', '：']).count() > 1;
    if is_list_of_names || line.starts_with('[') || may_be_phrase(config, line) {
        return true;
    }
    match line.char_indices().find(|&(_, character)| text::is_decimal(character)) {
        Some((at, _)) => may_be_count(&line[..at], &line[at..]),
        None => {
            let end = line.trim_end_matches(['.', '!']);
            config.empty_ends.iter().any(|word| end.ends_with(word.as_str()))
        }
    }
}

fn may_be_phrase(config: &Config, line: &str) -> bool {
    let start = text::cut(line, START_CHARS).to_lowercase();
    (LEAST_START_CHARS..=START_CHARS).any(|length| config.phrase_starts.contains(text::cut(&start, length)))
}

/// Whether only a few words stand before the first number, and a word or a range follows it.
fn may_be_count(before: &str, number: &str) -> bool {
    let is_word = |character: char| text::is_alnum(character) || matches!(character, '_' | ' ' | ':' | '(');
    if before.matches(' ').count() > MAX_SPACES_BEFORE_NUMBER || !before.chars().all(is_word) {
        return false;
    }
    let is_part = |character: char| {
        text::is_decimal(character) || matches!(character, '.' | ',' | '\'' | '’' | '\u{a0}' | '\u{202f}')
    };
    let after = number.trim_start_matches(is_part).chars().next();
    after.is_some_and(|next| text::is_alnum(next) || text::is_space(next) || matches!(next, '-' | '–' | '—' | '…' | '~' | '～'))
}
