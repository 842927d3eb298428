//! The choice of `core/document/main_text.py`, line by line.

use std::collections::{HashMap, HashSet};

use pyo3::prelude::*;

use crate::config::Config;
use crate::interface_lines::without_interface_lines;
use crate::paragraphs::{
    split_paragraphs, unlinked_chars, Kept, Paragraph, Paragraphs, Range, COMMENTS, CONTENTS, HEADING, ITEM, LABEL,
    LAYOUT_ASIDE, LINKED_ASIDE, LINKED_HEADING, LINKED_ITEM, LINKS, PRE, SMALL_ASIDE, STUB, TEXT, TOOL,
};
use crate::text;
use crate::tree::Node;

const DROP_SECTION: u8 = 2;

struct Candidate {
    blocks: Vec<(String, usize)>,
    score: i64,
    size: usize,
}

fn is_link_kind(kind: u8) -> bool {
    matches!(kind, LINKS | LINKED_ITEM | TOOL)
}

fn is_entry_kind(kind: u8) -> bool {
    matches!(kind, STUB | ITEM | LINKED_ITEM | LINKS)
}

fn chars_of<'a>(paragraphs: impl IntoIterator<Item = &'a Paragraph>) -> usize {
    paragraphs.into_iter().map(|paragraph| paragraph.chars).sum()
}

fn block_chars(blocks: &[(String, usize)]) -> usize {
    blocks.iter().map(|(_, chars)| chars).sum()
}

fn block(paragraph: &Paragraph) -> (String, usize) {
    (paragraph.text.clone(), paragraph.chars)
}

pub fn extract_main_text(
    py: Python<'_>,
    config: &Config,
    body: Node,
    title: &str,
    most_chars: usize,
) -> PyResult<String> {
    let blocks = Extraction { py, config, title }.blocks(body)?;
    let mut result = String::with_capacity(blocks.iter().map(|(text, _)| text.len() + 1).sum());
    for (index, (text, _)) in blocks.iter().enumerate() {
        if index > 0 {
            result.push('\n');
        }
        result.push_str(text);
    }
    if result.len() > most_chars {
        let kept = text::cut(&result, most_chars).len();
        result.truncate(kept);
    }
    without_interface_lines(py, config, result)
}

struct Extraction<'a, 'py> {
    py: Python<'py>,
    config: &'a Config,
    title: &'a str,
}

impl Extraction<'_, '_> {
    fn blocks(&self, body: Node) -> PyResult<Vec<(String, usize)>> {
        let limits = &self.config.limits;
        let least = limits.MIN_TEXT_CHARS as usize;
        let mut kept = Kept::default();
        let mut found = self.split(body, &kept)?;
        let mut candidate = self.choose(&mut found)?;
        for _ in 0..limits.MAX_PASSES as usize {
            let parts = self.excluded_by_mistake(&found, candidate.size);
            let is_thread =
                found.excluded_chars[COMMENTS as usize] > 0 && self.is_thread(&found, candidate.size)?;
            if parts.is_empty() && !is_thread {
                break;
            }
            kept.mistaken.extend(parts.iter().filter(|(_, place)| *place != COMMENTS).map(|(node, _)| node.address()));
            if is_thread || parts.iter().any(|&(_, place)| place == COMMENTS) {
                kept.places.insert(COMMENTS);
            }
            let mut again = self.split(body, &kept)?;
            let other = self.choose(&mut again)?;
            if !is_thread
                && candidate.size >= least
                && other.score as f64 <= limits.CLEARLY_BETTER_RATIO * candidate.score as f64
            {
                break;
            }
            (found, candidate) = (again, other);
        }
        let entries = self.excluded_entries(&found, candidate.size);
        if !entries.is_empty() {
            kept.places.extend(entries);
            found = self.split(body, &kept)?;
            candidate = self.choose(&mut found)?;
        }
        if found.all.is_empty() {
            found = self.split(body, &Kept { all: true, ..Kept::default() })?;
            candidate = self.choose(&mut found)?;
        }
        Ok(candidate.blocks)
    }

