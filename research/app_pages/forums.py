# ruff: noqa: E501  (prose and commands)
"""Forums and mail archives in Django: Spirit (`APP_PAGES_SPIRIT`), machina (`APP_PAGES_MACHINA`), HyperKitty (`APP_PAGES_HYPERKITTY`)."""

from __future__ import annotations

import email.message
import email.utils
import mailbox
import os
import re
from pathlib import Path

from research.app_pages import texts
from research.app_pages.applications import application, get, server
from research.app_pages.generators import folder, run
from research.app_pages.pages import Book, select_texts

SPIRIT = Path(os.environ.get("APP_PAGES_SPIRIT", "/usr")) / "bin"


MACHINA = Path(os.environ.get("APP_PAGES_MACHINA", "/usr")) / "bin"


HYPERKITTY = Path(os.environ.get("APP_PAGES_HYPERKITTY", "/usr")) / "bin"


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


HYPERKITTY_SETTINGS = """
SECRET_KEY='x'; DEBUG=True; ALLOWED_HOSTS=['*']; ROOT_URLCONF='urls'; USE_TZ=True; STATIC_URL='/static/'; STATIC_ROOT='static'; DEFAULT_AUTO_FIELD='django.db.models.AutoField'; SITE_ID=1; LANGUAGE_CODE='en-us'
DATABASES={'default':{'ENGINE':'django.db.backends.sqlite3','NAME':'db.sqlite3'}}
INSTALLED_APPS=['hyperkitty','django_mailman3','django_gravatar','rest_framework','paintstore','compressor','haystack','django_extensions','django_q','allauth','allauth.account','allauth.socialaccount',
 'django.contrib.auth','django.contrib.contenttypes','django.contrib.sessions','django.contrib.sites','django.contrib.messages','django.contrib.staticfiles','django.contrib.admin','django.contrib.humanize']
INSTALLED_APPS.remove('paintstore')
MIDDLEWARE=['django.contrib.sessions.middleware.SessionMiddleware','django.middleware.csrf.CsrfViewMiddleware','django.middleware.locale.LocaleMiddleware','django.contrib.auth.middleware.AuthenticationMiddleware','django.contrib.messages.middleware.MessageMiddleware','allauth.account.middleware.AccountMiddleware','django_mailman3.middleware.TimezoneMiddleware']
TEMPLATES=[{'BACKEND':'django.template.backends.django.DjangoTemplates','APP_DIRS':True,'OPTIONS':{'context_processors':['django.template.context_processors.request','django.contrib.auth.context_processors.auth','django.template.context_processors.i18n','django.template.context_processors.static','django.template.context_processors.csrf','django.template.context_processors.debug','django.template.context_processors.media','django.template.context_processors.tz','django.contrib.messages.context_processors.messages','django_mailman3.context_processors.common','hyperkitty.context_processors.common']}}]
HAYSTACK_CONNECTIONS={'default':{'ENGINE':'haystack.backends.whoosh_backend.WhooshEngine','PATH':'whoosh'}}
STATICFILES_FINDERS=('django.contrib.staticfiles.finders.FileSystemFinder','django.contrib.staticfiles.finders.AppDirectoriesFinder','compressor.finders.CompressorFinder'); COMPRESS_ENABLED=False; COMPRESS_PRECOMPILERS=()
MAILMAN_REST_API_URL='http://127.0.0.1:9'; MAILMAN_REST_API_USER='x'; MAILMAN_REST_API_PASS='x'; MAILMAN_ARCHIVER_KEY='x'; MAILMAN_ARCHIVER_FROM=('127.0.0.1',)
Q_CLUSTER={'timeout':30,'retry':60,'sync':True,'orm':'default'}; LOGIN_URL='account_login'; LOGOUT_URL='account_logout'; LOGIN_REDIRECT_URL='hk_root'; COMPRESS_OFFLINE=False; HYPERKITTY_ALLOW_WEB_POSTING=False
"""


@application
def hyperkitty(book: Book) -> None:
    """The mail archive of Mailman 3: a thread, a message, the threads of a month, the list's overview."""
    base = folder("hyperkitty")
    (base / "settings.py").write_text(HYPERKITTY_SETTINGS)
    (base / "urls.py").write_text(
        "from django.contrib import admin\nfrom django.urls import include, path\nurlpatterns=[path('', include('hyperkitty.urls')), path('m/', include('django_mailman3.urls')), path('a/', include('allauth.urls')), path('i18n/', include('django.conf.urls.i18n')), path('admin/', admin.site.urls)]\n"
    )
    env = {"DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": str(base)}
    box = mailbox.mbox(base / "list.mbox")
    threads = [
        (title, [texts.POSTS[(at * 4 + k) % 16] for k in range(1 + at % 4)])
        for at, title in enumerate(texts.TOPICS[4:12])
    ]
    for at, (title, posts) in enumerate(threads):
        for k, post in enumerate(posts):
            message = email.message.Message()
            for key, value in (
                ("From", f"{texts.PEOPLE[(at + k) % 12]} <p{at + k}@example.org>"),
                ("To", "quay@example.org"),
                ("Subject", ("Re: " if k else "") + title),
                ("Message-ID", f"<m{at}.{k}@example.org>"),
                ("Date", email.utils.formatdate(1770000000 + at * 70000 + k * 3000)),
                *([("In-Reply-To", f"<m{at}.0@example.org>")] if k else []),
            ):
                message[key] = value
            message.set_payload(post + "\n", "utf-8")
            box.add(message)
    box.flush()
    run(HYPERKITTY / "python", "-m", "django", "migrate", cwd=base, **env)
    run(
        HYPERKITTY / "python",
        "-m",
        "django",
        "hyperkitty_import",
        "-l",
        "quay@example.org",
        "list.mbox",
        cwd=base,
        **env,
    )
    with server(
        8318, HYPERKITTY / "python", "-m", "django", "runserver", "--noreload", "127.0.0.1:8318", cwd=base, **env
    ) as url:
        month = f"{url}/list/quay@example.org/2026/2/"
        html = get(month)
        links = dict.fromkeys(re.findall(r"/list/quay@example.org/thread/\w+/", html))
        pages = [(link, get(url + link)) for link in links]
        meta = (
            ".email-date",
            ".email-author",
            ".email-header",
            ".thread-info",
            ".thread-date",
            ".thread-title + *",
            ".participant-name",
            ".email-info",
            ".messagelink",
            ".email-author-name",
        )
        for title, posts in threads[1:8:2]:
            where, page = next((url + link, page) for link, page in pages if title in page.split("<title>")[1][:120])
            book.add(
                "hyperkitty",
                f"thread-{len(posts)}-{title.split()[0]}",
                "forum",
                where,
                page,
                title=title,
                paragraphs=posts,
                optional_at=meta,
            )
        book.add(
            "hyperkitty",
            "month",
            "forum",
            month,
            html,
            title="February 2026",
            paragraphs=[part for title, posts in threads for part in (title, posts[0])],
            optional_at=(
                ".sender-name",
                ".thread-date",
                ".thread-info",
                ".thread-stats",
                ".badge",
                ".list-threads-meta",
                ".thread-email .text-muted",
                ".thread .row small",
                ".d-flex .text-muted",
            ),
        )
