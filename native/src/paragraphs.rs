//! The walk of `core/document/paragraphs.py` and the filter of `core/document/boilerplate.py`, line by line.

use std::collections::HashSet;

use pyo3::prelude::*;

use crate::config::Config;
use crate::text;
use crate::tree::Node;

pub const TEXT: u8 = 0;
pub const LINKS: u8 = 1;
pub const STUB: u8 = 2;
pub const ITEM: u8 = 3;
pub const PRE: u8 = 4;
pub const LINKED_ITEM: u8 = 5;
pub const TOOL: u8 = 6;
pub const LABEL: u8 = 7;
pub const HEADING: u8 = 10;
pub const LINKED_HEADING: u8 = 20;

// Kinds of nodes, as in the table that Python passes.
const INLINE_NODE: u8 = 0;
const TEXT_NODE: u8 = 1;
const LINK_NODE: u8 = 2;
const WHOLE_NODE: u8 = 3;
const BLOCK_NODE: u8 = 4;
const ITEM_NODE: u8 = 5;
const CELL_NODE: u8 = 6;
const LIST_NODE: u8 = 7;
const PART_NODE: u8 = 8;
const TOP_HEADER_NODE: u8 = 9;
const NAMED_NODE: u8 = 10;
const MAIN_NODE: u8 = 11;
const BODY_NODE: u8 = 12;
const HEADING_NODE: u8 = 13;
const PRE_NODE: u8 = 14;
const LABEL_NODE: u8 = 15;
const TIME_NODE: u8 = 16;
const BREAK_NODE: u8 = 17;
const FIELD_NODE: u8 = 18;
const DROP_NODE: u8 = 19;

// What names say.
const NEUTRAL: u8 = 0;
const MAIN_PART: u8 = 1;
const CONTENT: u8 = 2;
const ASIDE: u8 = 3;
pub const LAYOUT_ASIDE: u8 = 4;
pub const SMALL_ASIDE: u8 = 5;
pub const LINKED_ASIDE: u8 = 6;
const SURE_ASIDE: u8 = 7;
pub const COMMENTS: u8 = 8;
pub const CONTENTS: u8 = 9;
const ASIDE_TAG: u8 = 10;
pub const PLACES: usize = 11;

pub type Range = (usize, usize);

#[derive(Clone)]
pub struct Paragraph {
    pub text: String,
    pub chars: usize,
    pub kind: u8,
    pub score: i64,
}

impl Paragraph {
    pub fn is_top_heading(&self) -> bool {
        self.kind == HEADING + 1 || self.kind == LINKED_HEADING + 1
    }
}

pub struct Paragraphs {
    pub all: Vec<Paragraph>,
    pub containers: Vec<Range>,
    /// With the classes by which they are named.
    pub bodies: Vec<(Range, String)>,
    pub lists: HashSet<Range>,
    pub sections: HashSet<Range>,
    pub linked_headings: Vec<usize>,
    pub mains: Vec<Range>,
    pub has_main: bool,
    pub excluded_chars: [usize; PLACES],
    pub asides: Vec<(Node, u8, usize)>,
}

fn is_item(kind: u8) -> bool {
    kind == ITEM_NODE || kind == CELL_NODE
}

/// Which elements count as content whatever their names say.
#[derive(Clone, Default)]
pub struct Kept {
    pub mistaken: HashSet<usize>,
    pub places: HashSet<u8>,
    pub all: bool,
}

struct Walk<'a, 'py> {
    py: Python<'py>,
    config: &'a Config,
    kept: &'a Kept,
    result: Paragraphs,
    pieces: String,
    /// Where the pieces end.
    ends: Vec<usize>,
    count: usize,
    last_piece: usize,
    linked: usize,
    link: Option<Node>,
    block_link: Option<Node>,
    stack: Vec<(Node, u8, usize)>,
    inside_main: usize,
    doubted: usize,
}

fn is_cut_sign(sign: char) -> bool {
    matches!(sign, ' ' | '\t' | '\n' | '.' | '…')
}

