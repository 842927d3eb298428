# ruff: noqa: E501  (prose and commands)
"""Blogs and content management: WordPress with three themes, Mezzanine (`APP_PAGES_MEZZANINE`)."""

from __future__ import annotations

import functools
import json
import operator
import os
import shutil
import subprocess
import time
from pathlib import Path

from research.app_pages import texts
from research.app_pages.applications import application, get, server
from research.app_pages.generators import folder, run, slice_for
from research.app_pages.pages import Book, padded, visible_strings
from research.app_pages.texts import to_html, truth_of

MEZZANINE = Path(os.environ.get("APP_PAGES_MEZZANINE", "/usr")) / "bin"


WP_THEMES = {"twentytwentyone": 72, "twentytwentytwo": 73, "twentytwentythree": 74}


WP_CONFIG = """<?php
define('DB_NAME','wp'); define('DB_USER','root'); define('DB_PASSWORD',''); define('DB_HOST','127.0.0.1:33062'); define('DB_CHARSET','utf8mb4'); define('DB_COLLATE','');
foreach (['AUTH_KEY','SECURE_AUTH_KEY','LOGGED_IN_KEY','NONCE_KEY','AUTH_SALT','SECURE_AUTH_SALT','LOGGED_IN_SALT','NONCE_SALT'] as $k) define($k,'x'.md5($k));
define('WP_HOME','http://127.0.0.1:8311'); define('WP_SITEURL','http://127.0.0.1:8311'); define('DISABLE_WP_CRON',true); define('WP_HTTP_BLOCK_EXTERNAL',true);
$table_prefix='wp_';
if(!defined('ABSPATH')) define('ABSPATH', __DIR__.'/');
require_once ABSPATH.'wp-settings.php';
"""


WP_HEAD = """<?php
if (!empty($install)) define('WP_INSTALLING', true);
$_SERVER['HTTP_HOST']='127.0.0.1:8311'; $_SERVER['SERVER_NAME']='127.0.0.1'; $_SERVER['REQUEST_URI']='/';
require __DIR__.'/www/wp-load.php';
"""


WP_FILL = """
require_once ABSPATH.'wp-admin/includes/taxonomy.php';
update_option('permalink_structure','/%postname%/'); update_option('blogdescription','Written near the water'); update_option('posts_per_page', 8);
update_option('comments_notify',0); update_option('moderation_notify',0);
wp_delete_post(1, true); wp_delete_post(2, true);
$data=json_decode(file_get_contents(__DIR__.'/data.json'),true);
foreach($data as $i=>$d){
 $cat=wp_create_category($d['category']); $ts=1770000000-$i*40000;
 $id=wp_insert_post(['post_title'=>$d['title'],'post_name'=>$d['slug'],'post_content'=>$d['html'],'post_excerpt'=>$d['excerpt'],'post_status'=>'publish','post_type'=>$d['type'],
  'post_date'=>date('Y-m-d H:i:s',$ts),'post_category'=>[$cat],'tags_input'=>['harbour'],'post_author'=>1,'comment_status'=>'open']);
 foreach($d['comments'] as $c) wp_insert_comment(['comment_post_ID'=>$id,'comment_author'=>'Reader','comment_author_email'=>'r@example.org','comment_content'=>$c,'comment_approved'=>1]);
}
global $wp_rewrite; $wp_rewrite->init(); flush_rewrite_rules();
"""


FORM = '<form action="/send" method="post">{fields}<p><button type="submit">Send</button></p></form>'


def form_html(fields: list[tuple[str, str, str]]) -> str:
    """Return a contact form with labels."""
    parts = []
    for name, label, kind in fields:
        field = (
            f'<textarea id="{name}" name="{name}"></textarea>'
            if kind == "textarea"
            else f'<input type="{kind}" id="{name}" name="{name}">'
        )
        parts.append(f'<p><label for="{name}">{label}</label> {field}</p>')
    return FORM.format(fields="\n".join(parts))


