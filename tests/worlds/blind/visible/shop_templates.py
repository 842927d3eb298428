"""Shops: WooCommerce with a category list, a price comparison, a Japanese shop, and French recipes."""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from tests.worlds.blind.living_site import Kind, Layout
from tests.worlds.blind.pages import Entry, Post
from tests.worlds.blind.prose import GOODS
from tests.worlds.blind.prose_tongues import GOODS_JA, KITCHEN_FR
from tests.worlds.blind.tongues import ENGLISH, FRENCH, JAPANESE
from tests.worlds.blind.view import View, esc, steady


def _woo_card(v: View, key: object, title: str, path: str, price: str) -> str:
    return f'<li class="product type-product post-{key} status-publish instock"><a href="{path}" class="woocommerce-LoopProduct-link woocommerce-loop-product__link"><img width="300" height="300" src="/wp-content/uploads/p{key}-300x300.jpg" class="attachment-woocommerce_thumbnail" alt="" decoding="async" /><h2 class="woocommerce-loop-product__title">{esc(title)}</h2><span class="price"><span class="woocommerce-Price-amount amount"><bdi>{esc(price)}</bdi></span></span></a><a href="?add-to-cart={key}&amp;_wpnonce={v.token(10)}" class="button product_type_simple add_to_cart_button ajax_add_to_cart" rel="nofollow">{v.button("Add to cart", "Add to basket")}</a></li>'


def _woo_review(v: View, post: Post) -> str:
    return f'<li class="review" id="li-comment-{post.key}"><div id="comment-{post.key}" class="comment_container"><img src="https://secure.gravatar.com/avatar/{steady(post.author):012x}?s=60" class="avatar avatar-60 photo" /><div class="comment-text"><div class="star-rating" role="img"><span style="width:{60 + steady(post.key) % 3 * 20}%"></span></div><p class="meta"><strong class="woocommerce-review__author">{esc(post.author)}</strong> <em class="woocommerce-review__verified verified">(verified owner)</em> &ndash; <time class="woocommerce-review__published-date" datetime="{v.when(post.born)}">{v.when(post.born, "%B %-d, %Y")}</time></p><div class="description"><p>{v.text(post.sentences)}</p></div><div class="helpful">{v.noise(str(v.count(f"h{post.key}", start=20, per_day=0.7)))} people found this helpful</div></div></div></li>'


def _woo_product(v: View) -> str:
    page, fields = v.page, v.page.fields
    body = v.body(
        table=lambda b: f'<table class="woocommerce-product-attributes shop_attributes">{v.rows(b)}</table>',
        img=lambda b: (
            f'<div class="woocommerce-product-gallery__image"><a href="/wp-content/uploads/{b.href}.jpg"><img width="600" src="/wp-content/uploads/{b.href}-600x600.jpg" class="wp-post-image" alt="{esc(b.text)}" data-large_image="/wp-content/uploads/{b.href}.jpg" /></a></div>'
        ),
    )
    reviews = "".join(_woo_review(v, p) for p in page.posts)
    related = "".join(_woo_card(v, p.number, p.title, p.path, p.fields.get("price", "")) for p in v.others(4))
    viewing = (
        f'<p class="live-viewers">{v.between(4, 40)} people are looking at this product</p>'
        if v.opt("viewers", 0.6)
        else ""
    )
    variant = v.pick(("Add to cart", "Buy now")) if v.opt("ab button") else v.button("Add to cart", "Add to basket")
    return f"""<div id="product-{page.number}" class="product type-product post-{page.number} status-publish first {fields["stock"].lower().replace(" ", "")} has-post-thumbnail"><div class="summary entry-summary"><h1 class="product_title entry-title">{esc(page.title)}</h1><div class="woocommerce-product-rating"><div class="star-rating" role="img" aria-label="Rated 4.5 out of 5"></div><a href="#reviews" class="woocommerce-review-link" rel="nofollow">(<span class="count">{v.count("ratings", start=300, per_day=1)}</span> customer ratings)</a></div>
<p class="price"><span class="woocommerce-Price-amount amount"><bdi>{esc(fields["price"])}</bdi></span></p><p class="stock">{esc(fields["stock"])}</p><p class="delivery">Delivery time: {esc(fields["delivery time"])}</p>
<form class="cart" method="post"><input type="hidden" name="security" value="{v.token(10)}"/><input type="number" id="quantity_{v.token(13)}" class="input-text qty text" name="quantity" value="1" /><button type="submit" name="add-to-cart" value="{page.number}" class="single_add_to_cart_button button alt">{variant}</button></form>{v.noise(viewing)}<div class="product_meta"><span class="sku_wrapper">SKU: <span class="sku">{esc(fields["sku"])}</span></span></div></div>
<div class="woocommerce-tabs wc-tabs-wrapper"><div class="woocommerce-Tabs-panel panel entry-content" id="tab-description"><h2>Description</h2>
{body}
</div><div id="reviews" class="woocommerce-Reviews"><h2 class="woocommerce-Reviews-title">Reviews</h2><ol class="commentlist">{reviews}</ol></div></div>
<section class="related products"><h2>Related products</h2><ul class="products columns-4">{related}</ul></section></div>"""


