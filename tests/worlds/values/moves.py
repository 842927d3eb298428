"""Six more templates in the style of known software, each of which moves twice: a hosted shop, a hotel, a repository, a
wiki, a job board and a timetable. They were written before anybody looked at how fields read them."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from random import Random

from evercrawl.model.fields import FieldType
from tests.worlds.values.facts import DayFacts, Subject
from tests.worlds.values.templates import _ENGLISH, _FRENCH, ValueTemplate, _group, _items, _named, _rows

_LONG, _US, _FR = "{day} {month} {year}", "{month} {day}, {year}", "{day} {month} {year}"


def _each(form: str, f: DayFacts, chance: object = "") -> str:
    return "".join(
        form.format(k=k, v=v, n=n, x=Random(f"{chance}{n}").randint(2, 90)) for n, (k, v) in enumerate(f.rows)
    )


def _zip(form: str, names: str, prices: tuple[float, ...], show: str) -> str:
    return "".join(form.format(n, show.format(p)) for n, p in zip(names.split("|"), prices, strict=False))


# 1. A shop: Shopify (Dawn), an older theme, BigCommerce, PrestaShop.
_ALSO = "Kitchen roll holder|Bread bin|Egg cups"


def _shop_dawn(f: DayFacts, visit: int) -> str:
    shown = "" if f.price is None else f"£{f.price:,.2f} GBP"
    price = f"""<div class="price price--large{"" if f.price else " price--sold-out"}"><div class="price__container"><div class="price__regular"><span class="visually-hidden visually-hidden--inline">Regular price</span><span class="price-item price-item--regular">{shown}</span></div><div class="price__sale"><span class="visually-hidden">Regular price</span><span><s class="price-item price-item--regular"></s></span><span class="visually-hidden">Sale price</span><span class="price-item price-item--sale price-item--last">{shown}</span></div></div>{"" if f.price else '<span class="badge price__badge-sold-out">Sold out</span>'}</div>"""
    also = _zip(
        '<li class="grid__item"><div class="card-wrapper product-card-wrapper"><h3 class="card__heading"><a class="full-unstyled-link">{}</a></h3><div class="price"><div class="price__container"><div class="price__regular"><span class="visually-hidden">Regular price</span><span class="price-item price-item--regular">{}</span></div></div></div></div></li>',
        _ALSO,
        f.other_prices,
        "£{:,.2f} GBP",
    )
    return f"""<!doctype html><html class="no-js" lang="en"><head><title>Butter dish – Oak & Clay</title><meta property="og:type" content="product"></head><body class="gradient"><div class="announcement-bar"><p>Free delivery over £60</p></div><sticky-header class="header-wrapper"><a href="/cart" class="header__icon--cart"><div class="cart-count-bubble"><span>{visit % 7}</span></div></a></sticky-header>
