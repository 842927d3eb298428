"""Eight more templates in the style of known sites, each of which is redesigned twice: a Dutch shop, a model card, a
weather service, a French government job, a share price, an app store, an Italian flat and an auction.

They were written before anybody looked at how fields are repaired. Four of them (HELD) were only measured, never tuned to.
"""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from evercrawl.model.fields import FieldType
from tests.worlds.values.facts import DayFacts, Subject
from tests.worlds.values.moves import _each, _zip
from tests.worlds.values.templates import _ENGLISH, _FRENCH, ValueTemplate, _group, _items, _named, _rows

_LONG, _US = "{day} {month} {year}", "{month} {day}, {year}"
_DUTCH = "januari februari maart april mei juni juli augustus september oktober november december"
_ITALIAN = "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"
_SHORT = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"


# 1. A Dutch shop: Magento (Luma), Magento (Hyvä), Shopware.
_MORE = "Fietspomp|Bagagedrager|Bel koper"


def _euro(number: float) -> str:
    return _group(number, ".", ",")


def _bag_luma(f: DayFacts, visit: int) -> str:
    price = (
        ""
        if f.price is None
        else f"""<div class="price-box price-final_price" data-role="priceBox" data-product-id="14" data-price-box="product-id-14"><span class="price-container price-final_price tax weee" itemprop="offers" itemscope itemtype="http://schema.org/Offer"><span id="product-price-14" data-price-amount="{f.price}" data-price-type="finalPrice" class="price-wrapper "><span class="price">€ {_euro(f.price)}</span></span><meta itemprop="price" content="{f.price}" /><meta itemprop="priceCurrency" content="EUR" /></span></div>"""
    )
    more = _zip(
        '<li class="item product product-item"><div class="product-item-info"><strong class="product name product-item-name"><a class="product-item-link">{}</a></strong><div class="price-box price-final_price"><span class="price-container price-final_price"><span class="price-wrapper"><span class="price">€ {}</span></span></span></div></div></li>',
        _MORE,
        tuple(f.other_prices),
        "{:.2f}",
    ).replace(".", ",")
    return f"""<!doctype html><html lang="nl"><head><title>Fietstas Linnen</title></head><body data-container="body" id="html-body" class="catalog-product-view product-fietstas page-layout-1column"><div class="page-wrapper"><header class="page-header"><div class="minicart-wrapper"><a class="action showcart"><span class="counter qty"><span class="counter-number">{visit % 9}</span></span></a></div></header><main id="maincontent" class="page-main"><div class="columns"><div class="column main"><div class="product-info-main"><div class="page-title-wrapper product"><h1 class="page-title"><span class="base" data-ui-id="page-title-wrapper" itemprop="name">Fietstas Linnen</span></h1></div><div class="product-info-price">{price}<div class="product-info-stock-sku"><div class="stock {"available" if f.price else "unavailable"}"><span>{"Op voorraad" if f.price else "Niet op voorraad"}</span></div><div class="product attribute sku"><strong class="type">SKU</strong><div class="value" itemprop="sku">24-MB01</div></div></div></div><div class="product attribute overview"><div class="value" itemprop="description"><p>Waterdicht en licht.</p><ul>{_items("<li>{}</li>", f.items)}</ul></div></div><p class="delivery-promise">Levering vanaf {_named(f.day, _DUTCH, _LONG)}</p></div><div class="product info detailed"><div class="product data items"><div class="data item content" id="additional"><div class="additional-attributes-wrapper table-wrapper"><table class="data table additional-attributes" id="product-attribute-specs-table"><caption class="table-caption">Meer informatie</caption><tbody>{_each('<tr><th class="col label" scope="row">{k}</th><td class="col data" data-th="{k}">{v}</td></tr>', f)}</tbody></table></div></div></div></div><div class="block related"><div class="block-title title"><strong id="block-related-heading">Gerelateerde producten</strong></div><ol class="products list items product-items">{more}</ol></div></div></div></main></div></body></html>"""


def _bag_hyva(f: DayFacts, visit: int) -> str:
    price = (
        '<p class="flex items-center align-middle unavailable stock"><span>Niet op voorraad</span></p>'
        if f.price is None
        else f"""<div class="price-box price-final_price" itemprop="offers" itemscope><div class="price-container flex gap-2"><div class="final-price inline-block"><span class="price-label block sr-only">Prijs</span><span class="price-wrapper" id="p14"><span class="price text-2xl leading-7">€&nbsp;{_euro(f.price)}</span></span></div></div></div>"""
    )
    more = _zip(
        '<form class="item product product-item card flex flex-col"><a class="product-item-link">{}</a><div class="pt-1 text-gray-900"><div class="price-box"><span class="price">€&nbsp;{}</span></div></div></form>',
        _MORE,
        f.other_prices,
        "{:.2f}",
    ).replace(".", ",")
    return f"""<!doctype html><html lang="nl"><head><title>Fietstas Linnen</title></head><body class="hyva_catalog-product-view"><header class="border-b shadow"><button id="menu-cart-icon"><span class="absolute top-0">{visit % 9}</span></button></header><main><section class="text-gray-700 body-font"><div class="lg:w-3/5"><h1 class="text-gray-900 text-2xl title-font font-medium" itemprop="name">Fietstas Linnen</h1><div class="my-2 flex"><div>{price}</div></div><div class="prose leading-relaxed mt-4"><p>Waterdicht en licht.</p><ul>{_items("<li><p>{}</p></li>", f.items)}</ul></div><div class="text-sm flex"><svg></svg><span>Levering vanaf {_named(f.day, _DUTCH, _LONG)}</span></div></div></section><section id="product.attributes"><h3 class="text-2xl">Meer informatie</h3><div class="table-wrapper" id="product-attributes"><table class="additional-attributes w-full"><tbody>{_each('<tr class="border-b"><th class="col label w-1/2 text-left" scope="row">{k}</th><td class="col data w-1/2" data-th="{k}">{v}</td></tr>', f)}</tbody></table></div></section><section class="related-slider"><h3>Gerelateerde producten</h3>{more}</section></main></body></html>"""


