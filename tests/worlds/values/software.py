"""Four more templates in the style of software that many sites use: a shop with JSON-LD, a forum, a package index and a
table of rates. Each has three redesigns, of which a page sees two: another theme, another program, another host."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

import json
from random import Random

from evercrawl.model.fields import FieldType
from tests.worlds.values.facts import DayFacts, Subject
from tests.worlds.values.templates import _ENGLISH, _GERMAN, ValueTemplate, _group, _named, _rows


def money(v: float) -> str:
    return f'<span class="woocommerce-Price-amount amount"><bdi><span class="woocommerce-Price-currencySymbol">&euro;</span>{v:,.2f}</bdi></span>'


def ld(x: object) -> str:
    return '<script type="application/ld+json">' + json.dumps(x) + "</script>"


def on_sale(f: DayFacts) -> bool:
    return f.day.day % 3 == 0


def regular(f: DayFacts) -> float:
    return round((f.price or 0) * 1.25, 2)


def woo_head(visit: int) -> str:
    return f"""<header class="site-header"><div class="site-branding"><a href="/">Garden &amp; Tools</a></div>
<ul class="site-header-cart"><li><a class="cart-contents" href="/cart">{money(visit % 90)} <span class="count">{visit % 4} items</span></a></li></ul></header>"""


def woo_related(f: DayFacts) -> str:
    names = ["Rake", "Spade", "Hose reel"]
    return "".join(
        f'<li class="product type-product"><a href="/p/{n.lower()}"><h2 class="woocommerce-loop-product__title">{n}</h2><span class="price">{money(p)}</span></a></li>'
        for n, p in zip(names, f.other_prices, strict=False)
    )


def attrs(f: DayFacts, form: str) -> str:
    return "".join(form.format(k=k, v=v) for k, v in f.rows)


def woo1(f: DayFacts, visit: int) -> str:
    if f.price is None:
        price = ""
    elif on_sale(f):
        price = f'<del aria-hidden="true">{money(regular(f))}</del> <span class="screen-reader-text">Original price was: &euro;{regular(f):,.2f}.</span><ins aria-hidden="true">{money(f.price)}</ins><span class="screen-reader-text">Current price is: &euro;{f.price:,.2f}.</span>'
    else:
        price = money(f.price)
    offer = (
        {
            "@type": "Offer",
            "price": f"{f.price:.2f}",
            "priceCurrency": "EUR",
            "availability": "http://schema.org/InStock",
            "priceValidUntil": "2027-12-31",
        }
        if f.price is not None
        else {"@type": "Offer", "availability": "http://schema.org/OutOfStock"}
    )
    return f"""<!DOCTYPE html><html lang="en-GB"><head><title>Wheelbarrow &#8211; Garden &amp; Tools</title></head><body class="product-template-default single single-product postid-71 woocommerce theme-storefront">
{woo_head(visit)}<nav class="woocommerce-breadcrumb"><a href="/">Home</a> / <a href="/c/">Garden</a> / Wheelbarrow</nav>
<main id="main"><div id="product-71" class="product type-product post-71 status-publish {"instock" if f.price else "outofstock"}">
<div class="summary entry-summary"><h1 class="product_title entry-title">Wheelbarrow</h1><p class="price">{price}</p>
<div class="woocommerce-product-details__short-description"><p>Carries what you dig.</p><ul>{"".join(f"<li>{i}</li>" for i in f.items)}</ul></div>
{'<p class="stock out-of-stock">Out of stock</p>' if f.price is None else '<form class="cart"><div class="quantity"><input type="number" value="1"></div><button class="single_add_to_cart_button">Add to basket</button></form>'}
<div class="product_meta"><span class="sku_wrapper">SKU: <span class="sku">WB-71</span></span><span class="posted_in">Category: <a href="/c/">Garden</a></span><span class="updated">Updated: {_named(f.day, _ENGLISH, "{day} {month} {year}")}</span></div></div>
<div class="woocommerce-tabs"><div class="woocommerce-Tabs-panel--additional_information"><h2>Additional information</h2><table class="woocommerce-product-attributes shop_attributes">{attrs(f, '<tr class="woocommerce-product-attributes-item"><th class="woocommerce-product-attributes-item__label" scope="row">{k}</th><td class="woocommerce-product-attributes-item__value"><p>{v}</p></td></tr>')}</table></div></div>
<section class="related products"><h2>Related products</h2><ul class="products columns-3">{woo_related(f)}</ul></section></div></main>
<footer>&copy; Garden &amp; Tools 2026</footer>{ld({"@context": "https://schema.org/", "@type": "Product", "@id": "/p/#product", "name": "Wheelbarrow", "sku": "WB-71", "offers": [offer]})}</body></html>"""


def woo2(f: DayFacts, visit: int) -> str:  # a block theme
    if f.price is None:
        price = ""
    elif on_sale(f):
        price = f"<del>{money(regular(f))}</del> <ins>{money(f.price)}</ins>"
    else:
        price = money(f.price)
    offer = (
        {
            "@type": "Offer",
            "priceSpecification": [
                {
                    "@type": "UnitPriceSpecification",
                    "price": f"{f.price:.2f}",
                    "priceCurrency": "EUR",
                    "valueAddedTaxIncluded": True,
                }
            ],
            "availability": "https://schema.org/InStock",
        }
        if f.price is not None
        else {"@type": "Offer", "availability": "https://schema.org/OutOfStock"}
    )
    related = "".join(
        f'<li class="wc-block-product"><h3 class="wp-block-post-title">{n}</h3><div data-block-name="woocommerce/product-price" class="wp-block-woocommerce-product-price"><div class="wc-block-components-product-price wc-block-grid__product-price">{money(p)}</div></div></li>'
        for n, p in zip(["Rake", "Spade", "Hose reel"], f.other_prices, strict=False)
    )
    return f"""<!DOCTYPE html><html lang="en-GB"><head><title>Wheelbarrow &#8211; Garden &amp; Tools</title>{ld({"@context": "https://schema.org/", "@graph": [{"@type": "BreadcrumbList", "itemListElement": []}, {"@type": "Product", "name": "Wheelbarrow", "offers": [offer]}]})}</head><body class="wp-embed-responsive woocommerce-block-theme">
