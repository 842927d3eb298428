//! What the Python modules say: numbers of elements and attributes, limits, and the functions for rare cases.
//!
//! Limits and word lists stay in Python, so that there is one place to change them.

use std::cell::RefCell;
use std::collections::HashMap;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
// Every member is ours, so that no page can make them collide.
use rustc_hash::FxHashSet as HashSet;


use crate::text;
use crate::tree::{Name, Node};

/// Values of the probe's attributes are this and the name.
pub const VALUE_OF: &str = "value of ";

macro_rules! limits {
    ($($field:ident),* $(,)?) => {
        #[allow(non_snake_case)]
        pub struct Limits { $(pub $field: f64),* }
        impl Limits {
            pub fn read(from: &Bound<'_, PyDict>) -> PyResult<Self> {
                Ok(Limits { $($field: item(from, stringify!($field))?.extract()?),* })
            }
        }
    };
}

limits!(
    MAX_LINKED_SHARE, SHORT_CHARS, STUB_COST, ITEM_COST, MIN_LINKS_COST, MAX_LINKS_COST, MAX_HEADING_TOOL_CHARS,
    MAX_TOOL_CHARS, MIN_NAVIGATION_SHARE, MAX_NAVIGATION_CHARS, MIN_WORD_CHARS, MAX_NODES_BEFORE_HEADING,
    LONG_LINK_CHARS, SHORT_CELL_CHARS, MIN_CUT_CHARS, MIN_TEXT_CHARS, MAX_EXCLUDED_RATIO, MAX_PASSES, MAX_LIST_RATIO,
    MAX_ARTICLE_LIST_RATIO, MIN_ARTICLE_CHARS, MIN_ARTICLE_PARAGRAPHS, MIN_PART_SHARE, MIN_MIDDLE_SHARE,
    CLEARLY_BETTER_RATIO, BODY_SHARE, MIN_ENTRY_SHARE, MAX_FIELD_ROWS, MAX_SMALL_RATIO, MIN_FORM_LABELS,
    MIN_TICKET_FIELDS, MAX_CHARS_BEFORE_TITLE, MAX_TEASER_CHARS, MIN_TEASERS, MAX_TEASER_SHARE, MAX_LEADS,
    MIN_LEAD_CHARS, MIN_TITLE_CHARS, MAX_ANNOUNCEMENT_CHARS, MAX_LOOSE_LINE_CHARS, MAX_LAST_LINE_CHARS,
    MAX_STRAY_LINKS, MIN_STRAY_CHARS, MIN_PROSE_RATIO, MAX_LOOSE_ENDS, MAX_LINE_CHARS, MAX_ID_CHARS,
    MAX_SMALL_ASIDE_CHARS, MIN_LARGE_CHARS, MAX_ASIDE_PROSE_CHARS, USUAL_LINK_CHARS, MAX_DOUBTED_CHARS, KEY_CHARS, MAX_PHRASE_CHARS,
    MAX_CACHED_NAMES, MAX_STEP_CHARS, MAX_MARKUP_BYTES, HARMLESS_TAGS, HARMLESS_BYTES,
    HARMLESS_STEPS, MAX_TAGS, MAX_NESTING,
    MAX_INTERFACE_LINE_CHARS, MAX_LABEL_PIECES, MAX_LABEL_CHARS, MAX_CACHED_CHARS,
    MAX_MENTIONS, MAX_VALUE_BYTES,
);

macro_rules! tags {
    ($($field:ident = $name:literal),* $(,)?) => {
        pub struct Tags { $(pub $field: usize),* }
        impl Tags {
            pub fn read(from: &Bound<'_, PyDict>) -> PyResult<Self> {
                Ok(Tags { $($field: item(from, $name)?.extract()?),* })
            }
        }
    };
}

tags!(
    text = "#text", a = "a", aside = "aside", main = "main", figcaption = "figcaption", br = "br", sup = "sup",
    dt = "dt", section = "section", article = "article", h1 = "h1", h2 = "h2", h3 = "h3", h4 = "h4", h5 = "h5",
    h6 = "h6", p = "p", img = "img", script = "script", link = "link",
);

macro_rules! names {
    ($($field:ident = $name:literal),* $(,)?) => {
        pub struct Names { $(pub $field: Name),* }
        impl Names {
            /// Read the numbers from an element that has all these attributes.
            pub fn read(element: Node) -> Self {
                Names { $($field: Name { number: known_number(element, $name), letters: $name }),* }
            }
            pub fn all(&self) -> Vec<Name> { vec![$(self.$field),*] }
        }
        pub const NAMES: &[&str] = &[$($name),*];
    };
}

