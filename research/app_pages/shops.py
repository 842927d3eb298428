# ruff: noqa: E501  (prose and commands)
"""Shops in Django: Oscar (`APP_PAGES_PYTHON`) and Cartridge (`APP_PAGES_CARTRIDGE`)."""

from __future__ import annotations

import os
from pathlib import Path

from research.app_pages import texts
from research.app_pages.applications import application, get, server
from research.app_pages.generators import BIN, folder, run
from research.app_pages.pages import Book, select_texts

CARTRIDGE = Path(os.environ.get("APP_PAGES_CARTRIDGE", "/usr")) / "bin"


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
