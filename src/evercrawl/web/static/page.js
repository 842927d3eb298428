/* Optional enhancements; every page works without them. */
"use strict";

const base = document.documentElement.dataset.base;
const number = new Intl.NumberFormat("en");

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
const minute = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayAndClock = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayAndMinute = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

/* The time of day with seconds; with the day unless it is today. */
function clockTime(date) {
  return (date.toDateString() === new Date().toDateString() ? clock : dayAndClock).format(date);
}

/* A time that the server wrote in UTC, between other words. */
function showLocalTimes(part) {
  for (const one of part.querySelectorAll("[data-utc]")) {
    const texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.nodeValue = texts.currentNode.nodeValue.replace(/(\d{4}-\d\d-\d\d) (\d\d:\d\d(:\d\d)?) UTC/, (_, day, time, seconds) => (seconds ? dayAndClock : dayAndMinute).format(new Date(`${day}T${time}Z`)));
  }
}

/* Where neighbours in the first column of a table read the same, all times of the last hours are shown with seconds. */
function spreadTimes(part) {
  for (const body of part.querySelectorAll("tbody")) {
    const times = [...body.querySelectorAll("tr > :first-child > time[datetime]")];
    const isSame = (time, place) => place && time.textContent === times[place - 1].textContent
      && time.dateTime !== times[place - 1].dateTime && /minute|hour|just now/.test(time.textContent);
    if (!times.some(isSame)) continue;
    for (const time of times) if (/minute|hour|just now/.test(time.textContent)) time.textContent = clockTime(new Date(time.dateTime));
  }
}

/* On a narrow screen a row is a card; each of its cells then has the name of its column. */
function nameCells(part) {
  for (const table of part.querySelectorAll("table:not(.diff)")) {
    const heads = [...table.querySelectorAll("thead th, thead td")].map((head) => head.textContent.trim());
    if (heads.length < 3) continue;
    table.classList.add("stack");
    for (const row of table.tBodies[0]?.rows ?? []) {
      for (const [place, one] of [...row.cells].entries()) {
        if (one.colSpan > 1) continue;
        one.dataset.head = heads[place] ?? "";
        one.classList.toggle("none", ["", "–"].includes(one.textContent.trim()) && !one.querySelector("input, button"));
      }
    }
  }
}

/* 2 minutes ago, in 3 hours: as the server writes it. */
function relativeTime(date) {
  const seconds = (date - Date.now()) / 1000;
  const amount = Math.abs(seconds);
  for (const [unit, size, least] of [["day", 86400, 1.5], ["hour", 3600, 1], ["minute", 60, 1]]) {
    if (amount >= size * least) {
      const count = Math.round(amount / size);
      const text = `${number.format(count)} ${unit}${count === 1 ? "" : "s"}`;
      return seconds > 0 ? `in ${text}` : `${text} ago`;
    }
  }
  return seconds > 0 ? "in a moment" : "just now";
}

function timeElement(iso) {
  const time = document.createElement("time");
  const date = new Date(iso);
  time.dateTime = iso;
  time.title = exact.format(date);
  time.textContent = relativeTime(date);
  return time;
}

function cell(row, text, kind) {
  const td = document.createElement("td");
  td.textContent = text;
  if (kind) td.className = kind;
  row.append(td);
  return td;
}