names!(
    class = "class", href = "href", id = "id", rel = "rel", role = "role", hidden = "hidden", style = "style",
    itemprop = "itemprop", accesskey = "accesskey", nosnippet = "data-nosnippet", slot = "data-slot", alt = "alt",
    xlink = "xlink:href", kind = "type", src = "src", aria_hidden = "aria-hidden",
);

fn known_number(element: Node, name: &str) -> usize {
    let wanted = format!("{VALUE_OF}{name}");
    element
        .attributes()
        .find(|attribute| attribute.value() == Some(wanted.as_bytes()) && attribute.letters().is_empty())
        .map_or(0, |attribute| attribute.number())
}

pub fn item<'py>(from: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    from.get_item(name)?.ok_or_else(|| pyo3::exceptions::PyKeyError::new_err(name.to_owned()))
}

macro_rules! functions {
    ($($field:ident),* $(,)?) => {
        pub struct Functions { $($field: Py<PyAny>),* }
        impl Functions {
            pub fn read(from: &Bound<'_, PyDict>) -> PyResult<Self> {
                Ok(Functions { $($field: item(from, stringify!($field))?.unbind()),* })
            }
        }
    };
}

functions!(
    classify_name, combine, is_action, is_step_label, classify_line, is_copyright_notice, is_note_of_change,
    is_date_line, is_label, is_credit, is_pager_part, count_fields, is_interface_line,
);

pub struct Config {
    pub limits: Limits,
    pub tags: Tags,
    pub names: Names,
    pub functions: Functions,
    pub kinds: Vec<u8>,
    pub code_tags: HashSet<usize>,
    pub tool_tags: HashSet<usize>,
    pub sentence_ends: HashSet<char>,
    pub separators: HashSet<char>,
    pub permalink_signs: HashSet<char>,
    pub sign_starts: HashSet<char>,
    pub more_signs: HashSet<char>,
    pub read_more: HashSet<String>,
    /// Beginnings of tags that open no further level; end tags first.
    pub not_nesting_starts: Vec<Vec<u8>>,
    pub closing_signs: HashSet<char>,
    pub final_signs: HashSet<char>,
    pub arrows: HashSet<char>,
    pub unkeyed_first: HashSet<char>,
    pub credit_letters: HashSet<char>,
    pub aside_roles: HashSet<String>,
    pub note_names: HashSet<String>,
    pub step_keys: HashSet<String>,
    pub step_types: HashSet<String>,
    pub phrase_starts: HashSet<String>,
    pub needed_words: HashMap<String, Vec<String>>,
    pub counted_starts: HashSet<String>,
    /// Phrases by their first characters.
    pub line_starts: HashMap<String, Vec<String>>,
    pub whole_lines: HashSet<String>,
    pub trailing: HashSet<char>,
    pub short_starts: Vec<String>,
    pub credit_starts: Vec<String>,
    pub credit_words: Vec<String>,
    pub agencies: Vec<String>,
    pub empty_ends: Vec<String>,
    pub credit_ends: Vec<String>,
    pub archive_notes: Vec<String>,
    pub section_names: Vec<String>,
    pub action_words: Vec<String>,
    /// Elements whose attributes are collected, and those of them whose text is.
    pub metadata_tags: HashSet<usize>,
    pub metadata_text_tags: HashSet<usize>,
    /// Types of link elements that lead to other pages.
    pub linking: HashSet<String>,
    /// The class of links, and how to create a tuple of that class.
    pub link_type: Py<PyAny>,
    pub tuple_new: Py<PyAny>,
    /// The names of attributes that lexbor knows, by number.
    pub known_names: HashMap<usize, Py<PyString>>,
}

const CREDIT_CHARS: usize = 10;

/// Whether a line begins with a number and a word.
fn starts_with_count(line: &str) -> bool {
    let after = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
    after.strip_prefix(' ').is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_alphabetic()))
}

thread_local! {
    static MEANINGS: RefCell<HashMap<Vec<u8>, u8>> = RefCell::new(HashMap::new());
}

/// The names that the probe's values tell.
fn known_names(py: Python<'_>, probe: Node) -> HashMap<usize, Py<PyString>> {
    let mut names = HashMap::new();
    for attribute in probe.attributes().filter(|attribute| attribute.letters().is_empty()) {
        let value = String::from_utf8_lossy(attribute.value().unwrap_or_default());
        if let Some(name) = value.strip_prefix(VALUE_OF) {
            names.insert(attribute.number(), PyString::intern(py, name).unbind());
        }
    }
    names
}

fn characters(from: &Bound<'_, PyDict>, name: &str) -> PyResult<HashSet<char>> {
    let text: String = item(from, name)?.extract()?;
    Ok(text.chars().collect())
}

