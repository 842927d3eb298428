# ruff: noqa: E501  (prose and commands)
"""Blogs, forums and shops: WordPress, Spirit, django-machina, django-oscar, and Redmine as a project site."""

from __future__ import annotations

import functools
import json
import operator
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

from research.app_pages import texts
from research.app_pages.applications import application, get, server
from research.app_pages.generators import BIN, folder, run, slice_for
from research.app_pages.pages import Book, padded, pandoc, select_texts, visible_strings
from research.app_pages.texts import Block, plain, to_html, to_markdown, truth_of

SPIRIT = Path(os.environ.get("APP_PAGES_SPIRIT", "/usr")) / "bin"
MACHINA = Path(os.environ.get("APP_PAGES_MACHINA", "/usr")) / "bin"
MEZZANINE = Path(os.environ.get("APP_PAGES_MEZZANINE", "/usr")) / "bin"
CARTRIDGE = Path(os.environ.get("APP_PAGES_CARTRIDGE", "/usr")) / "bin"
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
def spirit(book: Book) -> None:
    """A forum: the list of categories, a category, threads, a search form, a registration form."""
    base = folder("spirit")
    run(SPIRIT / "spirit", "startproject", "mysite", cwd=base, PATH=f"{SPIRIT}:{os.environ['PATH']}")
    site = base / "mysite"
    env = {"DJANGO_SETTINGS_MODULE": "mysite.settings.dev"}
    with (site / "mysite/settings/dev.py").open("a") as file:
        file.write("\nALLOWED_HOSTS=['*']\n")
    run(SPIRIT / "python", "manage.py", "spiritinstall", cwd=site, **env)
    threads = [
        (title, [texts.POSTS[(at * 5 + k) % 16] for k in range(2 + at % 5)]) for at, title in enumerate(texts.TOPICS)
    ]
    (site / "fill.py").write_text(f"""
import datetime
import django; django.setup()
from django.contrib.auth import get_user_model
from django.utils import timezone
from spirit.category.models import Category
from spirit.comment.models import Comment
from spirit.topic.models import Topic
users = [get_user_model().objects.create_user(n, n + '@example.org', 'pw12345678') for n in ('ines', 'tomas', 'ruth', 'jan')]
cats = [Category.objects.create(title=t, description=d) for t, d in (('Workshop', 'Tools, glue and wood'), ('Kitchen', 'Bread and winter stores'), ('Everything else', 'What fits nowhere'))]
for at, (title, posts) in enumerate({threads!r}):
    topic = Topic.objects.create(user=users[at % 4], category=cats[at % 3], title=title)
    for k, post in enumerate(posts):
        Comment.objects.create(user=users[(at + k) % 4], topic=topic, comment=post, comment_html='<p>' + post + '</p>')
    Topic.objects.filter(pk=topic.pk).update(comment_count=len(posts), last_active=timezone.now() - datetime.timedelta(days=30 - at))
    print(topic.get_absolute_url())
print(*(c.get_absolute_url() for c in cats))
""")
    *paths, cats = run(SPIRIT / "python", "fill.py", cwd=site, **env).splitlines()
    with server(
        8312, SPIRIT / "python", "manage.py", "runserver", "--noreload", "127.0.0.1:8312", cwd=site, **env
    ) as url:
        meta = (
            ".comment__info",
            ".comment__img",
            ".comment-info",
            ".comment-date",
            ".comment-user",
            ".username",
            "time",
            ".row-info",
            ".info",
            ".comment-menu",
            ".comment-likes",
            ".headline-title",
        )
        for at in (1, 4, 8, 13):
            title, posts = threads[at]
            book.add(
                "spirit",
                f"thread-{at}",
                "forum",
                url + paths[at],
                get(url + paths[at]),
                title=title,
                paragraphs=posts,
                optional_at=meta,
            )
        where = url + "/"
        book.add(
            "spirit",
            "index",
            "forum",
            where,
            get(where),
            paragraphs=[title for title, _ in threads if title in get(where)],
            optional_at=(".topic__category", ".topic__comments", ".topic__date"),
        )
        first = url + cats.split()[0]
        book.add(
            "spirit",
            "category",
            "forum",
            first,
            get(first),
            title="Workshop",
            paragraphs=[title for at, (title, _) in enumerate(threads) if at % 3 == 0],
            optional=["Tools, glue and wood"],
            optional_at=(".topic__category", ".topic__comments", ".topic__date"),
        )
        where = url + "/user/register/"
        labels = select_texts(get(where), ("form label",))
        book.add(
            "spirit",
            "register",
            "form",
            where,
            get(where),
            title="Register",
            paragraphs=[label.rstrip(":") for label in labels if label != "Leave blank:"],
            optional=["Register"],
            optional_at=("form button", "form .field", "form a"),
        )