<main id="MainContent"><section id="shopify-section-template--1588__main" class="section"><product-info class="product__info-wrapper grid__item"><div class="product__title"><h1>Butter dish</h1></div><div class="no-js-hidden" id="price-template--1588__main" role="status">{price}</div><div class="product__description rte quick-add-hidden"><p>Thrown by hand.</p><ul>{_items("<li>{}</li>", f.items)}</ul></div><div class="product__accordion accordion"><details><summary><h2 class="accordion__title">Details</h2></summary><div class="accordion__content rte"><table><tbody>{_each("<tr><td>{k}</td><td>{v}</td></tr>", f)}</tbody></table></div></details></div><p class="product__text inline-richtext">Ships by {_named(f.day, _ENGLISH, _LONG)}</p></product-info></section>
<product-recommendations class="related-products"><h2 class="related-products__heading">You may also like</h2><ul class="grid product-grid">{also}</ul></product-recommendations></main></body></html>"""


def _shop_old(f: DayFacts, visit: int) -> str:
    price = (
        '<dl class="price price--sold-out"><dd></dd></dl>'
        if f.price is None
        else f"""<dl class="price" data-price><div class="price__pricing-group"><div class="price__regular"><dt><span class="visually-hidden visually-hidden--inline">Regular price</span></dt><dd><span class="price-item price-item--regular" data-regular-price>£{f.price:,.2f}</span></dd></div></div></dl>"""
    )
    also = _zip(
        '<li class="grid__item grid__item--one-third"><div class="product-card"><div class="product-card__title">{}</div><dl class="price"><dt>Regular price</dt><dd><span class="price-item price-item--regular">{}</span></dd></dl></div></li>',
        _ALSO,
        f.other_prices,
        "£{:,.2f}",
    )
    return f"""<!doctype html><html class="js" lang="en"><head><title>Butter dish – Oak & Clay</title></head><body class="template-product"><header class="site-header"><a href="/cart">Basket ({visit % 7})</a></header><main id="MainContent"><div class="product-template__container page-width" id="ProductSection-product-template"><div class="product-single__meta"><h1 class="product-single__title">Butter dish</h1><div class="product__price">{price}</div><p class="product-form__note">Ships by {_named(f.day, _ENGLISH, _US)}</p><div class="product-single__description rte"><p>Thrown by hand.</p><ul>{_items("<li><span>{}</span></li>", f.items)}</ul><h4>Details</h4><table width="100%"><tbody>{_each("<tr><td><strong>{k}</strong></td><td>{v}</td></tr>", f)}</tbody></table></div></div></div><div class="product-recommendations"><h2>You may also like</h2><ul class="grid">{also}</ul></div></main></body></html>"""


def _shop_big(f: DayFacts, visit: int) -> str:
    price = (
        '<p class="alertBox">Sold out</p>'
        if f.price is None
        else f"""<div class="price-section price-section--withTax rrp-price--withTax" style="display: none;">RRP: <span data-product-rrp-with-tax class="price price--rrp"></span></div><div class="price-section price-section--withTax"><span class="price-label"></span><span data-product-price-with-tax class="price price--withTax">£{f.price:,.2f}</span></div>"""
    )
    also = _zip(
        '<div class="productCarousel-slide"><article class="card"><h3 class="card-title"><a>{}</a></h3><div class="card-text"><div class="price-section"><span data-product-price-with-tax class="price price--withTax">{}</span></div></div></article></div>',
        _ALSO,
        f.other_prices,
        "£{:,.2f}",
    )
    return f"""<!DOCTYPE html><html class="no-js" lang="en"><head><title>Butter dish - Oak & Clay</title></head><body><header class="header"><span class="countPill cart-quantity">{visit % 7}</span></header><div class="body"><ol class="breadcrumbs"><li class="breadcrumb"><a>Home</a></li><li class="breadcrumb"><a>Kitchen</a></li></ol><div class="productView" data-entity-id="112"><section class="productView-details product-data"><div class="productView-product"><h1 class="productView-title">Butter dish</h1><div class="productView-price">{price}</div><dl class="productView-info"><dt class="productView-info-name sku-label">SKU:</dt><dd class="productView-info-value">BD-112</dd><dt class="productView-info-name">Shipping:</dt><dd class="productView-info-value">Ships by {_named(f.day, _ENGLISH, _LONG)}</dd>{_each('<div class="productView-info-bulkPricing"></div><dt class="productView-info-name">{k}:</dt><dd class="productView-info-value">{v}</dd>', f)}</dl></div></section><article class="productView-description"><div class="tab-content is-active" id="tab-description"><p>Thrown by hand.</p><ul>{_items("<li>{}</li>", f.items)}</ul></div></article></div><div class="tab-content" id="tab-related"><section class="productCarousel">{also}</section></div></div></body></html>"""


def _shop_presta(f: DayFacts, visit: int) -> str:
    price = (
        ""
        if f.price is None
        else f"""<div class="product-price h5"><div class="current-price"><span class="current-price-value" content="{f.price}">£{f.price:,.2f}</span></div></div>"""
    )
    also = _zip(
        '<div class="js-product product"><article class="product-miniature js-product-miniature"><h2 class="h3 product-title"><a>{}</a></h2><div class="product-price-and-shipping"><span class="price" aria-label="Price">{}</span></div></article></div>',
        _ALSO,
        f.other_prices,
        "£{:,.2f}",
    )
    return f"""<!doctype html><html lang="en-GB"><head><title>Butter dish</title></head><body id="product" class="lang-gb country-gb"><main><header id="header"><div class="blockcart"><span class="cart-products-count">({visit % 7})</span></div></header><section class="featured-products clearfix"><h2>Customers who bought this product also bought:</h2><div class="products">{also}</div></section><section id="main"><div class="row product-container"><div class="col-md-6"><h1 class="h1">Butter dish</h1><div class="product-prices js-product-prices">{price}<div class="tax-shipping-delivery-label">Tax included <span class="delivery-information">Ships by {_named(f.day, _ENGLISH, _LONG)}</span></div></div><div class="product-information"><div id="product-description-short-12"><p>Thrown by hand.</p></div></div><div class="tabs"><div class="tab-pane" id="description"><div class="product-description">{_items("<p>• {}</p>", f.items)}</div></div><div class="tab-pane" id="product-details"><section class="product-features"><p class="h6">Data sheet</p><dl class="data-sheet">{_each('<dt class="name">{k}</dt><dd class="value">{v}</dd>', f)}</dl></section></div></div></div></div></section></main></body></html>"""


# 2. A hotel: Booking, Expedia, generated classes, its own site.
def _hotel_first(f: DayFacts, visit: int) -> str:
    price = (
        "We have no availability here"
        if f.price is None
        else f'<span class="prco-valign-middle-helper">€&nbsp;{f.price:,.0f}</span><span class="bui-u-sr-only">Price €&nbsp;{f.price:,.0f}</span>'
    )
    near = _zip(
        '<div class="sr_item"><span class="sr-hotel__name">{}</span><div class="bui-price-display__value">{}</div></div>',
        "Hotel Post|Gasthof Adler|Pension Inge",
        f.other_prices,
        "€&nbsp;{:,.0f}",
    )
    return f"""<!DOCTYPE html><html lang="en-gb"><head><title>Hotel am See, Lindau</title></head><body id="b2hotelPage" class="user_center"><div id="top"><span>{visit} people are looking</span></div><div id="hotelTmpl"><h2 class="hp__hotel-name" id="hp_hotel_name">Hotel am See</h2><div class="bui-price-display"><div class="bui-price-display__label">1 night, 2 adults</div><div class="hp-lowest-price">{price}</div></div><div class="hp_desc_main_content"><p>On the lake since 1901.</p></div><div class="hp--popular_facilities"><h3>Most popular facilities</h3><div class="facilities-block">{_items('<div class="important_facility" data-name-en="">{}</div>', f.items)}</div></div>