impl Config {
    pub fn read(from: &Bound<'_, PyDict>, probe: Node) -> PyResult<Config> {
        Ok(Config {
            limits: Limits::read(from)?,
            tags: Tags::read(from)?,
            names: Names::read(probe),
            functions: Functions::read(from)?,
            kinds: item(from, "kinds")?.extract()?,
            code_tags: item(from, "code_tags")?.extract()?,
            tool_tags: item(from, "tool_tags")?.extract()?,
            sentence_ends: characters(from, "sentence_ends")?,
            separators: characters(from, "separators")?,
            permalink_signs: characters(from, "permalink_signs")?,
            sign_starts: characters(from, "sign_starts")?,
            more_signs: characters(from, "more_signs")?,
            read_more: item(from, "read_more")?.extract()?,
            not_nesting_starts: item(from, "not_nesting_starts")?.extract()?,
            closing_signs: characters(from, "closing_signs")?,
            final_signs: characters(from, "final_signs")?,
            arrows: characters(from, "arrows")?,
            unkeyed_first: characters(from, "unkeyed_first")?,
            credit_letters: characters(from, "credit_letters")?,
            aside_roles: item(from, "aside_roles")?.extract()?,
            note_names: item(from, "note_names")?.extract()?,
            step_keys: item(from, "step_keys")?.extract()?,
            step_types: item(from, "step_types")?.extract()?,
            phrase_starts: item(from, "phrase_starts")?.extract()?,
            needed_words: item(from, "needed_words")?.extract()?,
            counted_starts: item(from, "counted_starts")?.extract()?,
            line_starts: item(from, "line_starts")?.extract()?,
            whole_lines: item(from, "whole_lines")?.extract()?,
            trailing: characters(from, "trailing")?,
            short_starts: item(from, "short_starts")?.extract()?,
            credit_starts: item(from, "credit_starts")?.extract()?,
            credit_words: item(from, "credit_words")?.extract()?,
            agencies: item(from, "agencies")?.extract()?,
            empty_ends: item(from, "empty_ends")?.extract()?,
            credit_ends: item(from, "credit_ends")?.extract()?,
            archive_notes: item(from, "archive_notes")?.extract()?,
            section_names: item(from, "section_names")?.extract()?,
            action_words: item(from, "action_words")?.extract()?,
            metadata_tags: item(from, "metadata_tags")?.extract()?,
            metadata_text_tags: item(from, "metadata_text_tags")?.extract()?,
            linking: item(from, "linking")?.extract()?,
            link_type: item(from, "link_type")?.unbind(),
            tuple_new: item(from, "tuple_new")?.unbind(),
            known_names: known_names(from.py(), probe),
        })
    }

    pub fn kind_of(&self, tag: usize) -> u8 {
        self.kinds.get(tag).copied().unwrap_or(0)
    }

    pub fn is_heading(&self, tag: usize) -> bool {
        self.heading_level(tag) > 0
    }

    pub fn heading_level(&self, tag: usize) -> u8 {
        let tags = &self.tags;
        let all = [tags.h1, tags.h2, tags.h3, tags.h4, tags.h5, tags.h6];
        all.iter().position(|&other| other == tag).map_or(0, |level| level as u8 + 1)
    }

    /// What class and id of an element say together (`classify_names`).
    pub fn classify_names(&self, py: Python<'_>, classes: Option<&str>, id: Option<&str>) -> PyResult<u8> {
        let result = match classes {
            Some(names) if !names.is_empty() => self.classify_name(py, names)?,
            _ => 0,
        };
        let Some(id) = id.filter(|id| !id.is_empty() && text::chars(id) <= self.limits.MAX_ID_CHARS as usize) else {
            return Ok(result);
        };
        let mut letters = id.chars().filter(|&character| character != '-' && character != '_').peekable();
        if letters.peek().is_none() || !letters.all(text::is_alpha) {
            return Ok(result);
        }
        let other = self.classify_name(py, id)?;
        if other == result {
            return Ok(result);
        }
        self.functions.combine.bind(py).call1(((result, other),))?.extract()
    }

    fn classify_name(&self, py: Python<'_>, names: &str) -> PyResult<u8> {
        if let Some(known) = MEANINGS.with_borrow(|known| known.get(names.as_bytes()).copied()) {
            return Ok(known);
        }
        let result: u8 = self.functions.classify_name.bind(py).call1((names,))?.extract()?;
        MEANINGS.with_borrow_mut(|known| {
            if known.len() >= self.limits.MAX_CACHED_NAMES as usize {
                known.clear();
            }
            known.insert(names.as_bytes().to_vec(), result);
        });
        Ok(result)
    }

