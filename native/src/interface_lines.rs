//! Lines of a text that `core/document/interface_lines.py` may recognise; all others are known not to be such lines.

use pyo3::prelude::*;

use crate::config::Config;
use crate::text;

const MAX_SPACES_BEFORE_NUMBER: usize = 4; // "Items in your wish list: 3" has as many.
const MIN_STEPS: usize = 3;
const RANGE_NUMBERS: usize = 3;
const COUNTED_CHARS: usize = 2;
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
    let is_list_of_names = line.ends_with([':', '：']) && line.matches([':', '：']).count() > 1 && may_be_names(line);
    let has_steps = line.starts_with('[') && line.matches('[').count() >= MIN_STEPS;
    if is_list_of_names || has_steps || may_be_phrase(config, line) {
        return true;
    }
    match line.char_indices().find(|&(_, character)| text::is_decimal(character)) {
        Some((at, _)) if line.is_ascii() => {
            may_be_count(&line[..at], &line[at..]) && may_be_plain_count(config, &line[at..])
        }
        Some((at, _)) => may_be_count(&line[..at], &line[at..]),
        None => {
            let end = line.trim_end_matches(['.', '!']);
            config.empty_ends.iter().any(|word| end.ends_with(word.as_str()))
        }
    }
}

/// Whether nothing but letters stands between the colons.
fn may_be_names(line: &str) -> bool {
    !line.is_ascii()
        || (!line.contains("::")
            && line.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b' ' | b':')))
}

fn may_be_phrase(config: &Config, line: &str) -> bool {
    let start = text::cut(line, START_CHARS).to_lowercase();
    if let Some(words) = config.needed_words.get(&start) {
        if line.is_ascii() {
            let lowered = line.to_ascii_lowercase();
            return words.iter().any(|word| lowered.contains(word.as_str()));
        }
    }
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

/// Whether a number in ASCII characters is followed by the name of what is counted, or begins a range of a total.
fn may_be_plain_count(config: &Config, number: &str) -> bool {
    let after = number.trim_start_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '.' | ',' | '\''));
    let digits = &number[..number.len() - after.len()];
    let word = after.strip_prefix(' ').unwrap_or(after).to_ascii_lowercase();
    if config.counted_starts.contains(text::cut(&word, COUNTED_CHARS)) {
        return true;
    }
    // "1-2", "1 .. 2", "1 to 2", "1 through 2", "1 bis 2", "1 a 2", "1 do 2".
    let is_range = digits.contains("..") || word.starts_with(['-', '.', '~', 't', 'b', 'a', 'd']);
    let numbers = number.split(|sign: char| !sign.is_ascii_digit()).filter(|part| !part.is_empty()).count();
    is_range && numbers >= RANGE_NUMBERS
}