pub fn split_paragraphs(py: Python<'_>, config: &Config, body: Node, kept: &Kept) -> PyResult<Paragraphs> {
    let mut walk = Walk::new(py, config, kept);
    let tags = &config.tags;
    let mut at = body.first_child();
    loop {
        let Some(node) = at else {
            let Some((node, kind, start)) = walk.stack.pop() else { break };
            if kind != INLINE_NODE {
                walk.close(node, kind, start)?;
            }
            at = node.next();
            continue;
        };
        let tag = node.tag();
        let kind = config.kind_of(tag);
        match kind {
            TEXT_NODE => {
                let text = node.own_text();
                if !text.is_empty() && (walk.count > 0 || !text::is_blank(&text)) {
                    walk.push(&text);
                }
            }
            INLINE_NODE => {
                if let Some(child) = node.first_child() {
                    if child.next().is_some() || child.tag() != tags.text {
                        walk.stack.push((node, INLINE_NODE, 0));
                        at = Some(child);
                        continue;
                    }
                    walk.push(&child.own_text());
                }
            }
            LINK_NODE => {
                if walk.add_link(node)? {
                    at = node.first_child();
                    continue;
                }
            }
            WHOLE_NODE => {
                if tag != tags.sup || !walk.is_footnote_mark(node) {
                    let text = node.text();
                    walk.push(&text);
                }
            }
            BLOCK_NODE | ITEM_NODE => {
                if walk.count > 0 {
                    walk.flush(STUB)?;
                }
                if let Some(child) = node.first_child() {
                    if walk.enter(node, child, kind)? {
                        at = Some(child);
                        continue;
                    }
                }
            }
            CELL_NODE..=MAIN_NODE => {
                if walk.open_container(node, kind)? {
                    at = node.first_child();
                    continue;
                }
            }
            BREAK_NODE => walk.push("\n"),
            FIELD_NODE => {
                if walk.count > 0 {
                    walk.end_label(node);
                }
            }
            DROP_NODE => {}
            _ => walk.add_whole(node, kind, tag)?,
        }
        at = node.next();
    }
    if walk.count > 0 {
        walk.flush(STUB)?;
    }
    Ok(walk.result)
}

impl<'a, 'py> Walk<'a, 'py> {
    fn new(py: Python<'py>, config: &'a Config, kept: &'a Kept) -> Self {
        Walk {
            py,
            config,
            kept,
            result: Paragraphs {
                all: Vec::new(),
                containers: Vec::new(),
                bodies: Vec::new(),
                lists: HashSet::new(),
                sections: HashSet::new(),
                linked_headings: Vec::new(),
                mains: Vec::new(),
                has_main: false,
                excluded_chars: [0; PLACES],
                asides: Vec::new(),
            },
            pieces: String::new(),
            ends: Vec::new(),
            count: 0,
            last_piece: 0,
            linked: 0,
            link: None,
            block_link: None,
            stack: Vec::new(),
            inside_main: 0,
            doubted: 0,
        }
    }

    fn push(&mut self, piece: &str) {
        self.last_piece = self.pieces.len();
        self.pieces.push_str(piece);
        self.ends.push(self.pieces.len());
        self.count += 1;
    }

    /// Remove each piece that the next one begins with: the short form of a text that a button shows.
    fn drop_cut_forms(&mut self) {
        let least = self.config.limits.MIN_CUT_CHARS as usize;
        let mut cut: Vec<(usize, usize)> = Vec::new();
        let mut last: Option<(usize, usize)> = None;
        let mut start = 0;
        for &end in &self.ends {
            let piece = &self.pieces[start..end];
            if piece == "\n" || piece == "\t" {
                last = None;
            } else if !text::is_blank(piece) {
                if let Some((from, to)) = last {
                    let before = &self.pieces[from..to];
                    let chars = text::chars(before);
                    let short = before.trim_matches(is_cut_sign);
                    if text::chars(piece) > chars
                        && chars >= least
                        && text::chars(short) >= least
                        && piece.trim_matches(is_cut_sign).starts_with(short)
                    {
                        cut.push((from, to));
                    }
                }
                last = Some((start, end));
            }
            start = end;
        }
        for (from, to) in cut.into_iter().rev() {
            self.pieces.replace_range(from..to, "");
        }
    }

    fn is_inside_item(&self) -> bool {
        self.stack.last().is_some_and(|&(_, kind, _)| is_item(kind))
    }