<div class="wp-site-blocks"><header class="wp-block-template-part"><p class="wp-block-site-title">Garden &amp; Tools</p><div class="wc-block-mini-cart"><span class="wc-block-mini-cart__amount">&euro;{visit % 90}.00</span></div></header>
<main class="wp-block-group"><div class="wp-block-columns"><div class="wp-block-column"><div class="wp-block-woocommerce-product-image-gallery"></div></div><div class="wp-block-column">
<h1 class="wp-block-post-title">Wheelbarrow</h1><div data-block-name="woocommerce/product-price" class="wp-block-woocommerce-product-price"><div class="wc-block-components-product-price">{price}</div></div>
<div class="wp-block-post-excerpt"><p>Carries what you dig.</p><ul class="wp-block-list">{"".join(f"<li>{i}</li>" for i in f.items)}</ul></div>
<div class="wp-block-add-to-cart-form">{'<p class="stock out-of-stock">Out of stock</p>' if f.price is None else "<button>Add to basket</button>"}</div><div class="wp-block-product-meta"><div class="wp-block-post-terms">SKU: WB-71</div><div class="wp-block-post-date">Updated: <time datetime="{f.day.isoformat()}T09:00:00+00:00">{_named(f.day, _ENGLISH, "{month} {day}, {year}")}</time></div></div></div></div>
<div class="wp-block-woocommerce-product-details"><h2>Additional information</h2><table class="woocommerce-product-attributes shop_attributes" aria-label="Product Details">{attrs(f, '<tr class="woocommerce-product-attributes-item"><th scope="row">{k}</th><td><p>{v}</p></td></tr>')}</table></div>
<div class="wp-block-woocommerce-product-collection"><h2>Related products</h2><ul class="wc-block-product-template">{related}</ul></div></main></div></body></html>"""


def woo3(f: DayFacts, visit: int) -> str:  # a page builder
    if f.price is None:
        price = '<span class="elementor-heading-title">Sold out</span>'
    elif on_sale(f):
        price = f'<p class="price"><del>{money(regular(f))}</del><ins>{money(f.price)}</ins></p>'
    else:
        price = f'<p class="price">{money(f.price)}</p>'
    related = "".join(
        f'<div class="elementor-widget"><p class="price">{money(p)}</p><h5>{n}</h5></div>'
        for n, p in zip(["Rake", "Spade", "Hose reel"], f.other_prices, strict=False)
    )
    return f"""<!DOCTYPE html><html lang="en-GB"><head><title>Wheelbarrow &#8211; Garden &amp; Tools</title></head><body class="elementor-page elementor-page-71">
