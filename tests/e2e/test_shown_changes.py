"""What changed is shown where it is, the same by every command; what was called noise is listed and corrected."""

from __future__ import annotations

from datetime import UTC, datetime

from evercrawl.collection.change_groups import change_feed
from evercrawl.collection.collection import open as open_collection
from evercrawl.web.protocols.atom_feeds import change_entry
from tests.e2e.test_history import STORY, Harbour, harbour  # noqa: F401

LONG = " ".join(f"Sentence {number} of the report is about the sea." for number in range(60))


def listing(*, job: str = "Nurse", price: str = "12 euros", age: str = "ten", seats: int = 12) -> str:
    """A page with a list of links, a table, definitions and a long paragraph."""
    return (
        "<!doctype html><html lang=en><title>Jobs</title><body><main><h1>Jobs at the harbour</h1>"
        f"<ul><li><a href=/j1>{job}</a></li><li><a href=/j2>Captain of the ferry</a></li>"
        "<li><a href=/j3>Cook</a></li></ul>"
        f"<table><tr><th>Ticket</th><th>Price</th></tr><tr><td>Adults</td><td>{price}</td></tr></table>"
        f"<dl><dt>Age</dt><dd>From {age} years on</dd></dl>"
        f"<p>{LONG} The lighthouse is {age} years old and stands at the end of the pier.</p></main>"
        f"<aside><p>Seats left: {seats}</p></aside></body></html>"
    )


def test_diff_changes_and_feed_show_the_same_words(harbour: Harbour) -> None:  # noqa: F811
    url = harbour.url(1)
    harbour.put(1, listing())
    harbour.refresh()
    harbour.put(1, listing(job="Doctor", price="15 euros", age="eleven"))
    harbour.refresh()
    (group,) = [
        one for one in harbour.lines("changes", "--since", "1d") if one["pages"] == [url] and "Doctor" in one["example"]
    ]
    shown = {
        "changes": harbour.call("changes", "--since", "1d"),
        "example": group["example"],
        "diff": harbour.call("diff", url),
    }
    with open_collection(harbour.folder / "site.evercrawl") as collection:
        record = next(
            one for one in change_feed(collection.path, collection.settings, site=None, limit=9) if one.url == url
        )
    shown["feed"] = change_entry(record, "https://crawl.example").content
    for name, text in shown.items():
        for word in ("Nurse", "Doctor", "12", "15", "eleven", "lighthouse is", "years old"):
            assert word in text, f"{name} does not show {word}: {text}"
    assert "<del" in shown["feed"]
    assert "[-" not in shown["feed"]
    assert group["class"] == "content"
    assert LONG[:300] not in group["example"]


def test_noise_is_listed_on_request_and_corrected(harbour: Harbour) -> None:  # noqa: F811
    url = harbour.url(1)
    for seats in range(12, 18):
        for number in range(4):
            harbour.put(number, listing(seats=seats + 7 * number).replace("Jobs at", f"Jobs number {number} at"))
        harbour.refresh()
    assert not [one for one in harbour.lines("changes", "--since", "1d") if one["class"] == "noise"]
    noise = [one for one in harbour.lines("changes", "--since", "1d", "--noise") if one["class"] == "noise"]
    (seats_left,) = [one for one in noise if one.get("parts") == ["Seats left: *"]]
    assert url in seats_left["pages"]
    assert "evercrawl mute except 'Seats left: *'" in harbour.call("changes", "--since", "1d", "--noise")
    (rule,) = harbour.lines("mute", "except", seats_left["parts"][0], "--page", url)
    assert rule["verdict"] == "content"
    corrected = datetime.now(UTC).isoformat()
    before = len(harbour.lines("history", url))
    harbour.put(1, listing(seats=99).replace("Jobs at", "Jobs number 1 at"))
    harbour.put(2, listing(seats=98).replace("Jobs at", "Jobs number 2 at"))
    harbour.refresh()
    found = harbour.lines("changes", "--since", corrected)
    assert [(one["class"], one["pages"]) for one in found] == [("content", [url])]
    assert found[0]["example"] == "~ Seats left: [-24-]{+99+}"
    assert len(harbour.lines("history", url)) == before + 1
    assert "reported" in harbour.call("mute", "list")
    harbour.call("mute", "undo", str(rule["id"]))
    assert harbour.lines("mute", "list") == []