MACHINA_SETTINGS = """
from machina import MACHINA_MAIN_STATIC_DIR, MACHINA_MAIN_TEMPLATE_DIR
SECRET_KEY='x'; DEBUG=True; ALLOWED_HOSTS=['*']; ROOT_URLCONF='urls'; USE_TZ=True; STATIC_URL='/static/'; DEFAULT_AUTO_FIELD='django.db.models.AutoField'
DATABASES={'default':{'ENGINE':'django.db.backends.sqlite3','NAME':'db.sqlite3'}}
INSTALLED_APPS=['django.contrib.auth','django.contrib.contenttypes','django.contrib.sessions','django.contrib.messages','django.contrib.staticfiles','django.contrib.admin','mptt','haystack','widget_tweaks',
 'machina','machina.apps.forum','machina.apps.forum_conversation','machina.apps.forum_conversation.forum_attachments','machina.apps.forum_conversation.forum_polls','machina.apps.forum_feeds',
 'machina.apps.forum_moderation','machina.apps.forum_search','machina.apps.forum_tracking','machina.apps.forum_member','machina.apps.forum_permission']
MIDDLEWARE=['django.contrib.sessions.middleware.SessionMiddleware','django.contrib.auth.middleware.AuthenticationMiddleware','django.contrib.messages.middleware.MessageMiddleware','machina.apps.forum_permission.middleware.ForumPermissionMiddleware']
TEMPLATES=[{'BACKEND':'django.template.backends.django.DjangoTemplates','DIRS':[MACHINA_MAIN_TEMPLATE_DIR],'APP_DIRS':True,'OPTIONS':{'context_processors':['django.template.context_processors.request','django.contrib.auth.context_processors.auth','django.contrib.messages.context_processors.messages','machina.core.context_processors.metadata']}}]
STATICFILES_DIRS=[MACHINA_MAIN_STATIC_DIR]
CACHES={'default':{'BACKEND':'django.core.cache.backends.locmem.LocMemCache'},'machina_attachments':{'BACKEND':'django.core.cache.backends.filebased.FileBasedCache','LOCATION':'cache'}}
HAYSTACK_CONNECTIONS={'default':{'ENGINE':'haystack.backends.simple_backend.SimpleEngine'}}
MACHINA_DEFAULT_AUTHENTICATED_USER_FORUM_PERMISSIONS=['can_see_forum','can_read_forum']
"""