def _bag_shopware(f: DayFacts, visit: int) -> str:
    price = (
        '<div class="alert alert-info"><div class="alert-content">Dit product is niet meer beschikbaar</div></div>'
        if f.price is None
        else f"""<div class="product-detail-price-container"><meta itemprop="price" content="{f.price}"><p class="product-detail-price">€ {_euro(f.price)}*</p></div><p class="product-detail-tax"><small>*Prijzen incl. btw plus verzendkosten vanaf € 4,95</small></p>"""
    )
    more = _zip(
        '<div class="tns-item"><div class="card product-box box-standard"><a class="product-name">{}</a><div class="product-price-info"><div class="product-price-wrapper"><span class="product-price">€ {}*</span></div></div></div></div>',
        _MORE,
        f.other_prices,
        "{:.2f}",
    ).replace(".", ",")
    return f"""<!DOCTYPE html><html lang="nl-NL" itemscope itemtype="https://schema.org/WebPage"><head><title>Fietstas Linnen</title></head><body class="is-ctl-product is-act-index"><header class="header-main"><span class="header-cart-total">€ {visit % 9 * 10},00*</span></header><main class="content-main"><div class="product-detail"><div class="product-detail-content"><div class="row product-detail-headline"><h1 class="product-detail-name" itemprop="name">Fietstas Linnen</h1></div><div class="row product-detail-main"><div class="col-lg-5 product-detail-buy"><div itemprop="offers">{price}<div class="product-detail-delivery-information"><p class="delivery-information delivery-available"><span class="delivery-status-indicator"></span>Levering vanaf {_named(f.day, _DUTCH, _LONG)}</p></div></div></div></div></div><div class="product-detail-tabs"><div class="product-detail-description-text" itemprop="description"><p>Waterdicht en licht.</p><ul>{_items("<li>{}</li>", f.items)}</ul></div><div class="product-detail-properties"><table class="table table-striped product-detail-properties-table"><tbody>{_each('<tr class="properties-row"><th class="properties-label">{k}:</th><td class="properties-value"><span>{v}</span></td></tr>', f)}</tbody></table></div></div><div class="product-detail-cross-selling"><div class="product-cross-selling-tab-navigation">Gerelateerde producten</div>{more}</div></div></main></body></html>"""


# 2. A model card: Hugging Face, a rival hub, a documentation site.
_MODELS = "bee-small|bee-large|wasp-7b"


def _model_hub(f: DayFacts, visit: int) -> str:
    downloads = (
        '<dd class="text-gray-400">not tracked</dd>'
        if f.price is None
        else f'<dd class="font-semibold">{f.price:,.0f}</dd>'
    )
    more = _zip(
        '<article class="overview-card-wrapper"><a class="flex items-center"><h4 class="text-md truncate font-mono">hive/{}</h4><div class="mr-1 flex">Text Generation • <svg></svg> {} • <svg></svg> 12</div></a></article>',
        _MODELS,
        f.other_prices,
        "{:,.0f}",
    )
    return f"""<!doctype html><html class=""><head><title>hive/bee-base · Hub</title></head><body class="flex flex-col min-h-dvh bg-white"><div class="SVELTE_HYDRATER contents" data-target="ModelHeader"><header class="from-gray-50-to-white border-b"><h1 class="flex flex-wrap items-center"><a class="text-gray-400">hive</a><div class="mx-0.5 text-gray-300">/</div><a class="break-words font-mono font-semibold">bee-base</a></h1><button class="flex items-center"><span>like</span></button><button>{visit % 300}</button><div class="mb-3 flex flex-wrap md:mb-4">{_items('<a class="mb-1 mr-1 rounded-lg" href="/models?other=x"><div class="tag tag-white "><span>{}</span></div></a>', f.items)}</div></header></div><main class="flex flex-1 flex-col"><section class="pt-8 border-gray-100 md:col-span-7"><div class="model-card-content prose"><h1>Bee base</h1><p>Counts bees in pictures.</p><h2>Evaluation</h2><table><thead><tr><th>Benchmark</th><th>Score</th></tr></thead><tbody>{_each("<tr><td>{k}</td><td>{v}</td></tr>", f)}</tbody></table><p>Last updated: {_named(f.day, _SHORT, _US)}</p></div></section><section class="pt-6 md:col-span-5"><dl class="flex items-baseline justify-between"><dt class="text-sm">Downloads last month</dt>{downloads}</dl><dl class="flex"><dt>Model size</dt><dd>{visit % 7}B params</dd></dl><h2>Similar</h2>{more}</section></main></body></html>"""


def _model_rival(f: DayFacts, visit: int) -> str:
    downloads = (
        ""
        if f.price is None
        else f'<div class="acss-1x2"><span class="acss-9q1">Downloads last month</span><span class="acss-77k">{f.price:,.0f}</span></div>'
    )
    more = _zip(
        '<li class="acss-li0"><b>{}</b><span class="acss-77k">{}</span></li>', _MODELS, f.other_prices, "{:,.0f}"
    )
    return f"""<!DOCTYPE html><html lang="en"><head><title>Bee base</title></head><body><div id="root"><div class="antd-layout acss-aa1"><div class="acss-hd2"><span class="acss-n3">bee-base</span><span class="acss-l4">{visit % 300} likes</span></div><div class="ant-tabs"><div class="ant-tabs-nav"><div class="ant-tabs-tab">Introduction</div><div class="ant-tabs-tab">Files</div></div></div><div class="acss-side"><div class="acss-1x2"><span class="acss-9q1">Last updated</span><span class="acss-77k">{f.day.isoformat()}</span></div>{downloads}<div class="acss-1x2"><span class="acss-9q1">License</span><span class="acss-77k">apache-2.0</span></div><div class="ant-space">{_items('<div class="ant-space-item"><span class="ant-tag acss-tg">{}</span></div>', f.items)}</div></div><div class="markdown-body"><h1>Bee base</h1><p>Counts bees in pictures.</p><h2>Evaluation</h2><div class="ant-table-wrapper"><div class="ant-table-content"><table style="table-layout:auto"><thead class="ant-table-thead"><tr><th>Benchmark</th><th>Score</th></tr></thead><tbody class="ant-table-tbody">{_each('<tr class="ant-table-row" data-row-key="{n}"><td class="ant-table-cell">{k}</td><td class="ant-table-cell">{v}</td></tr>', f)}</tbody></table></div></div></div><ul class="acss-rel">{more}</ul></div></div></body></html>"""