    fn split(&self, body: Node, kept: &Kept) -> PyResult<Paragraphs> {
        split_paragraphs(self.py, self.config, body, kept)
    }

    fn excluded_entries(&self, found: &Paragraphs, size: usize) -> Vec<u8> {
        let limits = &self.config.limits;
        let chars = |place: u8| found.excluded_chars[place as usize];
        let is_short = size < limits.MIN_TEXT_CHARS as usize;
        let enough = if is_short { size as f64 } else { limits.MAX_EXCLUDED_RATIO * size as f64 };
        if chars(CONTENTS) as f64 > enough {
            return vec![CONTENTS];
        }
        let small = (chars(SMALL_ASIDE) + chars(LINKED_ASIDE)) as f64;
        if is_short && small > limits.MAX_SMALL_RATIO * size as f64 {
            return vec![SMALL_ASIDE, LINKED_ASIDE];
        }
        Vec::new()
    }

    fn is_thread(&self, found: &Paragraphs, size: usize) -> PyResult<bool> {
        let limits = &self.config.limits;
        if size < limits.MIN_TEXT_CHARS as usize && found.excluded_chars[COMMENTS as usize] > size {
            return Ok(true);
        }
        let (start, end) = self.middle(found);
        let mut fields = 0;
        for row in &found.all[start..end.min(start + limits.MAX_FIELD_ROWS as usize)] {
            if (row.kind == ITEM || row.text.ends_with(':')) && row.chars < limits.SHORT_CHARS as usize {
                fields += self.config.count_fields(self.py, &row.text)? * if row.kind == ITEM { 2 } else { 1 };
            }
        }
        Ok(fields >= limits.MIN_TICKET_FIELDS as usize)
    }

    fn excluded_by_mistake(&self, found: &Paragraphs, size: usize) -> Vec<(Node, u8)> {
        let limits = &self.config.limits;
        let mut parts = Vec::new();
        for &(node, place, chars) in &found.asides {
            let ratio = if place == LAYOUT_ASIDE { 1.0 } else { limits.MAX_EXCLUDED_RATIO };
            let enough = limits.MIN_TEXT_CHARS.max(ratio * size as f64);
            if chars as f64 > enough && unlinked_chars(self.config, node) as f64 > enough {
                parts.push((node, place));
            }
        }
        parts
    }

    fn choose(&self, found: &mut Paragraphs) -> PyResult<Candidate> {
        let limits = &self.config.limits;
        self.demote_teasers(found);
        let sums = accumulate(&found.all, |paragraph| paragraph.score);
        let (mut most, mut first, mut last) = (sums[sums.len() - 1], 0, found.all.len());
        for &(start, end) in &found.containers {
            let score = sums[end] - sums[start];
            let is_better = score > most || (score == most && end - start < last - first);
            if is_better && !found.lists.contains(&(start, end)) {
                (most, first, last) = (score, start, end);
            }
        }
        if found.sections.contains(&(first, last)) {
            (first, last) = whole_of_section(found, first, last);
            most = sums[last] - sums[first];
        }
        let mut lead = Vec::new();
        for &((start, end), _) in &found.bodies {
            let is_inside = first <= start && end <= last;
            if is_inside && (sums[end] - sums[start]) as f64 >= limits.BODY_SHARE * most as f64 {
                lead = self.lead_blocks(&found.all, first, start);
                (first, last) = (start, end);
                break;
            }
        }
        (first, last) = self.index_range(found, first, last);
        let (start, end) = self.middle(found);
        if start <= first && last <= end && self.is_small_part(&found.all, (first, last), (start, end), &sums) {
            (first, last) = (start, end);
        }
        let mut blocks = lead;
        let mut parts = other_posts(found, first, last);
        parts.push((first, last));
        parts.sort_unstable();
        for (low, high) in parts {
            blocks.extend(self.prune(found, low, high)?);
        }
        let size = block_chars(&blocks);
        let least = limits.MIN_TEXT_CHARS as usize;
        let most_list_chars = self.list_ratio(&found.all[first..last]) * size as f64;
        if size < least || list_chars(&found.all) as f64 > most_list_chars {
            let is_list = size < least || list_chars(&found.all[start..end]) as f64 > most_list_chars;
            let others = if is_list { self.list_blocks(found, start, end)? } else { Vec::new() };
            if block_chars(&others) > size {
                blocks = others;
            }
        }
        let size = block_chars(&blocks);
        Ok(Candidate { blocks, score: most, size })
    }