    fn flush(&mut self, stub: u8) -> PyResult<()> {
        let stub = if stub == STUB && self.is_inside_item() { ITEM } else { stub };
        if self.count > 1 && self.linked < self.config.limits.MIN_CUT_CHARS as usize {
            self.drop_cut_forms();
        }
        let text = std::mem::take(&mut self.pieces);
        match self.block_link {
            None => self.add_text(&text, self.linked, stub, self.link)?,
            link => self.add_text(&text, text::chars(&text), stub, link)?,
        }
        self.pieces = text;
        self.pieces.clear();
        self.ends.clear();
        self.count = 0;
        self.linked = 0;
        self.link = None;
        Ok(())
    }

    fn enter(&mut self, node: Node, child: Node, kind: u8) -> PyResult<bool> {
        if kind == BLOCK_NODE && node.attributes().next().is_some() && self.is_excluded(node)? {
            return Ok(false);
        }
        if child.next().is_none() {
            let tag = child.tag();
            let stub = if kind == ITEM_NODE || self.is_inside_item() { ITEM } else { STUB };
            if tag == self.config.tags.text {
                let text = child.own_text();
                let linked = if self.block_link.is_some() { text::chars(&text) } else { 0 };
                self.add_text(&text, linked, stub, self.block_link)?;
                return Ok(false);
            }
            if tag == self.config.tags.a {
                let label = child.text();
                let chars = text::chars(&label);
                if chars <= self.config.limits.LONG_LINK_CHARS as usize && !self.holds_blocks(child) {
                    self.add_text(&label, chars, stub, Some(child))?;
                    return Ok(false);
                }
            }
        }
        self.stack.push((node, kind, 0));
        Ok(true)
    }

    fn is_excluded(&mut self, node: Node) -> PyResult<bool> {
        if node.tag() == self.config.tags.figcaption && node.has(self.config.names.class) {
            return Ok(true);
        }
        let place = self.classify_attributes(node)?;
        self.excludes(node, place)
    }

    fn open_container(&mut self, node: Node, kind: u8) -> PyResult<bool> {
        if kind == CELL_NODE {
            if self.count > 0 {
                self.push("\t");
            }
            self.stack.push((node, CELL_NODE, self.result.all.len()));
            return Ok(true);
        }
        if self.count > 0 {
            self.flush(STUB)?;
        }
        let place = if kind == TOP_HEADER_NODE && node.tag() == self.config.tags.aside {
            if self.is_note(node)? { NEUTRAL } else { ASIDE_TAG }
        } else if kind == TOP_HEADER_NODE && self.inside_main == 0 {
            ASIDE
        } else if node.attributes().next().is_some() {
            self.classify_attributes(node)?
        } else {
            NEUTRAL
        };
        if place > CONTENT
            && !(node.has(self.config.names.id) && place != CONTENTS && self.is_named_after_heading(node)?)
            && self.excludes(node, place)?
        {
            return Ok(false);
        }
        let mut kind = kind;
        if kind == MAIN_NODE {
            self.inside_main += 1;
        } else if place == CONTENT {
            kind = BODY_NODE;
        } else if place == MAIN_PART && kind == PART_NODE {
            kind = NAMED_NODE;
        }
        self.stack.push((node, kind, self.result.all.len()));
        Ok(true)
    }

    fn close(&mut self, node: Node, kind: u8, start: usize) -> PyResult<()> {
        if kind == LINK_NODE {
            if self.count > 0 {
                self.flush(STUB)?;
            }
            self.block_link = None;
            return Ok(());
        }
        if self.count > 0
            && (kind != CELL_NODE
                || text::chars(&self.pieces[self.last_piece..]) > self.config.limits.SHORT_CELL_CHARS as usize
                || self.result.all.len() > start)
        {
            self.flush(if is_item(kind) { ITEM } else { STUB })?;
        }
        if kind >= CELL_NODE {
            let end = self.result.all.len();
            if end > start {
                let place = (start, end);
                self.result.containers.push(place);
                if kind <= LIST_NODE {
                    self.result.lists.insert(place);
                } else if kind >= NAMED_NODE {
                    if kind >= MAIN_NODE {
                        let class = if kind == BODY_NODE { node.value(self.config.names.class) } else { None };
                        self.result.bodies.push((place, class.unwrap_or_default().into_owned()));
                    }
                    self.add_main(node, place);
                } else if kind == PART_NODE && self.result.all[start].kind > HEADING + 1 && self.is_section(node) {
                    self.result.sections.insert(place);
                }
            }
            if kind == MAIN_NODE {
                self.inside_main -= 1;
            }
        }
        Ok(())
    }

