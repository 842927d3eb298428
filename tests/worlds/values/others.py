"""Four more templates: a Chinese mall, a Spanish tender, a Swedish boat, and the status of a machine as plain text.

They were written after the others and measured before anything was changed for them.
"""

# ruff: noqa: E501 (markup)
from __future__ import annotations

from tests.worlds.values.facts import DayFacts, Subject
from tests.worlds.values.moves import _each, _zip
from tests.worlds.values.templates import ValueTemplate, _group, _items, _named, _rows
from tests.worlds.values.traditions import _fields

# Chinese mall
_TEAS = "铁观音 250g|普洱茶 357g|龙井 100g"


def _tea_first(f: DayFacts, visit: int) -> str:
    price = (
        '<div class="soldout">已售罄</div>'
        if f.price is None
        else f'<div class="tb-detail-price"><span class="tb-property-type">价格</span><em class="tb-rmb">¥</em><em class="tb-rmb-num">{f.price:.2f}</em></div>'
    )
    return f'<!DOCTYPE html><html lang="zh-CN"><head><meta charset="utf-8"><title>白茶饼 350g-淘茶网</title></head><body><div class="site-nav">您好，{visit}人在线</div><div id="detail"><h3 class="tb-main-title">白茶饼 350g</h3>{price}<ul class="tb-meta"><li class="tb-date">发货时间：{f.day.year}年{f.day.month}月{f.day.day}日</li></ul><div id="attributes"><ul class="attributes-list">{_each("<li title=v>{k}: {v}</li>", f)}</ul></div><div class="pkg"><h4>包装清单</h4><ul class="pkg-list">{_items("<li>{}</li>", f.items)}</ul></div></div><div class="tb-reco"><h4>看了又看</h4>{_zip("<dl><dd class=name>{}</dd><dd class=price>¥ {}</dd></dl>", _TEAS, f.other_prices, "{:.2f}")}</div></body></html>'


def _tea_second(f: DayFacts, visit: int) -> str:
    price = (
        '<div class="summary-price">暂无报价</div>'
        if f.price is None
        else f'<div class="summary-price J-summary-price"><div class="dt">京东价</div><div class="dd"><span class="p-price"><span>￥</span><span class="price J-p-100">{f.price:.2f}</span></span></div></div>'
    )
    return f'<!DOCTYPE HTML><html lang="zh-CN"><head><meta charset="UTF-8"><title>白茶饼 350g【行情 报价】</title></head><body><div class="w"><div class="crumb">食品饮料</div><div class="itemInfo-wrap"><div class="sku-name">白茶饼 350g</div>{price}<div class="summary-stock"><div class="dt">发货时间</div><div class="dd">{f.day.isoformat()}</div></div></div><div class="aside">{_zip("<li><div class=p-name>{}</div><div class=p-price>￥{}</div></li>", _TEAS, f.other_prices, "{:.2f}")}</div><div class="p-parameter"><ul class="parameter2">{_each("<li title=x>{k}：{v}</li>", f)}</ul></div><div class="package-list"><h3>包装清单</h3><p>{"、".join(f.items)}</p><ul>{_items("<li>{}</li>", f.items)}</ul></div><div>{visit}条评价</div></div></body></html>'


def _tea_third(f: DayFacts, visit: int) -> str:
    price = (
        ""
        if f.price is None
        else f'<view class="price-box"><text class="y">¥</text><text class="n">{f.price:.2f}</text></view>'
    )
    return f'<!DOCTYPE html><html lang="zh"><head><meta charset="utf-8"><title>白茶饼</title></head><body><div id="app"><div class="goods-info"><h1>白茶饼 350g</h1>{price}<span class="sold">已售{visit}</span></div><div class="cell"><span>发货时间</span><span>{f.day.month}/{f.day.day}/{f.day.year}</span></div><table class="params">{_each("<tr><td>{k}</td><td>{v}</td></tr>", f)}</table><section><h2>包装清单</h2><div>{_items("<p>{}</p>", f.items)}</div></section><section><h2>看了又看</h2>{_zip("<div class=g><p>{}</p><b>¥{}</b></div>", _TEAS, f.other_prices, "{:.2f}")}</section></div></body></html>'