    fn index_range(&self, found: &Paragraphs, first: usize, last: usize) -> Range {
        let kind = if first < last { found.all[first].kind } else { TEXT };
        if kind <= LINKED_HEADING {
            return (first, last);
        }
        let entries: Vec<Range> =
            found.containers.iter().copied().filter(|&(start, _)| found.all[start].kind == kind).collect();
        let others: HashSet<usize> = entries
            .iter()
            .filter(|&&(start, end)| end <= first || last <= start)
            .map(|&(start, _)| start)
            .collect();
        if (others.len() as f64) < self.config.limits.MIN_TEASERS - 1.0 {
            return (first, last);
        }
        let low = entries.iter().map(|&(start, _)| start).min().unwrap_or(first);
        let high = entries.iter().map(|&(_, end)| end).max().unwrap_or(last);
        found.containers.iter().copied().find(|&(start, end)| start <= low && high <= end).unwrap_or((low, high))
    }

    fn middle(&self, found: &Paragraphs) -> Range {
        let whole = (0, found.all.len());
        if found.has_main {
            return found.mains[0];
        }
        let sizes = accumulate(&found.all, |paragraph| paragraph.chars as i64);
        let enough = self.config.limits.MIN_MIDDLE_SHARE * sizes[sizes.len() - 1] as f64;
        let is_enough = |&&(start, end): &&Range| (sizes[end] - sizes[start]) as f64 >= enough;
        if let Some(&range) = found.mains.iter().find(is_enough) {
            return range;
        }
        let Some(top) = found.all.iter().position(Paragraph::is_top_heading) else { return whole };
        let mut holding = found.containers.iter().filter(|&&(start, end)| start <= top && top < end);
        holding.find(is_enough).copied().unwrap_or(whole)
    }

    fn is_small_part(&self, paragraphs: &[Paragraph], part: Range, whole: Range, sums: &[i64]) -> bool {
        if part == whole {
            return false;
        }
        let share = self.config.limits.MIN_PART_SHARE;
        let around = &paragraphs[whole.0..whole.1];
        let chars = chars_of(around);
        if (sums[part.1] - sums[part.0]) as f64 >= share * chars as f64 {
            return false;
        }
        let is_linked = |paragraph: &&Paragraph| is_link_kind(paragraph.kind) || paragraph.kind == LABEL;
        let linked = chars_of(around.iter().filter(is_linked));
        let plain = chars_of(paragraphs[part.0..part.1].iter().filter(|paragraph| !is_linked(paragraph)));
        (plain as f64) < share * (chars - linked) as f64
    }

    fn list_ratio(&self, paragraphs: &[Paragraph]) -> f64 {
        let limits = &self.config.limits;
        let (mut count, mut sum) = (0, 0);
        for paragraph in paragraphs.iter().filter(|paragraph| paragraph.kind == TEXT) {
            count += 1;
            sum += paragraph.score;
        }
        if count >= limits.MIN_ARTICLE_PARAGRAPHS as i64 && sum >= limits.MIN_ARTICLE_CHARS as i64 {
            limits.MAX_ARTICLE_LIST_RATIO
        } else {
            limits.MAX_LIST_RATIO
        }
    }