def _woo_list(v: View) -> str:
    cards = "\n".join(_woo_card(v, e.key, e.title, f"/product/{e.key}/", e.fields["price"]) for e in v.page.entries)
    seen = "".join(
        f'<li><a href="{p.path}"><span class="product-title">{esc(p.title)}</span></a></li>' for p in v.others(3)
    )
    return f'<header class="woocommerce-products-header"><h1 class="woocommerce-products-header__title page-title">{esc(v.page.title)}</h1></header><p class="woocommerce-result-count">Showing all {len(v.page.entries)} results</p><form class="woocommerce-ordering"><select name="orderby"><option>Default sorting</option><option>Sort by popularity</option></select></form><ul class="products columns-3">{cards}</ul><div class="widget widget_recently_viewed_products"><span class="gamma widget-title">Recently viewed</span><ul class="product_list_widget">{seen}</ul></div>'


def woocommerce(v: View) -> str:
    """Write a product or a category as WooCommerce does with Storefront."""
    main = _woo_list(v) if v.page.shape == "list" else _woo_product(v)
    nav = "".join(f'<li class="menu-item"><a href="{h}">{m}</a></li>' for m, h in v.menu())
    note = (
        f'<p role="complementary" class="woocommerce-store-notice demo_store" data-notice-id="{v.token(8)}">{v.notice()}</p>'
        if v.notice()
        else ""
    )
    cart = f'<ul id="site-header-cart" class="site-header-cart menu"><li><a class="cart-contents" href="/cart/">&pound;{v.between(0, 90)}.00 <span class="count">{v.between(0, 4)} items</span></a></li></ul>'
    promo = f'<div class="promo-bar">{v.advert()}</div>' if v.maybe(0.5) else ""
    return f"""<!doctype html>
<html lang="en-GB"><head><meta charset="UTF-8"><title>{esc(v.page.title)} &#8211; Harbour Stores</title><link rel="stylesheet" href="{v.asset("/wp-content/themes/storefront/style.css")}" /><script>var wc_add_to_cart_params = {{"ajax_url":"\\/wp-admin\\/admin-ajax.php","nonce":"{v.token(10)}"}};</script></head>
<body class="product-template-default woocommerce woocommerce-page theme-storefront"><div id="page" class="hfeed site">{promo}<header id="masthead" class="site-header"><div class="site-branding"><div class="beta site-title"><a href="/">Harbour Stores</a></div></div><nav id="site-navigation" class="main-navigation"><ul class="menu">{nav}</ul></nav>{v.noise(cart)}</header>
<div id="content" class="site-content"><div class="col-full"><nav class="woocommerce-breadcrumb"><a href="/">Home</a> / Shop</nav><div id="primary" class="content-area"><main id="main" class="site-main">
{main}
</main></div></div></div><footer id="colophon" class="site-footer"><div class="site-info">{v.footer()}</div></footer></div>{note}</body></html>"""


