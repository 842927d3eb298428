from __future__ import annotations

import pytest

from evercrawl.core.sitemap.sitemap_values import parse_date, parse_milliseconds
from evercrawl.core.sitemap.sitemap_writer import w3c_datetime


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("1997", "1997-01-01T00:00:00Z"),
        ("1997-07", "1997-07-01T00:00:00Z"),
        ("1997-07-16", "1997-07-16T00:00:00Z"),
        ("1997-07-16T19:20+01:00", "1997-07-16T18:20:00Z"),
        ("1997-07-16T19:20:30+01:00", "1997-07-16T18:20:30Z"),
        ("1997-07-16T19:20:30.45+01:00", "1997-07-16T18:20:30.450000Z"),
        ("1997-07-16T19:20:30.123456789Z", "1997-07-16T19:20:30.123456Z"),
        ("1997-07-16T19:20:30+0100", "1997-07-16T18:20:30Z"),
        ("1997-07-16T19:20:30-03", "1997-07-16T22:20:30Z"),
        ("1997-07-16T19:20:30", "1997-07-16T19:20:30Z"),
        ("1997-07-16t19:20:30z", "1997-07-16T19:20:30Z"),
        ("1997-07-16 19:20:30 +01:00", "1997-07-16T18:20:30Z"),
        ("1997-07-16 19:20:30 UTC", "1997-07-16T19:20:30Z"),
        ("1997-07-16 19:20", "1997-07-16T19:20:00Z"),
        ("1997-7-6", "1997-07-06T00:00:00Z"),
        ("1997-07-16Z", "1997-07-16T00:00:00Z"),
        ("1997-07-16+02:00", "1997-07-16T00:00:00Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
        ("Wed, 02 Oct 2002 13:00:00 GMT", "2002-10-02T13:00:00Z"),
        ("Wednesday, 2 October 2002 13:00:00 EDT", "2002-10-02T17:00:00Z"),
        ("2 Oct 02 13:00 +0200", "2002-10-02T11:00:00Z"),
        ("02 Oct 98 13:00:00 Z", "1998-10-02T13:00:00Z"),
        ("Wednesday, 02-Oct-02 13:00:00 GMT", "2002-10-02T13:00:00Z"),
        ("Tue Mar 01 2022 16:06:13 GMT+0000 (Coordinated Universal Time)", "2022-03-01T16:06:13Z"),
        ("Tue Mar  1 16:06:13 UTC 2022", "2022-03-01T16:06:13Z"),
    ],
)
def test_unambiguous_dates(written: str, expected: str):
    moment = parse_date(f"\n {written}\t")
    assert moment is not None
    assert w3c_datetime(moment) == expected


@pytest.mark.parametrize(
    "written",
    [
        None, "", " ", "0000-01-01", "1997-13-01", "1997-02-29", "1997-07-16T25:00Z", "1997-07-16T24:00:00Z",
        "1997-07-16T19:61Z", "1997-07-16T19:20:61Z", "19970716", "06/05/2024", "869080830", "2024-W19-1",
        "05 Jan 17 13:34:55", "02 Okt 2002 13:00:00 GMT", "02 Oct 2002 13:00:00 QQQ", "now", "1997-07-16T",
        "x" * 99, "0001-01-01T00:00:00+14:00", "2015-10-08T07:18:53Z 2015-06-15T15:33:55Z",
        "１９９７", "Tue Mar 1 16:06:13 UTC",
    ],
)  # fmt: skip
def test_dates_that_are_refused(written: str | None):
    assert parse_date(written) is None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (" 1308473192000 ", "2011-06-19T08:46:32Z"),
        ("1308473192123", "2011-06-19T08:46:32.123000Z"),
        ("0", "1970-01-01T00:00:00Z"),
        ("-1000", "1969-12-31T23:59:59Z"),
        ("2011-06-19", "2011-06-19T00:00:00Z"),
    ],
)
def test_milliseconds(written: str, expected: str):
    moment = parse_milliseconds(written)
    assert moment is not None
    assert w3c_datetime(moment) == expected


@pytest.mark.parametrize("written", [None, "", "999999999999999", "1.5", "9" * 30])
def test_milliseconds_that_are_refused(written: str | None):
    assert parse_milliseconds(written) is None