    fn list_blocks(&self, found: &Paragraphs, first: usize, last: usize) -> PyResult<Vec<(String, usize)>> {
        let start = self.top(&found.all, first, last);
        let inside: Vec<&Paragraph> = found.all[start.min(last)..last].iter().collect();
        let mut kept: Vec<&Paragraph> =
            inside.iter().copied().filter(|paragraph| !matches!(paragraph.kind, TOOL | LABEL)).collect();
        let others: Vec<&&Paragraph> = kept.iter().filter(|paragraph| paragraph.kind < HEADING).collect();
        let chars: usize = others.iter().map(|paragraph| paragraph.chars).sum();
        let labels = inside.iter().filter(|paragraph| paragraph.kind == LABEL).count();
        if chars < self.config.limits.MIN_TEXT_CHARS as usize && labels > others.len() {
            kept = inside.iter().copied().filter(|paragraph| paragraph.kind != TOOL).collect();
        }
        while let Some(end) = kept.last() {
            if end.kind >= HEADING || !self.config.is_copyright_notice(self.py, &end.text)? {
                break;
            }
            kept.pop();
        }
        let kept = self.drop_pagers(kept)?;
        let kept = if kept.is_empty() { inside } else { kept };
        Ok(kept.into_iter().map(block).collect())
    }

    fn top(&self, paragraphs: &[Paragraph], first: usize, last: usize) -> usize {
        let mut chars = 0;
        for at in first..last {
            let paragraph = &paragraphs[at];
            if paragraph.is_top_heading() {
                return at;
            }
            chars += paragraph.chars;
            if paragraph.kind > HEADING {
                let are_links = paragraphs[first..at].iter().all(|before| is_link_kind(before.kind));
                return if are_links { at } else { first };
            }
            if paragraph.kind == TEXT || chars > self.config.limits.MAX_CHARS_BEFORE_TITLE as usize {
                break;
            }
        }
        first
    }

    fn lead_blocks(&self, paragraphs: &[Paragraph], first: usize, start: usize) -> Vec<(String, usize)> {
        let limits = &self.config.limits;
        let mut lead = Vec::new();
        for paragraph in paragraphs[first..start].iter().rev() {
            if paragraph.kind == TEXT
                && paragraph.chars > limits.MIN_LEAD_CHARS as usize
                && self.config.sentence_ends.contains(&text::last(&paragraph.text))
            {
                lead.push(block(paragraph));
            } else if paragraph.is_top_heading() {
                lead.reverse();
                return if lead.len() <= limits.MAX_LEADS as usize { lead } else { Vec::new() };
            }
        }
        Vec::new()
    }

    fn demote_teasers(&self, found: &mut Paragraphs) {
        let limits = &self.config.limits;
        let headings = &found.linked_headings;
        let least = limits.MIN_TEASERS as usize;
        if headings.len() < least {
            return;
        }
        let all = found.all.len();
        let ends = container_ends(&found.containers, headings.clone());
        let end_of = |at: usize| ends.get(&at).copied().unwrap_or(all);
        let most_chars = limits.MAX_TEASER_CHARS as usize;
        let teasers: Vec<Range> = headings
            .iter()
            .map(|&at| (at, entry_end(&found.all, at, end_of(at))))
            .filter(|&(at, end)| chars_of(&found.all[(at + 1).min(end)..end]) <= most_chars)
            .collect();
        if teasers.len() < least {
            return;
        }
        let levels: HashSet<u8> = teasers.iter().map(|&(at, _)| found.all[at].kind).collect();
        let mut entry_chars = 0;
        for (index, &at) in headings.iter().enumerate() {
            let then = headings.get(index + 1).copied().unwrap_or(all);
            let end = end_of(at).min(then);
            if levels.contains(&found.all[at].kind) {
                entry_chars += chars_of(&found.all[(at + 1).min(end)..end]);
            }
        }
        let scores: i64 = found.all.iter().map(|paragraph| paragraph.score.max(0)).sum();
        if entry_chars as f64 > limits.MAX_TEASER_SHARE * scores as f64 {
            return;
        }
        for (at, end) in teasers {
            for paragraph in &mut found.all[at..end] {
                paragraph.kind = LINKS;
                paragraph.score = -limits.MAX_LINKS_COST as i64;
            }
        }
    }

