//! Python's meaning of letters, digits, space and lower case, so that both forms of the pass agree.

use pyo3::prelude::*;
use pyo3::types::PyString;

// Python's own tables, which differ between its versions. They need no lock.
extern "C" {
    fn _PyUnicode_IsAlpha(character: u32) -> i32;
    fn _PyUnicode_IsDecimalDigit(character: u32) -> i32;
    fn _PyUnicode_IsDigit(character: u32) -> i32;
    fn _PyUnicode_IsNumeric(character: u32) -> i32;
}

pub fn is_space(character: char) -> bool {
    matches!(character,
        '\t'..='\r' | '\x1c'..='\x20' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{2028}'
        | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

pub fn is_alpha(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphabetic();
    }
    // SAFETY: a look-up in a constant table.
    unsafe { _PyUnicode_IsAlpha(character as u32) != 0 }
}

pub fn is_digit(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_digit();
    }
    // SAFETY: see above.
    unsafe { _PyUnicode_IsDigit(character as u32) != 0 }
}

/// `\d` of a regular expression.
pub fn is_decimal(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_digit();
    }
    // SAFETY: see above.
    unsafe { _PyUnicode_IsDecimalDigit(character as u32) != 0 }
}

pub fn is_alnum(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric();
    }
    let code = character as u32;
    // SAFETY: see above.
    unsafe {
        _PyUnicode_IsAlpha(code) != 0
            || _PyUnicode_IsDecimalDigit(code) != 0
            || _PyUnicode_IsDigit(code) != 0
            || _PyUnicode_IsNumeric(code) != 0
    }
}

/// `text.isspace()`
pub fn is_blank(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_space)
}

/// `text.isdigit()`
pub fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_digit)
}

pub fn has_alnum(text: &str) -> bool {
    text.chars().any(is_alnum)
}

/// `text[:1].isalnum()`
pub fn starts_alnum(text: &str) -> bool {
    text.chars().next().is_some_and(is_alnum)
}

/// `len(text)`
pub fn chars(text: &str) -> usize {
    text.chars().count()
}

pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

pub fn strip_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// `" ".join(text.split())`
pub fn collapse(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    if text.is_ascii() {
        let mut waits = false;
        for &byte in text.as_bytes() {
            if matches!(byte, 9..=13 | 28..=32) {
                waits = true;
            } else {
                if waits && !result.is_empty() {
                    result.push(' ');
                }
                waits = false;
                result.push(byte as char);
            }
        }
        return result;
    }
    for word in words(text) {
        if !result.is_empty() {
            result.push(' ');
        }
        result.push_str(word);
    }
    result
}

/// `len("".join(text.split()))`
pub fn chars_without_space(text: &str) -> usize {
    text.chars().filter(|&character| !is_space(character)).count()
}

/// `text.lower()`
pub fn lower(py: Python<'_>, text: &str) -> PyResult<String> {
    if text.is_ascii() {
        return Ok(text.to_ascii_lowercase());
    }
    PyString::new(py, text).call_method0("lower")?.extract()
}

/// `text[:most]`
pub fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    text.char_indices().nth(most).map_or(text, |(at, _)| &text[..at])
}

pub fn first(text: &str) -> char {
    text.chars().next().unwrap_or('\0')
}

pub fn last(text: &str) -> char {
    text.chars().next_back().unwrap_or('\0')
}
