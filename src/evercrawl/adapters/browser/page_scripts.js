// The functions that look at a page and make it show more. They run in a world of their own, out of its reach.

// Counts the changes of the document.
globalThis.changes = 0;
new MutationObserver(() => { globalThis.changes++; })
    .observe(document, {childList: true, characterData: true, subtree: true});

// Tools to keep the items of lists that hold only what is in view.
globalThis.lists = new Map();  // From an element to its items by their text: those that went out of view are kept.
globalThis.elementsIn = function* (root) {
    for (const one of root.querySelectorAll('*')) {
        yield one;
        if (one.shadowRoot) yield* elementsIn(one.shadowRoot);
    }
};
globalThis.above = node => node.parentNode ?? node.host;  // Also from a shadow root to the element that has it.
globalThis.closestTo = (node, selector) => {
    for (let one = node; one; one = above(one)) if (one.matches?.(selector)) return one;
};
globalThis.isScroller = one => one.scrollHeight > one.clientHeight + 20 && one.clientHeight >= 50
    && ['auto', 'scroll', 'overlay'].includes(getComputedStyle(one).overflowY);
globalThis.inert = document.implementation.createHTMLDocument('');  // Runs no scripts and no custom elements.
globalThis.viewOf = element => {
    let offset = scrollY, top = 0, bottom = innerHeight;
    for (let one = element; one && one !== document.body && one !== document.documentElement; one = above(one))
        if (one.scrollTop || isScroller(one)) {
            const box = one.getBoundingClientRect();
            offset += one.scrollTop;
            [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
        }
    return {offset, top, bottom};
};

// Returns how often the document changed, and whether it has loaded.
globalThis.activity = () => [globalThis.changes ?? 0, document.readyState === 'complete'];

// Resolves when the page was drawn: only then does it notice that something came into view.
globalThis.draw = () => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));

// Notes the items of all lists, and returns a figure that grows with the text and links seen so far.
globalThis.collect = () => {
    const enough = 3;
    let size = 0;
    for (const list of [...lists.keys()]) if (!list.isConnected) lists.delete(list);
    for (const list of elementsIn(document)) {
        const last = list.childElementCount >= enough || lists.has(list) ? list.lastElementChild : null;
        if (!last) continue;
        const children = [...list.children].filter(child => child.tagName === last.tagName);
        if (children.length < enough && !lists.has(list)) continue;
        const known = lists.get(list) ?? new Map(), present = new Set(), view = viewOf(list);
        lists.set(list, known);
        for (const item of children) {
            const text = item.textContent.trim(), box = item.getBoundingClientRect();
            if (!text) continue;
            present.add(text);
            const copy = known.get(text)?.copy ?? inert.importNode(item, true);
            known.set(text, {copy, top: box.top + view.offset, height: box.height, isLost: false});
        }
        for (const [text, item] of known) {
            if (present.has(text)) continue;
            const top = item.top - view.offset;
            if (!item.isLost && top + item.height > view.top && top < view.bottom) known.delete(text);  // Replaced.
            else { item.isLost = true; size += text.length; }
        }
    }
    const body = document.body ?? document.documentElement;
    size += body ? body.textContent.length + 100 * document.links.length : 0;
    for (const one of elementsIn(document)) size += one.shadowRoot?.textContent.length ?? 0;
    return size;
};

// Returns the document as HTML: with the content of shadow roots and the items of lists that went out of view,
// without what is for browsers without scripts. Its copy is kept for the views that are found later.
globalThis.snapshot = most => {
    if (!document.documentElement) return '';
    globalThis.copies = new WeakMap();
    globalThis.whole = copyOf(document.documentElement);
    for (const unused of whole.querySelectorAll('noscript')) unused.remove();
    const longestCaption = 40, slides = '[class*=carousel], [class*=slide], [class*=gallery], [class*=img]';
    for (const one of whole.querySelectorAll(slides)) {  // With text of its own it is no row of pictures.
        const texts = [...one.querySelectorAll('p')].filter(text => text.textContent.length > longestCaption);
        if (texts.length > 1)
            for (const part of [one, ...one.querySelectorAll(slides)]) part.classList.add('evercrawl-body-text');
    }
    return wholeDocument(most);
};
globalThis.wholeDocument = most => {
    const html = (document.doctype ? '<!DOCTYPE html>' : '') + whole.outerHTML;
    return html.length > most ? null : html;
};