@application
def wordpress(book: Book) -> None:
    """Three themes over one blog: posts, pages, the front page, a category, a search, a contact form."""
    base = folder("wordpress")
    shutil.copytree(
        "/usr/share/wordpress",
        base / "www",
        ignore_dangling_symlinks=True,
        ignore=shutil.ignore_patterns("wp-config.php"),
    )
    (base / "www/wp-config.php").write_text(WP_CONFIG)
    run("mariadb-install-db", f"--datadir={base}/db", "--auth-root-authentication-method=normal", "--user=root")
    database = subprocess.Popen(
        [
            "mariadbd",
            "--no-defaults",
            "--user=root",
            f"--datadir={base}/db",
            f"--socket={base}/s.sock",
            "--bind-address=127.0.0.1",
            "--port=33062",
            f"--pid-file={base}/m.pid",
            "--innodb-buffer-pool-size=64M",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(60):
            if not subprocess.run(
                ["mariadb", "-S", f"{base}/s.sock", "-u", "root", "-e", "create database if not exists wp"],
                capture_output=True,
                check=False,
            ).returncode:
                break
            time.sleep(0.5)
        _wordpress_pages(book, base)
    finally:
        database.terminate()
        database.wait(30)


def _wordpress_pages(book: Book, base: Path) -> None:
    docs = {theme: slice_for(number, docs=1, small=4) for theme, number in WP_THEMES.items()}
    news = [texts.news_article(at) for at in range(12)]
    contact, fields = texts.form_labels(1)
    data = [
        {
            "title": doc.title,
            "slug": f"{doc.slug}",
            "html": to_html(doc.blocks),
            "excerpt": doc.summary,
            "type": "post",
            "category": "Town" if at % 2 else "Water",
            "comments": texts.POSTS[at : at + at % 3],
        }
        for at, doc in enumerate(news)
    ]
    data += [
        {
            "title": doc.title,
            "slug": doc.slug,
            "html": to_html(doc.blocks),
            "excerpt": "",
            "type": "page",
            "category": "Town",
            "comments": [],
        }
        for theme in docs.values()
        for doc in theme
    ]
    data.append(
        {
            "title": contact.title,
            "slug": contact.slug,
            "html": to_html(contact.blocks) + form_html(fields),
            "excerpt": "",
            "type": "page",
            "category": "Town",
            "comments": [],
        }
    )
    (base / "data.json").write_text(json.dumps(data))
    (base / "install.php").write_text(
        WP_HEAD.replace("if (!empty($install))", "if (true)")
        + "require ABSPATH.'wp-admin/includes/upgrade.php'; function wp_new_blog_notification(){}\n"
        "wp_install('Quay blog','admin','a@example.org',true,'','adminpass12345');"
    )
    (base / "fill.php").write_text(WP_HEAD + WP_FILL)
    run("php", base / "install.php")
    run("php", base / "fill.php")
    (base / "router.php").write_text(
        "<?php $p=__DIR__.'/www'.parse_url($_SERVER['REQUEST_URI'],PHP_URL_PATH); if(is_file($p)) return false; chdir(__DIR__.'/www'); "
        "$_SERVER['SCRIPT_NAME']='/index.php'; require __DIR__.'/www/index.php';"
    )
    meta = (
        ".entry-footer",
        ".posted-on",
        ".byline",
        "time",
        ".wp-block-post-date",
        ".wp-block-post-author",
        ".wp-block-post-terms",
        ".posted-by",
        ".cat-links",
        ".tags-links",
        "#comments",
        ".comments-area",
        ".wp-block-comments",
        ".post-taxonomies",
        ".wp-block-post-comments",
        "a.more-link",
        ".wp-block-post-excerpt__more-link",
    )
    for theme, members in docs.items():
        (base / "theme.php").write_text(WP_HEAD + f"switch_theme('{theme}');")
        run("php", base / "theme.php")
        name = f"wordpress-{theme}"
        with server(8311, "php", "-S", "127.0.0.1:8311", "-t", base / "www", base / "router.php") as url:
            for doc in [*members, news[WP_THEMES[theme] % 12]]:
                book.add_doc(name, doc, f"{url}/{doc.slug}/", get(f"{url}/{doc.slug}/"), optional_at=meta)
            if theme != "twentytwentytwo":
                book.add(
                    name,
                    "contact",
                    "form",
                    f"{url}/{contact.slug}/",
                    get(f"{url}/{contact.slug}/"),
                    title=contact.title,
                    optional=["Send"],
                    optional_at=meta,
                    paragraphs=[*truth_of(contact.blocks), *(label for _, label, _ in fields)],
                )
            for path, slug, kind in (
                ("/", "front", "news-index"),
                ("/category/town/", "category", "news-index"),
                ("/?s=harbour", "search", "search"),
                ("/page/2/", "page-2", "news-index"),
            ):
                html = get(url + path)
                own = html.split("<main")[-1].split("</main>")[0]  # the footer has a list of recent posts
                here = [doc for doc in news if f">{doc.title}<" in own]
                shown = padded(" ".join(visible_strings(own)))
                # a theme shows the excerpt or the whole post: the truth is what the source has of it
                truth = []
                for doc in here:
                    whole = all(padded(part) in shown for part in truth_of(doc.blocks))
                    truth += [
                        doc.title,
                        *(truth_of(doc.blocks) if whole else [doc.summary] if doc.summary in own else []),
                    ]
                pages = (
                    [
                        doc.title
                        for doc in (contact, *functools.reduce(operator.iadd, docs.values(), []))
                        if f">{doc.title}<" in own
                    ]
                    if slug == "search"
                    else []
                )
                book.add(
                    name,
                    slug,
                    kind,
                    url + path,
                    html,
                    paragraphs=truth + pages,
                    optional_at=(
                        *meta,
                        "h1",
                        ".page-title",
                        ".wp-block-query-title",
                        ".search-result-count",
                        *((".entry-summary", ".entry-content", ".wp-block-post-excerpt") if slug == "search" else ()),
                    ),
                )


@application
def mezzanine(book: Book) -> None:
    """A content management system: pages, a blog with its list, a form that the editor made."""
    base = folder("mezzanine")
    run(MEZZANINE / "mezzanine-project", "quay", cwd=base, PATH=f"{MEZZANINE}:{os.environ['PATH']}")
    site = base / "quay"
    run(MEZZANINE / "python", "manage.py", "createdb", "--noinput", "--nodata", cwd=site)
    docs = slice_for(91, docs=1, small=4)
    news = [texts.news_article(at + 9) for at in range(5)]
    contact, fields = texts.form_labels(3)
    pages = [(doc.title, doc.slug, to_html(doc.blocks)) for doc in docs]
    posts = [(doc.title, doc.slug, doc.summary, to_html(doc.blocks)) for doc in news]
    (site / "fill.py").write_text(f"""
import os
os.environ['DJANGO_SETTINGS_MODULE'] = 'quay.settings'
import django; django.setup()
from django.contrib.auth import get_user_model
from mezzanine.blog.models import BlogPost
from mezzanine.forms.models import Field, Form
from mezzanine.pages.models import RichTextPage
user = get_user_model().objects.first()
for title, slug, html in {pages!r}:
    RichTextPage.objects.create(title=title, slug=slug, content=html)
for title, slug, summary, html in {posts!r}:
    BlogPost.objects.create(title=title, slug=slug, content=html, description=summary, gen_description=False, user=user)
form = Form.objects.create(title={contact.title!r}, slug={contact.slug!r}, content={to_html(contact.blocks)!r}, button_text='Send', response='Thanks', send_email=False)
for name, label, kind in {fields!r}:
    Field.objects.create(form=form, label=label, field_type=2 if kind == 'textarea' else 1, required=False)
""")
    run(MEZZANINE / "python", "fill.py", cwd=site)
    with server(8316, MEZZANINE / "python", "manage.py", "runserver", "--noreload", "127.0.0.1:8316", cwd=site) as url:
        meta = (".post-meta", ".meta", ".byline", "h6", ".blog-list-meta")
        for doc in docs:
            book.add_doc("mezzanine", doc, f"{url}/{doc.slug}/", get(f"{url}/{doc.slug}/"))
        where = f"{url}/blog/{news[1].slug}/"
        book.add_doc("mezzanine", news[1], where, get(where), optional_at=meta)
        html = get(f"{url}/blog/")
        truth = [part for doc in news for part in (doc.title, doc.summary)]
        book.add(
            "mezzanine", "blog", "news-index", f"{url}/blog/", html, title="Blog", paragraphs=truth, optional_at=meta
        )
        where = f"{url}/{contact.slug}/"
        book.add(
            "mezzanine",
            "contact",
            "form",
            where,
            get(where),
            title=contact.title,
            optional=["Send"],
            paragraphs=[*truth_of(contact.blocks), *(label for _, label, _ in fields)],
        )