    fn add_main(&mut self, node: Node, place: Range) {
        let found = &mut self.result;
        if node.tag() == self.config.tags.main || node.value(self.config.names.role).as_deref() == Some("main") {
            if !found.has_main || place.1 - place.0 > found.mains[0].1 - found.mains[0].0 {
                found.mains = vec![place];
            }
            found.has_main = true;
        } else if !found.has_main {
            found.mains.push(place);
        }
    }

    /// Whether a link, or the other one if it has no reference or an empty one, leads to a part of the page.
    fn leads_into_page(&self, link: Node, other: bool) -> bool {
        match link.value(self.config.names.href) {
            Some(href) if !href.is_empty() => is_anchor(&href),
            _ => other,
        }
    }

    fn add_link(&mut self, node: Node) -> PyResult<bool> {
        let limits = &self.config.limits;
        if self.block_link.is_none() && self.holds_blocks(node) && !self.leads_into_page(node, true) {
            if self.count > 0 {
                self.flush(STUB)?;
            }
            self.block_link = Some(node);
            self.stack.push((node, LINK_NODE, 0));
            return Ok(true);
        }
        let mut text = node.text();
        let mut chars = text::chars(&text);
        if chars > limits.LONG_LINK_CHARS as usize {
            if !node.has(self.config.names.href) {
                self.stack.push((node, INLINE_NODE, 0));
                return Ok(true);
            }
            text = self.visible_text(node);
            chars = text::chars(&text);
        } else if chars <= limits.MAX_TOOL_CHARS as usize {
            if !text::starts_alnum(&text) {
                let sign = text::strip(&text);
                if !sign.is_empty()
                    && self.config.sign_starts.contains(&text::first(sign))
                    && self.is_sign(node, sign)
                {
                    return Ok(false);
                }
            }
            if self.count > 0 && self.is_tool(node, &text)? {
                return Ok(false);
            }
        }
        if self.link.is_some() && node.prev().is_some_and(|before| before.tag() == self.config.tags.a) {
            self.push(" ");
        }
        self.push(&text);
        self.linked += chars;
        self.link = Some(node);
        Ok(false)
    }

    fn add_whole(&mut self, node: Node, kind: u8, tag: usize) -> PyResult<()> {
        if kind == TIME_NODE {
            let text = node.text();
            self.linked += text::chars(&text);
            self.push(&text);
            return Ok(());
        }
        if self.count > 0 && kind == LABEL_NODE {
            self.end_label(node);
        }
        if self.count > 0 {
            self.flush(STUB)?;
        }
        if kind == PRE_NODE {
            self.add_preformatted(node);
        } else if kind == LABEL_NODE {
            let text = text::collapse(&self.visible_text(node));
            if !text.is_empty() {
                self.add(text, LABEL, 0);
            }
        } else if self.block_link.is_some() {
            let text = self.heading_text(node)?;
            self.push(&text);
            self.flush(STUB)?;
        } else if self.add_heading(node, HEADING + self.config.heading_level(tag))? {
            self.result.linked_headings.push(self.result.all.len() - 1);
        }
        Ok(())
    }

    fn end_label(&mut self, field: Node) {
        let most = self.config.limits.MAX_LABEL_CHARS as usize;
        let is_short = self.pieces.len() <= most * 4 && text::chars(&self.pieces) <= most;
        if !is_short || self.count > self.config.limits.MAX_LABEL_PIECES as usize {
            return;
        }
        let text = text::collapse(&self.pieces);
        if text.ends_with([':', '：']) && field.value(self.config.names.kind).as_deref() != Some("hidden") {
            self.add(text, LABEL, 0);
            self.pieces.clear();
            self.ends.clear();
            self.count = 0;
            self.linked = 0;
            self.link = None;
        }
    }