// Returns a copy of an element, or of the content of a shadow root, with everything inside it.
globalThis.copyOf = root => {
    const copied = source => {
        if (!(source instanceof ShadowRoot)) return inert.importNode(source, true);
        const box = inert.createElement('div');
        box.setAttribute('data-shadow-root', '');
        for (const child of source.childNodes) box.append(inert.importNode(child, true));
        return box;
    };
    const complete = (source, copy) => {
        const from = source.querySelectorAll('*'), to = copy.querySelectorAll('*');
        globalThis.copies?.set(source, copy);
        from.forEach((element, index) => {
            if (to[index]) globalThis.copies?.set(element, to[index]);
            if (!element.shadowRoot || !to[index]) return;
            const box = copied(element.shadowRoot);
            complete(element.shadowRoot, box);
            to[index].prepend(box);
        });
        from.forEach((element, index) => {
            const lost = [...(lists.get(element)?.values() ?? [])].filter(item => item.isLost);
            if (!lost.length || !to[index]) return;
            const offset = viewOf(element).offset;
            const present = [...element.children].map((child, place) =>
                ({copy: to[index].children[place], top: child.getBoundingClientRect().top + offset}));
            to[index].replaceChildren(...[...present, ...lost].sort((a, b) => a.top - b.top).map(item => item.copy));
        });
    };
    const copy = copied(root);
    complete(root, copy);
    return copy;
};

// Returns the place in the history, which a new URL changes unless it replaces the one before.
globalThis.entryIndex = () => navigation.currentEntry?.index ?? -1;

globalThis.toTop = () => scrollTo(0, 0);

globalThis.toEnd = () => scrollTo(0, document.documentElement.scrollHeight);

// Tells the page that it was scrolled: not all pages notice that the window grew.
globalThis.tellScroll = () => document.dispatchEvent(new Event('scroll', {bubbles: true}));

globalThis.height = () => document.documentElement.scrollHeight;

// Scrolls the document and every list in it by most of what is in view; returns whether anything moved.
globalThis.scrollDown = () => {
    const step = 0.8;
    let moved = false;
    const root = document.scrollingElement ?? document.documentElement;
    for (const one of [root, ...[...elementsIn(document)].filter(isScroller)]) {
        const before = one.scrollTop;
        one.scrollTop += step * one.clientHeight;
        moved ||= one.scrollTop > before;
    }
    return moved;
};

// Looks for the only button right behind a list, such as `Load more`, by its place: labels have many languages.
globalThis.findMore = () => {
    const enough = 3;
    const items = element => {
        for (let one = element, depth = 0; one && depth < 4; one = one.lastElementChild, depth++) {
            const last = one.lastElementChild;
            if (last && [...one.children].filter(child => child.tagName === last.tagName).length >= enough) return one;
        }
    };
    const listBefore = button => {
        for (let one = button, up = 0; one && up < 4; one = one.parentElement, up++)
            if (one.previousElementSibling) return items(one.previousElementSibling);
    };
    const selector = 'button, [role=button], a:not([href]), a[href="#"], a[href^="javascript:"]';
    const buttons = [...elementsIn(document)].filter(button => button.matches(selector)
        && !button.disabled && button.getClientRects().length && button.textContent.trim()
        && !button.closest('form, nav, header, dialog, [role=dialog], [aria-haspopup], [aria-expanded]')
        && button.parentNode.querySelectorAll(selector).length === 1);
    for (const button of buttons.reverse()) {
        const list = listBefore(button);
        if (list && !list.contains(button)) {
            globalThis.more = {button, list, count: list.children.length, first: list.firstElementChild};
            return true;
        }
    }
    return false;
};

globalThis.pressMore = () => {
    globalThis.pressing = more.button;
    more.button.click();
};

