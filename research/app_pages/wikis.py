# ruff: noqa: E501  (prose and commands)
"""Wikis: MediaWiki with five skins, DokuWiki."""

from __future__ import annotations

import shutil
import subprocess
import urllib.error
import urllib.request

from research.app_pages import texts
from research.app_pages.applications import application, get, server, wiki_kind
from research.app_pages.generators import folder, markdown_of, run, slice_for
from research.app_pages.pages import Book, pandoc
from research.app_pages.texts import Doc, to_markdown

MW_NAMES = {
    "vector": "Heron",
    "vector-2022": "Plover",
    "monobook": "Curlew",
    "timeless": "Avocet",
    "minerva": "Godwit",
}  # first word of the titles


MW_SKINS = {"vector": 60, "vector-2022": 61, "monobook": 62, "timeless": 63, "minerva": 64}


@application
def mediawiki(book: Book) -> None:
    """Five skins over one wiki: articles, lists, a category, all pages, a search, a talk page, a list of changes."""
    base = folder("mediawiki")
    root = base / "www"
    shutil.copytree(
        "/usr/share/mediawiki",
        root,
        ignore=shutil.ignore_patterns("LocalSettings.php", "images"),
        ignore_dangling_symlinks=True,
    )
    run(
        "php",
        root / "maintenance/install.php",
        "--confpath",
        base,
        "--dbtype",
        "sqlite",
        "--dbpath",
        base,
        "--dbname",
        "wiki",
        "--server",
        "http://127.0.0.1:8301",
        "--scriptpath",
        "",
        "--pass",
        "adminpass12345",
        "--skins",
        "Vector,MonoBook,Timeless,MinervaNeue",
        "Marsh Wiki",
        "Admin",
    )
    conf = base / "LocalSettings.php"
    conf.write_text(conf.read_text() + '\n$wgArticlePath = "/index.php/$1";\n$wgUsePathInfo = true;\n')
    docs = {skin: slice_for(number, docs=2, small=4) for skin, number in MW_SKINS.items()}

    def edit(title: str, text: str) -> object:
        return subprocess.run(
            ["php", str(root / "maintenance/edit.php"), "--conf", str(conf), "-u", "Admin", title],
            input=text,
            text=True,
            check=True,
            capture_output=True,
        )

    for skin, members in docs.items():
        for doc in members:
            edit(
                f"{MW_NAMES[skin]} {doc.title}",
                pandoc(to_markdown(doc.blocks), "mediawiki") + f"\n[[Category:{MW_NAMES[skin]} pages]]\n",
            )
        edit(f"Category:{MW_NAMES[skin]} pages", texts.PROSE[MW_SKINS[skin] % 8])
        posts = texts.POSTS[MW_SKINS[skin] % 8 :][:4]
        edit(
            f"Talk:{MW_NAMES[skin]} {members[0].title}",
            f"== {texts.TOPICS[MW_SKINS[skin] % 16]} ==\n"
            + "\n".join(":" * at + post for at, post in enumerate(posts)),
        )
    run("php", root / "maintenance/rebuildall.php", "--conf", conf)
    run("php", root / "maintenance/runJobs.php", "--conf", conf)
    with server(8301, "php", "-S", "127.0.0.1:8301", "-t", root, MW_CONFIG_FILE=str(conf)) as url:
        for skin, members in docs.items():
            _mediawiki_skin(book, url, skin, members)


def _mediawiki_skin(book: Book, url: str, skin: str, members: list[Doc]) -> None:
    name = f"mediawiki-{skin}"

    def address(title: str, more: str = "") -> str:
        title = title[0].upper() + title[1:]
        return f"{url}/index.php/{urllib.request.quote(title.replace(' ', '_'))}?useskin={skin}{more}"

    titles = [f"{MW_NAMES[skin]} {doc.title}" for doc in members]
    for doc, title in zip(members, titles, strict=True):
        page = doc._replace(title=title)
        book.add_doc(
            name,
            page,
            address(title),
            get(address(title)),
            kind=wiki_kind(doc),
            optional=["From Marsh Wiki"],
            optional_at=("#catlinks",),
        )
    category = f"Category:{MW_NAMES[skin]} pages"
    book.add(
        name,
        "category",
        "list",
        address(category),
        get(address(category)),
        title=category,
        paragraphs=[texts.PROSE[MW_SKINS[skin] % 8], *titles],
        optional=["From Marsh Wiki"],
        optional_at=("#mw-pages > h2", "#mw-pages > p", ".mw-category-group h3", ".mw-content-ltr h3"),
    )
    where = address("Special:AllPages", f"&from={MW_NAMES[skin]}&to={MW_NAMES[skin]}zz")
    book.add(
        name, "allpages", "list", where, get(where), title="All pages", paragraphs=titles, optional=["From Marsh Wiki"]
    )
    talk = f"Talk:{titles[0]}"
    if skin != "minerva":  # shows the list of topics only
        book.add(
            name,
            "talk",
            "forum",
            address(talk),
            get(address(talk)),
            title=talk,
            optional=["From Marsh Wiki"],
            paragraphs=[texts.TOPICS[MW_SKINS[skin] % 16], *texts.POSTS[MW_SKINS[skin] % 8 :][:4]],
        )
    where = address("Special:Search", f"&fulltext=1&search={MW_NAMES[skin]}&ns0=1&limit=20").replace("intitle:", "")
    html = get(where)
    found = [title for title in titles if f'title="{title}"' in html]
    if len(found) > 2:
        book.add(
            name,
            "search",
            "search",
            where,
            html,
            title="Search results",
            paragraphs=found,
            optional=["From Marsh Wiki", *found],  # Each is listed twice: by its title and by its text.
            optional_at=(
                ".searchresult",
                ".mw-search-result-data",
                ".results-info",
                "#mw-content-text h2",
                ".mw-search-exists",
            ),
        )