@application
def machina(book: Book) -> None:
    """Another forum: the index with descriptions, a forum, threads."""
    base = folder("machina")
    (base / "settings.py").write_text(MACHINA_SETTINGS)
    (base / "urls.py").write_text(
        "from django.urls import include, path\nfrom machina import urls\nurlpatterns=[path('', include(urls))]\n"
    )
    env = {"DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": str(base)}
    run(MACHINA / "python", "-m", "django", "migrate", cwd=base, **env)
    forums = [("Boats", texts.PROSE[4]), ("Gardens", "Seeds, soil and slugs."), ("Market", texts.PROSE[2])]
    threads = [
        (title, [texts.POSTS[(at * 3 + k + 2) % 16] for k in range(1 + at % 6)])
        for at, title in enumerate(reversed(texts.TOPICS))
    ]
    (base / "fill.py").write_text(f"""
import django; django.setup()
from django.contrib.auth import get_user_model
from machina.apps.forum.models import Forum
from machina.apps.forum_conversation.models import Post, Topic
from machina.apps.forum_permission.models import ForumPermission, UserForumPermission
users = [get_user_model().objects.create_user(n, n + '@example.org', 'pw12345678') for n in ('mina', 'olu', 'petra', 'samir')]
top = Forum.objects.create(name='Town square', type=Forum.FORUM_CAT)
forums = [Forum.objects.create(name=n, description=d, type=Forum.FORUM_POST, parent=top) for n, d in {forums!r}]
for name in ('can_see_forum', 'can_read_forum'):
    UserForumPermission.objects.create(permission=ForumPermission.objects.get(codename=name), anonymous_user=True, forum=None, has_perm=True)
for at, (title, posts) in enumerate({threads!r}):
    topic = Topic.objects.create(subject=title, poster=users[at % 4], forum=forums[at % 3], type=Topic.TOPIC_POST, status=Topic.TOPIC_UNLOCKED, approved=True)
    for k, text in enumerate(posts):
        Post.objects.create(topic=topic, poster=users[(at + k) % 4], subject=('Re: ' if k else '') + title, content=text, approved=True)
    print('/forum/%s-%d/topic/%s-%d/' % (topic.forum.slug, topic.forum_id, topic.slug, topic.pk))
print(*('/forum/%s-%d/' % (f.slug, f.pk) for f in forums))
""")
    *paths, boards = run(MACHINA / "python", "fill.py", cwd=base, **env).splitlines()
    with server(
        8313, MACHINA / "python", "-m", "django", "runserver", "--noreload", "127.0.0.1:8313", cwd=base, **env
    ) as url:
        for at in (1, 4, 9):
            title, posts = threads[at]
            book.add(
                "machina",
                f"thread-{at}",
                "forum",
                url + paths[at],
                get(url + paths[at]),
                title=title,
                paragraphs=posts,
                optional_at=(
                    ".post .author",
                    ".post h4",
                    ".post h5",
                    ".post small",
                    ".post .subject",
                    ".topic-title",
                    ".post-content h4",
                    ".post p.author",
                    ".post .profile",
                    ".user-card",
                    ".post .col-md-2",
                    ".post .text-muted",
                    ".post .post-title",
                ),
            )
        book.add(
            "machina",
            "index",
            "forum",
            url + "/",
            get(url + "/"),
            paragraphs=["Town square", *(part for forum in forums for part in forum)],
            optional_at=(
                ".forum-count",
                ".forum-last-post",
                ".forum-last-post *",
                ".card-footer",
                ".topic-count",
                "time",
            ),
        )
        board = url + boards.split()[0]
        book.add(
            "machina",
            "board",
            "forum",
            board,
            get(board),
            title="Boats",
            optional=[forums[0][1]],
            paragraphs=[title for at, (title, _) in enumerate(threads) if at % 3 == 0],
            optional_at=(
                ".topic-created",
                ".topic-name div",
                ".topic-count",
                ".topic-last-post",
                ".topic-last-post *",
                "time",
                ".card-header",
                ".topic-name small",
            ),
        )