// Whether the button added to its list and removed nothing.
globalThis.hasGrown = () => {
    const {list, count, first} = globalThis.more;
    return list.isConnected && list.firstElementChild === first && list.children.length > count;
};
globalThis.hasLost = () => !globalThis.more.list.isConnected;

// Returns the links to other views of the same document, such as `#/about` or `#about`; those to a place in it are none.
globalThis.hashRoutes = own => {
    const here = location.href.split('#')[0], hashes = new Set(own), places = new Set(['', 'top']);
    for (const one of elementsIn(document)) {
        const href = one.getAttribute('href') ?? '';
        if (href.startsWith('#')) hashes.add(href);
        else if (one.hash && one.href.split('#')[0] === here) hashes.add(one.hash);
        for (const name of [one.id, one.getAttribute('name')]) if (name) places.add(name);
    }
    const nameOf = hash => {
        try { return decodeURIComponent(hash.slice(1)); } catch { return hash.slice(1); }
    };
    return [...hashes].filter(hash => !places.has(nameOf(hash)) && !places.has(hash.slice(1)) && !hash.includes(':~:'));
};

// Finds everything that looks as if it can be pressed and is no link. Returns of each a key, its look and label, which
// others may share, its kind, and whether it was pressed. What is shown already is left out.
globalThis.pressed = new WeakSet();
globalThis.keys = new WeakMap();
globalThis.listeners = new Set();  // The elements that the page listens to.
globalThis.dialog = 'dialog, [role=dialog], [role=alertdialog], [aria-modal=true]';
globalThis.labelOf = one => (one.textContent.trim() || one.getAttribute('aria-label') || one.title
    || (one.querySelector('svg, img, i') ? 'icon' : '')).slice(0, 80);
globalThis.asks = one => one?.querySelector('input:not([type=hidden]), textarea, select, [contenteditable]');
globalThis.findPressable = () => {
    const opens = '[role=tab], [aria-controls], [aria-expanded], [aria-haspopup], [data-toggle], [data-bs-toggle]';
    const link = `a[href]:not([href="#"]):not([href=""]):not([href^="javascript:"])`;
    const button = 'a, button, summary, [role=link], [role=button], [role=tab], [role=menuitem], [onclick]';
    const isShown = '[aria-selected=true], [aria-expanded=true], [aria-current=page], [aria-disabled=true]';
    const states = /(^|[-_])(active|select(ed)?|open(ed)?|expand(ed)?|collapsed?|current|focus(ed)?|visible|hover|show(n)?)(?![a-z])/;
    const never = `form, label, select, [contenteditable]`, longest = 1000;
    globalThis.firstDialogs ??= new Set(document.querySelectorAll(dialog));  // Not those that a press opens.
    const isLink = one => {
        const found = one.closest(link);
        return found && !(found === one && one.getAttribute('href').startsWith('#') && one.matches(opens));
    };
    const outer = new Set();  // Of elements that listen: those listen to what is inside them.
    for (const listener of listeners)
        for (let one = above(listener); one && !outer.has(one); one = above(one)) outer.add(one);
    const listens = one => listeners.has(one) && !outer.has(one) && one.textContent.length < longest
        && !one.closest(button) && !one.querySelector(`${link}, ${button}, input`);
    const isPressable = one => one.matches(`${button}, ${opens}`) || listens(one)
        || getComputedStyle(one).cursor === 'pointer' && !one.closest(button)
            && getComputedStyle(one.parentElement ?? one).cursor !== 'pointer';
    const opened = one => {
        const found = one.closest(dialog);
        return found && !firstDialogs.has(found) ? found : null;
    };
    const classes = one => [...one.classList].filter(name => !states.test(name)).join('.');
    globalThis.pressable = new Map();
    const all = [], result = [];
    for (const one of elementsIn(document)) {
        if (!(one instanceof HTMLElement) || one === document.body || !isPressable(one)) continue;
        if (one.disabled || one.closest(never) || isLink(one) || asks(opened(one))) continue;
        const label = one.textContent.trim() || one.matches(button) ? labelOf(one) : '';
        if (!label || !one.getClientRects().length) continue;
        let group = '';
        for (let up = one, depth = 0; up && depth < 3; up = up.parentElement, depth++)
            group += `${up.tagName}.${classes(up)} `;
        const base = `${group}|${label}`;
        if (/^\d+$/.test(label) && keys.has(one) && keys.get(one)[1] !== base) {  // It is another page now.
            keys.delete(one);
            pressed.delete(one);
        }
        all.push([one, keys.get(one)?.[1] ?? base, group]);
    }
    const taken = new Set(all.map(([one]) => keys.get(one)?.[0]));
    for (const [one, base, group] of all) {
        for (let number = 0; !keys.has(one); number++)  // An element keeps its key, so that others keep theirs.
            if (!taken.has(`${base}|${number}`)) keys.set(one, [`${base}|${number}`, base]);
        const key = keys.get(one)[0], kind = `${group}${one.matches(opens) ? 'opens' : ''}`;
        taken.add(key);
        pressable.set(key, one);
        if (!one.matches(isShown)) result.push([key, base, kind, pressed.has(one)]);
    }
    return result;
};