# Spanish tender
_SPANISH = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
_LOT = "Poda de jardines|Limpieza de fachadas|Alumbrado"


def _tender_first(f: DayFacts, visit: int) -> str:
    price = (
        "<p>Importe: sin determinar</p>"
        if f.price is None
        else f"<p>Importe: <strong>{_group(f.price, '.', ',')} €</strong> (IVA excluido)</p>"
    )
    return f'<!DOCTYPE html><html lang="es"><head><title>Licitación 2026/014 - Ayuntamiento</title></head><body><div id="cabecera">Sede electrónica</div><div id="contenido"><h1>Suministro de papel</h1><p>Expediente: 2026/014</p>{price}<p>Fecha límite: {_named(f.day, _SPANISH, "{day} de {month} de {year}")}</p><h2>Datos</h2><table class="ficha">{_each("<tr><th>{k}</th><td>{v}</td></tr>", f)}</table><h2>Documentos</h2><ul class="docs">{_items("<li><a href=d.pdf>{}</a></li>", f.items)}</ul></div><div id="otros"><h2>Otras licitaciones</h2><ul>{_zip("<li>{}: {} €</li>", _LOT, tuple(_group(x, ".", ",") for x in f.other_prices), "{}")}</ul></div><p>Visitas: {visit}</p></body></html>'


def _tender_second(f: DayFacts, visit: int) -> str:
    price = (
        ""
        if f.price is None
        else f'<div class="campo"><span class="etiqueta">Importe</span><span class="valor">{_group(f.price, ".", ",")} EUR</span></div>'
    )
    return f'<!DOCTYPE html><html lang="es-ES"><head><title>Perfil del contratante</title></head><body><main class="portlet"><div class="titulo">Suministro de papel</div><div class="bloque"><div class="campo"><span class="etiqueta">Expediente</span><span class="valor">2026/014</span></div>{price}<div class="campo"><span class="etiqueta">Fecha límite</span><span class="valor">{f.day:%d/%m/%Y} 14:00</span></div></div><div class="bloque">{_each("<div class=campo><span class=etiqueta>{k}</span><span class=valor>{v}</span></div>", f)}</div><div class="bloque"><h3>Documentos</h3>{_items("<div class=doc><i class=ico></i>{}</div>", f.items)}</div></main><aside><h3>Otras licitaciones</h3>{_zip("<div class=campo><span class=etiqueta>{}</span><span class=valor>{} EUR</span></div>", _LOT, tuple(_group(x, ".", ",") for x in f.other_prices), "{}")}</aside><footer>{visit}</footer></body></html>'


def _tender_third(f: DayFacts, visit: int) -> str:
    price = "" if f.price is None else f"<dt>Importe (sin IVA)</dt><dd>{_group(f.price, '.', ',')} €</dd>"
    return f'<!DOCTYPE html><html lang="es"><head><title>Suministro de papel</title></head><body><div class="row">{_zip("<article><h4>{}</h4><p>{} €</p></article>", _LOT, tuple(_group(x, ".", ",") for x in f.other_prices), "{}")}</div><article class="licitacion"><h1>Suministro de papel</h1><dl><dt>Expediente</dt><dd>2026/014</dd>{price}<dt>Fecha límite</dt><dd><time datetime="{f.day.isoformat()}">{_named(f.day, _SPANISH, "{day} {month} {year}")}</time></dd>{_each("<dt>{k}</dt><dd>{v}</dd>", f)}</dl><details open><summary>Documentos</summary><ol>{_items("<li>{}</li>", f.items)}</ol></details><small>{visit} visitas</small></article></body></html>'


# Swedish classified
_SWEDISH = "januari februari mars april maj juni juli augusti september oktober november december"
_ADS = "Roddbåt|Kanot|Segelbåt"