OSCAR_SETTINGS = """
from oscar.defaults import *
SECRET_KEY='x'; DEBUG=True; ALLOWED_HOSTS=['*']; ROOT_URLCONF='urls'; USE_TZ=True; STATIC_URL='/static/'; MEDIA_URL='/media/'; MEDIA_ROOT='media'; DEFAULT_AUTO_FIELD='django.db.models.AutoField'; SITE_ID=1
OSCAR_SHOP_NAME='Marsh store'; OSCAR_SHOP_TAGLINE='Things that last'; OSCAR_DEFAULT_CURRENCY='EUR'; OSCAR_FROM_EMAIL='a@example.org'; LANGUAGE_CODE='en-gb'; OSCAR_MISSING_IMAGE_URL='none.png'; THUMBNAIL_DEFAULT_STORAGE='django.core.files.storage.FileSystemStorage'; THUMBNAIL_ALIASES={}
DATABASES={'default':{'ENGINE':'django.db.backends.sqlite3','NAME':'db.sqlite3','ATOMIC_REQUESTS':True}}
INSTALLED_APPS=['django.contrib.admin','django.contrib.auth','django.contrib.contenttypes','django.contrib.sessions','django.contrib.messages','django.contrib.staticfiles','django.contrib.sites','django.contrib.flatpages',
 'oscar.config.Shop','oscar.apps.analytics.apps.AnalyticsConfig','oscar.apps.checkout.apps.CheckoutConfig','oscar.apps.address.apps.AddressConfig','oscar.apps.shipping.apps.ShippingConfig','oscar.apps.catalogue.apps.CatalogueConfig',
 'oscar.apps.catalogue.reviews.apps.CatalogueReviewsConfig','oscar.apps.communication.apps.CommunicationConfig','oscar.apps.partner.apps.PartnerConfig','oscar.apps.basket.apps.BasketConfig','oscar.apps.payment.apps.PaymentConfig',
 'oscar.apps.offer.apps.OfferConfig','oscar.apps.order.apps.OrderConfig','oscar.apps.customer.apps.CustomerConfig','oscar.apps.search.apps.SearchConfig','oscar.apps.voucher.apps.VoucherConfig','oscar.apps.wishlists.apps.WishlistsConfig',
 'oscar.apps.dashboard.apps.DashboardConfig','oscar.apps.dashboard.reports.apps.ReportsDashboardConfig','oscar.apps.dashboard.users.apps.UsersDashboardConfig','oscar.apps.dashboard.orders.apps.OrdersDashboardConfig',
 'oscar.apps.dashboard.catalogue.apps.CatalogueDashboardConfig','oscar.apps.dashboard.offers.apps.OffersDashboardConfig','oscar.apps.dashboard.partners.apps.PartnersDashboardConfig','oscar.apps.dashboard.pages.apps.PagesDashboardConfig',
 'oscar.apps.dashboard.ranges.apps.RangesDashboardConfig','oscar.apps.dashboard.reviews.apps.ReviewsDashboardConfig','oscar.apps.dashboard.vouchers.apps.VouchersDashboardConfig','oscar.apps.dashboard.communications.apps.CommunicationsDashboardConfig',
 'oscar.apps.dashboard.shipping.apps.ShippingDashboardConfig','widget_tweaks','haystack','treebeard','easy_thumbnails','django_tables2']
MIDDLEWARE=['django.contrib.sessions.middleware.SessionMiddleware','django.middleware.csrf.CsrfViewMiddleware','django.contrib.auth.middleware.AuthenticationMiddleware','django.contrib.messages.middleware.MessageMiddleware',
 'django.contrib.flatpages.middleware.FlatpageFallbackMiddleware','oscar.apps.basket.middleware.BasketMiddleware']
TEMPLATES=[{'BACKEND':'django.template.backends.django.DjangoTemplates','APP_DIRS':True,'OPTIONS':{'context_processors':['django.template.context_processors.request','django.contrib.auth.context_processors.auth','django.template.context_processors.i18n',
 'django.contrib.messages.context_processors.messages','oscar.apps.search.context_processors.search_form','oscar.apps.checkout.context_processors.checkout','oscar.apps.communication.notifications.context_processors.notifications','oscar.core.context_processors.metadata']}}]
AUTHENTICATION_BACKENDS=('oscar.apps.customer.auth_backends.EmailBackend','django.contrib.auth.backends.ModelBackend')
HAYSTACK_CONNECTIONS={'default':{'ENGINE':'haystack.backends.whoosh_backend.WhooshEngine','PATH':'whoosh'}}; LANGUAGES=[('en-gb','English'),('de','Deutsch')]
OSCAR_HOMEPAGE='/catalogue/'; OSCAR_THUMBNAILER='oscar.core.thumbnails.EasyThumbnails'
"""