function visitRow(visit) {
  const row = document.createElement("tr");
  cell(row, "").append(timeElement(visit.at));
  const link = document.createElement("a");
  link.className = "url";
  link.href = base + "page?url=" + encodeURIComponent(visit.url);
  const name = document.createElement("bdi");
  name.textContent = visit.url.replace(/^\w+:\/\//, "").replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, "").slice(0, 110);
  link.append(name);
  cell(row, "").append(link);
  const outcome = document.createElement("span");
  outcome.className = "outcome " + visit.outcome;
  outcome.textContent = visit.outcome;
  const reason = document.createElement("small");
  reason.textContent = " " + visit.reason.replaceAll("_", " ");
  cell(row, "").append(outcome, reason);
  cell(row, visit.status ?? "–", "num");
  cell(row, visit.took_ms + " ms", "num");
  cell(row, number.format(visit.wire_bytes) + " B", "num");
  return row;
}

function siteRow(site) {
  const row = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  const link = document.createElement("a");
  link.href = base + "site?name=" + encodeURIComponent(site.name);
  link.textContent = site.name.replace(/^\w+:\/\//, "").slice(0, 80);
  head.append(link);
  row.append(head);
  cell(row, number.format(site.pending), "num");
  cell(row, site.delay_ms ? +(site.delay_ms / 1000).toFixed(1) + " s" : "–", "num");
  cell(row, "").append(new Date(site.open) > Date.now() ? timeElement(site.open) : "now");
  cell(row, site.closed_reason ? site.closed_reason.replace(/^[a-z_]+: /, "").slice(0, 200) : "");
  return row;
}

function emptyRow(text, columns) {
  const row = document.createElement("tr");
  cell(row, text).colSpan = columns;
  return row;
}

function drawRates(svg, rates) {
  const most = Math.max(1, ...rates);
  const step = 200 / Math.max(1, rates.length - 1);
  const points = rates.map((rate, place) => `${(place * step).toFixed(1)},${(46 - (42 * rate) / most).toFixed(1)}`);
  svg.querySelector("polyline").setAttribute("points", points.join(" "));
}

function watchLive(part) {
  const body = part.querySelector("[data-live-visits]");
  const source = new EventSource(part.dataset.live);
  source.addEventListener("live", (event) => {
    const live = JSON.parse(event.data);
    const progress = live.run ? live.run.progress : null;
    if (part.dataset.running !== String(Boolean(progress || live.crawl_pid)) || part.dataset.paused !== String(Boolean(live.pause))) {
      source.close();
      location.reload();
      return;
    }
    if (progress) showProgress(part, live, progress);
    part.querySelector("[data-live-sites]").replaceChildren(...(live.sites.length ? live.sites.map(siteRow) : [emptyRow("The queue is empty.", 5)]));
    if (live.visits.length) body.replaceChildren(...live.visits.map(visitRow));
    spreadTimes(part);
    nameCells(part);
  });
}

function showProgress(part, live, progress) {
  const state = part.querySelector("[data-live-state]");
  if (!live.pause && state.textContent !== live.state) state.textContent = live.state;
  for (const one of part.querySelectorAll("[data-live-number]")) one.textContent = number.format(progress[one.dataset.liveNumber]);
  for (const one of part.querySelectorAll("[data-live-text]")) one.textContent = live[one.dataset.liveText];
  part.querySelector("[data-live-share]").value = live.share;
  part.querySelector("[data-live-rate]").textContent = live.rates.length ? live.rates.at(-1).toFixed(1) : "–";
  drawRates(part.querySelector("[data-live-rates]"), live.rates);
}

function handleInboxKeys(list) {
  const items = [...list.children];
  let at = -1;
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "x" && at >= 0) items[at].querySelector("form.act button")?.click();
    if (event.key !== "j" && event.key !== "k") return;
    at = Math.max(0, Math.min(items.length - 1, at + (event.key === "j" ? 1 : -1)));
    items[at].focus();
  });
}

function showDelay(slider) {
  const output = slider.form.querySelector("output");
  const update = () => {
    const seconds = slider.valueAsNumber;
    output.textContent = seconds < 90 ? `${seconds} s` : `${(seconds / 60).toFixed(1)} min`;
  };
  output.hidden = false;
  slider.addEventListener("input", update);
  update();
}

/* Reads a chosen file into a text field: the form is sent as text. */
function fillFromFile(input) {
  input.closest("label").hidden = false;
  input.addEventListener("change", async () => {
    const field = document.getElementById(input.dataset.fill);
    if (input.files.length) field.value = await input.files[0].text();
    field.focus();
  });
}