// Presses an element like a mouse: some buttons wait for its parts, not for the click. A question on a button is
// kept as the heading of its answer.
globalThis.press = key => {
    const element = globalThis.pressing = globalThis.lastPressed = pressable.get(key), enough = 4;
    const text = element.textContent.trim();
    const isQuestion = /[?？]$/.test(text) || text.split(/\s+/).length >= enough;
    globalThis.lastLabel = labelOf(element);
    globalThis.label = isQuestion && element.closest('button') && !element.closest('h1, h2, h3, h4, h5, h6') ? text : '';
    pressed.add(element);
    const like = {bubbles: true, cancelable: true, composed: true, button: 0, isPrimary: true, pointerType: 'mouse'};
    for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup']) {
        element.dispatchEvent(new (type[0] === 'p' ? PointerEvent : MouseEvent)(type, like));
        if (type === 'mousedown') element.focus({preventScroll: true});
    }
    element.click();
};

// Points at everything that is no link at once. What appears then counts if it is longer than a label.
globalThis.hover = () => {
    const longestLabel = 40;
    globalThis.leastText = longestLabel;
    findPressable();
    const like = {cancelable: true, composed: true, pointerType: 'mouse'};
    for (const one of new Set([...listeners, ...pressable.values()])) {
        if (!one.isConnected || one === document.body || one.closest?.('a[href], form')) continue;
        for (const type of ['pointerover', 'pointerenter', 'mouseover', 'mouseenter', 'pointermove', 'mousemove']) {
            const event = type[0] === 'p' ? PointerEvent : MouseEvent;
            one.dispatchEvent(new event(type, {...like, bubbles: !type.endsWith('enter')}));
        }
    }
};

// Returns whether the button that was pressed last could show more of the same, as `Next` does.
globalThis.canRepeat = key => {
    if (!lastPressed.isConnected) {
        findPressable();
        globalThis.lastPressed = pressable.get(key);
    }
    const shown = '[role=tab], summary, [aria-selected], [aria-expanded], [aria-disabled=true]';
    return !!lastPressed?.getClientRects().length && !lastPressed.disabled && !lastPressed.matches(shown)
        && labelOf(lastPressed) === lastLabel && !/^\d+$/.test(lastLabel);
};
globalThis.pressAgain = () => {
    globalThis.pressing = lastPressed;
    lastPressed.click();
};

// Returns the strings of text inside an element, also in shadow roots.
globalThis.stringsIn = top => {
    const roots = root => [root, ...[...elementsIn(root)].map(one => one.shadowRoot).filter(Boolean)];
    const found = new Set();
    for (const root of top.shadowRoot ? [...roots(top), ...roots(top.shadowRoot)] : roots(top)) {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const text = walker.currentNode.data.trim();
            if (text && !walker.currentNode.parentElement?.closest('script, style')) found.add(text);
        }
    }
    return found;
};