def _model_docs(f: DayFacts, visit: int) -> str:
    downloads = "" if f.price is None else f"<li><strong>Downloads last month:</strong> {f.price:,.0f}</li>"
    more = _zip("<tr><td>{}</td><td>{}</td></tr>", _MODELS, f.other_prices, "{:,.0f}")
    return f"""<!DOCTYPE html><html lang="en" data-content_root="./"><head><title>Bee base — models documentation</title></head><body><div class="wy-grid-for-nav"><nav class="wy-nav-side"><p class="caption">Models</p><ul><li class="toctree-l1"><a>Bee base</a></li><li class="toctree-l1"><a>Wasp</a></li></ul></nav><section class="wy-nav-content-wrap"><div class="rst-content"><div role="main" class="document"><section id="bee-base"><h1>Bee base<a class="headerlink" href="#bee-base">¶</a></h1><ul class="simple"><li><strong>Stars:</strong> {visit % 300}</li>{downloads}<li><strong>Last updated:</strong> {_named(f.day, _ENGLISH, _LONG)}</li></ul><p>Counts bees in pictures.</p><section id="tags"><h2>Tags<a class="headerlink" href="#tags">¶</a></h2><ul class="simple">{_items("<li><p>{}</p></li>", f.items)}</ul></section><section id="evaluation"><h2>Evaluation<a class="headerlink" href="#evaluation">¶</a></h2><table class="docutils align-default"><thead><tr class="row-odd"><th class="head"><p>Benchmark</p></th><th class="head"><p>Score</p></th></tr></thead><tbody>{_each('<tr class="row-even"><td><p>{k}</p></td><td><p>{v}</p></td></tr>', f)}</tbody></table></section><section id="similar"><h2>Similar</h2><table class="docutils"><tbody>{more}</tbody></table></section></section></div></div></section></div></body></html>"""


# 3. The weather: weather.gov, yr, a tabloid's page.
_PLACES = "Bend|Sisters|Prineville"


def _sky_gov(f: DayFacts, visit: int) -> str:
    now = (
        '<p class="myforecast-current-lrg">N/A</p>'
        if f.price is None
        else f'<p class="myforecast-current-lrg">{f.price:.0f}&deg;F</p><p class="myforecast-current-sm">{(f.price - 32) / 1.8:.0f}&deg;C</p>'
    )
    near = _zip('<li><a>{}</a> <span class="temp">{}&deg;F</span></li>', _PLACES, f.other_prices, "{:.0f}")
    return f"""<!DOCTYPE html><html class="no-js"><head><title>National Weather</title></head><body><main class="container"><div class="center text-center"><h4>Redmond Airport</h4></div><div id="current-conditions" class="panel panel-default"><div class="panel-heading"><b>Current conditions at</b><h2 class="panel-title">Redmond, Roberts Field</h2></div><div class="panel-body" id="current-conditions-body"><div id="current_conditions-summary" class="pull-left"><p class="myforecast-current">Fair</p>{now}</div><div id="current_conditions_detail" class="pull-left"><table><tr><td class="text-right"><b>Visits</b></td><td>{visit}</td></tr><tr><td class="text-right"><b>Last update</b></td><td class="upd">{_named(f.day, _ENGLISH, _LONG)}</td></tr></table></div></div></div><div id="seven-day-forecast" class="panel"><div id="seven-day-forecast-body"><ul id="seven-day-forecast-list" class="list-unstyled">{_each('<li class="forecast-tombstone"><div class="tombstone-container"><p class="period-name">{k}</p><p><img src="i.png" class="forecast-icon"></p><p class="short-desc">{v}</p></div></li>', f)}</ul></div></div><div id="hazards"><h3>Hazardous weather</h3><ul class="hazard-list">{_items('<li><a class="anchor-hazards">{}</a></li>', f.items)}</ul></div><div class="nearby"><h3>Nearby</h3><ul>{near}</ul></div></main></body></html>"""


def _sky_yr(f: DayFacts, visit: int) -> str:
    now = (
        ""
        if f.price is None
        else f'<span class="temperature now-hero__next-hour-temperature-text" role="text"><span class="nrk-sr">Temperature</span>{f.price:.0f}<span class="temperature__degree">°</span><span>F</span></span>'
    )
    near = _zip(
        '<li class="location-list-item"><span class="location">{}</span><span class="temperature temperature--warm">{}°F</span></li>',
        _PLACES,
        f.other_prices,
        "{:.0f}",
    )
    return f"""<!DOCTYPE html><html lang="en"><head><title>Redmond - Weather forecast</title></head><body><div id="app"><header class="page-header__location"><h1 class="page-header__location-name">Redmond Airport</h1></header><div class="now-hero" data-testid="now"><div class="now-hero__next-hour"><h2 class="nrk-sr">Current conditions at Redmond, Roberts Field</h2><div class="now-hero__next-hour-content">{now}</div></div></div><ol class="daily-weather-list__intervals">{_each('<li class="daily-weather-list-item" id="dwli-{n}"><div class="daily-weather-list-item__date"><span class="daily-weather-list-item__date-heading-link">{k}</span></div><div class="daily-weather-list-item__symbols"><span>{v}</span></div><div class="daily-weather-list-item__wind"><span class="wind__value">{x}</span></div></li>', f, visit)}</ol><section class="warnings"><h2>Hazardous weather</h2>{_items('<div class="warning warning--yellow"><div class="warning__summary">{}</div></div>', f.items)}</section><p class="updated">Last update <time datetime="{f.day.isoformat()}">{_named(f.day, _ENGLISH, _LONG)}</time></p><ul class="location-list">{near}</ul><footer>{visit} visits</footer></div></body></html>"""