    fn add(&mut self, text: String, kind: u8, score: i64) {
        let chars = text::chars(&text);
        self.result.all.push(Paragraph { text, chars, kind, score });
    }

    fn add_text(&mut self, text: &str, linked: usize, stub: u8, link: Option<Node>) -> PyResult<()> {
        let limits = &self.config.limits;
        let text = if needs_collapse(text) { text::collapse(text) } else { text::strip(text).to_owned() };
        let size = text::chars(&text);
        if size < limits.MIN_WORD_CHARS as usize && text.chars().all(|sign| self.config.separators.contains(&sign)) {
            return Ok(());
        }
        if linked as f64 > limits.MIN_NAVIGATION_SHARE * size as f64 {
            let kind = self.link_kind(&text, size, linked, stub, link)?;
            if kind != TEXT {
                let cost = (limits.MIN_LINKS_COST as i64 + size as i64).min(limits.MAX_LINKS_COST as i64);
                self.result.all.push(Paragraph { text, chars: size, kind, score: -cost });
                return Ok(());
            }
        }
        let (kind, score) =
            if size < limits.SHORT_CHARS as usize && !self.config.sentence_ends.contains(&text::last(&text)) {
                (stub, if stub == STUB { -limits.STUB_COST as i64 } else { -limits.ITEM_COST as i64 })
            } else {
                (TEXT, size as i64 - linked as i64)
            };
        self.result.all.push(Paragraph { text, chars: size, kind, score });
        Ok(())
    }

    fn link_kind(&self, text: &str, size: usize, linked: usize, stub: u8, link: Option<Node>) -> PyResult<u8> {
        let (limits, names) = (&self.config.limits, &self.config.names);
        let is_linked = linked as f64 > limits.MAX_LINKED_SHARE * size as f64;
        let Some(link) = link else {
            return Ok(if is_linked { TOOL } else { TEXT });
        };
        if !is_linked && size > limits.MAX_NAVIGATION_CHARS as usize {
            return Ok(TEXT);
        }
        if let Some(key) = link.value(names.accesskey) {
            if self.config.step_keys.contains(key.as_ref()) {
                return Ok(TOOL);
            }
        }
        if let Some(rel) = link.value(names.rel) {
            let lowered = text::lower(self.py, &rel)?;
            if text::words(&lowered).any(|word| self.config.step_types.contains(word)) {
                return Ok(TOOL);
            }
        }
        if self.config.is_step_label(self.py, text)? {
            return Ok(TOOL);
        }
        if !is_linked {
            return Ok(TEXT);
        }
        let href = link.value(names.href).unwrap_or_default();
        let is_bar = text.starts_with('[') && text.ends_with(']') && text.replace(' ', "").contains("][");
        if is_bar
            || is_anchor(&href)
            || self.config.is_action(self.py, &href, text)?
            || (stub == STUB && text::is_number(text))
        {
            return Ok(TOOL);
        }
        Ok(if stub == ITEM { LINKED_ITEM } else { LINKS })
    }

    fn add_heading(&mut self, node: Node, mark: u8) -> PyResult<bool> {
        let collapsed = text::collapse(&self.heading_text(node)?);
        let signs = &self.config.permalink_signs;
        let text = collapsed.trim_end_matches(|sign| signs.contains(&sign));
        if text.is_empty() {
            return Ok(false);
        }
        let is_linked = self.is_linked_heading(node, text::chars(text));
        let kind = if is_linked { mark + LINKED_HEADING - HEADING } else { mark };
        self.add(text.to_owned(), kind, 0);
        Ok(is_linked)
    }

    fn heading_text(&self, heading: Node) -> PyResult<String> {
        let (mut first, mut last) = (heading.first_child(), heading.last_child());
        while let Some(node) = first.filter(|&node| self.is_space(node)) {
            first = node.next();
        }
        while let Some(node) = last.filter(|&node| self.is_space(node)) {
            last = node.prev();
        }
        let (Some(first), Some(last)) = (first, last) else { return Ok(String::new()) };
        if !self.is_heading_tool(last)? && (first.next().is_none() || !self.is_heading_tool(first)?) {
            return Ok(self.visible_text(heading));
        }
        Ok(self.heading_content(heading)?.into_iter().map(|node| self.visible_text(node)).collect())
    }