    /// Whether a link is a command of the software (`is_action`). Only a URL with one of the words can be one.
    pub fn is_action(&self, py: Python<'_>, href: &str, label: &str) -> PyResult<bool> {
        if href.is_ascii() {
            let lowered = href.to_ascii_lowercase();
            if !self.action_words.iter().any(|word| lowered.contains(word.as_str())) {
                return Ok(false);
            }
        }
        self.functions.is_action.bind(py).call1((href, label))?.extract()
    }

    pub fn is_step_label(&self, py: Python<'_>, line: &str) -> PyResult<bool> {
        let start = text::cut(line, 4);
        if start.is_ascii() && !start.eq_ignore_ascii_case("prev") && !start.eq_ignore_ascii_case("next") {
            return Ok(false);
        }
        self.functions.is_step_label.bind(py).call1((line,))?.extract()
    }

    /// What to do with a short line (`classify_line`).
    pub fn classify_line(&self, py: Python<'_>, line: &str) -> PyResult<u8> {
        let may_mean = if line.is_ascii() {
            self.may_mean(line)
        } else {
            self.line_starts.contains_key(&text::lower(py, text::cut(line, self.limits.KEY_CHARS as usize))?)
                || self.unkeyed_first.contains(&text::first(line))
                || self.ends_like_credit(line)
        };
        if !may_mean {
            return Ok(0);
        }
        self.functions.classify_line.bind(py).call1((line,))?.extract()
    }

    /// Whether a line of ASCII characters contains one of the phrases.
    fn may_mean(&self, line: &str) -> bool {
        let most = self.limits.MAX_PHRASE_CHARS as usize;
        let lowered = text::cut(line, most).to_ascii_lowercase();
        if let Some(starts) = self.line_starts.get(text::cut(&lowered, self.limits.KEY_CHARS as usize)) {
            let is_whole = || self.whole_lines.contains(lowered.trim_end_matches(|sign| self.trailing.contains(&sign)));
            if starts.iter().any(|start| lowered.starts_with(start.as_str())) || (line.len() < most && is_whole()) {
                return true;
            }
        }
        if self.unkeyed_first.contains(&text::first(line)) {
            return self.short_starts.iter().any(|start| line.starts_with(start.as_str())) || starts_with_count(line);
        }
        self.ends_like_credit(line) && self.may_end_with_credit(&line.to_ascii_lowercase())
    }

    fn ends_like_credit(&self, line: &str) -> bool {
        self.credit_ends.iter().any(|end| line.ends_with(end.as_str()))
    }

    fn may_end_with_credit(&self, lowered: &str) -> bool {
        let inside = lowered.rfind('(').map_or("", |at| &lowered[at + 1..]);
        let end = lowered.strip_suffix(')').unwrap_or(lowered);
        let end = end.strip_suffix(" images").unwrap_or(end);
        self.credit_words.iter().any(|word| inside.starts_with(word.as_str()))
            || self.agencies.iter().any(|agency| end.ends_with(agency.as_str()))
    }

    pub fn is_credit(&self, py: Python<'_>, line: &str) -> PyResult<bool> {
        if !self.credit_letters.contains(&text::first(line)) {
            return Ok(false);
        }
        let start = text::cut(line, CREDIT_CHARS);
        if start.is_ascii() {
            let start = start.to_ascii_lowercase();
            return Ok(self.credit_starts.iter().any(|word| start.starts_with(word.as_str())));
        }
        self.functions.is_credit.bind(py).call1((line,))?.extract()
    }

    pub fn is_copyright_notice(&self, py: Python<'_>, line: &str) -> PyResult<bool> {
        self.functions.is_copyright_notice.bind(py).call1((line,))?.extract()
    }

    pub fn is_note_of_change(&self, py: Python<'_>, line: &str) -> PyResult<bool> {
        self.functions.is_note_of_change.bind(py).call1((line,))?.extract()
    }

    pub fn is_date_line(&self, py: Python<'_>, line: &str) -> PyResult<bool> {
        self.functions.is_date_line.bind(py).call1((line,))?.extract()
    }

    pub fn is_label(&self, py: Python<'_>, line: &str) -> PyResult<bool> {
        self.functions.is_label.bind(py).call1((line,))?.extract()
    }

    pub fn is_pager_part(&self, py: Python<'_>, line: &str) -> PyResult<bool> {
        self.functions.is_pager_part.bind(py).call1((line,))?.extract()
    }

    pub fn is_interface_line(&self, py: Python<'_>, line: &str) -> PyResult<bool> {
        self.functions.is_interface_line.bind(py).call1((line,))?.extract()
    }

    pub fn count_fields(&self, py: Python<'_>, line: &str) -> PyResult<usize> {
        self.functions.count_fields.bind(py).call1((line,))?.extract()
    }
}