<div data-elementor-type="header"><div class="elementor-element elementor-element-3a1b">Garden &amp; Tools</div><div class="elementor-menu-cart__total">{money(visit % 90)}</div></div>
<div data-elementor-type="product" class="elementor elementor-88"><section class="elementor-section elementor-element-7c0d"><h2>You may also like&hellip;</h2><div class="elementor-container">{related}</div></section>
<section class="elementor-section elementor-element-91fe"><div class="elementor-widget-woocommerce-product-title"><h1 class="product_title entry-title elementor-heading-title">Wheelbarrow</h1></div><div class="elementor-widget-woocommerce-product-price"><div class="elementor-widget-container">{price}</div></div>
<div class="elementor-widget-text-editor"><ul class="elementor-icon-list-items">{"".join(f'<li class="elementor-icon-list-item"><span class="elementor-icon-list-icon"></span><span class="elementor-icon-list-text">{i}</span></li>' for i in f.items)}</ul></div>
<div class="elementor-widget-text-editor"><p>Updated: {f.day:%d/%m/%Y}</p></div></section>
<section class="elementor-section"><div class="elementor-toggle"><h3>Additional information</h3><table><tbody>{attrs(f, "<tr><td>{k}</td><td>{v}</td></tr>")}</tbody></table></div></section></div>
{ld({"@context": "https://schema.org", "@type": "Product", "name": "Wheelbarrow", "offers": {"@type": "AggregateOffer", "lowPrice": f"{f.price:.2f}", "highPrice": f"{f.price:.2f}", "priceCurrency": "EUR", "offerCount": 1}} if f.price is not None else {"@context": "https://schema.org", "@type": "Product", "name": "Wheelbarrow"})}</body></html>"""


def woo4(f: DayFacts, visit: int) -> str:  # moved to a hosted shop with generated class names
    if f.price is None:
        price = '<span class="Badge-x81k2">Sold out</span>'
    elif on_sale(f):
        price = f'<s class="Price-q1">€{regular(f):,.2f}</s><span class="Price-q2">€{f.price:,.2f}</span>'
    else:
        price = f'<span class="Price-q2">€{f.price:,.2f}</span>'
    related = "".join(
        f'<a class="Card-9d"><span class="Card-9e">{n}</span><span class="Price-q3">€{p:,.2f}</span></a>'
        for n, p in zip(["Rake", "Spade", "Hose reel"], f.other_prices, strict=False)
    )
    return f"""<!doctype html><html lang="en-GB"><head><title>Wheelbarrow | Garden & Tools</title><meta property="og:title" content="Wheelbarrow">{f'<meta property="og:price:amount" content="{f.price:.2f}"><meta property="og:price:currency" content="EUR">' if f.price is not None else ""}</head><body>
<div class="Announce-1">Free delivery over €50</div><div class="Head-2"><a href="/">Garden & Tools</a><a class="Cart-3">Basket ({visit % 4})</a></div>
<div class="Main-4"><div class="Info-5"><h1 class="Title-6">Wheelbarrow</h1><div class="PriceBox-7">{price}</div><div class="Desc-8"><p>Carries what you dig.</p><ul>{"".join(f"<li>{i}</li>" for i in f.items)}</ul></div>
<details><summary>Additional information</summary><dl class="Spec-9">{attrs(f, "<dt>{k}</dt><dd>{v}</dd>")}</dl></details><p class="Small-10">Updated: {_named(f.day, _ENGLISH, "{day} {month} {year}")}</p></div>
<div class="Rel-11"><h2>You may also like</h2>{related}</div></div>
{ld({"@context": "http://schema.org", "@type": "ProductGroup", "name": "Wheelbarrow", "hasVariant": [{"@type": "Product", "name": "Wheelbarrow", "offers": {"@type": "Offer", **({"price": f"{f.price:.2f}"} if f.price is not None else {}), "priceCurrency": "EUR"}}]})}</body></html>"""


# 2. Discourse
def when(visit: int, n: int) -> str:
    return f"{Random(f'{visit}{n}').randint(1, 23)}h"


def disc1(f: DayFacts, visit: int) -> str:
    rows = "".join(
        f"""<tr class="topic-list-item category-general" id="topic-list-item-{100 + n}" itemprop="itemListElement" itemscope itemtype="http://schema.org/ListItem"><td class="main-link"><meta itemprop="position" content="{n + 1}"><span class="link-top-line"><a itemprop="url" href="/t/topic/{100 + n}" class="title raw-link raw-topic-link">{k}</a></span><div class="link-bottom-line"><a href="/c/general/4" class="badge-wrapper bullet"><span class="badge-category-bg" style="background-color:#25AAE2"></span><span class="badge-category clear-badge"><span class="category-name">General</span></span></a></div></td><td class="replies"><span class="posts" title="posts">{v}</span></td><td class="views"><span class="views" title="views">{(n + 1) * 1700 + visit}</span></td><td>{when(visit, n)}</td></tr>"""
        for n, (k, v) in enumerate(f.rows)
    )
    online = "" if f.price is None else f"{f.price:,.0f}"
    return f"""<!DOCTYPE html><html lang="en"><head><title>Latest topics - Beekeepers</title><meta name="generator" content="Discourse 2.8.0"></head><body class="crawler"><header><a href="/"><h1>Beekeepers</h1></a></header>