def _boat_first(f: DayFacts, visit: int) -> str:
    price = (
        '<div class="price-sold">Såld</div>'
        if f.price is None
        else f'<div class="TextHeadline1__Wrapper-sc-18pk4pp-0 Price__StyledPrice-sc-crp2x0-0">{_group(f.price, " ", ",", 0)} kr</div>'
    )
    return f'<!DOCTYPE html><html lang="sv"><head><title>Motorbåt | Blocket</title></head><body><div id="__next"><h1 class="Hero__Title-sc-1 cZkfvM">Motorbåt</h1>{price}<p class="TextCallout2-sc-2">Inlagd {_named(f.day, _SWEDISH, "{day} {month} {year}")}</p><section><h2>Fakta</h2><div class="ParamsWrapper">{_each("<div class=Param><span class=Label-sc-9>{k}</span><span class=Value-sc-8>{v}</span></div>", f)}</div></section><section><h2>Utrustning</h2><ul class="Eq">{_items("<li>{}</li>", f.items)}</ul></section><section><h2>Liknande</h2>{_zip("<a class=ad><b>{}</b><div class=Price__StyledPrice-sc-crp2x0-0>{} kr</div></a>", _ADS, tuple(_group(x, " ", ",", 0) for x in f.other_prices), "{}")}</section><p>{visit} visningar</p></div></body></html>'


def _boat_second(f: DayFacts, visit: int) -> str:
    price = (
        "<s-price sold>Såld</s-price>"
        if f.price is None
        else f'<p class="u-t2">Pris <span>{_group(f.price, " ", ",", 0)} kr</span></p>'
    )
    return f'<!DOCTYPE html><html lang="sv"><head><title>Motorbåt</title></head><body><main class="page"><div class="grid"><h1 class="t1">Motorbåt</h1>{price}</div><table class="facts"><tbody>{_each("<tr><td>{k}</td><td>{v}</td></tr>", f)}</tbody></table><h3>Utrustning</h3><p>{"<br>".join(f.items)}</p><p>Inlagd: {f.day.isoformat()}</p><div class="more"><h3>Liknande</h3>{_zip("<p>{} <span>{} kr</span></p>", _ADS, tuple(_group(x, " ", ",", 0) for x in f.other_prices), "{}")}</div><i>{visit}</i></main></body></html>'


def _boat_third(f: DayFacts, visit: int) -> str:
    price = "" if f.price is None else f'<span data-testid="price">{_group(f.price, " ", ",", 0)} SEK</span>'
    return f'<!DOCTYPE html><html lang="sv-SE"><head><title>Motorbåt till salu</title></head><body><header>{visit}</header><aside><h4>Liknande</h4>{_zip("<div><span>{}</span><span data-testid=price-small>{} SEK</span></div>", _ADS, tuple(_group(x, " ", ",", 0) for x in f.other_prices), "{}")}</aside><section><h1>Motorbåt</h1>{price}<ul class="specs">{_each("<li><b>{k}:</b> {v}</li>", f)}</ul><h4>Utrustning</h4><div class="tags">{_items("<em>{}</em>", f.items)}</div><footer>Inlagd {f.day.day}/{f.day.month} {f.day.year}</footer></section></body></html>'


# YAML-like and INI-like status text
def _status_first(f: DayFacts, visit: int) -> str:
    price = "" if f.price is None else f"load_kw = {f.price:.1f}\n"
    return (
        f"# grid status\nserial = {visit}\n{price}updated = {f.day.isoformat()}\n\n[limits]\n"
        + "\n".join(f"{k} = {x}" for k, x in f.rows)
        + "\n\n[events]\n"
        + "\n".join(f"- {i}" for i in f.items)
        + "\n\n[neighbours]\n"
        + _zip("{} = {}\n", "north|east|south", f.other_prices, "{:.1f}")
    )