def _sky_tabloid(f: DayFacts, visit: int) -> str:
    now = (
        '<div class="wx-big">--</div>'
        if f.price is None
        else f'<div class="wx-big">{f.price:.0f}°F</div><div class="wx-feels">Feels like {f.price - 3:.0f}°F</div>'
    )
    near = _zip('<a class="wx-city"><b>{}</b><i>{}°F</i></a>', _PLACES, f.other_prices, "{:.0f}")
    return f"""<!DOCTYPE html><html lang="en"><head><title>Weather Redmond</title></head><body class="chan-weather"><div class="wx-cities">{near}</div><article><h1>Weather at Redmond Airport</h1><div class="wx-now"><h2>Redmond, Roberts Field</h2>{now}</div><div class="wx-warn"><h3>Hazardous weather</h3><p>{"</p><p>".join(f.items)}</p></div><table class="wx-week"><tbody><tr>{_each("<th>{k}</th>", f)}</tr><tr>{_each("<td>{v}</td>", f)}</tr></tbody></table><div class="byline">Last update: {_named(f.day, _SHORT, _US)} | {visit} shares</div></article></body></html>"""


# 4. A government job in French: three public job sites.
_POSTS = "Jardinier|Comptable|Archiviste"


def _post_first(f: DayFacts, visit: int) -> str:
    pay = (
        ""
        if f.price is None
        else f'<li class="fr-icon-money-euro-circle-line"><span class="remuneration">{_group(f.price, " ", ",", 0)} € brut/an</span></li>'
    )
    more = _zip(
        '<div class="fr-card"><h3 class="fr-card__title">{}</h3><ul class="fr-card__desc"><li class="fr-icon-money-euro-circle-line"><span class="remuneration">{} € brut/an</span></li></ul></div>',
        _POSTS,
        f.other_prices,
        "{:.0f}",
    )
    return f"""<!DOCTYPE html><html lang="fr" data-fr-scheme="light"><head><title>Chargé d'études</title></head><body><header role="banner" class="fr-header"><p class="fr-header__service-title">Emplois publics</p></header><main id="contenu"><nav class="fr-breadcrumb"><ol><li>Accueil</li><li>Offres</li></ol></nav><div class="fr-container rf-offer"><h1 class="fr-h2">Chargé d'études</h1><ul class="fr-raw-list informations-list"><li class="fr-icon-map-pin-2-line">Lyon</li>{pay}</ul><p class="fr-tag">Référence 2026-{visit % 3}</p><h2>Informations générales</h2><table class="fr-table"><tbody>{_each('<tr><th scope="row">{k}</th><td>{v}</td></tr>', f)}</tbody></table><h2>Profil recherché</h2><div class="fr-text"><ul class="profil">{_items("<li>{}</li>", f.items)}</ul></div><div class="fr-alert"><p class="limite">Date limite de candidature : {_named(f.day, _FRENCH, _LONG)}</p></div></div><section><h2>Offres similaires</h2>{more}</section></main></body></html>"""


def _post_second(f: DayFacts, visit: int) -> str:
    pay = (
        ""
        if f.price is None
        else f'<div class="field field--name-field-salaire field--label-inline"><div class="field__label">Rémunération</div><div class="field__item">{_group(f.price, " ", ",", 0)} € brut par an</div></div>'
    )
    more = _zip("<li><a>{}</a> ({} € brut par an)</li>", _POSTS, f.other_prices, "{:.0f}")
    return f"""<!DOCTYPE html><html lang="fr" dir="ltr"><head><title>Chargé d'études | Ministère</title></head><body class="path-node page-node-type-offre"><div class="layout-container"><main role="main"><article class="node node--type-offre"><h1 class="page-title"><span class="field field--name-title">Chargé d'études</span></h1><div class="node__content">{_each('<div class="field field--name-field-{n} field--label-inline"><div class="field__label">{k}</div><div class="field__item">{v}</div></div>', f)}{pay}<div class="field field--name-field-date"><div class="field__label">Date limite de candidature</div><div class="field__item"><time datetime="{f.day.isoformat()}T12:00:00Z">{_named(f.day, _FRENCH, _LONG)}</time></div></div><div class="field field--name-body text-formatted"><h3>Profil recherché</h3>{_items("<p>- {}</p>", f.items)}</div></div></article><div class="block-views"><h2>Offres similaires</h2><ul>{more}</ul></div><p>{visit} consultations</p></main></div></body></html>"""


def _post_third(f: DayFacts, visit: int) -> str:
    pay = "" if f.price is None else f"<p><b>Salaire :</b> {_group(f.price, ' ', ',', 0)} EUR brut annuel</p>"
    more = _zip("<tr><td>{}</td><td>{} EUR</td></tr>", _POSTS, f.other_prices, "{:.0f}")
    return f"""<!DOCTYPE html><html lang="fr"><head><title>Offre</title></head><body><div id="ts"><div class="ts-title"><h1>Chargé d'études</h1></div><div class="ts-offer-page__entity-summary"><h2>Informations générales</h2><dl>{_each("<dt>{k}</dt><dd>{v}</dd>", f)}</dl></div><div class="ts-block"><h3>Contrat</h3>{pay}<p><b>Horaires :</b> 35 h</p></div><div class="ts-block"><h3>Profil recherché</h3><div class="ts-text">{"<br>".join(f"<span>{one}</span>" for one in f.items)}</div></div><div class="ts-block"><h3>Candidature</h3><p><b>Date limite de candidature :</b> {f.day:%d/%m/%Y}</p><p>{visit} vues</p></div><table class="ts-more">{more}</table></div></body></html>"""


# 5. A share: Yahoo, Google, a broker.
_TICKERS = "DOW|NSDQ|OIL"