    fn prune(&self, found: &Paragraphs, first: usize, last: usize) -> PyResult<Vec<(String, usize)>> {
        let (config, py) = (self.config, self.py);
        let limits = &config.limits;
        let paragraphs = &found.all;
        let mut kept: Vec<usize> = Vec::new();
        let mut ends: Option<HashMap<usize, usize>> = None;
        let titles = self.entry_titles(found, first, last);
        let keeps_labels = self.is_form(&paragraphs[first..last]);
        let mut at = self.top(paragraphs, first, last);
        while at < last {
            let place = at;
            let paragraph = &paragraphs[place];
            let kind = paragraph.kind;
            at += 1;
            if (ITEM..TOOL).contains(&kind) {
                if kind == PRE || !config.is_credit(py, &paragraph.text)? {
                    kept.push(place);
                }
                continue;
            }
            if kind > LINKED_ITEM && kind < HEADING {
                if kind == LABEL && keeps_labels {
                    kept.push(place);
                }
                continue;
            }
            let is_below_heading = kept.last().is_some_and(|&before| paragraphs[before].kind > HEADING + 1);
            if kind == LINKS {
                if titles.contains(&place) || (is_below_heading && kept.last() == Some(&(place.wrapping_sub(1)))) {
                    kept.push(place);
                }
                continue;
            }
            if paragraph.chars < limits.MAX_LINE_CHARS as usize {
                let meaning = config.classify_line(py, &paragraph.text)?;
                if meaning != 0 {
                    if meaning == DROP_SECTION || (kind > HEADING && is_followed_by_links(paragraphs, at, last)) {
                        let ends = ends.get_or_insert_with(|| {
                            let headings = (0..paragraphs.len()).filter(|&at| paragraphs[at].kind > HEADING).collect();
                            container_ends(&found.containers, headings)
                        });
                        at = section_end(paragraphs, place, last, ends);
                        continue;
                    }
                    if !is_below_heading || kind != TEXT {
                        continue;
                    }
                }
            }
            if kind > HEADING && self.repeats_title(paragraph)? {
                continue;
            }
            let may_announce = at < last
                && matches!(paragraphs[at].kind, LINKS | TOOL)
                && (kind > HEADING || !is_below_heading);
            if may_announce && self.only_announces(paragraphs, place, last) {
                continue;
            }
            kept.push(place);
        }
        let kept = kept.into_iter().map(|at| &paragraphs[at]).collect();
        let kept = self.drop_stray_links(self.trim(self.drop_pagers(kept)?)?);
        Ok(kept.into_iter().map(block).collect())
    }

    fn is_form(&self, paragraphs: &[Paragraph]) -> bool {
        let count = |kind: u8| paragraphs.iter().filter(|paragraph| paragraph.kind == kind).count();
        let labels = count(LABEL);
        labels >= self.config.limits.MIN_FORM_LABELS as usize
            && labels > count(TEXT)
            && count(ITEM) == 0
            && count(LINKED_ITEM) == 0
    }

    fn entry_titles(&self, found: &Paragraphs, first: usize, last: usize) -> HashSet<usize> {
        let limits = &self.config.limits;
        let paragraphs = &found.all;
        let least = limits.MIN_TEASERS as usize;
        if paragraphs[first..last].iter().filter(|paragraph| paragraph.kind == LINKS).count() < least {
            return HashSet::new();
        }
        let sums = accumulate(paragraphs, |paragraph| if paragraph.kind == TEXT { paragraph.score } else { 0 });
        let mut sizes: HashMap<usize, i64> = HashMap::new();
        for &(start, end) in found.containers.iter().rev() {
            if first <= start && end <= last && paragraphs[start].kind == LINKS && sums[end] > sums[start] {
                sizes.insert(start, sums[end] - sums[start]);
            }
        }
        let sum: i64 = sizes.values().sum();
        let are_most = sum as f64 >= limits.MIN_ENTRY_SHARE * (sums[last] - sums[first]) as f64;
        let texts: HashSet<&str> = sizes.keys().map(|&at| paragraphs[at].text.as_str()).collect();
        if are_most && texts.len() >= least {
            sizes.into_keys().collect()
        } else {
            HashSet::new()
        }
    }