    fn is_space(&self, node: Node) -> bool {
        node.tag() == self.config.tags.text && text::is_blank(&node.own_text())
    }

    fn heading_content(&self, heading: Node) -> PyResult<Vec<Node>> {
        let mut nodes = Vec::new();
        let mut child = heading.first_child();
        while let Some(node) = child {
            nodes.push(node);
            child = node.next();
        }
        let (mut first, mut last) = (0, nodes.len());
        while first < last && self.is_heading_tool(nodes[last - 1])? {
            last -= 1;
        }
        while first < last && self.is_heading_tool(nodes[first])? {
            first += 1;
        }
        Ok(if first < last { nodes[first..last].to_vec() } else { nodes })
    }

    fn holds_blocks(&self, link: Node) -> bool {
        let mut child = link.first_child();
        while let Some(node) = child {
            let tag = node.tag();
            if tag != self.config.tags.text && (BLOCK_NODE..=HEADING_NODE).contains(&self.config.kind_of(tag)) {
                return true;
            }
            child = node.next();
        }
        false
    }

    fn link_in(&self, part: Node) -> Option<Node> {
        let is_link = |node: Node| node.tag() == self.config.tags.a;
        let mut child = if is_link(part) { Some(part) } else { part.first_child() };
        while let Some(node) = child.filter(|&node| !is_link(node)) {
            child = node.next();
        }
        child
    }

    fn is_heading_tool(&self, part: Node) -> PyResult<bool> {
        let (tags, names) = (&self.config.tags, &self.config.names);
        let tag = part.tag();
        if tag == tags.text {
            return Ok(self.is_space(part));
        }
        if !self.config.tool_tags.contains(&tag) {
            return Ok(self.config.kind_of(tag) >= FIELD_NODE);
        }
        let text = part.text();
        let chars = text::chars(&text);
        if !text::has_alnum(&text) {
            return Ok(chars != 1 || tag == tags.a || !text.is_ascii());
        }
        if chars > self.config.limits.MAX_HEADING_TOOL_CHARS as usize {
            return Ok(false);
        }
        let Some(link) = self.link_in(part) else { return Ok(false) };
        if text::strip(&text).starts_with(['[', '(']) && text::strip_end(&text).ends_with([']', ')']) {
            return Ok(true);
        }
        let href = link.value(names.href).unwrap_or_default();
        let label = link.text();
        Ok(text::chars(&label) * 2 > chars
            && (is_anchor(&href) || self.config.is_action(self.py, &href, &label)?))
    }

    fn add_preformatted(&mut self, node: Node) {
        let tags = &self.config.tags;
        let text = if node.first(tags.br).is_none() {
            node.text()
        } else {
            let mut pieces = String::new();
            let mut at = Some(node);
            while let Some(piece) = at {
                if piece.tag() == tags.br {
                    pieces.push('\n');
                } else if piece.tag() == tags.text {
                    pieces.push_str(&piece.own_text());
                }
                at = piece.following(node);
            }
            pieces
        };
        let text = text::strip_end(text.trim_matches('\n'));
        if text.is_empty() || self.config.archive_notes.iter().any(|note| text.starts_with(note.as_str())) {
            return;
        }
        let is_digits = text.chars().filter(|&sign| !text::is_space(sign)).all(text::is_digit);
        if text.contains('\n') && is_digits {
            return;
        }
        let score = text::chars(text) as i64;
        self.add(text.to_owned(), PRE, score);
    }

    fn is_sign(&self, link: Node, text: &str) -> bool {
        if !text::has_alnum(text) {
            return true;
        }
        if !text.ends_with(']') {
            return false;
        }
        let inner: String = {
            let mut characters = text.chars();
            characters.next();
            characters.next_back();
            characters.collect()
        };
        if text::is_number(&inner) {
            return false;
        }
        self.leads_into_page(link, false) || link.parent().is_some_and(|term| term.tag() == self.config.tags.dt)
    }

    fn is_footnote_mark(&self, raised: Node) -> bool {
        raised
            .first_child()
            .is_some_and(|link| link.tag() == self.config.tags.a && self.leads_into_page(link, false))
    }