def _status_second(f: DayFacts, visit: int) -> str:
    price = "" if f.price is None else f"load_kw: {f.price:.1f}\n"
    return (
        f"serial: {visit}\nupdated: {f.day.isoformat()}T06:00:00Z\n{price}limits:\n"
        + "\n".join(f"  {k}: {x}" for k, x in f.rows)
        + "\nevents:\n"
        + "\n".join(f"  - {i}" for i in f.items)
        + "\nneighbours:\n"
        + _zip("  {}: {}\n", "north|east|south", f.other_prices, "{:.1f}")
    )


def _status_third(f: DayFacts, visit: int) -> str:
    price = "" if f.price is None else f"load_kw\t{f.price:.1f}\n"
    return (
        f"serial\t{visit}\n{price}updated\t{f.day.isoformat()}\n"
        + "\n".join(f"{k}\t{x}" for k, x in f.rows)
        + "\n\nEVENTS\n"
        + "\n".join(f"* {i}" for i in f.items)
        + "\n\nNEIGHBOURS\n"
        + _zip("{}\t{}\n", "north|east|south", f.other_prices, "{:.1f}")
    )


OTHERS = (
    ValueTemplate(
        "cn mall",
        Subject(
            268,
            1,
            (
                ("产地", ("福建福鼎", "福建政和", "云南景谷")),
                ("年份", ("2021", "2022", "2023")),
                ("净含量", ("350g", "357g", "340g")),
            ),
            ("茶饼", "礼盒", "茶针", "手提袋", "证书", "茶样"),
        ),
        (_tea_first, _tea_second, _tea_third),
        _fields(
            "css:.tb-rmb-num", "text:产地[:：]\\s*(\\S+)", "css:.attributes-list li", "css:.pkg-list li", "css:.tb-date"
        ),
        "产地",
        "",
    ),
    ValueTemplate(
        "es tender",
        Subject(
            48250.5,
            0.5,
            _rows(
                Procedimiento="Abierto|Simplificado|Negociado",
                Estado="Publicada|En evaluación|Adjudicada",
                Duración="12 meses|24 meses|18 meses",
            ),
            ("Pliego administrativo", "Pliego técnico", "Anuncio", "Anexo I", "Acta de apertura", "Resolución"),
        ),
        (_tender_first, _tender_second, _tender_third),
        _fields(
            "xpath://p[starts-with(., 'Importe')]/strong",
            "table:Estado",
            "css:table.ficha tr",
            "css:ul.docs li",
            "xpath://p[starts-with(., 'Fecha')]",
        ),
        "Estado",
        "EUR",
    ),
    ValueTemplate(
        "sv boat",
        Subject(
            189000,
            1000,
            _rows(Längd="7,2 m|7,4 m|7,1 m", Årsmodell="2009|2011|2014", Motor="150 hk|175 hk|200 hk"),
            ("Kapell", "Ekolod", "Vinterpresenning", "Badstege", "Ankarspel", "Trailer"),
        ),
        (_boat_first, _boat_second, _boat_third),
        _fields(
            "css:.Price__StyledPrice-sc-crp2x0-0",
            "label:Motor",
            "css:.Param",
            "css:ul.Eq li",
            "xpath://p[starts-with(., 'Inlagd')]",
        ),
        "Motor",
        "SEK",
    ),
    ValueTemplate(
        "status text",
        Subject(
            412.5,
            0.5,
            _rows(max_kw="500|550|600", min_kw="50|60|80", mode="auto|manual|test"),
            ("breaker 4 open", "maintenance at 9", "cable replaced", "alarm cleared", "new meter", "test run"),
        ),
        (_status_first, _status_second, _status_third),
        _fields(
            "text:load_kw = (.+)",
            "text:(?m)^mode = (.+)$",
            "text:(?m)^(?:max kw|min kw|mode) = .+$",
            "text:(?m)^- (.+)$",
            "text:updated = (\\S+)",
        ),
        "mode",
        "",
        "text",
    ),
)