@application
def oscar(book: Book) -> None:
    """A shop: the catalogue, a category, products with reviews, the registration form."""
    base = folder("oscar")
    (base / "settings.py").write_text(OSCAR_SETTINGS)
    (base / "urls.py").write_text(
        "from django.apps import apps\nfrom django.urls import include, path\nurlpatterns=[path('i18n/', include('django.conf.urls.i18n')), path('', include(apps.get_app_config('oscar').urls[0]))]\n"
    )
    env = {"DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": str(base)}
    (base / "media").mkdir()
    run(BIN / "python", "-c", "from PIL import Image; Image.new('RGB', (9, 9)).save('media/none.png')", cwd=base)
    run(BIN / "python", "-m", "django", "migrate", cwd=base, **env)
    goods = [
        (title, [texts.PRODUCT_TEXTS[(at + k) % 10] for k in range(1 + at % 3)], at % 3, f"{7 + at}.{at % 9}0")
        for at, title in enumerate(texts.PRODUCTS)
    ]
    (base / "fill.py").write_text(f"""
import django; django.setup()
from decimal import Decimal
from django.contrib.auth import get_user_model
from oscar.apps.catalogue.categories import create_from_breadcrumbs
from oscar.apps.catalogue.models import Product, ProductClass
from oscar.apps.catalogue.reviews.models import ProductReview
from oscar.apps.partner.models import Partner, StockRecord
user = get_user_model().objects.create_user('petra', 'petra@example.org', 'pw12345678')
cats = [create_from_breadcrumbs(name) for name in ('House', 'Garden', 'Travel')]
kind = ProductClass.objects.create(name='Thing'); partner = Partner.objects.create(name='Marsh')
for at, (title, paragraphs, cat, price) in enumerate({goods!r}):
    one = Product.objects.create(title=title, description=''.join('<p>%s</p>' % p for p in paragraphs), product_class=kind, upc='M%03d' % at, is_public=True)
    one.categories.add(cats[cat])
    StockRecord.objects.create(product=one, partner=partner, partner_sku='M%03d' % at, price=Decimal(price), price_currency='EUR', num_in_stock=5)
    if at % 4 == 1:
        ProductReview.objects.create(product=one, user=user, score=4, title='Good in the hand', body={texts.POSTS[4]!r}, status=1)
    print(one.get_absolute_url())
print(*(c.get_absolute_url() for c in cats))
""")
    *paths, cats = run(BIN / "python", "fill.py", cwd=base, **env).splitlines()
    run(BIN / "python", "-m", "django", "update_index", cwd=base, **env)
    with server(
        8314, BIN / "python", "-m", "django", "runserver", "--noreload", "127.0.0.1:8314", cwd=base, **env
    ) as url:
        bought = (
            ".product_price",
            ".price_color",
            ".availability",
            ".star-rating",
            ".review small",
            ".review h3",
            "table.table th",
            "table.table td",
            "#reviews",
            ".product_main",
            ".instock",
            ".table-striped",
            ".sub-header",
            ".product_pod p",
            ".product_pod button",
            ".form-horizontal strong",
            ".page-header",
            ".product_page h2",
        )
        for at in (0, 5, 11, 17, 20):
            title, paragraphs, _, price = goods[at]
            html = get(url + paths[at])
            book.add(
                "oscar",
                f"product-{at}",
                "shop",
                url + paths[at],
                html,
                title=title,
                paragraphs=[*paragraphs, *([texts.POSTS[4]] if at % 4 == 1 else [])],
                optional=[price],
                optional_at=bought,
            )
        for path, slug in (
            ("/catalogue/", "catalogue"),
            (cats.split()[0], "house"),
            (cats.split()[1], "garden"),
            ("/search/?q=lamp", "search"),
        ):
            html = get(url + path)
            here = [title for title, _, _, _ in goods if f">{title}</a>" in html]
            if here:
                book.add(
                    "oscar",
                    slug,
                    "shop" if slug != "search" else "search",
                    url + path,
                    html,
                    paragraphs=here,
                    optional_at=bought,
                )
        where = url + "/accounts/login/"
        html = get(where)
        book.add(
            "oscar",
            "login",
            "form",
            where,
            html,
            paragraphs=[
                label.rstrip("* :") for label in select_texts(html, ("#login_form label", "#register_form label"))
            ],
            optional_at=("form h2", "form button", "form a", "#register_form .help-block", ".form-text"),
        )