// Returns the visible elements that have text of their own.
globalThis.visibleTexts = () => {
    const isText = node => node.nodeType === Node.TEXT_NODE && node.data.trim();
    return [...elementsIn(document.body)].filter(one => [...one.childNodes].some(isText) && one.checkVisibility());
};

// Begins to watch for a change of the view; `changedView` returns the part that changed, how many strings in it are new,
// and whether it replaced what was seen before by what was not.
globalThis.watchView = () => {
    globalThis.viewObserver?.disconnect();
    globalThis.label = '';
    globalThis.leastText = 1;
    globalThis.pressing = null;
    if (globalThis.whole) findCopies();
    const before = stringsIn(document.body), visible = visibleTexts(), targets = new Set(), added = new Set();
    globalThis.everSeen ??= new Set();
    for (const text of before) everSeen.add(text);
    const note = records => records.forEach(record => {
        targets.add(record.target);
        for (const one of record.type === 'childList' ? record.addedNodes : [record.target]) added.add(one);
    });
    const observer = globalThis.viewObserver = new MutationObserver(note);
    for (const root of [document.body, ...[...elementsIn(document.body)].map(one => one.shadowRoot).filter(Boolean)])
        observer.observe(root, {childList: true, characterData: true, subtree: true, attributeFilter: ['href', 'src']});
    globalThis.changedView = () => {
        note(observer.takeRecords());
        const uncovered = globalThis.whole ? uncover() : 0;
        let changed = null;
        for (const target of targets) {
            if (!target.isConnected) continue;
            changed ??= target;
            const path = new Set();
            for (let one = target; one; one = above(one)) path.add(one);
            while (!path.has(changed)) changed = above(changed);
        }
        changed = changed?.nodeType === Node.TEXT_NODE ? changed.parentNode : changed;
        const box = changed && closestTo(changed, dialog);
        const nothing = {html: '', more: 0, is_next: false, uncovered};
        if (!changed || box && (globalThis.firstDialogs?.has(box) || asks(box))) return nothing;
        const shown = [...stringsIn(changed)];
        const more = shown.filter(text => !before.has(text) && text.length >= leastText).length;
        const isWhole = 2 * more >= shown.length && changed !== document.body;
        globalThis.view = isWhole ? [{at: changed, section: sectionOf([...copyOf(changed).childNodes])}]
            : partsOf(changed, added);
        if (!view.length) return nothing;
        return {
            html: view.map(part => part.section.innerHTML).join(''),
            more,
            uncovered,
            is_next: visible.some(one => !one.isConnected || !one.checkVisibility()) && isNew(shown),
        };
    };
};

// Returns whether texts were never seen on this page. A single one that differs by its figures is a counter.
globalThis.isNew = texts => {
    const plain = text => text.replace(/\d+/g, '0'), fresh = texts.filter(text => !everSeen.has(text));
    return fresh.length > 1 || fresh.length === 1 && ![...everSeen].some(text => plain(text) === plain(fresh[0]));
};

// Returns what was added inside a part of the page: sections, and the elements that have them now.
globalThis.partsOf = (changed, added) => {
    const isInside = node => {
        for (let one = above(node); one; one = above(one)) if (added.has(one)) return true;
    };
    const places = new Map();
    for (const one of added) {
        const isText = one.nodeType === Node.TEXT_NODE;
        if (!one.isConnected || one.textContent.trim().length < leastText || isInside(one)) continue;
        if (!isText && one.nodeType !== Node.ELEMENT_NODE || asks(one.closest?.(dialog) ?? one.querySelector?.(dialog)))
            continue;
        const at = closestTo(one, 'table') ?? one.parentNode;
        if (!places.has(at)) places.set(at, []);
        if (at === one.parentNode || !places.get(at).length) {
            const node = at !== one.parentNode ? copyOf(at) : isText ? inert.createElement('p') : copyOf(one);
            if (isText && at === one.parentNode) node.append(one.data);
            places.get(at).push(node);
        }
    }
    return [...places].map(([at, nodes]) => ({at, section: sectionOf(nodes)}));
};
globalThis.sectionOf = nodes => {
    const section = inert.createElement('section');
    section.append(...nodes);
    for (const one of section.querySelectorAll('[class], [id]')) withoutLook(one);
    const longestNotice = 40;
    const isRead = one => one.matches(dialog) || one.textContent.trim().length > longestNotice;
    for (const one of [...section.querySelectorAll(`${dialog}, [role=alert]`)].filter(isRead)) {
        one.removeAttribute('role');
        one.removeAttribute('aria-modal');
        if (one.tagName === 'DIALOG') one.replaceWith(...one.childNodes);
    }
    return section;
};