<div id="main-outlet" class="wrap"><div class="site-stats">Members: <span class="member-count">{online}</span> · Posts: <span class="post-count">{90000 + visit}</span></div><ul class="category-list">{"".join(f'<li><a href="#">{i}</a></li>' for i in f.items)}</ul>
<div class="topic-list-container" itemscope itemtype="http://schema.org/ItemList"><table class="topic-list"><thead><tr><th>Topic</th><th class="replies">Replies</th><th class="views">Views</th><th>Activity</th></tr></thead><tbody>{rows}</tbody></table></div>
<div role="navigation" class="topic-list-container"><span itemprop="name"><b><a rel="next" href="/latest?page=1">next page →</a></b></span></div><p class="refreshed">Digest of {_named(f.day, _ENGLISH, "{month} {day}, {year}")}</p></div><footer class="container wrap"><nav class="crawler-nav"><ul><li><a href="/">Home</a></li><li><a href="/categories">Categories</a></li><li><a href="/guidelines">Guidelines</a></li></ul></nav></footer></body></html>"""


def disc2(f: DayFacts, visit: int) -> str:
    rows = "".join(
        f"""<tr data-topic-id="{100 + n}" id="ember{visit % 50 + n * 7}" class="topic-list-item category-general ember-view"><td class="main-link clearfix topic-list-data" colspan="1"><span class="link-top-line" role="heading" aria-level="2"><a href="/t/topic/{100 + n}/{v}" role="heading" class="title raw-link raw-topic-link" data-topic-id="{100 + n}"><span dir="ltr">{k}</span></a></span><div class="link-bottom-line"><a class="badge-category__wrapper" href="/c/general/4"><span class="badge-category"><span class="badge-category__name">General</span></span></a></div></td><td class="posters topic-list-data"></td><td class="num posts-map posts topic-list-data" title="This topic has {v} replies"><button class="btn-link posts-map badge-posts"><span class="number">{v}</span></button></td><td class="num views topic-list-data"><span class="number">{(n + 1) * 1700 + visit}</span></td><td class="num topic-list-data age activity"><a class="post-activity"><span class="relative-date">{when(visit, n)}</span></a></td></tr>"""
        for n, (k, v) in enumerate(f.rows)
    )
    online = "–" if f.price is None else f"{f.price:,.0f}"
    return f"""<!DOCTYPE html><html lang="en" class="desktop-view"><head><title>Beekeepers</title><meta name="generator" content="Discourse 3.3.0"></head><body class="navigation-topics"><section id="main" class="ember-view"><div class="d-header-wrap"><header class="d-header"><div class="title"><a href="/"><h1 id="site-text-logo">Beekeepers</h1></a></div></header></div>
<div id="main-outlet-wrapper"><div class="sidebar-wrapper"><div class="sidebar-section" data-section-name="categories"><h3>Categories</h3><ul class="sidebar-section-content">{"".join(f'<li class="sidebar-section-link-wrapper"><a class="sidebar-section-link"><span class="sidebar-section-link-content-text">{i}</span></a></li>' for i in f.items)}</ul></div></div>
<div id="main-outlet"><div class="welcome-banner"><p>Members: <strong>{online}</strong></p><p>Posts: <strong>{90000 + visit}</strong></p></div><table class="topic-list ember-view"><caption class="sr-only">Topic list, column headers with buttons are sortable.</caption><thead class="topic-list-header"><tr><th class="default">Topic</th><th class="posters"></th><th class="posts num sortable">Replies</th><th class="views num">Views</th><th class="activity num">Activity</th></tr></thead><tbody class="topic-list-body">{rows}</tbody></table><footer class="topic-list-bottom">Digest of <span>{f.day.isoformat()}</span></footer></div></div></section></body></html>"""


def disc3(f: DayFacts, visit: int) -> str:  # cards
    rows = "".join(
        f"""<article class="topic-card"><h3 class="topic-card__title"><a href="/t/{100 + n}">{k}</a></h3><div class="topic-card__meta"><span class="topic-card__replies">{v}</span><span class="topic-card__views">{(n + 1) * 1700 + visit}</span><span class="topic-card__age">{when(visit, n)}</span></div></article>"""
        for n, (k, v) in enumerate(f.rows)
    )
    online = "" if f.price is None else f"<li><b>Members</b> <span class=stat>{f.price:,.0f}</span></li>"
    return f"""<!DOCTYPE html><html lang="en"><head><title>Beekeepers forum</title></head><body><nav class=top><a href=/>Beekeepers</a> <a href=/login>Log in</a></nav><main class="cards">{rows}</main><aside><ul class=stats>{online}<li><b>Posts</b> <span class=stat>{90000 + visit}</span></li></ul>