REDMINE_FILL = r"""
require 'json'
d=JSON.parse(File.read(ENV['FILL']))
Redmine::DefaultData::Loader.load('en') if Tracker.count==0
ActionMailer::Base.perform_deliveries=false
u=User.find_by_login('admin'); u.update_columns(must_change_passwd: false); User.current=u
p=Project.new(name: 'Breakwater', identifier: 'breakwater', is_public: true, description: d['about']); p.enabled_module_names=%w(issue_tracking wiki news boards); p.trackers=Tracker.all; p.save!
d['issues'].each_with_index{|(s,t,notes),i| is=Issue.new(project: p, tracker: Tracker.all[i%3], author: u, subject: s, description: t, priority: IssuePriority.all[i%4]); is.status=IssueStatus.first; is.save!
 notes.each{|n| Journal.create!(journalized: is, user: u, notes: n)} }
w=Wiki.find_or_create_by(project: p){|q| q.start_page='Wiki'}
d['wiki'].each{|t,b| pg=WikiPage.new(wiki: w,title: t); ct=WikiContent.new(page: pg,text: b,author: u); pg.content=ct; pg.save_with_content(ct)}
d['news'].each{|t,s,b| News.create!(project: p,title: t[0,60],summary: s,description: b,author: u)}
bo=Board.create!(project: p,name: 'Talk',description: 'Anything about the wall')
d['threads'].each{|t,posts| m=Message.create!(board: bo,subject: t,content: posts[0],author: u); posts[1..-1].each{|c| Message.create!(board: bo,subject: 'RE: '+t,content: c,author: u,parent: m)}}
"""


def _textile(blocks: list[Block]) -> str:
    """Return blocks as Redmine reads them; tables by hand, since pandoc writes them as HTML."""
    parts = []
    for block in blocks:
        if block[0] == "table":
            head, *rows = block[1]
            lines = ["|_. " + " |_. ".join(plain(cell) for cell in head) + " |"]
            parts.append("\n".join(lines + ["| " + " | ".join(plain(cell) for cell in row) + " |" for row in rows]))
        elif block[0] == "dl":
            parts += [part for term, text in block[1] for part in (f"*{plain(term)}*", plain(text))]
        else:
            parts.append(pandoc(to_markdown([block]), "textile").strip())
    return "\n\n".join(parts) + "\n"


