"""What kind of file does the ending of a URL's path promise? Everything unknown may be a page."""

from __future__ import annotations

from collections.abc import Iterable

from evercrawl.errors import ConfigError

_ENDINGS = {
    "image": "apng avif bmp cr2 cur eps gif heic heif ico jfif jp2 jpe jpeg jpg jxl nef pbm pgm png pnm ppm"
    " psd svg svgz tif tiff webp xbm xpm",
    "style": "css less sass scss xsl xslt",
    "script": "cjs js jsx mjs swf ts tsx wasm",
    "font": "eot otf ttc ttf woff woff2",
    "archive": "7z apk appimage arj bak bin bz2 cab cpio crx deb dll dmg ear exe gz img iso jar lha lz lz4"
    " lzh lzma msi pkg pyc rar rpm sit sitx sql sqlite tar tbz tbz2 tgz txz war warc whl xpi xz zip zst zstd",
    "media": "3g2 3gp aac aif aiff amr ape asf avi divx f4a f4v flac flv m2ts m3u m3u8 m4a m4b m4p m4v mid"
    " midi mka mkv mov mp2 mp3 mp4 mpa mpe mpeg mpg mts oga ogg ogv opus ram rm rmvb vob wav weba webm"
    " wma wmv",
    "document": "azw azw3 djv djvu doc docm docx dotx dwg dxf epub mobi odg odp ods odt pdf potx pps ppsx ppt"
    " pptm pptx rtf vsd xls xlsb xlsm xlsx xlt xps",
}
FILE_TYPES = tuple(_ENDINGS)
LONGEST_ENDING = 8

_TYPE_OF_ENDING = {ending: kind for kind, endings in _ENDINGS.items() for ending in endings.split()}


def file_type_of(url: str) -> str | None:
    """The kind of file that a canonical URL promises; None: a page, or nobody knows."""
    end = url.find("?")
    if end < 0:
        end = len(url)
    dot = url.rfind(".", 0, end)
    if end - dot - 1 > LONGEST_ENDING:
        return None
    # An ending with a slash in it, such as that of a bare host, is in no list.
    return _TYPE_OF_ENDING.get(url[dot + 1 : end].lower())


def check_file_types(names: Iterable[str]) -> frozenset[str]:
    """The kinds that the setting asks for; ConfigError where one does not exist."""
    asked = frozenset(names)
    if unknown := sorted(asked - set(FILE_TYPES)):
        known = ", ".join(FILE_TYPES)
        raise ConfigError(f"scope.fetch_types does not know {', '.join(unknown)}; it knows {known}")
    return asked