def _share_yahoo(f: DayFacts, visit: int) -> str:
    price = (
        ""
        if f.price is None
        else f'<span class="base yf-ipw1h0" data-testid="qsp-price">{f.price:,.2f} </span><span class="base txt-positive" data-testid="qsp-price-change">+{visit / 100:.2f} </span><span class="base txt-positive">(+{visit / 70:.2f}%)</span>'
    )
    top = _zip(
        '<li class="yf-11knp2n"><h3><span class="symbol">{}</span></h3><fin-streamer class="regularMarketPrice">{}</fin-streamer></li>',
        _TICKERS,
        f.other_prices,
        "{:,.2f}",
    )
    return f"""<!doctype html><html lang="en-US" theme="light"><head><title>Honeycomb Corp (HNY) Stock Price</title></head><body><div id="ybar-container"><ul class="markets">{top}</ul></div><main><section data-testid="quote-hdr" class="yf-gn3zu3"><h1 class="yf-4vbjci">Honeycomb Corp (HNY)</h1></section><section data-testid="quote-price" class="yf-16vvaki"><div class="container"><section class="yf-wqz4mx">{price}</section></div></section><div data-testid="quote-statistics" class="yf-1jj98ts"><ul class="yf-1jj98ts">{_each('<li class="yf-1jj98ts"><span class="label" title="{k}">{k}</span> <span class="value yf-1jj98ts">{v}</span></li>', f)}<li class="yf-1jj98ts exdiv"><span class="label" title="Ex-Dividend Date">Ex-Dividend Date</span> <span class="value yf-1jj98ts">{_named(f.day, _SHORT, _US)}</span></li></ul></div><section data-testid="recent-news"><h3>Recent news: HNY</h3><ul class="stream-items">{_items('<li class="stream-item"><section class="container"><h3 class="clamp">{}</h3></section></li>', f.items)}</ul></section></main></body></html>"""


def _share_google(f: DayFacts, visit: int) -> str:
    price = (
        ""
        if f.price is None
        else f'<div class="AHmHk"><span class=""><div jsname="ip75Cb" class="kf1m0"><div class="YMlKec fxKbKc">{f.price:,.2f}</div></div></span></div>'
    )
    top = _zip(
        '<div class="sbnBtf"><div class="H8Ch1">{}</div><span class="YMlKec">{}</span></div>',
        _TICKERS,
        f.other_prices,
        "{:,.2f}",
    )
    return f"""<!doctype html><html lang="en"><head><title>HNY Stock Price</title></head><body class="tQj5Y ghyPEc IqBfM EWZcud"><div class="YhFZKd">{top}</div><div class="e1AOyf"><div class="zzDege" role="heading" aria-level="1">Honeycomb Corp (HNY)</div><div class="rPF6Lc">{price}<div class="ygUjEc">Pre-market {visit} · Closed</div></div><div class="eYanAe"><span class="P4BlCc"></span>{_each('<div class="gyFHrc"><span class="Fzkiob"><div><div class="mfs7Fc">{k}</div></div></span><div class="P6K39c">{v}</div></div>', f)}<div class="gyFHrc"><span><div class="mfs7Fc">Ex-Dividend Date</div></span><div class="P6K39c">{_named(f.day, _SHORT, _US)}</div></div></div><div class="b4EnYd"><h2>In the news</h2>{_items('<div class="z4rs2b"><div class="Yfwt5">{}</div></div>', f.items)}</div></div></body></html>"""


def _share_broker(f: DayFacts, visit: int) -> str:
    price = (
        '<td colspan="2">Trading halted</td>'
        if f.price is None
        else f'<td class="num">{f.price:,.2f}</td><td class="num">{f.price * 1.001:,.2f}</td>'
    )
    top = _zip("<tr><td>{}</td><td class=num>{}</td></tr>", _TICKERS, f.other_prices, "{:,.2f}")
    return f"""<!DOCTYPE html><html lang="en"><head><title>HNY</title></head><body><div class="grid"><div class="col-9"><h2>Honeycomb Corp (HNY)</h2><table class="quote"><thead><tr><th>Price</th><th>Ask</th></tr></thead><tbody><tr>{price}</tr></tbody></table><h4>Statistics</h4><table class="stats">{_each("<tr><td>{k}</td><td class=num>{v}</td></tr>", f)}<tr><td>Ex-Dividend Date</td><td>{f.day.isoformat()}</td></tr></table><h4>Recent news</h4><div class="news">{_items('<p><a href="/n">{}</a></p>', f.items)}</div></div><div class="col-3"><table class="idx">{top}</table><small>{visit} watching</small></div></div></body></html>"""


# 6. An app: Google Play, Apple, F-Droid.
_APPS = "Hive Lite|Wasp Alarm|Flower Map"


def _app_play(f: DayFacts, visit: int) -> str:
    price = (
        ""
        if f.price is None
        else f'<div class="u4ICaf"><button class="VfPpkd-LgbsSe" aria-label="${f.price:.2f} Buy"><span class="VfPpkd-vQzf8d">${f.price:.2f} Buy</span></button></div>'
    )
    more = _zip(
        '<div class="ULeU3b"><span class="DdYX5">{}</span><span class="VfPpfd">${}</span></div>',
        _APPS,
        f.other_prices,
        "{:.2f}",
    )
    return f"""<!doctype html><html lang="en_US" dir="ltr"><head><title>Bee Counter - Apps</title></head><body><c-wiz class="SSPGKf"><div class="tU8Y5c"><h1 class="Fd93Bb" itemprop="name"><span class="AfwdI">Bee Counter</span></h1><div class="w7Iutd"><div class="ClM7O">{visit} reviews</div></div>{price}</div><section class="HcyOxe"><header><h2 class="XfZNbf">About this app</h2></header><div class="bARER" data-g-id="description">Counts your bees.</div><div class="TKjAsc"><div class="lXlx5">Updated on</div><div class="xg1aie">{_named(f.day, _SHORT, _US)}</div></div><table class="G1zzid">{_each('<tr class="q078ud"><th class="reAt0">{k}</th><td>{v}</td></tr>', f)}</table></section><section class="HcyOxe"><h2 class="XfZNbf">What’s new</h2><ul class="SfzRHd">{_items('<li itemprop="description">{}</li>', f.items)}</ul></section><section><h2>Similar apps</h2>{more}</section></c-wiz></body></html>"""