<section class="cats"><h4>Categories</h4>{"".join(f'<a class="cat">{i}</a>' for i in f.items)}</section><p class="note">Digest of {_named(f.day, _ENGLISH, "{day} {month} {year}")}</p></aside></body></html>"""


def disc4(f: DayFacts, visit: int) -> str:  # another forum program
    rows = "".join(
        f"""<li class="row bg{n % 2}"><dl class="row-item topic_read"><dt><div class="list-inner"><a href="./viewtopic.php?t={100 + n}" class="topictitle">{k}</a><br><div class="responsive-hide">by <a class="username">user{n}</a></div></div></dt><dd class="posts">{v} <dfn>Replies</dfn></dd><dd class="views">{(n + 1) * 1700 + visit} <dfn>Views</dfn></dd><dd class="lastpost"><span>{when(visit, n)}</span></dd></dl></li>"""
        for n, (k, v) in enumerate(f.rows)
    )
    online = "" if f.price is None else f"Total members <strong>{f.price:,.0f}</strong>"
    return f"""<!DOCTYPE html><html dir="ltr" lang="en-gb"><head><title>Beekeepers - View forum - General</title></head><body id="phpbb" class="nojs notouch section-viewforum ltr"><div id="wrap" class="wrap"><div id="page-header"><div class="headerbar"><h1>Beekeepers</h1></div></div><div id="page-body" class="page-body"><div class="forumbg"><div class="inner"><ul class="topiclist"><li class="header"><dl class="row-item"><dt><div class="list-inner">Topics</div></dt><dd class="posts">Replies</dd><dd class="views">Views</dd><dd class="lastpost"><span>Last post</span></dd></dl></li></ul><ul class="topiclist topics">{rows}</ul></div></div>
<div class="stat-block statistics"><h3>Statistics</h3><p>Total posts <strong>{90000 + visit}</strong> &bull; {online}</p></div><div class="stat-block categories"><h3>Categories</h3><ul>{"".join(f"<li>{i}</li>" for i in f.items)}</ul></div><p class="right">Digest of {_named(f.day, _ENGLISH, "{month} {day}, {year}")}</p></div></div></body></html>"""


# 3. A package index
def pypi1(f: DayFacts, visit: int) -> str:
    meta = dict(f.rows)
    dl = "n/a" if f.price is None else f"{f.price:,.0f}"
    return f"""<!DOCTYPE html><html lang="en" dir="ltr"><head><title>bees · PyPI</title></head><body><header class="site-header"><div class="search-form"></div><nav class="horizontal-menu"><ul><li><a href="/help/">Help</a></li><li><a href="/sponsors/">Sponsors</a></li></ul></nav></header>
<main id="content"><div class="banner"><div class="package-header"><div class="package-header__left"><h1 class="package-header__name">bees {meta["Version"]}</h1><p class="package-header__pip-instructions"><span id="pip-command">pip install bees</span></p></div><div class="package-header__right"><a class="status-badge status-badge--good"><span>Latest version</span></a><p class="package-header__date">Released: <time datetime="{f.day.isoformat()}T07:11:03+0000" data-controller="localized-time">{f.day:%b %-d, %Y}</time></p></div></div></div>
<div class="vertical-tabs"><div class="sidebar-section verified"><h3 class="sidebar-section__title">Statistics</h3><ul><li>Downloads: <span class="github-repo-info__item" data-key="downloads">{dl}</span></li><li>Stars: <span class="github-repo-info__item" data-key="stars">{4000 + visit}</span></li></ul></div>
<div class="sidebar-section unverified"><h6>Meta</h6><table class="meta">{"".join(f"<tr><th>{k}</th><td>{v}</td></tr>" for k, v in f.rows)}</table></div>
<div id="description"><h2>Project description</h2><div class="project-description"><p>Counts bees.</p></div></div><div id="history"><h2 class="page-title">Release history</h2><div class="release-timeline">{"".join(f'<div class="release"><a class="card release__card" href="/project/bees/{n}/"><p class="release__version">{i}</p></a></div>' for n, i in enumerate(f.items))}</div></div></div></main></body></html>"""


def pypi2(f: DayFacts, visit: int) -> str:  # npm: generated classes
    meta = dict(f.rows)
    dl = "" if f.price is None else f'<p class="_9ba9a726 f4 tl flex-auto fw6 black-80 ma0 pr2 pb1">{f.price:,.0f}</p>'
    return f"""<!DOCTYPE html><html lang="en"><head><title>bees - npm</title></head><body><div id="app"><main><div class="_702d723c dib w-50 bb b--black-10 pr2"><span class="_50685029">bees</span></div>