def _offer(v: View, e: Entry) -> str:
    go = f"/relocate/{v.word(40)}"
    return f"""<li class="productOffers-listItem row" data-offer="{e.key}"><div class="productOffers-listItemTitleWrapper"><a href="{go}" class="productOffers-listItemTitle" rel="nofollow"><span class="productOffers-listItemTitleInner">{esc(e.title)}</span></a></div><div class="productOffers-listItemOfferPrice">{esc(e.fields["price"])}</div><div class="productOffers-listItemOfferShippingDetails">{esc(e.fields["shipping"])}</div><div class="productOffers-listItemOfferShopV2"><img class="shopLogo" src="/logos/{e.key % 9}.gif" alt=""><span>{v.noise(v.grouped(v.count(f"s{e.key}", start=9000, per_day=12)))} ratings</span></div><div class="productOffers-listItemOfferLink"><a class="button" href="{go}" data-click="{v.token(16)}">{v.button("To the shop", "Visit shop")}</a></div><div class="offerAge">Price from {v.age(v.now - 0.1 - v.between(0, 50) / 60 if not v.quiet else 0)}</div></li>"""


def pricecompare(v: View) -> str:
    """Write the offers for one product as a price comparison does."""
    page = v.page
    offers = "\n".join(_offer(v, e) for e in page.entries)
    nav = "".join(f'<li class="navi-item"><a href="{h}">{m}</a></li>' for m, h in v.menu())
    top = "".join(
        f'<div class="teaser"><a href="{p.path}">{esc(p.title)}</a><div class="teaser-hits">{v.between(100, 9000)} clicks this week</div></div>'
        for p in v.others(4)
    )
    specs = v.body(table=lambda b: f'<table class="datasheet">{v.rows(b)}</table>')
    ads = f'<ins class="adsbygoogle" data-ad-slot="{v.between(10**6, 10**7)}">{v.advert()}</ins>'
    note = f'<div class="infobar">{v.notice()}</div>' if v.notice() else ""
    cookie = f'<div id="usercentrics-root" class="cmp">{v.pick(v.tongue.cookies)}</div>' if v.maybe(0.5) else ""
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{esc(page.title)} – compare prices</title><script>window.dataLayer=[{{"sid":"{v.token()}","ab":"{v.pick("ABC")}"}}];</script></head><body class="productPage {v.pick(("exp-1", "exp-2"))}">{cookie}<header class="g-header"><a href="/">CheaperHere</a><ul class="navi">{nav}</ul></header>{note}
<div class="oopStage row"><h1 class="oopStage-title"><span>{esc(page.title)}</span></h1><div class="oopStage-metaInfo"><span class="oopStage-rating">{v.grouped(v.count("reviews", start=900, per_day=2))} reviews</span> <span class="watchers">{v.between(20, 400)} users have set a price alert</span></div></div>{v.noise(ads)}
<div class="productOffers" id="offerList"><h2>Price comparison</h2><ul class="productOffers-list">
{offers}
</ul><p class="small">All prices including VAT. Prices last checked: {v.clock("%d.%m.%Y %H:%M")}</p></div>
<section class="datasheet-wrapper">{specs}</section>
<aside class="sidebar"><h3>Most wanted</h3>{top}</aside><footer class="footer">{v.footer()} <!-- srv {v.between(1, 24)} {v.between(20, 400)}ms --></footer></body></html>"""


def japanshop(v: View) -> str:
    """Write a product page of a Japanese shop in the older style of EC-CUBE."""
    page, f = v.page, v.page.fields
    body = v.body(
        p=lambda b: f'<p class="ec-productRole__description">{v.text(b.items)}</p>',
        table=lambda b: f'<table class="spec" border="1">{v.rows(b)}</table>',
    )
    nav = "".join(f'<li><a href="{h}">{m}</a></li>' for m, h in v.menu())
    rank = "".join(
        f'<li><span class="rank">{i}位</span><a href="{p.path}">{esc(p.title)}</a></li>'
        for i, p in enumerate(v.others(5), 1)
    )
    checked = "".join(
        f'<li><a href="{p.path}"><img src="/upload/{p.number}.jpg" alt=""><p>{esc(p.title)}</p></a></li>'
        for p in v.others(3)
    )
    reviews = "".join(
        f'<dl class="review"><dt>{esc(p.author)}さん <span>{v.age(p.born)}</span></dt><dd>{v.text(p.sentences)}</dd><dd class="useful">参考になった：{v.count(f"u{p.key}", start=30, per_day=1)}人</dd></dl>'
        for p in page.posts
    )
    note = f'<div class="ec-newsline"><p>{v.notice()}</p></div>' if v.notice() else ""
    return f"""<!doctype html>