    fn has_arrow(&self, paragraph: &Paragraph) -> bool {
        let arrows = &self.config.arrows;
        arrows.contains(&text::last(&paragraph.text)) || arrows.contains(&text::first(&paragraph.text))
    }

    fn drop_pagers<'p>(&self, kept: Vec<&'p Paragraph>) -> PyResult<Vec<&'p Paragraph>> {
        let most = self.config.limits.MAX_STEP_CHARS as usize;
        let arrows: Vec<usize> = (0..kept.len())
            .filter(|&at| is_entry_kind(kept[at].kind) && kept[at].chars < most && self.has_arrow(kept[at]))
            .collect();
        if arrows.is_empty() {
            return Ok(kept);
        }
        let mut dropped = vec![false; kept.len()];
        for at in arrows {
            if dropped[at] {
                continue;
            }
            for step in [-1, 1] {
                let mut place = at as i64;
                while (0..kept.len() as i64).contains(&place)
                    && is_entry_kind(kept[place as usize].kind)
                    && self.config.is_pager_part(self.py, &kept[place as usize].text)?
                {
                    dropped[place as usize] = true;
                    place += step;
                }
            }
        }
        Ok(without(kept, &dropped))
    }

    fn drop_stray_links<'p>(&self, kept: Vec<&'p Paragraph>) -> Vec<&'p Paragraph> {
        let limits = &self.config.limits;
        let places: Vec<usize> = (0..kept.len()).filter(|&at| kept[at].kind == LINKED_ITEM).collect();
        let linked: usize = places.iter().map(|&at| kept[at].chars).sum();
        let prose: i64 = kept.iter().filter(|one| one.kind == TEXT).map(|one| one.score).sum();
        if places.is_empty() || linked as f64 * limits.MIN_PROSE_RATIO > prose as f64 {
            return kept;
        }
        let mut dropped = vec![false; kept.len()];
        let mut start = 0;
        for (index, &at) in places.iter().enumerate() {
            if index + 1 == places.len() || places[index + 1] != at + 1 {
                let run = &places[start..=index];
                start = index + 1;
                if run.len() > 1 && run.len() <= limits.MAX_STRAY_LINKS as usize && self.are_stray(&kept, run) {
                    run.iter().for_each(|&at| dropped[at] = true);
                }
            }
        }
        without(kept, &dropped)
    }

    fn are_stray(&self, kept: &[&Paragraph], run: &[usize]) -> bool {
        if run[0] == 0 {
            return false;
        }
        let before = kept[run[0] - 1];
        let chars: usize = run.iter().map(|&at| kept[at].chars).sum();
        before.kind == TEXT
            && !before.text.ends_with(':')
            && chars >= self.config.limits.MIN_STRAY_CHARS as usize * run.len()
    }

    fn repeats_title(&self, paragraph: &Paragraph) -> PyResult<bool> {
        let is_long = paragraph.chars >= self.config.limits.MIN_TITLE_CHARS as usize;
        if self.title.is_empty() || !(paragraph.is_top_heading() || is_long) {
            return Ok(false);
        }
        Ok(self.title.contains(&text::lower(self.py, &paragraph.text)?))
    }

    fn only_announces(&self, paragraphs: &[Paragraph], at: usize, last: usize) -> bool {
        let paragraph = &paragraphs[at];
        let kind = paragraph.kind;
        let is_contents = paragraphs[at + 1].kind == TOOL;
        if is_contents && kind < HEADING {
            return false;
        }
        let is_short = paragraph.chars < self.config.limits.MAX_ANNOUNCEMENT_CHARS as usize;
        let announces = is_short && matches!(text::last(&paragraph.text), ':' | '?' | '!' | '…');
        if kind != STUB && !is_contents && !announces {
            return false;
        }
        let mut after = at + 1;
        while after < last && matches!(paragraphs[after].kind, LINKS | TOOL) {
            after += 1;
        }
        if kind < HEADING {
            return after - at > 2 || after == last;
        }
        after == last || (HEADING < paragraphs[after].kind && paragraphs[after].kind <= kind)
    }

    fn trim<'p>(&self, kept: Vec<&'p Paragraph>) -> PyResult<Vec<&'p Paragraph>> {
        let end = self.end_of_text(&kept)?;
        let mut start = 0;
        while start < end && self.may_precede_text(kept[start])? {
            start += 1;
        }
        let mut has_date = false;
        for paragraph in kept[..start].iter().filter(|paragraph| paragraph.kind < HEADING) {
            if self.config.is_date_line(self.py, &paragraph.text)? {
                has_date = true;
                break;
            }
        }
        if !has_date {
            return Ok(kept[..end].to_vec());
        }
        let titles = kept[..start].iter().filter(|paragraph| paragraph.kind > HEADING);
        Ok(titles.chain(&kept[start..end]).copied().collect())
    }

    fn end_of_text(&self, kept: &[&Paragraph]) -> PyResult<usize> {
        let before = |at: usize| if at > 1 { Some(kept[at - 2]) } else { None };
        let mut end = kept.len();
        while end > 0 && (kept[end - 1].kind > HEADING || self.is_notice(kept[end - 1], before(end))?) {
            end -= 1;
        }
        let mut last = end;
        while last > 0 && self.is_loose(kept[last - 1], before(last))? {
            last -= 1;
        }
        let is_after_sentence = last > 0 && kept[last - 1].kind == TEXT && self.is_finished(&kept[last - 1].text);
        Ok(if is_after_sentence && end - last <= self.config.limits.MAX_LOOSE_ENDS as usize { last } else { end })
    }

    fn may_be_last_line(&self, paragraph: &Paragraph, before: Option<&Paragraph>) -> bool {
        matches!(paragraph.kind, TEXT | STUB)
            && paragraph.chars < self.config.limits.MAX_LAST_LINE_CHARS as usize
            && !before.is_some_and(|before| before.kind > HEADING)
    }

    fn is_notice(&self, paragraph: &Paragraph, before: Option<&Paragraph>) -> PyResult<bool> {
        if !self.may_be_last_line(paragraph, before) {
            return Ok(false);
        }
        if self.config.is_copyright_notice(self.py, &paragraph.text)? {
            return Ok(true);
        }
        if !self.config.is_note_of_change(self.py, &paragraph.text)? {
            return Ok(false);
        }
        match before {
            Some(before) => Ok(!self.config.is_note_of_change(self.py, &before.text)?),
            None => Ok(true),
        }
    }

    fn is_loose(&self, paragraph: &Paragraph, before: Option<&Paragraph>) -> PyResult<bool> {
        if !self.may_be_last_line(paragraph, before) {
            return Ok(false);
        }
        if paragraph.kind == STUB {
            return Ok(self.config.is_label(self.py, &paragraph.text)? || !text::has_alnum(&paragraph.text));
        }
        Ok(paragraph.score < paragraph.chars as i64 && !self.is_finished(&paragraph.text))
    }

    fn is_finished(&self, line: &str) -> bool {
        let closing = &self.config.closing_signs;
        match line.trim_end_matches(|sign| closing.contains(&sign)).chars().next_back() {
            None => true,
            Some(sign) => self.config.final_signs.contains(&sign),
        }
    }

    fn may_precede_text(&self, paragraph: &Paragraph) -> PyResult<bool> {
        if paragraph.kind > HEADING {
            return Ok(paragraph.is_top_heading());
        }
        Ok(matches!(paragraph.kind, TEXT | STUB)
            && paragraph.chars < self.config.limits.MAX_LOOSE_LINE_CHARS as usize
            && !self.is_finished(&paragraph.text)
            && self.config.is_label(self.py, &paragraph.text)?)
    }
}