<div class="w-100"><span class="_76473bea f6 dib ph0 pv2 mb2-ns black-80 nowrap f5 fw4 lh-copy">{meta["Version"]} • Public • Released: <time datetime="{f.day.isoformat()}T07:11:03.881Z">{_named(f.day, _ENGLISH, "{month} {day}, {year}")}</time></span></div>
<div class="_6620a4fd mw8-l" id="tabpanel-readme"><article><div class="_6d239022"><p>Counts bees.</p></div></article></div><div class="fdbf4038 w-third-l"><h3 class="c84e15be f5 mt2 pt2 mb0 black-50">Downloads</h3><div class="_000ae427">{dl}</div>
<h3 class="c84e15be">Stars</h3><div><p class="f2874b88 fw6">{4000 + visit}</p></div>{"".join(f'<div class="_702d723c dib w-50"><h3 class="c84e15be f5">{k}</h3><p class="f2874b88 fw6 mb3 mt2">{v}</p></div>' for k, v in f.rows)}
<h3 class="c84e15be">Release history</h3><ul class="_3c4d1">{"".join(f'<li class="_0c1a3 dn flex"><a class="_132722c7 f5 black-60">{i}</a></li>' for i in f.items)}</ul></div></main></div></body></html>"""


def pypi3(f: DayFacts, visit: int) -> str:  # GitHub releases
    meta = dict(f.rows)
    dl = (
        ""
        if f.price is None
        else f'<div class="mt-2"><a class="Link--muted"><strong>{f.price:,.0f}</strong> downloads</a></div>'
    )
    return f"""<!DOCTYPE html><html lang="en" data-color-mode="auto"><head><title>Releases · hive/bees</title></head><body class="logged-out env-production"><div class="application-main"><main id="js-repo-pjax-container"><h2 class="sr-only">Releases: hive/bees</h2>
<div class="Box-body"><div class="d-flex"><h1 class="d-inline mr-3"><a class="Link--primary Link">Version {meta["Version"]}</a></h1><span class="Label Label--success Label--large">Latest</span></div><div class="mb-3 mr-2"><span>Released</span> <relative-time class="no-wrap" datetime="{f.day.isoformat()}T07:11:03Z">{_named(f.day, _ENGLISH, "{day} {month} {year}")}</relative-time></div>
<div class="markdown-body my-3"><p>Counts bees.</p></div><details open><summary>Assets</summary><div class="Box Box--condensed mt-3"><ul>{"".join(f'<li class="Box-row d-flex"><div class="col-12 text-bold">{k}</div><div class="color-fg-muted text-sm-left">{v}</div></li>' for k, v in f.rows)}</ul></div></details></div>
<div class="Layout-sidebar"><h2 class="h4">About</h2>{dl}<div class="mt-2"><a class="Link--muted"><strong>{4000 + visit}</strong> stars</a></div></div><nav class="menu"><span class="menu-heading">Release history</span><ol>{"".join(f'<li><a class="menu-item"><span class="ref-name">{i}</span></a></li>' for i in f.items)}</ol></nav></main></div></body></html>"""


def pypi4(f: DayFacts, visit: int) -> str:  # a Debian tracker-like page
    dl = "<i>unknown</i>" if f.price is None else f"{f.price:,.0f}"
    return f"""<!DOCTYPE html><html><head><title>bees</title></head><body><header class="page-header"><div class="container"><h1>bees</h1><h5>counts bees</h5></div></header><div class="row"><div class="col-md-3"><div class="panel"><div class="panel-heading">general</div><div class="panel-body"><ul class="list-group list-group-flush">{"".join(f'<li class="list-group-item"><span class="list-item-key"><b>{k}:</b></span> {v}</li>' for k, v in f.rows)}<li class="list-group-item"><span class="list-item-key"><b>Downloads:</b></span> <span>{dl}</span></li><li class="list-group-item"><span class="list-item-key"><b>Stars:</b></span> <span>{4000 + visit}</span></li></ul></div></div></div>
<div class="col-md-6"><div class="panel"><div class="panel-heading">Release history</div><ul class="list-group">{"".join(f'<li class="list-group-item"><span class="version">{i}</span></li>' for i in f.items)}</ul></div></div><div class="col-md-3"><p>Released: <span class="news-date">{f.day.isoformat()}</span></p></div></div></body></html>"""


# 4. Rates
def rate1(f: DayFacts, visit: int) -> str:
    gold = "–" if f.price is None else f"{_group(f.price, '.', ',')} €"
    return f"""<!DOCTYPE html><html lang="de"><head><title>Referenzkurse</title></head><body id="top"><div id="ecb-doc"><h1>Euro-Referenzkurse</h1><p class="day">Kurse vom {_named(f.day, _GERMAN, "{day}. {month} {year}")}</p>