def _app_apple(f: DayFacts, visit: int) -> str:
    price = (
        ""
        if f.price is None
        else f'<ul class="app-header__list"><li class="inline-list__item inline-list__item--bulleted app-header__list__item--price">${f.price:.2f}</li></ul>'
    )
    more = _zip(
        '<a class="we-lockup"><div class="we-lockup__title">{}</div><div class="we-lockup__subtitle">${}</div></a>',
        _APPS,
        f.other_prices,
        "{:.2f}",
    )
    return f"""<!DOCTYPE html><html dir="ltr" lang="en-US"><head><title>‎Bee Counter on the App Store</title></head><body class="no-js"><main class="selfclear"><header class="product-header"><h1 class="product-header__title app-header__title">Bee Counter <span class="badge badge--product-title">12+</span></h1>{price}</header><section class="l-content-width section whats-new"><div class="section__nav"><h2 class="section__headline">What’s New</h2></div><div class="whats-new__content"><time datetime="{f.day.isoformat()}" class="">{_named(f.day, _SHORT, _US)}</time><p class="l-column">Version {visit % 9}</p><div class="we-truncate">{_items('<p dir="ltr">- {}</p>', f.items)}</div></div></section><section class="section--information"><h2>Information</h2><dl class="information-list">{_each('<div class="information-list__item"><dt class="information-list__item__term">{k}</dt><dd class="information-list__item__definition">{v}</dd></div>', f)}</dl></section><section><h2>You Might Also Like</h2>{more}</section></main></body></html>"""


def _app_fdroid(f: DayFacts, visit: int) -> str:
    price = "" if f.price is None else f'<p class="donate">Suggested price: <a href="/pay">${f.price:.2f}</a></p>'
    more = _zip(
        '<a class="package-header"><h4 class="package-name">{}</h4><span>${}</span></a>',
        _APPS,
        f.other_prices,
        "{:.2f}",
    )
    return f"""<!DOCTYPE html><html lang="en"><head><title>Bee Counter | Repository</title></head><body><div class="page-content"><div class="wrapper"><article class="package"><header class="package-header"><h3 class="package-name">Bee Counter</h3><div class="package-summary">Counts your bees.</div></header>{price}<h3>What’s new</h3><div class="package-whats-new">• {"<br>• ".join(f.items)}</div><h3>Packages</h3><ul class="package-versions-list"><li class="package-version" id="latest"><div class="package-version-header"><b>Version 1.{visit % 9}</b> Added on {f.day.isoformat()}</div><div class="package-version-body">{_each('<p class="package-version-{n}"><b>{k}:</b> {v}</p>', f)}</div></li></ul></article><div class="sidebar-widget"><h4>Similar</h4>{more}</div></div></div></body></html>"""


# 7. A flat in Italian: three portals.
_FLATS = "Trilocale via Po|Bilocale corso Re|Attico viale Sole"


def _flat_first(f: DayFacts, visit: int) -> str:
    price = (
        '<div class="re-overview__price"><span>Prezzo su richiesta</span></div>'
        if f.price is None
        else f'<div class="re-overview__price"><span>€ {_group(f.price, ".", ",", 0)}</span></div><div class="re-mortgage"><span>da € {_group(f.price / 300, ".", ",", 0)} al mese</span></div>'
    )
    more = _zip(
        '<div class="nd-mediaObject"><p class="in-title">{}</p><div class="re-overview__price"><span>€ {}</span></div></div>',
        _FLATS,
        f.other_prices,
        "{:.0f}",
    )
    return f"""<!DOCTYPE html><html lang="it"><head><title>Quadrilocale via Roma</title></head><body><header class="nd-header">Annunci</header><main class="re-layout"><section class="re-title"><h1 class="re-title__title">Quadrilocale via Roma, Torino</h1></section><section class="re-overview">{price}</section><section class="re-description"><p>Luminoso e silenzioso.</p></section><section class="re-features"><h2>Caratteristiche</h2><dl class="re-featuresGrid">{_each('<div class="re-featuresItem"><dt class="re-featuresItem__title">{k}</dt><dd class="re-featuresItem__description">{v}</dd></div>', f)}</dl><h3>Altre caratteristiche</h3><ul class="re-badges">{_items('<li class="nd-badge">{}</li>', f.items)}</ul></section><section><p class="re-lastUpdate">Annuncio aggiornato il {f.day:%d/%m/%Y}</p><p>{visit} visite</p></section><section class="similar"><h2>Annunci simili</h2>{more}</section></main></body></html>"""


def _flat_second(f: DayFacts, visit: int) -> str:
    price = (
        ""
        if f.price is None
        else f'<div class="info-data"><span class="info-data-price"><span class="txt-bold">{_group(f.price, ".", ",", 0)}</span> €</span></div><p class="mortgage">Mutuo da <strong>{_group(f.price / 310, ".", ",", 0)} €/mese</strong></p>'
    )
    more = _zip(
        '<article class="item"><a class="item-link">{}</a><span class="item-price">{}<span class="txt-big">€</span></span></article>',
        _FLATS,
        f.other_prices,
        "{:.0f}",
    )
    return f"""<!DOCTYPE html><html lang="it" env="es"><head><title>Quadrilocale in vendita</title></head><body class="detail-page"><main class="detail-container"><div class="main-info"><h1 class="main-info__title"><span class="main-info__title-main">Quadrilocale in via Roma</span></h1>{price}</div><div class="commentsContainer"><p>Luminoso e silenzioso.</p></div><section id="details" class="details-box"><div class="details-property"><div class="details-property-feature-one"><h2 class="details-property-h2">Caratteristiche</h2><div class="details-property_features"><ul>{_each("<li>{k}: {v}</li>", f)}</ul></div></div><div class="details-property-feature-two"><h2>Altre caratteristiche</h2><div class="details-property_features"><ul>{_items("<li>{}</li>", f.items)}</ul></div></div></div></section><div id="stats"><p class="stats-text">Annuncio aggiornato il {_named(f.day, _ITALIAN, "{day} {month} {year}")}</p><p>{visit} visite</p></div><section>{more}</section></main></body></html>"""


