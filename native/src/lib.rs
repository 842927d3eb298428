//! The pass over a page's tree in native code. The readable reference is Python: `evercrawl.core.document`.

mod config;
mod elements;
mod hashes;
mod interface_lines;
mod links;
mod main_text;
mod nesting;
mod paragraphs;
mod snapshot;
mod text;
mod tree;

use std::collections::HashSet;
use std::sync::OnceLock;

use pyo3::exceptions::{PyImportError, PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use config::Config;
use tree::Node;

static CONFIG: OnceLock<Config> = OnceLock::new();

fn config() -> PyResult<&'static Config> {
    CONFIG.get().ok_or_else(|| PyRuntimeError::new_err("setup() was not called"))
}

/// The names of the attributes that the element passed to `setup` must have, each with the value "value of NAME".
#[pyfunction]
fn attribute_names() -> Vec<&'static str> {
    config::NAMES.to_vec()
}

/// The node that selectolax's object stands for. The object holds the parser, and a call holds its arguments.
fn node_of(object: &Bound<'_, PyAny>) -> PyResult<Node> {
    let address: usize = object.getattr(intern!(object.py(), "mem_id"))?.extract()?;
    // SAFETY: `mem_id` is the address of a node of a tree that lives as long as the object.
    unsafe { Node::at(address) }.ok_or_else(|| PyRuntimeError::new_err("there is no node"))
}

/// Read numbers, limits and functions. `probe` is the element with all attributes, followed by a text.
/// Raises RuntimeError if the tree is not laid out as this module was written for.
#[pyfunction]
fn setup(settings: &Bound<'_, PyDict>, probe: &Bound<'_, PyAny>, text: &str) -> PyResult<()> {
    let element = node_of(probe)?;
    let config = Config::read(settings, element)?;
    let is_readable = config.names.all().into_iter().all(|name| {
        element.value(name).is_some_and(|value| value == format!("{}{}", config::VALUE_OF, name.letters))
    });
    if !is_readable || element.text() != text || element.tag() != config.tags.a {
        return Err(PyRuntimeError::new_err("this version of the HTML parser is not known"));
    }
    let _ = CONFIG.set(config);
    Ok(())
}

/// The main text of the page with this body element; `title` is in lower case.
#[pyfunction]
fn extract_main_text(body: &Bound<'_, PyAny>, title: &str, most_chars: usize) -> PyResult<String> {
    main_text::extract_main_text(body.py(), config()?, node_of(body)?, title, most_chars)
}

/// The anchors, headings and elements with metadata of the page with this root element; see `elements::scan`.
#[pyfunction]
fn scan<'py>(root: &Bound<'py, PyAny>, wants_texts: bool) -> PyResult<elements::Scanned<'py>> {
    elements::scan(config()?, root, node_of(root)?, wants_texts)
}

/// What the bytes of a page tell before it is parsed, as bits.
#[pyfunction]
fn survey(body: &[u8]) -> PyResult<u8> {
    Ok(elements::survey(config()?, body))
}

/// Take the rules of `core/change/snapshot.py`.
#[pyfunction]
fn setup_snapshots(settings: &Bound<'_, PyDict>) -> PyResult<()> {
    snapshot::set_rules(settings)
}

/// The blocks of the page with this body element; see `snapshot::walk_blocks`.
#[pyfunction]
fn walk_blocks<'py>(body: &Bound<'py, PyAny>) -> PyResult<snapshot::Blocks<'py>> {
    snapshot::walk_blocks(body.py(), config()?, node_of(body)?)
}

/// Hashes of the tokens of a folded text; None: the reference has to find them.
#[pyfunction]
fn token_hashes<'py>(
    py: Python<'py>,
    folded: &str,
    other_marks: &str,
    unspaced_share: f64,
) -> Option<Bound<'py, PyBytes>> {
    hashes::token_hashes(folded, other_marks, unspaced_share).map(|hashes| PyBytes::new(py, &hashes))
}

/// Hashes of plain tokens.
#[pyfunction]
fn plain_hashes(py: Python<'_>, tokens: Vec<String>) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &hashes::plain_hashes(&tokens))
}

/// What of a text is new; None: the reference has to tell.
#[pyfunction]
fn novelty<'py>(
    py: Python<'py>,
    text: &str,
    recent: &[u8],
    previous: &[u8],
    marks: Vec<u32>,
    known: HashSet<Vec<u8>>,
    limits: hashes::NoveltyLimits,
) -> Option<hashes::Novelty<'py>> {
    hashes::novelty(py, text, recent, previous, marks, &known, &limits)
}

/// The text of a digest (RFC 4648 section 6) of a length that needs no padding.
#[pyfunction]
fn base32<'py>(py: Python<'py>, digest: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    hashes::base32(digest).map(|text| PyBytes::new(py, &text)).ok_or_else(|| PyValueError::new_err("no multiple of 5 bytes"))
}

/// Set in the environment: the package does not load, so that the reference does all the work.
const PURE_VARIABLE: &str = "EVERCRAWL_PURE";

#[pymodule]
fn evercrawl_native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    if std::env::var_os(PURE_VARIABLE).is_some_and(|value| !value.is_empty()) {
        return Err(PyImportError::new_err(format!("{PURE_VARIABLE} is set")));
    }
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(attribute_names, module)?)?;
    module.add_function(wrap_pyfunction!(setup, module)?)?;
    module.add_function(wrap_pyfunction!(extract_main_text, module)?)?;
    module.add_function(wrap_pyfunction!(scan, module)?)?;
    module.add_function(wrap_pyfunction!(survey, module)?)?;
    module.add_function(wrap_pyfunction!(setup_snapshots, module)?)?;
    module.add_function(wrap_pyfunction!(walk_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(token_hashes, module)?)?;
    module.add_function(wrap_pyfunction!(plain_hashes, module)?)?;
    module.add_function(wrap_pyfunction!(novelty, module)?)?;
    module.add_function(wrap_pyfunction!(base32, module)?)?;
    Ok(())
}