fn accumulate(paragraphs: &[Paragraph], value: impl Fn(&Paragraph) -> i64) -> Vec<i64> {
    let mut sums = Vec::with_capacity(paragraphs.len() + 1);
    let mut sum = 0;
    sums.push(0);
    for paragraph in paragraphs {
        sum += value(paragraph);
        sums.push(sum);
    }
    sums
}

fn without<'p>(kept: Vec<&'p Paragraph>, dropped: &[bool]) -> Vec<&'p Paragraph> {
    kept.into_iter().zip(dropped).filter(|(_, dropped)| !**dropped).map(|(paragraph, _)| paragraph).collect()
}

fn list_chars(paragraphs: &[Paragraph]) -> usize {
    chars_of(paragraphs.iter().filter(|paragraph| matches!(paragraph.kind, LINKS | ITEM | LINKED_ITEM)))
}

fn other_posts(found: &Paragraphs, first: usize, last: usize) -> Vec<Range> {
    let around =
        found.bodies.iter().find(|((start, end), names)| !names.is_empty() && *start <= first && last <= *end);
    let Some(((start, end), names)) = around else { return Vec::new() };
    let others = found.bodies.iter().filter(|((low, high), other)| other == names && (high < start || low > end));
    others.map(|&(place, _)| place).collect()
}