def _flat_third(f: DayFacts, visit: int) -> str:
    price = (
        '<p class="csa-q">Trattativa riservata</p>'
        if f.price is None
        else f'<p class="csa-p">€ {_group(f.price, ".", ",", 0)}</p>'
    )
    more = _zip('<li class="csa-s"><p class="csa-p">€ {1}</p><h4>{0}</h4></li>', _FLATS, f.other_prices, "{:.0f}")
    return f"""<!DOCTYPE html><html lang="it-IT"><head><title>Via Roma</title></head><body><ul class="csa-r">{more}</ul><div class="csa-b"><h1 class="csa-h">Quadrilocale via Roma, Torino</h1>{price}<div class="csa-x"><h3>Caratteristiche</h3><table>{_each("<tr><td>{k}</td><td>{v}</td></tr>", f)}</table><h3>Altre caratteristiche</h3><p class="csa-t">{_items('<span class="csa-c">{}</span> ', f.items)}</p></div><div class="csa-f"><span>{visit} visite</span> <span>Annuncio aggiornato il {f.day.day:02}.{f.day.month:02}.{f.day.year}</span></div></div></body></html>"""


# 8. An auction: eBay, a Swiss house, a charity's own program.
_LOTS = "Smoker, copper|Honey jar, 1920|Straw hive"


def _lot_first(f: DayFacts, visit: int) -> str:
    price = (
        '<span class="ux-textspans">Bidding ended</span>'
        if f.price is None
        else f'<div class="x-price-primary" data-testid="x-price-primary"><span class="ux-textspans">US ${f.price:,.2f}</span></div><div class="x-bid-count">{visit % 20} bids</div>'
    )
    more = _zip(
        '<div class="nPkq"><h3 class="QPbs">{}</h3><div class="x-price-primary"><span class="ux-textspans">US ${}</span></div></div>',
        _LOTS,
        f.other_prices,
        "{:,.2f}",
    )
    return f"""<!DOCTYPE html><html lang="en"><head><title>Antique honey press | Auctions</title></head><body class="ux-app"><div class="vim x-item-title"><h1 class="x-item-title__mainTitle"><span class="ux-textspans ux-textspans--BOLD">Antique honey press</span></h1></div><div class="vim x-bid-price"><div class="x-bid-price__label">Current bid:</div>{price}</div><div class="vim d-timer"><span class="ux-timer__text">Ends {_named(f.day, _SHORT, _US)}</span></div><div class="vim x-about-this-item"><h2>Item specifics</h2>{_each('<dl class="ux-layout-section-evo__col" data-testid="ux-labels-values"><dt class="ux-labels-values__labels"><div><span class="ux-textspans">{k}</span></div></dt><dd class="ux-labels-values__values"><div><span class="ux-textspans">{v}</span></div></dd></dl>', f)}</div><div class="vim d-parts"><h2>Included</h2><ul class="parts-list">{_items('<li><span class="ux-textspans">{}</span></li>', f.items)}</ul></div><div class="merch"><h2>Similar lots</h2>{more}</div></body></html>"""


def _lot_second(f: DayFacts, visit: int) -> str:
    price = (
        '<p class="mui-18">Closed</p>'
        if f.price is None
        else f'<div class="mui-11"><span class="mui-12">Current bid</span><span class="mui-13">USD {f.price:,.2f}</span></div>'
    )
    more = _zip(
        '<div class="mui-31"><span class="mui-32">{}</span><span class="mui-12">Current bid</span><span class="mui-13">USD {}</span></div>',
        _LOTS,
        f.other_prices,
        "{:,.2f}",
    )
    return f"""<!DOCTYPE html><html lang="en"><head><title>Antique honey press</title></head><body><div id="__next"><div class="mui-1"><h1 class="mui-2">Antique honey press</h1><div class="mui-10">{price}<div class="mui-11"><span class="mui-12">Ends</span><span class="mui-14">{f.day.day:02}.{f.day.month:02}.{f.day.year}</span></div><div class="mui-11"><span class="mui-12">Start price</span><span class="mui-13">USD 1.00</span></div></div><div class="mui-20"><h2 class="mui-21">Item specifics</h2>{_each('<div class="mui-22"><p class="mui-23">{k}</p><p class="mui-24">{v}</p></div>', f)}</div><div class="mui-20"><h2 class="mui-21">Included</h2><ul class="mui-25">{_items('<li class="mui-26"><div class="mui-27">{}</div></li>', f.items)}</ul></div><div class="mui-30">{more}</div><div>{visit} watchers</div></div></div></body></html>"""


def _lot_third(f: DayFacts, visit: int) -> str:
    price = (
        "<p>Bidding is closed.</p>"
        if f.price is None
        else f"<p>Current bid: <strong>${f.price:,.2f}</strong> (estimate <em>$120.00</em>)</p>"
    )
    more = _zip("<p>{} – <strong>${}</strong></p>", _LOTS, f.other_prices, "{:,.2f}")
    return f"""<!DOCTYPE html><html lang="en-US"><head><title>Lot 12: Antique honey press</title></head><body><div id="content"><h2>Lot 12: Antique honey press</h2>{price}<p>Ends {_named(f.day, _ENGLISH, _US)}, {visit} page views</p><fieldset><legend>Item specifics</legend><table border="1">{_each("<tr><td><b>{k}</b></td><td>{v}</td></tr>", f)}</table></fieldset><fieldset><legend>Included</legend>{_items('<div class="line">{}</div>', f.items)}</fieldset></div><div id="side"><h3>Similar lots</h3>{more}</div></body></html>"""


