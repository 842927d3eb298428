"""The value of everything that waits in a crawl for a topic given by one page or a few words.
Pages and links are judged by a model that is learned again as the crawl goes on, at intervals that grow with the number
of samples, so the cost per page stays bounded."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest
from math import inf
from typing import Any

from evercrawl.core.focus.classifier import TopicSketch
from evercrawl.core.focus.feedback_model import (
    PAGE_BLOCKS,
    FeedbackPolicy,
    LinkModel,
    PageModel,
    PageSample,
    PageVectors,
    ResolvedLink,
    WaitingLink,
    hub_scores,
    link_vectors,
    page_vectors,
    url_form,
    waiting_links,
)
from evercrawl.core.focus.link_scorer import MAX_LINKS_IN, LinkValues
from evercrawl.core.focus.sparse_rows import Floats, SparseVector, Vocabulary
from evercrawl.model.document import Document

MAX_SAMPLES = 600  # Pages that the topic is learned from. Then the oldest page off topic makes room.
LEARN_EVERY = 16  # The model is learned again when the samples have grown by one in so many.
MAX_UPDATED = 3_000  # Best waiting URLs that are valued again when the model changes.
MAX_SCORES = 20_000  # Fetched pages whose chance is remembered, the latest.
MAX_SAVED_SAMPLES = 300
OFF_TOPIC = 0.1  # A page less likely on topic makes room first.
UNKNOWN_VALUE = 0.01  # Value of a link until it is judged.
EXAMPLE_VALUE = 2.0  # Value of a link to an example that was not fetched by this crawl.


class FeedbackFrontier(LinkValues[WaitingLink]):
    """Waiting URLs and what is known of them. Invariant: the first samples are the examples or the query."""

    max_waiting = 50_000

    def __init__(
        self,
        sketch: TopicSketch,
        seeds: Iterable[str] = (),
        *,
        is_allowed: Callable[[str], bool] = lambda _: True,
        policy: FeedbackPolicy | None = None,
    ) -> None:
        super().__init__(seeds, is_allowed)
        self._policy = policy or FeedbackPolicy()
        self._sketch = sketch
        self._vocabulary = Vocabulary()
        self._samples = self._example_samples()
        self._in_links: dict[str, list[WaitingLink]] = {sample.url: [] for sample in self._samples}
        self._examples = len(self._samples)
        self._expected: dict[str, float] = {}
        self._settled = 0.0  # Expected number of pages on topic among fetched pages that are no longer samples.
        self._unfetched_examples = {sample.url for sample in self._samples}
        self._next = 0
        self._learn()

    def _example_samples(self) -> list[PageSample]:
        pages = {page.url: page.blocks for page in self._sketch.pages}
        return [
            PageSample(url, {name: self._vocabulary.vector(blocks.get(name, Counter())) for name in PAGE_BLOCKS}, ())
            for url, blocks in pages.items()
        ]

    @property
    def on_topic(self) -> float:
        """The expected number of fetched pages on topic, by what is known now."""
        found = sum([self._scores[sample.url] for sample in self._samples[self._examples :]])
        return self._settled + found + self._examples - len(self._unfetched_examples)

    def _url_chance(self, url: str) -> float:
        link = WaitingLink("", url, link_vectors(self._vocabulary, url))
        return float(self._links.chances([link], self._scores, len(self._vocabulary))[0][0])

    def _redirected(self, link: WaitingLink, target: str) -> WaitingLink:
        return WaitingLink(link.source, target, link.vectors)

    def _was_seen(self, url: str) -> bool:
        return url in self.values or url in self._scores

    def add_page(self, url: str, document: Document) -> float:
        """Learn from a fetched page and add its links; return the chance that it is on topic."""
        links = [
            link
            for link in waiting_links(self._vocabulary, url, document)
            if link.url != url and self._is_allowed(link.url)
        ]
        self.fetched += 1
        self._add_sample(url, page_vectors(self._vocabulary, url, document), links)
        self._add_links(links, depth=self._depths.pop(url, 0) + 1)
        if self.fetched >= self._next:
            self._learn()
        else:
            self._value_links(dict.fromkeys(link.url for link in links))
        return self._scores[url]

    def _add_sample(self, url: str, vectors: PageVectors, links: Sequence[WaitingLink]) -> None:
        in_links = self.waiting.pop(url, [])
        self.values.pop(url, None)
        targets = tuple(dict.fromkeys(link.url for link in links if link.way != "above"))
        if url in self._in_links:
            number = next(n for n, sample in enumerate(self._samples) if sample.url == url)
            if number < self._examples:
                self._unfetched_examples.discard(url)
                self._samples[number] = self._samples[number]._replace(links=targets)
                return
            self._remove_sample(number)  # Fetched again.
        self._in_links[url] = in_links
        sample = PageSample(url, vectors, targets)
        self._scores[url] = self._pages.chance(self._with_in_links(sample), len(self._vocabulary))
        self._samples.append(sample)
        if len(self._samples) > MAX_SAMPLES + self._examples:
            places = range(self._examples, len(self._samples) - 1)
            worst = next((n for n in places if self._scores[self._samples[n].url] < OFF_TOPIC), self._examples)
            self._remove_sample(worst)
        if len(self._scores) > MAX_SCORES:
            kept = {sample.url for sample in self._samples}
            del self._scores[next(url for url in self._scores if url not in kept)]

    def _remove_sample(self, number: int) -> None:
        sample = self._samples.pop(number)
        self._settled += self._scores[sample.url]
        del self._in_links[sample.url]

    def _add_links(self, links: Sequence[WaitingLink], *, depth: int) -> None:
        for link in links:
            known = self._in_links.get(link.url)
            if known is None and link.url not in self._scores:
                known = self.waiting.get(link.url)
                if known is None and len(self.waiting) < self.max_waiting:
                    known = self.waiting[link.url] = []
                self.values.setdefault(link.url, UNKNOWN_VALUE)
                self._depths.setdefault(link.url, depth)
            elif link.url in self._unfetched_examples:
                self.values.setdefault(link.url, EXAMPLE_VALUE)
            if known is not None and len(known) < MAX_LINKS_IN:
                known.append(link)

    def _with_in_links(self, sample: PageSample) -> PageVectors:
        """Return the vectors of a sample with the words of the links to it."""
        counts: Counter[int] = Counter(sample.vectors["inlinks"].features if "inlinks" in sample.vectors else ())
        for link in self._in_links[sample.url]:
            counts.update(link.vectors["anchor"].features)
        vector = SparseVector(array("i", counts), array("f", map(float, counts.values())))
        return {**sample.vectors, "inlinks": vector}

    def _learn(self) -> None:
        """Learn the model from all samples, and value the best waiting URLs by it."""
        self._next = self.fetched + max(1, len(self._samples) // LEARN_EVERY)
        width, samples = len(self._vocabulary), self._samples
        forms = [url_form(sample.url) for sample in samples]
        vectors = [self._with_in_links(sample) for sample in samples]
        background = self._background()
        self._pages = PageModel(
            vectors,
            forms,
            examples=self._examples,
            known=[self._scores.get(sample.url, 1.0) for sample in samples],
            background=background,
            width=width,
            policy=self._policy,
        )
        for sample, chance in zip(samples, self._pages.estimates, strict=True):
            self._scores[sample.url] = float(chance)
        known = [
            ResolvedLink(link, number) for number, sample in enumerate(samples) for link in self._in_links[sample.url]
        ]
        best = self._best(MAX_UPDATED)
        self._links = LinkModel(
            self._pages,
            samples,
            known,
            others=[link for url in best for link in self.waiting.get(url, ())[:1]],
            background=background,
            hubs=hub_scores(samples, self._pages.chances, self._expected),
            width=width,
            policy=self._policy,
        )
        self._value_links(best)

    def _background(self) -> dict[str, Floats]:
        """Return the share of pages in general that have each feature, by block."""
        width = len(self._vocabulary)
        return {name: self._vocabulary.values(shares, width) for name, shares in self._sketch.background.items()}

    def _value_links(self, urls: Iterable[str]) -> None:
        links = [link for url in urls for link in self.waiting.get(url, ())]
        if not links:
            return
        near, hub = self._policy.proximity_value, self._policy.hub_value
        best: dict[str, float] = {}
        expected: dict[str, float] = {}
        pages, hubs = self._links.chances(links, self._scores, len(self._vocabulary))
        for link, page_chance, hub_chance in zip(links, pages.tolist(), hubs.tolist(), strict=True):
            value = page_chance + hub * hub_chance + near * 0.5 ** self._depths.get(link.url, 0)
            best[link.url] = max(best.get(link.url, 0.0), value)
            expected[link.url] = max(expected.get(link.url, 0.0), page_chance)
        for url, value in best.items():
            if self.values.get(url) != inf:
                self.values[url] = value
        self._expected = {url: chance for url, chance in {**self._expected, **expected}.items() if url in self.values}

    def to_bytes(self) -> bytes:
        """Return what the crawl has learned and what waits."""
        samples = nlargest(
            MAX_SAVED_SAMPLES, self._samples[self._examples :], key=lambda sample: self._scores[sample.url]
        )
        settled = self.on_topic - sum([self._scores[sample.url] for sample in samples])
        rows = [[sample.url, self._stored_vectors(sample), sample.links] for sample in samples]
        return self._stored({"settled": settled, "vocabulary": self._vocabulary.features(), "samples": rows})

    def _stored_vectors(self, sample: PageSample) -> dict[str, tuple[list[int], list[float]]]:
        vectors = self._with_in_links(sample)
        return {
            name: (vector.features.tolist(), [round(weight, 2) for weight in vector.weights])
            for name, vector in vectors.items()
        }

    def _restore(self, fields: dict[str, Any]) -> None:
        self._vocabulary = Vocabulary(fields["vocabulary"])
        self._samples = self._example_samples()
        for url, vectors, links in fields["samples"]:
            loaded = {name: SparseVector(array("i", v[0]), array("f", v[1])) for name, v in vectors.items()}
            self._samples.append(PageSample(url, loaded, tuple(links)))
        self._in_links = {sample.url: [] for sample in self._samples}
        self._settled = fields["settled"]
        self._unfetched_examples = {sample.url for sample in self._samples[: self._examples]}
        self._learn()