/* Replaces a part that is not finished by what the server knows now. */
async function poll(part) {
  if (part.dataset.poll !== "true") return;
  await new Promise((resume) => setTimeout(resume, 700));
  const answer = await fetch(location.href).then((response) => response.text()).catch(() => "");
  const fresh = new DOMParser().parseFromString(answer, "text/html").querySelector("[data-poll]");
  const isEnd = fresh && fresh.dataset.poll !== "true" && "reloads" in part.dataset;
  if (!fresh || isEnd) return answer ? location.reload() : poll(part);
  part.replaceWith(fresh);
  for (const time of fresh.querySelectorAll("time[datetime]")) time.title = exact.format(new Date(time.dateTime));
  showLocalTimes(fresh);
  spreadTimes(fresh);
  nameCells(fresh);
  for (const select of fresh.querySelectorAll("select[data-zone]")) chooseZone(select);
  if (fresh.dataset.poll === "true") return poll(fresh);
  if ("takesFocus" in fresh.dataset) fresh.querySelector("input:checked, a")?.focus();
}

/* Sends a chosen file as it is; the page then lists it. */
function uploadFile(form) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const [file] = form.querySelector("input[type=file]").files;
    const output = form.querySelector("output");
    const button = form.querySelector("button");
    button.disabled = true;
    output.textContent = `Uploading ${file.name}…`;
    const headers = { "X-CSRF-Token": form.dataset.csrf, "Content-Type": "application/octet-stream" };
    const answer = await fetch(form.dataset.upload, { method: "POST", body: file, headers }).catch(() => null);
    if (answer?.ok) return location.reload();
    const problem = await answer?.json().catch(() => null);
    output.textContent = problem?.detail ?? "The upload failed; try again.";
    button.disabled = false;
  });
}

function copyField(button) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).value);
    button.textContent = "Copied";
  });
}

/* Times of day are in the time zone of the browser unless another is chosen. */
function chooseZone(select) {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if ([...select.options].some((option) => option.value === own)) select.value = own;
}

/* Says what a time of day in UTC is here. */
function explainTimes(input) {
  const hint = document.createElement("small");
  hint.className = "dim";
  hint.id = `${input.id}-here`;
  input.setAttribute("aria-describedby", hint.id);
  input.after(hint);
  const here = (_, hours, minutes) => minute.format(new Date().setUTCHours(hours, minutes));
  const update = () => {
    const text = input.value.replace(/\b(\d{1,2}):(\d\d)\b/g, here);
    hint.textContent = text && text !== input.value ? `${text} here` : "";
  };
  input.addEventListener("input", update);
  update();
}

for (const input of document.querySelectorAll("#daily_at, #quiet_hours")) explainTimes(input);
for (const select of document.querySelectorAll("select[data-zone]")) chooseZone(select);
for (const button of document.querySelectorAll("[data-copy]")) copyField(button);
for (const form of document.querySelectorAll("[data-upload]")) uploadFile(form);
for (const input of document.querySelectorAll("[data-fill]")) fillFromFile(input);
for (const part of document.querySelectorAll("[data-poll]")) poll(part);
for (const time of document.querySelectorAll("time[datetime]")) time.title = exact.format(new Date(time.dateTime));
showLocalTimes(document);
spreadTimes(document);
nameCells(document);
for (const part of document.querySelectorAll(".canvas.newest")) part.scrollLeft = part.scrollWidth;
for (const slider of document.querySelectorAll("[data-seconds]")) showDelay(slider);
for (const part of document.querySelectorAll("[data-live]")) watchLive(part);
for (const list of document.querySelectorAll("[data-inbox]")) handleInboxKeys(list);

/* A click in the archived page: it may only say the number of a part. */
const picked = document.getElementById("picked");
if (picked) {
  addEventListener("message", (event) => {
    const place = event.source === picked.contentWindow && event.data ? event.data.place : null;
    if (Number.isInteger(place) && place >= 0) location.assign(`${picked.dataset.target}&place=${place}`);
  });
}