@application
def redmine(book: Book) -> None:
    """Issues, their list, wiki pages, news and a forum, in an instance of its own."""
    base = folder("redmine")
    site = Path("/var/lib/redmine/suite")
    shutil.rmtree(site, ignore_errors=True)
    for part in ("config", "files", "public", "tmp/cache", "log"):
        (site / part).mkdir(parents=True)
    (site / "config/database.yml").write_text(
        f"production:\n  adapter: sqlite3\n  database: {base}/redmine.db\n  encoding: utf8\n"
    )
    (site / "config/secret_key.txt").write_text("0123456789abcdef" * 4)
    env = {
        "RAILS_ENV": "production",
        "X_DEBIAN_SITEID": "suite",
        "REDMINE_LANG": "en",
        "FILL": str(base / "data.json"),
        "SCHEMA": str(base / "schema.rb"),
    }
    # "--" in the text of one document is markup in Redmine
    docs = [doc for doc in slice_for(76, docs=2, small=4) if doc.slug != "operations-runbook"]
    issues = [
        (
            texts.TICKETS[(at + 5) % 16],
            texts.TICKET_TEXTS[(at + 3) % 8],
            [texts.POSTS[(at + 2 * k) % 16] for k in range(at % 3)],
        )
        for at in range(12)
    ]
    news = [texts.news_article(at + 4) for at in range(6)]
    threads = [(title, texts.POSTS[at : at + 3]) for at, title in enumerate(texts.TOPICS[:6])]
    wiki = [(doc.slug.capitalize().replace("-", "_"), f"h1. {doc.title}\n\n" + _textile(doc.blocks)) for doc in docs]
    bodies = [(doc.title, doc.summary, "\n\n".join(part[1] for part in doc.blocks if part[0] == "p")) for doc in news]
    (base / "data.json").write_text(
        json.dumps({"about": texts.PROSE[5], "issues": issues, "wiki": wiki, "news": bodies, "threads": threads})
    )
    (base / "fill.rb").write_text(REDMINE_FILL)
    root = Path("/usr/share/redmine")
    run("bundle", "exec", "rake", "db:migrate", cwd=root, **env)
    run("bundle", "exec", "rails", "runner", base / "fill.rb", cwd=root, **env)
    with server(
        8315, "puma", "-b", "tcp://127.0.0.1:8315", "-t", "2:4", "-e", "production", "config.ru", cwd=root, **env
    ) as url:
        meta = (
            ".author",
            "p.author",
            ".journal h4",
            ".attributes",
            ".subject",
            "#history h3",
            ".contextual",
            "h2",
            "h3",
            ".details",
            ".gravatar",
            ".description > p > strong",
            "#relations",
            ".badge",
            ".status",
            ".priority",
            ".issue .label",
            ".wiki-update-info",
            ".next-prev-links",
        )
        for doc, (title, _) in zip(docs, wiki, strict=True):
            where = f"{url}/projects/breakwater/wiki/{title}"
            book.add_doc(
                "redmine",
                doc,
                where,
                get(where),
                kind="wiki" if doc.kind in ("docs", "article") else "",
                optional_at=(".wiki-update-info", ".attachments"),
            )
        for at in (2, 5, 8):
            title, text, notes = issues[at]
            book.add(
                "redmine",
                f"issue-{at + 1}",
                "tracker",
                f"{url}/issues/{at + 1}",
                get(f"{url}/issues/{at + 1}"),
                title=title,
                paragraphs=[text, *notes],
                optional_at=meta,
            )
        where = f"{url}/projects/breakwater/issues"
        book.add(
            "redmine",
            "issues",
            "tracker",
            where,
            get(where),
            title="Issues",
            paragraphs=[title for title, _, _ in issues],
            optional_at=("table.issues td", "table.issues th"),
        )
        where = f"{url}/projects/breakwater/news"
        book.add(
            "redmine",
            "news",
            "news-index",
            where,
            get(where),
            title="News",
            paragraphs=[
                part for title, _, body in bodies for part in (title[:60], *(line for line in body.split("\n\n")))
            ],
            optional_at=(".author", "h3"),
        )
        where = f"{url}/news/2"
        book.add(
            "redmine",
            "news-2",
            "article",
            where,
            get(where),
            title=bodies[1][0],
            paragraphs=[bodies[1][1], *(line for line in bodies[1][2].split("\n\n"))],
            optional_at=(".author", "#comments h3"),
        )
        where = (
            f"{url}/boards/1/topics/"
            + (re.findall(r"/boards/1/topics/(\d+)", get(f"{url}/projects/breakwater/boards/1")) or ["1"])[-1]
        )
        html = get(where)
        title, posts = next(((title, posts) for title, posts in threads if title in html), threads[0])
        book.add(
            "redmine",
            "thread",
            "forum",
            where,
            html,
            title=title,
            paragraphs=posts,
            optional_at=(*meta, "h4", ".message h4", ".reply-header"),
        )
        where = f"{url}/projects/breakwater/boards/1"
        html = get(where)
        book.add(
            "redmine",
            "board",
            "forum",
            where,
            html,
            title="Talk",
            optional=["Anything about the wall"],
            paragraphs=[title for title, _ in threads],
            optional_at=("table.messages td", "table.messages th"),
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


CARTRIDGE_LOCALE = """
import locale
_conventions = locale.localeconv
locale.localeconv = lambda: {**_conventions(), "frac_digits": 2, "currency_symbol": "EUR ", "p_cs_precedes": 1, "mon_decimal_point": ".", "mon_thousands_sep": ","}
"""


@application
def cartridge(book: Book) -> None:
    """A shop: a category with products and pages of products."""
    base = folder("cartridge")
    run(CARTRIDGE / "mezzanine-project", "-a", "cartridge", "quay", cwd=base, PATH=f"{CARTRIDGE}:{os.environ['PATH']}")
    site = base / "quay"
    settings = site / "quay/settings.py"
    settings.write_text(CARTRIDGE_LOCALE + settings.read_text() + "\nSHOP_CURRENCY_LOCALE=''\n")
    run(CARTRIDGE / "python", "manage.py", "createdb", "--noinput", "--nodata", cwd=site)
    goods = [
        (title, [texts.PRODUCT_TEXTS[(at * 3 + k) % 10] for k in range(1 + at % 3)], 9 + at)
        for at, title in enumerate(reversed(texts.PRODUCTS[:14]))
    ]
    (site / "fill.py").write_text(f"""
import os
os.environ['DJANGO_SETTINGS_MODULE'] = 'quay.settings'
import django; django.setup()
from cartridge.shop.models import Category, Product
category = Category.objects.create(title='Things for the house', content={"<p>" + texts.PROSE[1] + "</p>"!r})
for at, (title, paragraphs, price) in enumerate({goods!r}):
    one = Product.objects.create(title=title, content=''.join('<p>%s</p>' % p for p in paragraphs), available=True, sku='Q%d' % at, unit_price=price, num_in_stock=4)
    one.categories.add(category)
    one.variations.create(sku='Q%d' % at, unit_price=price, default=True, num_in_stock=4)
    one.copy_default_variation()
    print(one.get_absolute_url())
print(category.get_absolute_url())
""")
    *paths, category = run(CARTRIDGE / "python", "fill.py", cwd=site).splitlines()
    with server(8317, CARTRIDGE / "python", "manage.py", "runserver", "--noreload", "127.0.0.1:8317", cwd=site) as url:
        meta = (
            ".price-info",
            ".price",
            ".error-msg",
            "form label",
            "form .btn",
            "form input",
            "ul.product-list h6 + *",
            "#add-cart *",
            ".product-rating",
            "#ratings *",
            ".rating *",
        )
        for at in (2, 7, 10):
            title, paragraphs, _ = goods[at]
            book.add(
                "cartridge",
                f"product-{at}",
                "shop",
                url + paths[at],
                get(url + paths[at]),
                title=title,
                paragraphs=paragraphs,
                optional_at=meta,
            )
        html = get(url + category)
        book.add(
            "cartridge",
            "category",
            "shop",
            url + category,
            html,
            title="Things for the house",
            paragraphs=[texts.PROSE[1], *(title for title, _, _ in goods if title in html)],
            optional_at=(*meta, ".panel-body p", ".caption p", ".thumbnail p", ".product-list p"),
        )