<table id="hprt-table" class="hprt-table"><thead><tr><th>Accommodation type</th><th>Sleeps</th><th>Availability</th></tr></thead><tbody>{_each('<tr class="js-rt-block-row hprt-table-cheapest-block"><td class="hprt-table-cell hprt-table-cell-roomtype"><a class="hprt-roomtype-link"><span class="hprt-roomtype-icon-link">{k}</span></a></td><td class="hprt-table-cell-occupancy"><span class="bui-u-sr-only">Max. people: 2</span></td><td class="hprt-table-cell-avail"><span class="only_x_left">{v}</span></td></tr>', f)}</tbody></table><p class="hp-freecancel">Free cancellation until <strong>{_named(f.day, _ENGLISH, _LONG)}</strong></p></div><div class="nearby"><h3>Other hotels</h3>{near}</div></body></html>"""


def _hotel_expedia(f: DayFacts, visit: int) -> str:
    price = (
        '<div class="uitk-text">We are sold out</div>'
        if f.price is None
        else f'<div data-test-id="price-summary"><div class="uitk-text uitk-type-500">€{f.price:,.0f}</div><div class="uitk-text uitk-type-200">per night</div></div>'
    )
    near = _zip(
        '<div class="uitk-card uitk-card-has-border"><h4 class="uitk-heading">{}</h4><div class="uitk-text uitk-type-500">{}</div></div>',
        "Hotel Post|Gasthof Adler|Pension Inge",
        f.other_prices,
        "€{:,.0f}",
    )
    return f"""<!DOCTYPE html><html lang="en-GB"><head><title>Hotel am See</title></head><body><div class="uitk-banner">{visit} travellers booked today</div><div data-stid="content-hotel-title"><h1 class="uitk-heading uitk-heading-3">Hotel am See</h1></div><div data-stid="content-hotel-lead-price">{price}</div><section data-stid="content-hotel-rooms"><h2>Choose your room</h2><div class="uitk-layout-grid">{_each('<div class="uitk-card uitk-card-has-border" id="{x}"><div class="uitk-card-content-section"><h3 class="uitk-heading uitk-heading-6">{k}</h3><ul class="uitk-typelist"><li class="uitk-typelist-item">Sleeps 2</li><li class="uitk-typelist-item">Free WiFi</li></ul><div class="uitk-text uitk-text-negative-theme">{v}</div></div></div>', f)}</div></section><section><h3>Most popular facilities</h3><ul class="uitk-typelist">{_items('<li class="uitk-typelist-item"><svg></svg><span class="uitk-text">{}</span></li>', f.items)}</ul></section><div class="uitk-text uitk-text-positive-theme">Free cancellation until {_named(f.day, _ENGLISH, _LONG)}</div><section><h3>Other hotels</h3>{near}</section></body></html>"""


def _hotel_hashed(f: DayFacts, visit: int) -> str:
    price = (
        ""
        if f.price is None
        else f'<div class="_1jo4hgw" aria-hidden="true"><span class="_hb913q">€ {f.price:,.0f}</span> <span class="_1k4xcdh">night</span></div>'
    )
    near = _zip(
        '<div class="_gig1e7"><div class="t1jojoys">{}</div><div class="_i5duul"><span class="_14y1gc">{}</span></div></div>',
        "Hotel Post|Gasthof Adler|Pension Inge",
        f.other_prices,
        "€ {:,.0f}",
    )
    return f"""<!doctype html><html lang="en"><head><title>Hotel am See</title></head><body class="with-new-header"><div class="_e296pg"><h1 class="_fecoyn4">Hotel am See</h1><span class="_pgfqnw">{visit} reviews</span></div><div class="_1s21a6e2">{price}</div><div class="_1byskwn"><h2 class="_14i3z6h">Rooms</h2><div class="_88xxct">{_each('<div class="_j5qpn1"><div class="_1auxwog">{k}</div><div class="_5kaapu"><span>2 guests</span><span aria-hidden="true"> · </span><span>{v}</span></div></div>', f)}</div></div><div class="_1byskwn"><h2 class="_14i3z6h">Most popular facilities</h2>{_items('<div class="_19xnuo97"><div class="_vzrbjl">{}</div></div>', f.items)}</div><div class="_m9x7bnz"><div>Free cancellation until</div><div>{_named(f.day, _ENGLISH, _LONG)}</div></div><div class="_1h6n1zu"><h2 class="_14i3z6h">Other hotels</h2>{near}</div></body></html>"""


def _hotel_own(f: DayFacts, visit: int) -> str:
    price = "Currently fully booked" if f.price is None else f"from {f.price:,.0f} € per night"
    near = _zip("<li>{}: {}</li>", "Hotel Post|Gasthof Adler|Pension Inge", f.other_prices, "{:,.0f} €")
    return f"""<!DOCTYPE html><html lang="en-US"><head><title>Hotel am See – Lindau</title></head><body class="home page-template-default wp-theme-astra"><header id="masthead"><p class="site-title">Hotel am See</p></header><div class="entry-content"><h1 class="wp-block-heading">Hotel am See</h1><p class="has-large-font-size">{price}</p><h3 class="wp-block-heading">Our rooms</h3><figure class="wp-block-table"><table><tbody>{_each("<tr><td>{k}</td><td>2 persons</td><td>{v}</td></tr>", f)}</tbody></table></figure><h3 class="wp-block-heading">Most popular facilities</h3><ul class="wp-block-list">{_items("<li>{}</li>", f.items)}</ul><p>Free cancellation until {_named(f.day, _ENGLISH, _US)}.</p><h3 class="wp-block-heading">If we are full: other hotels</h3><ul class="wp-block-list">{near}</ul></div><footer>Visitor {visit}</footer></body></html>"""


# 3. A repository: GitHub, GitLab, Gitea, SourceForge.
def _repo_github(f: DayFacts, visit: int) -> str:
    stars = (
        ""
        if f.price is None
        else f'<a href="/bee/hive/stargazers" class="Link Link--muted"><svg class="octicon octicon-star mr-2"></svg> <strong>{f.price:,.0f}</strong> stars</a>'
    )
    return f"""<!DOCTYPE html><html lang="en" data-color-mode="auto"><head><title>bee/hive: A hive manager</title></head><body class="logged-out"><div id="repository-container-header"><strong itemprop="name" class="mr-2 flex-self-stretch"><a>hive</a></strong><span class="Counter">{visit}</span></div><div class="Layout-main"><table aria-labelledby="folders-and-files"><tbody><tr class="react-directory-row"><td><a class="Link--primary">src</a></td></tr><tr class="react-directory-row"><td><a class="Link--primary">README.md</a></td></tr></tbody></table></div><div class="Layout-sidebar"><div class="BorderGrid about-margin"><div class="BorderGrid-row"><h2 class="mb-3 h4">About</h2><p class="f4 my-3">A hive manager</p><h3 class="sr-only">Topics</h3><div class="my-3"><div class="f6">{_items('<a class="topic-tag topic-tag-link" data-octo-click="topic_click">{}</a>', f.items)}</div></div><h3 class="sr-only">Stars</h3><div class="mt-2">{stars}</div><h3 class="sr-only">Watchers</h3><div class="mt-2"><a class="Link Link--muted"><strong>{f.other_prices[0] / 40:,.0f}</strong> watching</a></div><h3 class="sr-only">Forks</h3><div class="mt-2"><a class="Link Link--muted"><strong>{f.other_prices[1] / 9:,.0f}</strong> forks</a></div></div><div class="BorderGrid-row"><h2 class="h4 mb-3">Releases</h2><div class="d-flex"><span class="css-truncate css-truncate-target text-bold mr-2">v3.1</span><span title="Label: Latest" class="Label Label--success">Latest</span><div class="text-small color-fg-muted"><relative-time datetime="{f.day.isoformat()}T08:11:42Z" class="no-wrap">{_named(f.day, _ENGLISH, "{month} {day}, {year}")}</relative-time></div></div></div><div class="BorderGrid-row"><h2 class="h4 mb-3">Languages</h2><ul class="list-style-none">{_each('<li class="d-inline"><a class="d-inline-flex flex-items-center Link--secondary no-underline text-small mr-3"><svg class="octicon octicon-dot-fill mr-2"></svg><span class="color-fg-default text-bold mr-1">{k}</span><span>{v}</span></a></li>', f)}</ul></div></div></div></body></html>"""


def _repo_gitlab(f: DayFacts, visit: int) -> str:
    stars = (
        ""
        if f.price is None
        else f'<a class="gl-button btn btn-default btn-sm star-count count" title="Starrers" href="/bee/hive/-/starrers">{f.price:,.0f}</a>'
    )
    return f"""<!DOCTYPE html><html lang="en" class="with-top-bar"><head><title>bee / hive · GitLab</title></head><body data-page="projects:show"><div class="project-home-panel js-show-on-project-root"><h1 class="home-panel-title">hive</h1><div class="project-repo-buttons"><div class="count-badge"><button class="star-btn">Star</button>{stars}</div><div class="count-badge"><button>Fork</button><a class="fork-count count" title="Forks">{f.other_prices[1] / 9:,.0f}</a></div></div><div class="home-panel-topic-list"><span class="gl-icon"></span>{_items('<a class="gl-mr-2" href="/explore/projects/topics/x"><span class="gl-badge badge badge-pill badge-muted sm"><span class="gl-badge-content">{}</span></span></a>', f.items)}</div></div><nav class="project-stats"><ul class="nav"><li class="nav-item"><a class="nav-link stat-link"><strong class="project-stat-value">{visit + 1000}</strong> Commits</a></li><li class="nav-item"><a class="nav-link stat-link"><strong class="project-stat-value">4</strong> Branches</a></li><li class="nav-item"><span>Latest release</span> <time datetime="{f.day.isoformat()}T08:11:42Z">{_named(f.day, _ENGLISH, "{month} {day}, {year}")}</time></li></ul></nav><div class="repository-languages-bar" data-qa-selector="repository_languages_container"><h4>Programming languages used in this repository</h4><ul class="bordered-list">{_each('<li><span class="js-repository-language-title repository-language-bar-tooltip-language">{k}</span> <span class="repository-language-bar-tooltip-share">{v}</span></li>', f)}</ul></div></body></html>"""


def _repo_gitea(f: DayFacts, visit: int) -> str:
    stars = "" if f.price is None else f'<a class="ui basic label" href="/bee/hive/stars">{f.price:.0f}</a>'
    return f"""<!DOCTYPE html><html lang="en-US" data-theme="gitea-auto"><head><title>bee/hive: A hive manager - Gitea</title></head><body><div class="page-content repository file list"><div class="repo-header"><div class="flex-item-title"><a>bee</a>/<a>hive</a></div><div class="repo-buttons"><div class="ui labeled button"><button class="ui compact small basic button">Watch</button><a class="ui basic label">{f.other_prices[0] / 40:.0f}</a></div><div class="ui labeled button"><button class="ui compact small basic button">Star</button>{stars}</div><div class="ui labeled button"><button class="ui compact small basic button">Fork</button><a class="ui basic label">{f.other_prices[1] / 9:.0f}</a></div></div></div><div class="repo-summary"><a class="item"><b>{visit + 1000}</b> Commits</a><a class="item"><b>4</b> Branches</a></div><div class="repo-home-sidebar-top"><div class="flex-item-title">Description</div><div>A hive manager</div><div id="repo-topics">{_items('<a class="repo-topic ui large label gt-ellipsis" href="/explore/repos?q=x&topic=1">{}</a>', f.items)}</div></div><div class="flex-list"><div class="flex-item"><div class="flex-item-header">Releases <span class="ui small label">12</span></div><div class="flex-item-main"><a>v3.1</a> <relative-time class="time-since" datetime="{f.day.isoformat()}T08:11:42Z">{f.day.isoformat()}</relative-time></div></div><div class="flex-item"><div class="flex-item-header">Languages</div><div class="language-stats"></div><div class="language-stats-details">{_each('<div class="item"><i class="color-icon"></i><span class="tw-font-semibold">{k}</span> {v}</div>', f)}</div></div></div></div></body></html>"""


def _repo_sf(f: DayFacts, visit: int) -> str:
    stars = "" if f.price is None else f"<b>{f.price:,.0f}</b> stars"
    return f"""<!doctype html><html lang="en"><head><title>hive download | SourceForge.net</title></head><body id="pg_project"><div class="header-content"><h1>hive</h1><p class="summary">A hive manager</p><div class="stats"><a class="reviews">{stars}</a><a class="downloads">{visit} This Week</a><span>Last Update: <time class="dateUpdated" datetime="{f.day.isoformat()}">{f.day.isoformat()}</time></span></div></div><section class="project-info"><h4>Topics</h4><ul>{_items("<li><a>{}</a></li>", f.items)}</ul><h4>Programming Language</h4><table class="langs">{_each("<tr><td>{k}</td><td>{v}</td></tr>", f)}</table><h4>Registered</h4>2014-03-01</section></body></html>"""


# 4. A wiki: MediaWiki, Fandom, DokuWiki, Confluence.
_TOWNS = "Lower Wick|Upton|Hallow"


def _wiki_vector(f: DayFacts, visit: int) -> str:
    people = (
        ""
        if f.price is None
        else f'<tr class="mergedrow"><th scope="row" class="infobox-label"><div style="display:inline">•&nbsp;Total</div></th><td class="infobox-data">{f.price:,.0f}<sup id="cite_ref-2" class="reference"><a href="#cite_note-2">[2]</a></sup></td></tr>'
    )
    near = _zip('<tr><td><a>{}</a></td><td style="text-align:right">{}</td></tr>', _TOWNS, f.other_prices, "{:,.0f}")
    return f"""<!DOCTYPE html><html class="client-nojs" lang="en"><head><title>Martley - Wikishire</title></head><body class="mediawiki ltr sitedir-ltr skin-vector"><div id="content" class="mw-body"><h1 id="firstHeading" class="firstHeading">Martley</h1><div id="mw-content-text"><div class="mw-parser-output"><table class="infobox ib-settlement vcard"><tbody><tr><th colspan="2" class="infobox-above"><div class="fn org">Martley</div></th></tr><tr><td colspan="2" class="infobox-image"><img src="a.jpg"></td></tr>{_each('<tr class="mergedtoprow"><th scope="row" class="infobox-label">{k}</th><td class="infobox-data">{v}</td></tr>', f)}<tr class="mergedtoprow"><th colspan="2" class="infobox-header">Population</th></tr>{people}</tbody></table><p><b>Martley</b> is a town with {visit % 9 + 2} churches.</p><h2><span class="mw-headline" id="Twin">Twin towns</span><span class="mw-editsection">[edit]</span></h2><ul>{_items('<li><span class="flagicon"></span><a>{}</a></li>', f.items)}</ul><h2><span class="mw-headline">Neighbours</span></h2><table class="wikitable sortable"><tbody><tr><th>Town</th><th>Population</th></tr>{near}</tbody></table></div></div></div><div id="footer"><ul id="footer-info"><li id="footer-info-lastmod"> This page was last edited on {_named(f.day, _ENGLISH, _LONG)}, at 07:3{visit % 10}&nbsp;(UTC).</li></ul></div></body></html>"""


def _wiki_fandom(f: DayFacts, visit: int) -> str:
    people = (
        ""
        if f.price is None
        else f'<div class="pi-item pi-data pi-item-spacing pi-border-color" data-source="population"><h3 class="pi-data-label pi-secondary-font">Population</h3><div class="pi-data-value pi-font">{f.price:,.0f}</div></div>'
    )
    near = _zip("<tr><td>{}</td><td>{}</td></tr>", _TOWNS, f.other_prices, "{:,.0f}")
    return f"""<!DOCTYPE html><html lang="en"><head><title>Martley | Wikishire | Fandom</title></head><body class="skin-fandomdesktop"><div class="page-header"><h1 class="page-header__title">Martley</h1><div class="page-header__meta">{visit} views</div></div><div class="mw-parser-output"><aside role="region" class="portable-infobox pi-background pi-theme-default pi-layout-default"><h2 class="pi-item pi-title">Martley</h2>{people}<section class="pi-item pi-group"><h2 class="pi-item pi-header">Facts</h2>{_each('<div class="pi-item pi-data pi-item-spacing pi-border-color" data-source="f{n}"><h3 class="pi-data-label pi-secondary-font">{k}</h3><div class="pi-data-value pi-font">{v}</div></div>', f)}</section></aside><p><b>Martley</b> is a town.</p><h2><span class="mw-headline">Twin towns</span></h2><ul>{_items("<li>{}</li>", f.items)}</ul><h2><span class="mw-headline">Neighbours</span></h2><table class="article-table"><tbody><tr><th>Town</th><th>Population</th></tr>{near}</tbody></table></div><div class="page-footer">Last edited on {_named(f.day, _ENGLISH, _LONG)}</div></body></html>"""


def _wiki_doku(f: DayFacts, visit: int) -> str:
    people = (
        ""
        if f.price is None
        else f'<tr class="row9"><th class="col0">Population</th><td class="col1">{f.price:,.0f}</td></tr>'
    )
    near = _zip(
        '<tr class="row1"><td class="col0">{}</td><td class="col1 rightalign">{}</td></tr>',
        _TOWNS,
        f.other_prices,
        "{:,.0f}",
    )
    return f"""<!DOCTYPE html><html lang="en" dir="ltr" class="no-js"><head><title>martley [Wikishire]</title></head><body><div id="dokuwiki__site"><div class="dokuwiki mode_show"><div class="page group"><h1 class="sectionedit1" id="martley">Martley</h1><div class="level1"><p><strong>Martley</strong> is a town.</p><div class="table sectionedit2"><table class="inline">{_each('<tr class="row{n}"><th class="col0">{k}</th><td class="col1">{v}</td></tr>', f)}{people}</table></div></div><h2 class="sectionedit3">Neighbours</h2><div class="level2"><div class="table"><table class="inline"><tr class="row0"><th class="col0">Town</th><th class="col1">Population</th></tr>{near}</table></div></div><h2 class="sectionedit4">Twin towns</h2><div class="level2"><ul>{_items('<li class="level1"><div class="li">{}</div></li>', f.items)}</ul></div></div><div class="docInfo"><bdi>martley.txt</bdi> · Last modified: <time>{f.day.isoformat()}</time> by <bdi>bee{visit % 5}</bdi></div></div></div></body></html>"""


def _wiki_confluence(f: DayFacts, visit: int) -> str:
    people = (
        ""
        if f.price is None
        else f'<tr><th class="confluenceTh"><p>Population</p></th><td class="confluenceTd"><p>{f.price:,.0f}</p></td></tr>'
    )
    near = _zip(
        '<tr><td class="confluenceTd">{}</td><td class="confluenceTd">{}</td></tr>', _TOWNS, f.other_prices, "{:,.0f}"
    )
    return f"""<!DOCTYPE html><html lang="en-GB"><head><title>Martley - Wikishire - Confluence</title></head><body id="com-atlassian-confluence"><div id="main"><h1 id="title-text" class="with-breadcrumbs"><a>Martley</a></h1><div class="page-metadata"><ul><li class="page-metadata-modification-info">Created by <span class="author">bee</span>, last modified on <a class="last-modified">{_named(f.day, _ENGLISH, "{month} {day}, {year}")}</a></li><li>{visit} views</li></ul></div><div id="main-content" class="wiki-content"><div class="contentLayout2"><div class="cell"><div class="table-wrap"><table class="confluenceTable"><colgroup><col/><col/></colgroup><tbody>{_each('<tr><th class="confluenceTh"><p>{k}</p></th><td class="confluenceTd"><p>{v}</p></td></tr>', f)}{people}</tbody></table></div></div><div class="cell"><h2 id="Martley-Twintowns">Twin towns</h2><ul>{_items("<li><p>{}</p></li>", f.items)}</ul><h2>Neighbours</h2><div class="table-wrap"><table class="confluenceTable"><tbody><tr><th class="confluenceTh">Town</th><th class="confluenceTh">Population</th></tr>{near}</tbody></table></div></div></div></div></div></body></html>"""


# 5. A job: Greenhouse, Lever, generated classes, Personio.
_JOBS = "Beekeeper|Hive designer|Wax chemist"


def _job_greenhouse(f: DayFacts, visit: int) -> str:
    pay = (
        ""
        if f.price is None
        else f'<div class="job__pay-ranges"><div class="pay-range"><p class="title">Salary</p><p class="body">${f.price:,.0f}</p></div></div>'
    )
    return f"""<!DOCTYPE html><html lang="en-US"><head><title>Job Application for Apiarist at Honeyworks</title></head><body><main class="main font-secondary job-post"><div class="image-container"><a href="https://honey.test/?n={visit}">Honeyworks</a></div><div class="job__header"><div class="job__title"><h1 class="section-header section-header--large font-primary">Apiarist</h1><div class="job__location"><div>Portland, OR</div></div></div><button class="btn btn--pill">Apply</button></div><div class="job__description body"><p>You look after 400 hives.</p><h3>Benefits</h3><ul>{_items("<li>{}</li>", f.items)}</ul><p class="deadline">Applications close on {_named(f.day, _ENGLISH, _US)}</p></div>{pay}<div class="job-posts"><h2 class="section-header font-primary">Current openings</h2><div class="job-posts--table--department"><div class="job-posts--table"><table><tbody>{_each('<tr class="job-post"><td class="cell"><a href="/jobs/{n}" target="_top"><p class="body body--medium">{k}</p><p class="body body__secondary body--metadata">{v}</p></a></td></tr>', f)}</tbody></table></div></div></div><div class="other-pay">{_zip("<p>{} earn {}</p>", _JOBS, f.other_prices, "${:,.0f}")}</div></main></body></html>"""


def _job_lever(f: DayFacts, visit: int) -> str:
    pay = (
        ""
        if f.price is None
        else f'<div class="section page-centered"><div class="posting-category small-category-label"><span>Salary</span></div><div>${f.price:,.0f} <span>per year</span></div></div>'
    )
    return f"""<!DOCTYPE html><html lang="en-US"><head><title>Honeyworks - Apiarist</title></head><body class="show"><div class="content-wrapper posting-page"><div class="section page-centered posting-header"><div class="posting-headline"><h2>Apiarist</h2><div class="posting-categories"><div class="sort-by-time posting-category medium-category-label">Portland, OR</div></div></div></div><div class="section page-centered" data-qa="job-description"><div>You look after 400 hives.</div></div>{pay}<div class="section page-centered"><div><h3>Benefits</h3><ul class="posting-requirements plain-list"><ul>{_items("<li>{}</li>", f.items)}</ul></ul></div></div><div class="section page-centered" data-qa="closing-description"><div>Applications close on {_named(f.day, _ENGLISH, _US)}</div></div><div class="postings-group"><div class="large-category-header">Current openings</div>{_each('<div class="posting" data-qa-posting-id="{x}{n}"><div class="posting-apply"><a>Apply</a></div><a class="posting-title" href="/j/{n}"><h5 data-qa="posting-name">{k}</h5><div class="posting-categories"><span class="display-inline-block small-category-label workplaceTypes">On-site —</span><span class="sort-by-location posting-category small-category-label location">{v}</span></div></a></div>', f)}</div><div class="section">{_zip("<p>{}: {}</p>", _JOBS, f.other_prices, "${:,.0f}")}</div></div><footer>{visit}</footer></body></html>"""


def _job_hashed(f: DayFacts, visit: int) -> str:
    pay = (
        ""
        if f.price is None
        else f'<div class="_section_101oc_37"><h2 class="_heading_101oc_53">Compensation</h2><ul class="_compensation_14hbc"><li><span class="_compensationTierSummary_oh6rn">Salary ${f.price:,.0f}</span></li></ul></div>'
    )
    return f"""<!DOCTYPE html><html lang="en"><head><title>Apiarist @ Honeyworks</title></head><body><div id="root"><div class="_container_ud4nd_29"><h1 class="ashby-job-posting-heading _title_ud4nd_34">Apiarist</h1><div class="ashby-job-posting-left-pane _left_oj0x8_418"><div class="_section_101oc_37"><h2 class="_heading_101oc_53">Location</h2><p>Portland, OR</p></div>{pay}<div class="_section_101oc_37"><h2 class="_heading_101oc_53">Applications close</h2><p>{_named(f.day, _ENGLISH, _US)}</p></div></div><div class="_descriptionText_oj0x8_198"><p>You look after 400 hives.</p><h1>Benefits</h1><ul>{_items('<li><p style="min-height:1.5em">{}</p></li>', f.items)}</ul></div><div class="ashby-job-posting-brief-list"><h2>Current openings ({visit % 30})</h2>{_each('<a class="_container_j2da7_1" href="/x/{n}"><div class="ashby-job-posting-brief"><h3 class="ashby-job-posting-brief-title _title_12ylk">{k}</h3><div class="ashby-job-posting-brief-details _details_12ylk"><p>Hives • {v} • Full time</p></div></div></a>', f)}</div>{_zip('<div class="_q1">{} <b>{}</b></div>', _JOBS, f.other_prices, "${:,.0f}")}</div></div></body></html>"""


def _job_personio(f: DayFacts, visit: int) -> str:
    pay = "" if f.price is None else f"<div><dt>Salary</dt><dd>USD {f.price:,.0f}</dd></div>"
    return f"""<!DOCTYPE html><html lang="en-US"><head><title>Apiarist | Jobs at Honeyworks</title></head><body><header class="header">Honeyworks <small>{visit} applicants</small></header><main><h1 class="detail-title">Apiarist</h1><p class="detail-subtitle">Permanent employee, Full-time · Portland, OR</p><dl class="job-facts"><div><dt>Start</dt><dd>any time</dd></div>{pay}<div><dt>Applications close on</dt><dd>{f.day.isoformat()}</dd></div></dl><div class="detail-block-description"><h4>Benefits</h4><ul>{_items("<li>{}</li>", f.items)}</ul></div><section class="more-jobs"><h4>Current openings</h4><ul class="job-list">{_each('<li class="job-box"><a class="job-box-link" href="/job/{n}"><div class="jb-title">{k}</div><div class="jb-description"><ul><li>Full-time</li><li>{v}</li></ul></div></a></li>', f)}</ul></section><aside>{_zip("<p>{} {}</p>", _JOBS, f.other_prices, "USD {:,.0f}")}</aside></main></body></html>"""


# 6. A timetable in French: its own table, a grid, cards, lists in lists.
_CITIES = "Lyon|Nice|Brest"


def _fly_table(f: DayFacts, visit: int) -> str:
    fare = "complet" if f.price is None else f"{_group(f.price, ' ', ',')} €"
    return f"""<!DOCTYPE html><html lang="fr"><head><title>Horaires Paris – Ajaccio</title></head><body><div id="entete">Air Liberté — {visit} visiteurs</div><h1>Horaires Paris – Ajaccio</h1><div class="tarif-min">Tarif le plus bas : <span class="prix">{fare}</span></div><table class="horaires"><thead><tr><th>Vol</th><th>Départ</th><th>Durée</th></tr></thead><tbody>{_each('<tr><td class="vol">{k}</td><td class="dep">{v}</td><td>1 h 35</td></tr>', f)}</tbody></table><p class="validite">Horaires valables à partir du {_named(f.day, _FRENCH, _FR)}</p><h2>Informations</h2><ul class="infos">{_items("<li>{}</li>", f.items)}</ul><h2>Autres destinations</h2><ul class="dest">{_zip("<li>{} dès {}</li>", _CITIES, f.other_prices, "{:.2f} €")}</ul></body></html>"""


def _fly_grid(f: DayFacts, visit: int) -> str:
    fare = (
        ""
        if f.price is None
        else f'<strong class="c-fare__amount">{_group(f.price, " ", ",")}</strong> <span class="c-fare__cur">€</span>'
    )
    return f"""<!DOCTYPE html><html lang="fr"><head><title>Paris – Ajaccio</title></head><body class="t-route"><nav class="c-nav">{visit} en ligne</nav><section class="c-fare"><h2 class="c-fare__title">Tarif le plus bas</h2><p>{fare}</p></section><section class="c-grid" role="table"><div role="row" class="c-grid__head"><span role="columnheader">Vol</span><span role="columnheader">Départ</span></div>{_each('<div role="row" class="c-grid__row"><span role="cell" class="c-grid__cell">{k}</span><span role="cell" class="c-grid__cell c-grid__cell--time">{v}</span><span role="cell" class="c-grid__cell">1 h 35</span></div>', f)}</section><p class="c-note">Horaires valables à partir du <time>{f.day:%d/%m/%Y}</time></p><section class="c-info"><h2>Informations</h2>{_items('<div class="c-info__item"><p>{}</p></div>', f.items)}</section><section class="c-more"><h2>Autres destinations</h2>{_zip('<a class="c-tile"><b>{}</b> <i>{}</i></a>', _CITIES, f.other_prices, "{:.2f} €")}</section></body></html>"""


def _fly_cards(f: DayFacts, visit: int) -> str:
    fare = "<em>complet</em>" if f.price is None else f"<em>{_group(f.price, ' ', ',')} €</em>"
    return f"""<!DOCTYPE html><html lang="fr"><head><title>Vols</title></head><body><div class="sky-a1">Vu {visit} fois</div><div class="sky-b2"><div class="sky-c3">{_zip('<div class="prix"><span>{}</span> <span>{}</span></div>', _CITIES, f.other_prices, "{:.2f} €")}</div></div><main><h1>Paris – Ajaccio</h1><div class="sky-d4"><label>Tarif le plus bas :</label> {fare}</div><div class="sky-e5">{_each('<article class="sky-f6"><header><span class="sky-g7">{k}</span></header><div class="sky-h8"><div><small>Départ</small><strong>{v}</strong></div><div><small>Durée</small><strong>1 h 35</strong></div></div></article>', f)}</div><h2>Informations</h2><ol>{_items("<li>{}</li>", f.items)}</ol><footer>Horaires valables à partir du {_named(f.day, _FRENCH, _FR)}</footer></main></body></html>"""


def _fly_lists(f: DayFacts, visit: int) -> str:
    fare = "" if f.price is None else f"{_group(f.price, ' ', ',')} EUR"
    return f"""<!DOCTYPE html><html lang="fr"><head><title>Horaires</title></head><body><div id="page"><h1>Paris – Ajaccio</h1><dl><dt>Tarif le plus bas</dt><dd>{fare}</dd><dt>Horaires valables à partir du</dt><dd>{f.day:%d.%m.%Y}</dd><dt>Consultations</dt><dd>{visit}</dd></dl><ul class="vols">{_each('<li><strong>{k}</strong><ul class="vol"><li>Départ : <b>{v}</b></li><li>Durée : <b>1 h 35</b></li></ul></li>', f)}</ul><h3>Informations</h3><ul>{_items("<li>{}</li>", f.items)}</ul><h3>Autres destinations</h3><p>{_zip("{} ({}) ", _CITIES, f.other_prices, "{:.2f} EUR")}</p></div></body></html>"""


MOVES = (
    ValueTemplate(
        "hosted shop",
        Subject(
            38.5,
            0.5,
            _rows(
                Material="Stoneware|Porcelain|Earthenware",
                Size="18 × 12 cm|20 × 12 cm",
                Care="Dishwasher safe|Hand wash only",
            ),
            (
                "Lid included",
                "Fits 250 g of butter",
                "Lead-free glaze",
                "Made in Stoke",
                "Gift box",
                "Two-year guarantee",
            ),
        ),
        (_shop_dawn, _shop_old, _shop_big, _shop_presta),
        (
            ("price", "css:.price__regular .price-item--regular", FieldType.NUMBER),
            ("cell", "table:Material", FieldType.TEXT),
            ("table", "css:.accordion__content tr", FieldType.LIST),
            ("items", "css:.product__description li", FieldType.LIST),
            ("date", "css:p.product__text", FieldType.DATE),
        ),
        "Material",
        "GBP",
    ),
    ValueTemplate(
        "hotel",
        Subject(
            129,
            1,
            (
                ("Double Room with Lake View", ("2 left", "3 left", "5 left", "6 left")),
                ("Single Room", ("1 left", "2 left", "4 left")),
                ("Family Suite", ("1 left", "3 left")),
            ),
            ("Private beach", "Free parking", "Bar", "Sauna", "Pets allowed", "Non-smoking rooms"),
        ),
        (_hotel_first, _hotel_expedia, _hotel_hashed, _hotel_own),
        (
            ("price", "css:.hp-lowest-price", FieldType.NUMBER),
            ("cell", "css:tr.js-rt-block-row .only_x_left", FieldType.TEXT),
            ("table", "css:tr.js-rt-block-row", FieldType.LIST),
            ("items", "css:.important_facility", FieldType.LIST),
            ("date", "css:.hp-freecancel", FieldType.DATE),
        ),
        "Double Room with Lake View",
        "EUR",
    ),
    ValueTemplate(
        "repository",
        Subject(
            4321,
            1,
            _rows(Python="71.2%|72.0%|73.4%|74.1%", Rust="20.1%|21.3%|22.8%", Shell="1.9%|2.2%|3.0%"),
            ("bees", "beekeeping", "python", "honey", "hacktoberfest", "iot"),
        ),
        (_repo_github, _repo_gitlab, _repo_gitea, _repo_sf),
        (
            ("price", "css:a[href$='/stargazers'] strong", FieldType.NUMBER),
            ("cell", "xpath://li[contains(., 'Python')]//span[2]", FieldType.TEXT),
            ("table", "css:.Layout-sidebar li", FieldType.LIST),
            ("items", "css:a.topic-tag", FieldType.LIST),
            ("date", "css:relative-time::attr(datetime)", FieldType.DATE),
        ),
        "Python",
        "",
    ),
    ValueTemplate(
        "wiki",
        Subject(
            48211,
            1,
            _rows(
                County="Worcestershire|Herefordshire",
                Mayor="A. Lea|B. Marsh|C. Noake|D. Orme",
                Area="12.4 km²|12.6 km²",
            ),
            ("Gouesnou", "Bad Sulza", "Kleve", "Vernon", "Worcester, MA", "Ukmergė"),
        ),
        (_wiki_vector, _wiki_fandom, _wiki_doku, _wiki_confluence),
        (
            ("price", "xpath://tr[th[contains(., 'Total')]]/td", FieldType.NUMBER),
            ("cell", "table:Mayor", FieldType.TEXT),
            ("table", "css:.infobox tr.mergedtoprow", FieldType.LIST),
            ("items", "css:.mw-parser-output > ul > li", FieldType.LIST),
            ("date", "css:#footer-info-lastmod", FieldType.DATE),
        ),
        "Mayor",
        "",
    ),
    ValueTemplate(
        "job",
        Subject(
            98000,
            500,
            (
                ("Wax chemist", ("Portland, OR", "Salem, OR", "Remote")),
                ("Hive designer", ("Austin, TX", "Remote")),
                ("Delivery driver", ("Boise, ID", "Salem, OR", "Bend, OR")),
            ),
            ("Health insurance", "401(k) match", "Free honey", "25 days of leave", "Bike to work", "Paid training"),
        ),
        (_job_greenhouse, _job_lever, _job_hashed, _job_personio),
        (
            ("price", "css:.pay-range .body", FieldType.NUMBER),
            ("cell", "css:.job-post .body--metadata", FieldType.TEXT),
            ("table", "css:tr.job-post", FieldType.LIST),
            ("items", "css:.job__description li", FieldType.LIST),
            ("date", "css:.deadline", FieldType.DATE),
        ),
        "Wax chemist",
        "USD",
    ),
    ValueTemplate(
        "timetable",
        Subject(
            89.9,
            0.5,
            (
                ("AL 101", ("06:55", "07:05", "07:20")),
                ("AL 103", ("11:40", "11:55", "12:10")),
                ("AL 107", ("18:15", "18:30", "18:45", "19:00")),
            ),
            (
                "Grève le 12",
                "Bagage cabine gratuit",
                "Embarquement porte B",
                "Repas à bord",
                "Enregistrement en ligne",
                "Navette gratuite",
            ),
        ),
        (_fly_table, _fly_grid, _fly_cards, _fly_lists),
        (
            ("price", "css:.tarif-min .prix", FieldType.NUMBER),
            ("cell", "xpath://tr[td='AL 107']/td[2]", FieldType.TEXT),
            ("table", "css:table.horaires tbody tr", FieldType.LIST),
            ("items", "css:ul.infos li", FieldType.LIST),
            ("date", "css:.validite", FieldType.DATE),
        ),
        "AL 107",
        "EUR",
    ),
)
