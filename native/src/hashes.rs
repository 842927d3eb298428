//! Hashes of words: tokens of the near-duplicate signature (`core/duplicates/minhash.py`), and what a text shows that
//! is new (`core/traps/novelty.py`).

use std::collections::HashSet;
use std::hash::Hasher;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustc_hash::FxHasher;

use crate::text;

fn hash(token: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(token);
    hasher.finish()
}

fn push(hashes: &mut Vec<u8>, token: &[u8]) {
    hashes.extend_from_slice(&hash(token).to_ne_bytes());
}

/// Hashes of the pairs of words of a folded text, eight bytes each; None: it is written in a script without spaces.
pub fn token_hashes(folded: &str, other_marks: &str, unspaced_share: f64) -> Option<Vec<u8>> {
    let mut letters: Vec<u8> = Vec::with_capacity(folded.len());
    let mut starts: Vec<usize> = Vec::with_capacity(folded.len() / 4);
    let mut is_inside = false;
    if folded.is_ascii() {
        for &byte in folded.as_bytes() {
            let is_letter = byte.is_ascii_alphanumeric() || byte == b'_';
            if is_letter {
                if !is_inside {
                    starts.push(letters.len());
                }
                letters.push(byte);
            }
            is_inside = is_letter;
        }
    } else {
        let (mut bytes, mut chars) = (0, 0);
        for character in folded.chars() {
            let is_mark = !character.is_ascii() && other_marks.contains(character);
            bytes += if is_mark { 1 } else { character.len_utf8() };
            chars += 1;
            let is_letter = if character.is_ascii() {
                character.is_ascii_alphanumeric() || character == '_'
            } else {
                !is_mark && !text::is_space(character)
            };
            if is_letter {
                if !is_inside {
                    starts.push(letters.len());
                }
                letters.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            is_inside = is_letter;
        }
        if !starts.is_empty() && (bytes - chars) as f64 >= unspaced_share * chars as f64 * 2.0 {
            return None;
        }
    }
    let mut hashes = Vec::with_capacity(starts.len() * 8);
    if starts.len() == 1 {
        push(&mut hashes, &letters);
        return Some(hashes);
    }
    for (index, &start) in starts.iter().enumerate().take(starts.len().saturating_sub(1)) {
        let end = starts.get(index + 2).copied().unwrap_or(letters.len());
        push(&mut hashes, &letters[start..end]);
    }
    Some(hashes)
}

/// Hashes of other tokens, eight bytes each.
pub fn plain_hashes(tokens: &[String]) -> Vec<u8> {
    let mut hashes = Vec::with_capacity(tokens.len() * 8);
    for token in tokens {
        push(&mut hashes, token.as_bytes());
    }
    hashes
}

fn crc32(data: &[u8], start: u32) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(start);
    hasher.update(data);
    hasher.finalize()
}

const LOW: u64 = (1 << 29) - 1;
const MIX: u64 = 0x9E37_79B1 & LOW;
const END: &[u8] = b".";
const PARAGRAPHS: u32 = 2;

/// The limits of `novelty.py`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct NoveltyLimits {
    sample: u32,
    min_words: usize,
    memory_bytes: usize,
    max_average_word: usize,
    max_heading_words: usize,
}

/// Groups, new groups letter by letter and with all numbers equal, paragraphs, new paragraphs, bits that were set,
/// and the recent bitmap with the text.
pub type Novelty<'py> = (usize, usize, usize, usize, usize, usize, Bound<'py, PyBytes>);

fn has(bits: &[u8], number: u32) -> bool {
    bits[(number >> 3) as usize] >> (number & 7) & 1 == 1
}

fn set(bits: &mut [u8], number: u32) -> usize {
    let is_new = !has(bits, number);
    bits[(number >> 3) as usize] |= 1 << (number & 7);
    is_new as usize
}

/// What of a text is new; None: its script has no spaces. `marks` are the positions of the words of the URL, `known`
/// those of the words that the site has shown.
pub fn novelty<'py>(
    py: Python<'py>,
    text: &str,
    recent: &[u8],
    previous: &[u8],
    marks: Vec<u32>,
    known: &HashSet<Vec<u8>>,
    limits: &NoveltyLimits,
) -> Option<Novelty<'py>> {
    let bit = limits.memory_bytes as u32 * 8 - 1;
    let mut bits = if recent.is_empty() { vec![0; limits.memory_bytes] } else { recent.to_vec() };
    let empty = vec![0; if previous.is_empty() { limits.memory_bytes } else { 0 }];
    let previous = if previous.is_empty() { &empty } else { previous };
    let groups = groups(text.as_bytes(), known, bit, limits)?;
    if groups.is_empty() {
        return Some((0, 0, 0, 0, 0, 0, PyBytes::new(py, b"")));
    }
    let lines = paragraphs(text.as_bytes(), known, bit, limits);
    let is_new = |bits: &[u8], number: u32| !has(bits, number) && !has(previous, number);
    let new_lines = lines.iter().filter(|&&line| is_new(&bits, line)).count();
    let mut count = 0;
    for mark in marks {
        count += set(&mut bits, mark);
    }
    let (mut literal, mut essential) = (0, 0);
    for &(essence, letter) in &groups {
        let is_new_essence = is_new(&bits, essence);
        essential += is_new_essence as usize;
        literal += (is_new_essence || (letter != essence && is_new(&bits, letter))) as usize;
    }
    for &(essence, letter) in &groups {
        count += set(&mut bits, essence);
        if letter != essence {
            count += set(&mut bits, letter);
        }
    }
    for &line in &lines {
        count += set(&mut bits, line);
    }
    Some((groups.len(), literal, essential, lines.len(), new_lines, count, PyBytes::new(py, &bits)))
}

fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// All runs of digits as one zero.
fn without_numbers(text: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut was_digit = false;
    for &byte in text {
        let is_digit = byte.is_ascii_digit();
        if !is_digit {
            result.push(byte);
        } else if !was_digit {
            result.push(b'0');
        }
        was_digit = is_digit;
    }
    result
}

fn is_known(known: &HashSet<Vec<u8>>, word: &[u8]) -> bool {
    !known.is_empty() && known.contains(&word.to_ascii_lowercase())
}

fn paragraphs(text: &[u8], known: &HashSet<Vec<u8>>, bit: u32, limits: &NoveltyLimits) -> HashSet<u32> {
    let mut found = HashSet::new();
    for line in text.split(|&byte| byte == b'\n') {
        let plain = without_numbers(line);
        let kept: Vec<&[u8]> = words(&plain).filter(|word| !is_known(known, word)).collect();
        if kept.len() > limits.max_heading_words {
            found.insert(crc32(&kept.join(&b' '), PARAGRAPHS) & bit);
        }
    }
    found
}

/// The text with a lone `.` where a phrase ends.
fn phrases(text: &[u8]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = vec![Vec::new()];
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        let mark = match byte {
            b'.' | b',' | b';' | b':' | b'!' | b'?' | b'|' | b'(' | b')' | b'\n' => 1,
            // Bullet, dashes, and the ideographic comma and full stop.
            0xE2 if matches!(text.get(at..at + 3), Some([_, 0x80, 0xA2 | 0x93 | 0x94])) => 3,
            0xE3 if matches!(text.get(at..at + 3), Some([_, 0x80, 0x81 | 0x82])) => 3,
            _ => 0,
        };
        if mark > 0 {
            lines.push(Vec::new());
            at += mark;
        } else {
            if let Some(line) = lines.last_mut() {
                line.push(byte);
            }
            at += 1;
        }
    }
    let last = lines.len() - 1;
    let mut result = Vec::with_capacity(text.len() * 2);
    for (index, line) in lines.iter().enumerate() {
        if index == 0 {
            result.extend_from_slice(line);
        } else if index == last || !line.is_empty() {
            result.extend_from_slice(b" . ");
            result.extend_from_slice(line);
        }
    }
    result
}

fn groups(
    text: &[u8],
    known: &HashSet<Vec<u8>>,
    bit: u32,
    limits: &NoveltyLimits,
) -> Option<Vec<(u32, u32)>> {
    let marked = phrases(text);
    let words: Vec<&[u8]> = words(&marked).collect();
    if marked.len() > limits.max_average_word * (words.len() + 1) {
        return None;
    }
    let end = crc32(END, 0);
    let mut letters = Vec::with_capacity(words.len() + 3);
    let mut essences = Vec::with_capacity(words.len() + 3);
    let mut near_numbers = vec![false; words.len() + 3];
    letters.push(end);
    essences.push(end);
    for (index, &word) in words.iter().enumerate() {
        let word: &[u8] = if is_known(known, word) { b"0" } else { word };
        let letter = crc32(word, 0);
        letters.push(letter);
        if word.iter().any(u8::is_ascii_digit) {
            essences.push(crc32(&without_numbers(word), 0));
            let place = index + 1;
            for near in place.saturating_sub(2)..=place + 1 {
                near_numbers[near] = true;
            }
        } else {
            essences.push(letter);
        }
    }
    letters.extend([end, end]);
    essences.extend([end, end]);
    let draws = words.len() >= limits.min_words;
    let mut found = Vec::new();
    for place in 1..=words.len() {
        if draws && essences[place] & (limits.sample - 1) != 0 {
            continue;
        }
        if let Some(essence) = group(&essences, place, end, bit) {
            let letter = if near_numbers[place] { group(&letters, place, end, bit) } else { None };
            found.push((essence, letter.unwrap_or(essence)));
        }
    }
    Some(found)
}

fn group(words: &[u32], place: usize, end: u32, bit: u32) -> Option<u32> {
    let (one, two, mut three) = (words[place], words[place + 1], words[place + 2] as u64);
    if two == end || words[place + 2] == end {
        if one == end || words[place - 1] != end {
            return None;
        }
        three = 0;
    }
    let mixed = ((one as u64 & LOW) * MIX + two as u64) & LOW;
    Some(((mixed * MIX + three) >> 13) as u32 & bit)
}

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Eight letters for each five bytes; None: some bytes are left.
pub fn base32(digest: &[u8]) -> Option<Vec<u8>> {
    if digest.len() % 5 != 0 {
        return None;
    }
    let number = |part: &[u8]| part.iter().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    let letters = digest.chunks(5).map(number).flat_map(|bits| (0..8).rev().map(move |at| BASE32[(bits >> (5 * at) & 31) as usize]));
    Some(letters.collect())
}