// Removes names that only tell how something looks, such as `modal`: what was opened to be read is content.
globalThis.withoutLook = one => {
    const looks = /modal|popup|lightbox|overlay|dialog|widget|carousel|slideshow|gallery|tabs|tooltip|banner|dropdown|img/i;
    const isLook = name => looks.test(name) || /menu/i.test(name) && one.querySelector('p');  // It has more than labels.
    const others = [...one.classList].filter(name => !isLook(name));
    if (others.length < one.classList.length) one.setAttribute('class', others.join(' '));
    if (isLook(one.id)) one.removeAttribute('id');
};

// Finds the copies of elements that replaced others since, by their places.
globalThis.findCopies = () => {
    const todo = [[document.documentElement, whole]];
    while (todo.length) {
        const [live, copy] = todo.pop();
        copies.set(live, copy);
        const fits = [...copy.children].filter(one => !one.hasAttribute('data-view'));
        if (live.shadowRoot && fits[0]?.hasAttribute('data-shadow-root')) todo.push([live.shadowRoot, fits.shift()]);
        [...live.children].filter(one => one.tagName !== 'NOSCRIPT').forEach((child, index) => {
            const known = copies.get(child), other = fits[index];
            if (known && whole.contains(known)) todo.push([child, known]);
            else if (other?.tagName === child.tagName) todo.push([child, other]);
        });
    }
};

// Shows in the copy of the document what the page shows now and hid before; returns how many elements that are.
globalThis.uncover = () => {
    let count = 0;
    for (const one of elementsIn(document)) {
        const copy = copies.get(one);
        if (!copy?.hidden && copy?.style?.display !== 'none') continue;
        if (!one.checkVisibility() || !copy.textContent.trim()) continue;
        show(copy);
        if (label && !count) copy.before(headed());
        count++;
    }
    return count;
};
globalThis.show = copy => {
    copy.removeAttribute('hidden');
    if (copy.style?.display === 'none') copy.style.removeProperty('display');
};
globalThis.headed = () => {
    const heading = inert.createElement('h6');
    heading.setAttribute('data-view', 'label');
    heading.append(label);
    return heading;
};

// Puts the last view into the copy of the document, where it was seen. What a button showed elsewhere, such as in a
// dialog, stands behind the button.
globalThis.keepView = name => {
    if (!globalThis.whole) return;
    const body = whole.querySelector('body') ?? whole;
    const placeOf = live => {
        while (live && !whole.contains(copies.get(live))) live = above(live);
        const copy = copies.get(live) ?? body;
        return copy === body ? whole.querySelector('main, [role=main]') ?? body : copy;
    };
    const topOf = live => {
        while (above(live) && above(live) !== document.body) live = above(live);
        return live;
    };
    const narrow = 'table, select, svg, p, h1, h2, h3, h4, h5, h6, a, button';  // Nothing else fits into them.
    for (const [index, part] of view.entries()) {
        part.section.setAttribute('data-view', name);
        if (label && !index) part.section.prepend(headed());
        const isElsewhere = pressing?.isConnected && topOf(part.at) !== topOf(pressing);
        const place = placeOf(isElsewhere ? pressing : part.at);
        let outer = place.closest(narrow);
        while (outer?.parentElement?.closest(narrow)) outer = outer.parentElement.closest(narrow);
        if (outer) outer.after(part.section); else place.append(part.section);
        for (let one = part.section.parentElement; one; one = one.parentElement) {
            show(one);
            withoutLook(one);
        }
    }
    for (const text of stringsIn(document.body)) everSeen.add(text);
};