<html lang="ja"><head><meta charset="utf-8"><meta name="eccube-csrf-token" content="{v.word(43)}"><title>和の店 / {esc(page.title)}</title><link rel="stylesheet" href="{v.asset("/html/template/default/assets/css/style.css")}"></head><body id="page_product_detail" class="product_page"><div class="ec-layoutRole"><div class="ec-layoutRole__header"><div class="ec-headerTitle"><a href="/">和の店</a></div><nav class="ec-categoryNaviRole"><ul>{nav}</ul></nav><p class="today">{v.clock("%Y年%m月%d日")}現在 会員数{v.grouped(v.between(40000, 42000))}名</p></div>{note}
<div class="ec-layoutRole__contents"><div class="ec-layoutRole__main"><div class="ec-productRole"><div class="ec-productRole__title"><h2 class="ec-headingTitle">{esc(page.title)}</h2></div><ul class="ec-productRole__tags"><li>{esc(f["区分"])}</li></ul><div class="ec-productRole__price"><div class="ec-price"><span class="ec-price__price">{esc(f["価格"])}</span><span class="ec-price__tax">税込</span></div></div><div class="ec-productRole__code">商品コード：<span>{esc(f["商品コード"])}</span></div><form action="/cart" method="post" id="form1"><input type="hidden" name="_token" value="{v.word(43)}"><button type="submit" class="ec-blockBtn--action add-cart">{v.button("カートに入れる", "買い物かごへ")}</button></form><p class="favorite">お気に入り登録 {v.grouped(v.count("fav", start=900, per_day=4))}人</p>
{body}
</div><div class="reviews"><h3>レビュー</h3>{reviews}</div></div>
<div class="ec-layoutRole__right"><h3>売れ筋ランキング</h3><ol>{rank}</ol><h3>最近チェックした商品</h3><ul>{checked}</ul></div></div>
<div class="ec-layoutRole__footer"><p>{v.footer()}</p></div></div></body></html>"""


def recette(v: View) -> str:
    """Write a French recipe with ratings, likes, comments and adverts between the steps."""
    page, f = v.page, v.page.fields

    def advert() -> str:
        return (
            v.noise(f'<div class="af-advert" id="{v.unique("af-slot-")}"><span>Publicité</span> {v.advert()}</div>')
            if v.maybe(0.6)
            else ""
        )

    body = v.body(
        p=lambda b: f'<p class="recipe-text">{v.text(b.items)}</p>{advert()}',
        h2=lambda b: f'<h2 class="MuiTypography-root MuiTypography-h2">{esc(b.text)}</h2>',
        ul=lambda b: (
            '<div class="mrtn-recipette_ingredients-items">'
            + "".join(
                f'<div class="card-ingredient"><span class="ingredient-name">{esc(i)}</span></div>' for i in b.items
            )
            + "</div>"
        ),
        ol=lambda b: (
            '<div class="recipe-step-list">'
            + "".join(
                f'<div class="recipe-step-list__container"><div class="recipe-step-list__head">Étape {n}</div><p>{esc(i)}</p></div>'
                for n, i in enumerate(b.items, 1)
            )
            + "</div>"
        ),
        img=lambda b: (
            f'<picture><source srcset="https://assets.example/{b.href}_w314.webp?cb={v.token(6)}"><img src="https://assets.example/{b.href}_w600.jpg?cb={v.token(6)}" alt="{esc(b.text)}"></picture>'
        ),
    )
    talk = "".join(
        f'<div class="mrtn-comment"><span class="pseudo">{esc(p.author)}</span> <span class="date">{v.age(p.born)}</span><p>{v.text(p.sentences)}</p><button class="like">Utile ({v.count(f"l{p.key}", start=20, per_day=1)})</button></div>'
        for p in page.posts
    )
    nav = "".join(f'<li class="nav__item"><a href="{h}">{m}</a></li>' for m, h in v.menu())
    also = "".join(
        f'<a class="mrtn-card" href="{p.path}"><h4>{esc(p.title)}</h4><span>{v.between(10, 900)} avis</span></a>'
        for p in v.others(4)
    )
    note = f'<div class="bandeau">{v.notice()}</div>' if v.notice() else ""
    cookie = f'<div id="didomi-host">{v.pick(v.tongue.cookies)}</div>' if v.maybe(0.5) else ""
    return f"""<!DOCTYPE html><html lang="fr"><head><meta charset="utf-8"><title>{esc(page.title)} : la recette facile</title><meta name="csrf" content="{v.token()}"></head><body class="{v.pick(("theme-a", "theme-b"))}">{cookie}<header class="mrtn-header"><a href="/">Ma Cocotte</a><ul class="nav">{nav}</ul></header>{note}