<div class="forextable"><table><thead><tr><th>Währung</th><th>Kurs</th><th class="spot">Vortag</th></tr></thead><tbody>{"".join(f'<tr><td id="{k}" class="currency"><a>{k}</a></td><td class="spot number"><a><span class="rate">{v}</span></a></td><td class="chart">{_group(1 + Random(f"{visit}{k}").random(), ".", ",", 4)}</td></tr>' for k, v in f.rows)}</tbody></table></div>
<div class="metals"><h2>Edelmetalle</h2><table class="metal"><tr><th>Gold (Feinunze)</th><td class="gold">{gold}</td></tr><tr><th>Silber (Feinunze)</th><td class="silver">{_group(f.other_prices[0] / 80, ".", ",")} €</td></tr><tr><th>Platin (Feinunze)</th><td>{_group(f.other_prices[1] / 3, ".", ",")} €</td></tr></table></div>
<div class="news"><h2>Meldungen</h2><ul>{"".join(f"<li><a>{i}</a></li>" for i in f.items)}</ul></div><p>Abrufe heute: {visit}</p></div></body></html>"""


def rate2(f: DayFacts, visit: int) -> str:  # turned table, cards for metals
    gold = "k. A." if f.price is None else f"{_group(f.price, '.', ',')} €"
    return f"""<!DOCTYPE html><html lang="de"><head><title>Kurse</title></head><body><header class="nav">Bank am Markt · {visit} Besucher</header><section class="fx"><h2>Euro-Referenzkurse</h2><table class="fx-table"><tr><th>Währung</th>{"".join(f"<th>{k}</th>" for k, _ in f.rows)}</tr><tr><th>Kurs</th>{"".join(f"<td>{v}</td>" for _, v in f.rows)}</tr></table><p class="fx-note">Kurse vom <b>{f.day:%d.%m.%Y}</b></p></section>
<section class="metal-cards"><h2>Edelmetalle</h2><div class="card"><h3>Silber (Feinunze)</h3><p class="card-value">{_group(f.other_prices[0] / 80, ".", ",")} €</p></div><div class="card"><h3>Gold (Feinunze)</h3><p class="card-value">{gold}</p></div><div class="card"><h3>Platin (Feinunze)</h3><p class="card-value">{_group(f.other_prices[1] / 3, ".", ",")} €</p></div></section>
<section><h2>Meldungen</h2>{"".join(f'<div class="teaser"><a>{i}</a></div>' for i in f.items)}</section></body></html>"""


def rate3(f: DayFacts, visit: int) -> str:  # old names for other things
    gold = "" if f.price is None else f'<span class="v">{_group(f.price, ".", ",")} €</span>'
    return f"""<!DOCTYPE html><html lang="de"><head><title>Kurse und Preise</title></head><body><main><div class="tabs"><a>Devisen</a><a>Metalle</a></div><table class="devisen"><tbody>{"".join(f'<tr><td class="flag"></td><th scope="row">{k}</th><td>{v}</td><td class="rate">{_group(1 + Random(f"{visit}{k}").random(), ".", ",", 4)}</td></tr>' for k, v in f.rows)}</tbody></table><small>Kurse vom {_named(f.day, _GERMAN, "{day}. {month} {year}")}</small>
<dl class="preise"><dt>Silber (Feinunze)</dt><dd class="gold">{_group(f.other_prices[0] / 80, ".", ",")} €</dd><dt>Gold (Feinunze)</dt><dd>{gold}</dd><dt>Platin (Feinunze)</dt><dd class="gold">{_group(f.other_prices[1] / 3, ".", ",")} €</dd></dl>
<aside><h3>Meldungen</h3><ol class="m">{"".join(f"<li><p>{i}</p></li>" for i in f.items)}</ol></aside></main></body></html>"""


def rate4(f: DayFacts, visit: int) -> str:  # divs
    gold = "nicht verfügbar" if f.price is None else f"{_group(f.price, '.', ',')} €"
    return f"""<!DOCTYPE html><html lang="de"><head><title>Märkte</title></head><body><div class="sc-a1 kHzQx"><div class="sc-b2">Märkte</div><div class="sc-c3 grid">{"".join(f'<div class="sc-d4 row"><span class="sc-e5">{k}</span><span class="sc-f6">{v}</span></div>' for k, v in f.rows)}</div><div class="sc-g7"><span>Kurse vom</span> <time datetime="{f.day.isoformat()}">{_named(f.day, _GERMAN, "{day}. {month}")}</time></div>