    fn is_tool(&self, link: Node, label: &str) -> PyResult<bool> {
        let words = label.trim_matches(|sign| self.config.more_signs.contains(&sign));
        if self.config.read_more.contains(&text::lower(self.py, words)?) {
            return Ok(link.next().is_none_or(|after| after.next().is_none() && self.is_space(after)));
        }
        Ok(self.is_inside_item() && self.is_command(link)?)
    }

    fn is_command(&self, link: Node) -> PyResult<bool> {
        let href = link.value(self.config.names.href).unwrap_or_default();
        self.config.is_action(self.py, &href, &link.text())
    }

    fn is_section(&self, node: Node) -> bool {
        if node.tag() == self.config.tags.section {
            return true;
        }
        let names = node.value(self.config.names.class);
        names.is_some_and(|names| self.config.section_names.iter().any(|start| names.starts_with(start.as_str())))
    }

    fn is_named_after_heading(&self, section: Node) -> PyResult<bool> {
        let names = &self.config.names;
        let id = section.value(names.id);
        let Some(id) = id.as_deref().filter(|id| !id.is_empty()) else { return Ok(false) };
        if self.config.classify_names(self.py, section.value(names.class).as_deref(), None)? > CONTENT {
            return Ok(false);
        }
        let mut child = section.first_child();
        for _ in 0..self.config.limits.MAX_NODES_BEFORE_HEADING as usize {
            match child {
                Some(node) if !self.config.is_heading(node.tag()) => child = node.next(),
                _ => break,
            }
        }
        let Some(heading) = child.filter(|node| self.config.is_heading(node.tag())) else { return Ok(false) };
        Ok(self.letters(id)? == self.letters(&self.heading_text(heading)?)?)
    }

    fn letters(&self, text: &str) -> PyResult<String> {
        Ok(text::lower(self.py, text)?.chars().filter(|&letter| text::is_alpha(letter)).collect())
    }

    fn is_linked_heading(&self, heading: Node, size: usize) -> bool {
        let tags = &self.config.tags;
        let mut child = heading.first_child();
        while let Some(node) = child.filter(|&node| self.is_space(node)) {
            child = node.next();
        }
        while let Some(node) = child.filter(|node| node.tag() != tags.a && node.tag() != tags.text) {
            child = node.first_child();
        }
        let Some(link) = child.filter(|node| node.tag() == tags.a) else { return false };
        !self.leads_into_page(link, true) && 2 * text::chars(&link.text()) > size
    }

    fn visible_text(&self, node: Node) -> String {
        let text = node.text();
        if !text.contains('<') && !text.contains('{') {
            return text;
        }
        let mut visible = String::new();
        let mut at = Some(node);
        while let Some(piece) = at {
            if piece.tag() == self.config.tags.text
                && piece.parent().is_some_and(|parent| !self.config.code_tags.contains(&parent.tag()))
            {
                visible.push_str(&piece.own_text());
            }
            at = piece.following(node);
        }
        visible
    }

    // The filter of boilerplate.

    fn excludes(&mut self, node: Node, place: u8) -> PyResult<bool> {
        let limits = &self.config.limits;
        if place <= CONTENT
            || self.kept.mistaken.contains(&node.address())
            || self.kept.all
            || self.doubted > limits.MAX_DOUBTED_CHARS as usize
        {
            return Ok(false);
        }
        if place == SURE_ASIDE {
            return Ok(true);
        }
        if place == ASIDE_TAG && self.is_believed(node, place, 0) {
            return Ok(true);
        }
        if place == CONTENTS && self.contents_lead_into_page(node) {
            return Ok(true);
        }
        let text = node.text();
        let size = text::chars(&text);
        if self.kept.places.contains(&place) || place == ASIDE_TAG || !self.is_believed(node, place, size) {
            self.doubted += size;
            return Ok(false);
        }
        if matches!(place, COMMENTS | CONTENTS | SMALL_ASIDE | LINKED_ASIDE) {
            let is_small = size < limits.MAX_SMALL_ASIDE_CHARS as usize;
            self.result.excluded_chars[place as usize] +=
                if is_small { text::chars(&text::collapse(&text)) } else { size };
        }
        if size > limits.MIN_LARGE_CHARS as usize {
            self.result.asides.push((node, place, size));
        }
        Ok(true)
    }