<main class="mrtn-recette"><h1>{esc(page.title)}</h1><div class="recipe-header__rating"><span class="rating__rating">4.{steady(page.number) % 9}/5</span> <a href="#avis">{v.count("avis", start=900, per_day=2)} commentaires</a> <span class="fav">{v.grouped(v.count("fav", start=9000, per_day=14))} personnes ont enregistré cette recette</span></div><div class="recipe-primary"><div class="recipe-primary__item"><span>{esc(f["temps"])}</span></div><div class="recipe-primary__item"><span>{esc(f["difficulté"])}</span></div><div class="recipe-primary__item"><span>{esc(f["personnes"])}</span></div></div>
{body}
<section id="avis">{talk}</section></main><aside class="sidebar"><h3>À voir aussi</h3>{also}<p class="tendance">Tendance : {v.noise(esc(v.prose.title(v.rng)))}</p><button>{v.button("Enregistrer", "Garder la recette")}</button></aside><footer>{v.footer()} · {v.clock("%d/%m/%Y")}</footer></body></html>"""


KINDS = (
    Kind(
        "woocommerce",
        woocommerce,
        GOODS,
        ENGLISH,
        "/product/{slug}/",
        Layout(
            "img p p h2 ul p h2 table",
            fields=("price", "stock", "delivery time", "sku"),
            posts=(1, 5),
            header=("Property", "Value"),
        ),
        Layout(entries=(8, 14)),
        5,
        makers={
            "price": lambda r: f"£{r.randint(9, 480)}.{r.choice(('00', '50', '95', '99'))}",
            "stock": lambda r: r.choice(("In stock", "Out of stock", "Available on backorder")),
            "delivery time": lambda r: f"{r.randint(1, 4)}-{r.randint(5, 9)} working days",
            "sku": lambda r: f"HS-{r.randint(1000, 9999)}",
            "row": lambda r: f"{r.choice(('Weight', 'Width', 'Height', 'Power', 'Volume'))}|{r.randint(2, 900)}",
        },
        entry_makers={"price": lambda r: f"£{r.randint(9, 480)}.{r.choice(('00', '50', '95', '99'))}"},
    ),
    Kind(
        "pricecompare",
        pricecompare,
        GOODS,
        ENGLISH,
        "/compare/{slug}.html",
        Layout("table", entries=(6, 12), header=("Property", "Value")),
        makers={"row": lambda r: f"{r.choice(('Weight', 'Width', 'Colour', 'Power', 'Volume'))}|{r.randint(2, 900)}"},
        entry_makers={
            "price": lambda r: f"{r.randint(20, 600)},{r.randint(10, 99)} €",
            "shipping": lambda r: r.choice(
                ("free shipping", "plus 4,95 € shipping", "plus 6,90 € shipping", "pick-up only")
            ),
        },
        untidy=True,
    ),
    Kind(
        "japanshop",
        japanshop,
        GOODS_JA,
        JAPANESE,
        "/products/detail/{n}",
        Layout("p h2 p ul h2 table p", fields=("価格", "商品コード", "区分"), posts=(1, 4), header=("項目", "内容")),
        makers={
            "価格": lambda r: f"¥{r.randint(4, 98)}{r.choice(('00', '80', '50'))}",
            "商品コード": lambda r: f"wa-{r.randint(1000, 9999)}",
            "区分": lambda r: r.choice(("常温", "冷蔵", "冷凍", "予約商品")),
            "row": lambda r: f"{r.choice(('内容量', '賞味期限', '産地', '重さ'))}|{r.randint(2, 900)}",
        },
    ),
    Kind(
        "recette",
        recette,
        KITCHEN_FR,
        FRENCH,
        "/recettes/{slug}.aspx",
        Layout("img p h2 ul h2 ol p p", fields=("temps", "difficulté", "personnes"), posts=(1, 5)),
        makers={
            "temps": lambda r: f"{r.randint(10, 95)} min",
            "difficulté": lambda r: r.choice(("très facile", "facile", "niveau moyen", "difficile")),
            "personnes": lambda r: f"{r.randint(2, 8)} personnes",
        },
    ),
)