_T, _N, _D, _L = FieldType.TEXT, FieldType.NUMBER, FieldType.DATE, FieldType.LIST


def _fields(price: str, cell: str, table: str, items: str, date: str) -> tuple[tuple[str, str, FieldType], ...]:
    return ("price", price, _N), ("cell", cell, _T), ("table", table, _L), ("items", items, _L), ("date", date, _D)


DEVELOPED = (
    ValueTemplate(
        "magento",
        Subject(89.95, 0.05, _rows(Materiaal="Linnen|Katoen|Canvas", Inhoud="18 liter|20 liter|22 liter", Kleur="Zand|Groen|Zwart"),
                ("Reflecterend", "Schouderriem", "Regenhoes", "Laptopvak", "Uitneembaar vak", "Twee jaar garantie")),
        (_bag_luma, _bag_hyva, _bag_shopware),
        _fields("css:.product-info-main .price", "table:Inhoud", "css:#product-attribute-specs-table tr",
                "css:.product.attribute.overview li", "css:.delivery-promise"),
        "Inhoud", "EUR",
    ),
    ValueTemplate(
        "weather",
        Subject(61, 1, (("Tonight", ("Clear", "Mostly Cloudy", "Rain")), ("Saturday", ("Sunny", "Snow Showers", "Windy")), ("Sunday", ("Fog", "Sunny", "Rain Likely"))),
                ("Wind Advisory", "Flood Watch", "Heat Advisory", "Air Quality Alert", "Frost Advisory", "Red Flag Warning")),
        (_sky_gov, _sky_yr, _sky_tabloid),
        _fields("css:.myforecast-current-lrg", "xpath://li[p='Saturday' or .//p='Saturday']//p[@class='short-desc']",
                "css:.forecast-tombstone", "css:.hazard-list li", "css:td.upd"),
        "Saturday", "",
    ),
    ValueTemplate(
        "share",
        Subject(182.5, 0.01, (("Open", ("180.11", "181.40", "183.02", "179.95")), ("Volume", ("3,120,400", "2,998,120", "4,010,077", "3,555,018")), ("Beta (5Y Monthly)", ("1.12", "1.14", "1.09"))),
                ("Honeycomb beats estimates", "Why bees matter for chips", "Analysts raise target", "Honeycomb opens plant in Ohio", "Dividend confirmed", "Chief to step down")),
        (_share_yahoo, _share_google, _share_broker),
        _fields("css:[data-testid=qsp-price]", "css:span[title=Volume] + .value", "css:[data-testid=quote-statistics] li:not(.exdiv)",
                "css:.stream-item h3", "css:.exdiv .value"),
        "Volume", "",
    ),
    ValueTemplate(
        "auction",
        Subject(85, 0.5, _rows(Condition="Used|Restored|As found", Origin="Germany|Austria|Bohemia", Height="48 cm|50 cm|51 cm"),
                ("Crank", "Basket", "Wooden stand", "Tap", "Manual from 1911", "Spare screw")),
        (_lot_first, _lot_second, _lot_third),
        _fields("css:.x-bid-price .x-price-primary", "label:Origin", "css:.x-about-this-item dl", "css:.parts-list li", "css:.ux-timer__text"),
        "Origin", "USD",
    ),
)  # fmt: skip

HELD = (
    ValueTemplate(
        "model card",
        Subject(12345, 1, _rows(BeeBench="71.2|72.0|73.4|74.1", HiveQA="58.9|60.2|61.7", WaspEval="33.1|34.8|35.5"),
                ("image-classification", "bees", "pytorch", "apache-2.0", "eval results", "safetensors")),
        (_model_hub, _model_rival, _model_docs),
        _fields("xpath://dl[dt='Downloads last month']/dd", "table:HiveQA", "css:.model-card-content tbody tr", "css:.tag span",
                "xpath://p[contains(., 'Last updated')]"),
        "HiveQA", "",
    ),
    ValueTemplate(
        "government job",
        Subject(38400, 100, (("Catégorie", ("A", "B", "A+")), ("Lieu d'affectation", ("Lyon", "Villeurbanne", "Bron")), ("Télétravail", ("2 jours", "3 jours", "1 jour"))),
                ("Maîtrise du droit public", "Permis B", "Anglais courant", "Sens du service", "Master en géographie", "Logiciels de cartographie")),
        (_post_first, _post_second, _post_third),
        _fields("css:.rf-offer .remuneration", "table:Télétravail", "css:.fr-table tr", "css:ul.profil li", "css:p.limite"),
        "Télétravail", "EUR",
    ),
    ValueTemplate(
        "app store",
        Subject(4.99, 0.5, _rows(Size="48 MB|51 MB|53 MB", Downloads="10,000+|50,000+|100,000+", Compatibility="8.0 and up|9.0 and up|10 and up"),
                ("Dark mode", "Faster counting", "Fixes a crash at start", "Widget for the home screen", "Export to CSV", "Swarm alarm")),
        (_app_play, _app_apple, _app_fdroid),
        _fields("css:.u4ICaf button", "table:Size", "css:.G1zzid tr", "css:.SfzRHd li", "css:.xg1aie"),
        "Size", "USD",
    ),
    ValueTemplate(
        "flat",
        Subject(245000, 1000, _rows(Superficie="85 m²|86 m²|88 m²", Piano="3|4|5", Stato="Ristrutturato|Abitabile|Nuovo"),
                ("Balcone", "Cantina", "Ascensore", "Esposizione doppia", "Fibra ottica", "Portineria")),
        (_flat_first, _flat_second, _flat_third),
        _fields("css:.re-overview .re-overview__price", "table:Superficie", "css:.re-featuresItem", "css:.re-badges li", "css:.re-lastUpdate"),
        "Superficie", "EUR",
    ),
)  # fmt: skip

SITES = (*DEVELOPED, *HELD)