<div class="sc-h8"><div class="sc-d4 row"><span class="sc-e5">Gold (Feinunze)</span><span class="sc-f6">{gold}</span></div><div class="sc-d4 row"><span class="sc-e5">Silber (Feinunze)</span><span class="sc-f6">{_group(f.other_prices[0] / 80, ".", ",")} €</span></div></div><div class="sc-i9"><h2>Meldungen</h2><ul>{"".join(f"<li>{i}</li>" for i in f.items)}</ul></div></div></body></html>"""


def vals(base: float, step: float, n: int) -> tuple[str, ...]:
    return tuple(de4(base + step * i) for i in range(n))


def de4(x: float) -> str:
    return _group(x, ".", ",", 4)


SOFTWARE = (
    ValueTemplate(
        "woo",
        Subject(
            49.9,
            0.1,
            _rows(
                Weight="14 kg|14.5 kg|15 kg",
                Dimensions="140 × 60 × 65 cm|150 × 60 × 65 cm",
                Colour="Green|Black, Green|Red",
            ),
            (
                "Galvanised tray",
                "Puncture-proof tyre",
                "Ash handles",
                "Carries 120 kg",
                "Made in Leeds",
                "Assembly included",
            ),
        ),
        (woo1, woo2, woo3, woo4),
        (
            ("price", "css:.summary p.price", FieldType.NUMBER),
            ("stated", "data:Product.offers.price", FieldType.NUMBER),
            ("cell", "table:Weight", FieldType.TEXT),
            ("table", "css:table.shop_attributes tr", FieldType.LIST),
            ("items", "css:.woocommerce-product-details__short-description li", FieldType.LIST),
            ("date", "css:.product_meta .updated", FieldType.DATE),
        ),
        "Weight",
        "EUR",
    ),
    ValueTemplate(
        "discourse",
        Subject(
            4321,
            1,
            (
                ("Welcome to Beekeepers", ("12", "13", "15", "16", "18", "21")),
                ("Varroa treatment in autumn", ("88", "91", "93", "97")),
                ("Which smoker?", ("7", "8", "9")),
            ),
            ("General", "Hives", "Honey", "Diseases", "Marketplace", "Site feedback"),
        ),
        (disc1, disc2, disc3, disc4),
        (
            ("price", "css:.member-count", FieldType.NUMBER),
            ("cell", "xpath://tr[contains(., 'Varroa')]/td[@class='replies']", FieldType.TEXT),
            ("table", "css:table.topic-list tbody tr", FieldType.LIST),
            ("items", "css:.category-list li", FieldType.LIST),
            ("date", "css:.refreshed", FieldType.DATE),
        ),
        "Varroa treatment in autumn",
        "",
    ),
    ValueTemplate(
        "package",
        Subject(
            128000,
            100,
            _rows(
                Version="1.4.0|1.4.1|1.5.0|2.0.0|2.0.1",
                License="MIT|BSD-3-Clause",
                Requires="Python >=3.9|Python >=3.10|Python >=3.11",
            ),
            ("1.3.9", "1.3.8", "1.3.0", "1.2.0rc1", "1.1.0", "1.0.0"),
        ),
        (pypi1, pypi2, pypi3, pypi4),
        (
            ("price", "css:[data-key=downloads]", FieldType.NUMBER),
            ("cell", "text:bees (\\d\\S+)", FieldType.TEXT),
            ("table", "css:table.meta tr", FieldType.LIST),
            ("items", "css:.release__version", FieldType.LIST),
            ("date", "css:.package-header__date time::attr(datetime)", FieldType.DATE),
        ),
        "Version",
        "",
    ),
    ValueTemplate(
        "rates",
        Subject(
            3890.5,
            1.3,
            (
                ("USD", vals(1.0712, 0.0041, 5)),
                ("JPY", vals(161.22, 0.37, 5)),
                ("CHF", vals(0.9312, 0.0023, 5)),
                ("GBP", vals(0.8511, 0.0019, 4)),
            ),
            ("Leitzins unverändert", "Dollar zieht an", "Neue Banknoten", "Feiertage im Mai", "Handelszeiten geändert"),
        ),
        (rate1, rate2, rate3, rate4),
        (
            ("price", "css:td.gold", FieldType.NUMBER),
            ("cell", "xpath://tr[td[@id='JPY']]/td[2]", FieldType.TEXT),
            ("table", "css:.forextable tbody tr", FieldType.LIST),
            ("items", "css:.news li", FieldType.LIST),
            ("date", "css:p.day", FieldType.DATE),
        ),
        "JPY",
        "EUR",
    ),
)