fn whole_of_section(found: &Paragraphs, mut first: usize, mut last: usize) -> Range {
    let headings = accumulate(&found.all, |paragraph| (paragraph.kind > HEADING) as i64);
    let after = found.containers.iter().position(|&range| range == (first, last)).map_or(0, |at| at + 1);
    for &(start, end) in &found.containers[after..] {
        let is_around = start <= first && last <= end;
        if is_around && headings[end] - headings[start] > headings[last] - headings[first] {
            (first, last) = (start, end);
            if !found.sections.contains(&(first, last)) {
                break;
            }
        }
    }
    (first, last)
}

fn next_heading(paragraphs: &[Paragraph], mut at: usize, end: usize, level: u8) -> usize {
    while at < end {
        let kind = paragraphs[at].kind;
        if (HEADING < kind && kind <= level) || kind > LINKED_HEADING {
            break;
        }
        at += 1;
    }
    at
}

fn entry_end(paragraphs: &[Paragraph], at: usize, end: usize) -> usize {
    let level = paragraphs[at].kind as i64 - LINKED_HEADING as i64;
    next_heading(paragraphs, at + 1, end, (HEADING as i64 + level).max(0) as u8)
}

/// For each paragraph the end of the smallest container that continues after it.
fn container_ends(containers: &[Range], mut waiting: Vec<usize>) -> HashMap<usize, usize> {
    waiting.sort_unstable();
    let mut ends = HashMap::new();
    for &(start, end) in containers {
        let low = waiting.partition_point(|&place| place < start);
        let high = waiting.partition_point(|&place| place < end - 1);
        if low < high {
            ends.extend(waiting.drain(low..high).map(|place| (place, end)));
        }
    }
    ends
}

fn is_followed_by_links(paragraphs: &[Paragraph], at: usize, last: usize) -> bool {
    at < last && matches!(paragraphs[at].kind, LINKS | LINKED_ITEM)
}

fn section_end(paragraphs: &[Paragraph], at: usize, last: usize, ends: &HashMap<usize, usize>) -> usize {
    let kind = paragraphs[at].kind;
    if kind > HEADING {
        return next_heading(paragraphs, at + 1, ends.get(&at).copied().unwrap_or(last).min(last), kind);
    }
    let mut at = at + 1;
    while at < last && matches!(paragraphs[at].kind, LINKS | STUB | ITEM | LINKED_ITEM | TOOL) {
        at += 1;
    }
    at
}
