//! The links of a page, as `core/document/links.py` lists them and `core/document/reference.py` resolves them.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::config::Config;

type Link<'py> = (Bound<'py, PyAny>, Bound<'py, PyString>, bool);

/// The links found so far, each URL once; nofollow only if every occurrence is.
pub struct Links<'a, 'py> {
    config: &'a Config,
    resolver: &'a Bound<'py, PyAny>,
    /// What the resolver knows of the folder: references and their URLs, None for those that are not on the web.
    known: Bound<'py, PyDict>,
    is_self: bool,
    folder: String,
    /// Empty if paths cannot simply be appended.
    origin: String,
    index_of: Bound<'py, PyDict>,
    found: Vec<Link<'py>>,
    most: usize,
}

impl<'a, 'py> Links<'a, 'py> {
    pub fn new(config: &'a Config, resolver: &'a Bound<'py, PyAny>, most: usize) -> PyResult<Self> {
        let py = resolver.py();
        Ok(Links {
            config,
            resolver,
            known: resolver.getattr(intern!(py, "known"))?.downcast_into()?,
            is_self: resolver.getattr(intern!(py, "is_self"))?.extract()?,
            folder: resolver.getattr(intern!(py, "folder"))?.extract()?,
            origin: resolver.getattr(intern!(py, "origin"))?.extract()?,
            index_of: PyDict::new(py),
            found: Vec::new(),
            most,
        })
    }

    /// Add a link; false: there are enough.
    pub fn add(
        &mut self,
        reference: &str,
        is_nofollow: bool,
        text: impl FnOnce() -> Bound<'py, PyString>,
    ) -> PyResult<bool> {
        let Some(url) = self.resolve(reference)? else { return Ok(true) };
        if let Some(index) = self.index_of.get_item(&url)? {
            self.found[index.extract::<usize>()?].2 &= is_nofollow;
            return Ok(true);
        }
        if self.found.len() >= self.most {
            return Ok(false);
        }
        self.index_of.set_item(&url, self.found.len())?;
        self.found.push((url, text(), is_nofollow));
        Ok(true)
    }

    pub fn finish(self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (kind, create) = (&self.config.link_type, &self.config.tuple_new);
        let links: PyResult<Vec<_>> =
            self.found.into_iter().map(|link| create.bind(py).call1((kind, link))).collect();
        PyTuple::new(py, links?)
    }

    /// `ReferenceResolver.resolve`
    fn resolve(&self, reference: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = self.resolver.py();
        let cut = reference.find('#');
        if cut == Some(0) && self.is_self {
            return Ok(None);
        }
        let bare = &reference[..cut.unwrap_or(reference.len())];
        let is_cut_at_space = cut.is_some() && bare.bytes().next_back().is_some_and(|byte| byte <= b' ');
        if !is_cut_at_space {
            let key = PyString::new(py, bare);
            if let Some(url) = self.known.get_item(&key)? {
                return Ok((!url.is_none()).then_some(url));
            }
            if let Some(url) = self.join_plain(bare) {
                let chars = bare.len() + url.chars().count();
                let url = PyString::new(py, &url);
                if chars <= self.config.limits.MAX_CACHED_CHARS as usize {
                    self.known.set_item(key, &url)?;
                }
                return Ok(Some(url.into_any()));
            }
        }
        let url = self.resolver.call_method1(intern!(py, "resolve"), (reference,))?;
        Ok((!url.is_none()).then_some(url))
    }

    /// `ReferenceResolver._join_plain`; None: the reference is not that simple.
    fn join_plain(&self, reference: &str) -> Option<String> {
        if self.origin.is_empty() || reference.is_empty() || !is_plain_path(reference) {
            return None;
        }
        if reference.starts_with('/') {
            return Some(format!("{}{reference}", self.origin));
        }
        let (mut folder, mut rest) = (self.folder.as_str(), reference);
        while let Some(after) = rest.strip_prefix("../") {
            rest = after;
            if folder.len() > self.origin.len() + 1 {
                folder = &folder[..folder[..folder.len() - 1].rfind('/')? + 1];
            }
        }
        Some(format!("{folder}{}", rest.strip_prefix("./").unwrap_or(rest)))
    }
}

/// `_PLAIN_PATH`
fn is_plain_path(reference: &str) -> bool {
    let mut rest = reference;
    if let Some(after) = rest.strip_prefix('/').or_else(|| rest.strip_prefix("./")) {
        rest = after;
    } else {
        while let Some(after) = rest.strip_prefix("../") {
            rest = after;
        }
    }
    let mut is_start = true;
    for byte in rest.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'~' | b'-' => is_start = false,
            b'.' if !is_start => {}
            b'/' if !is_start => is_start = true,
            _ => return false,
        }
    }
    true
}