    fn contents_lead_into_page(&self, contents: Node) -> bool {
        let mut at = Some(contents);
        while let Some(node) = at {
            if node.tag() == self.config.tags.a && node.has(self.config.names.href) {
                return self.leads_into_page(node, false);
            }
            at = node.following(contents);
        }
        false
    }

    fn is_believed(&self, node: Node, place: u8, size: usize) -> bool {
        let (limits, tags) = (&self.config.limits, &self.config.tags);
        match place {
            ASIDE_TAG => !node.all(tags.h1).into_iter().any(|heading| is_inside(heading, tags.article)),
            SMALL_ASIDE => size <= limits.MAX_SMALL_ASIDE_CHARS as usize,
            LINKED_ASIDE => size <= limits.MAX_SMALL_ASIDE_CHARS as usize && node.first(tags.a).is_some(),
            LAYOUT_ASIDE if size > limits.MAX_ASIDE_PROSE_CHARS as usize => {
                let prose: i64 =
                    node.all(tags.p).into_iter().map(|part| unlinked_chars(self.config, part)).sum();
                prose <= limits.MAX_ASIDE_PROSE_CHARS as i64
            }
            _ => true,
        }
    }

    fn classify_attributes(&self, node: Node) -> PyResult<u8> {
        let names = &self.config.names;
        let classes = node.value(names.class);
        if node.attributes().count() == 1 && classes.as_deref().is_some_and(|names| !names.is_empty()) {
            return self.config.classify_names(self.py, classes.as_deref(), None);
        }
        let role = node.value(names.role);
        let role = role.as_deref();
        if role.is_some_and(|role| self.config.aside_roles.contains(role))
            || node.has(names.hidden)
            || node.has(names.nosnippet)
        {
            return Ok(ASIDE);
        }
        if let Some(style) = node.value(names.style) {
            if style.contains("none") && style.replace(' ', "").contains("display:none") {
                return Ok(ASIDE);
            }
        }
        if role == Some("doc-toc") {
            return Ok(CONTENTS);
        }
        if role == Some("main") || node.value(names.itemprop).as_deref() == Some("articleBody") {
            return Ok(CONTENT);
        }
        let named = node.value(names.slot).filter(|slot| !slot.is_empty() && !slot.contains('-'));
        let named = named.map(|slot| format!("{slot} {}", classes.as_deref().unwrap_or_default()));
        self.config.classify_names(self.py, named.as_deref().or(classes.as_deref()), node.value(names.id).as_deref())
    }

    fn is_note(&self, node: Node) -> PyResult<bool> {
        let names = &self.config.names;
        let role = node.value(names.role).unwrap_or_default();
        if role == "note" || role.starts_with("doc-") {
            return Ok(true);
        }
        let classes = text::lower(self.py, &node.value(names.class).unwrap_or_default())?.replace('-', " ");
        let is_note = text::words(&classes).any(|name| self.config.note_names.contains(name));
        Ok(is_note)
    }
}

fn is_anchor(href: &str) -> bool {
    href.starts_with('#') && !href.starts_with("#/") && !href.starts_with("#!")
}

fn is_inside(node: Node, tag: usize) -> bool {
    let mut at = node.parent();
    while let Some(parent) = at {
        if parent.tag() == tag && parent.is_element() {
            return true;
        }
        at = parent.parent();
    }
    false
}

fn needs_collapse(text: &str) -> bool {
    let mut was_space = false;
    for &byte in text.as_bytes() {
        if byte == b'\n' || byte == b'\t' || (byte == b' ' && was_space) {
            return true;
        }
        was_space = byte == b' ';
    }
    !text.is_ascii() && text.contains('\u{a0}')
}

/// The characters outside links; 0 if there is hardly anything but links.
pub fn unlinked_chars(config: &Config, node: Node) -> i64 {
    let links = node.all(config.tags.a);
    let chars = text::chars_without_space(&node.text());
    if links.len() * config.limits.USUAL_LINK_CHARS as usize >= chars {
        return 0;
    }
    let linked: usize = links.iter().map(|link| text::chars_without_space(&link.text())).sum();
    chars as i64 - linked as i64
}