@application
def dokuwiki(book: Book) -> None:
    """Wiki pages, the index of a namespace, a search, old revisions, the list of recent changes."""
    base = folder("dokuwiki")
    shutil.copytree("/usr/share/dokuwiki", base / "www", symlinks=False)
    shutil.copytree(
        "/etc/dokuwiki", base / "conf", symlinks=False, ignore=shutil.ignore_patterns("*.apache*", "*.conf.apache")
    )
    for part in (
        "pages/harbour",
        "attic",
        "cache",
        "index",
        "locks",
        "media",
        "media_attic",
        "media_meta",
        "meta",
        "tmp",
        "log",
    ):
        (base / "data" / part).mkdir(parents=True)
    (base / "conf" / "local.php").write_text(
        "<?php\n$conf['title']='Quay wiki'; $conf['lang']='en'; $conf['useacl']=0; $conf['recent']=20; $conf['license']='cc-by-sa';"
        f" $conf['userewrite']=0; $conf['savedir']='{base}/data'; $conf['baseurl']='http://127.0.0.1:8302'; $conf['basedir']='/';\n"
    )
    for file in ("local.protected.php", "plugins.local.php"):
        (base / "conf" / file).unlink(missing_ok=True)
    (base / "www/inc/preload.php").write_text(
        f"<?php\nif(!defined('DOKU_CONF')) define('DOKU_CONF','{base}/conf/');\n"
        f"if(!defined('DOKU_E_LEVEL')) define('DOKU_E_LEVEL', E_ERROR);\n"
    )
    docs = slice_for(66, docs=4, small=6)
    for doc in docs:
        # a definition list has no markup here; bold terms as pandoc writes them are kept
        (base / "data/pages/harbour" / f"{doc.slug.replace('-', '_')}.txt").write_text(
            pandoc(markdown_of(doc), "dokuwiki")
        )
    (base / "data/pages/start.txt").write_text(
        "====== Start ======\n\nWelcome on board.\n\n"
        + "".join(f"  * [[harbour:{doc.slug.replace('-', '_')}|{doc.title}]]\n" for doc in docs)
    )
    run("php", base / "www/bin/indexer.php", "-q")
    with server(8302, "php", "-S", "127.0.0.1:8302", "-t", base / "www") as url:
        meta = (".docInfo", ".pageId")
        for doc in docs:
            where = f"{url}/doku.php?id=harbour:{doc.slug.replace('-', '_')}"
            book.add_doc("dokuwiki", doc, where, get(where), kind=wiki_kind(doc), optional_at=meta)
        book.add(
            "dokuwiki",
            "start",
            "list",
            f"{url}/doku.php?id=start",
            get(f"{url}/doku.php?id=start"),
            title="Start",
            optional_at=meta,
            paragraphs=["Welcome on board.", *(doc.title for doc in docs)],
        )
        where = f"{url}/doku.php?do=search&id=start&q=harbour"
        html = get(where)
        names = [f"{doc.slug.replace('-', '_')}" for doc in docs]
        book.add(
            "dokuwiki",
            "search",
            "search",
            where,
            html,
            title="Search",
            paragraphs=[name for name in names if f"id=harbour:{name}" in html.split('id="dokuwiki__content"')[1]],
            optional_at=(
                ".search_fullpage_result dd",
                ".search_results dd",
                ".search_fullpage_result .meta",
                ".search_results dl dt",
            ),
        )
