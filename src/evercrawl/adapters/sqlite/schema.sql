-- The state of one shard. Times are microseconds since 1970 in UTC, digests and keys are raw bytes.
-- Statements name the shard in every table, as they do in PostgreSQL. Here it is the same number in every row, so
-- no index begins with it.

-- One row: the owner's epoch, the next numbers, and how far the archive is acknowledged.
create table shard (
  shard integer primary key,
  epoch integer not null,
  is_clean integer not null,
  next_id integer not null,
  next_seq integer not null,
  next_site_id integer not null,
  next_link_batch integer not null,
  archive_file text,
  archive_size integer,
  refusals_kept integer not null,
  refusals_dropped integer not null
);

-- The unit of politeness. Every commit updates pages, pending and priority from the pages that it moves.
create table site (
  id integer primary key,
  name text not null,
  domain text not null,
  open_us integer not null,
  delay_ms integer not null,
  backoff real not null,
  failures integer not null,
  closed_reason text,
  requests integer not null,
  wire_bytes integer not null,
  pages integer not null default 0,
  pending integer not null default 0,
  priority integer not null default 0,
  shard integer not null,
  unique (name, shard)
);
create index site_waiting on site (priority, id) where pending > 0;

create table robots (
  site_id integer not null,
  fetched_us integer not null,
  expires_us integer not null,
  status integer,
  body blob not null,
  etag text,
  last_modified text,
  policy text not null,
  detail text not null,
  unreachable_since_us integer,
  shard integer not null,
  primary key (site_id, shard)
);

-- A site with its robots record.
create view site_row as
select s.shard, s.id, s.name, s.domain, s.open_us, s.delay_ms, s.backoff, s.failures, s.closed_reason, s.pages, s.pending,
       s.priority, s.requests, s.wire_bytes, r.fetched_us, r.expires_us, r.status, r.body, r.etag, r.last_modified, r.policy,
       r.detail, r.unreachable_since_us
  from site s left join robots r on r.shard = s.shard and r.site_id = s.id;

-- Every page, in the order of discovery: rows are appended, whatever their keys.
-- credit is what the page holds without the shard's dividends; earned is what links gave, halved in each generation.
-- seq is the position in the queue of (site, priority), null outside the queue. outcome is null before the first visit.
create table page (
  id integer primary key,
  key blob not null,
  url text not null,
  site_id integer not null,
  depth integer not null,
  hops integer not null,
  priority integer not null,
  seq integer,
  parent_id integer,
  found_us integer not null,
  visits integer not null default 0,
  tries integer not null default 0,
  version integer not null default 0,
  interval_s integer not null default 0,
  outcome text,
  reason text,
  detail text,
  status integer,
  last_us integer,
  confirmed_us integer,
  due_us integer,
  digest blob,
  etag text,
  last_modified text,
  moved_to text,
  duplicate_of integer,
  rate_estimate blob,
  credit integer not null default 0,
  earned integer not null default 0,
  generation integer not null default 0,
  shard integer not null
);
-- The queue is an index of the page table, so a page can be in it only once.
create index page_queued on page (site_id, priority, seq) where seq is not null;
create index page_due on page (due_us, shard) where due_us is not null;
create index page_duplicates on page (duplicate_of) where duplicate_of is not null;

-- The exact index of known URLs. Keys of one folder are adjacent, so the links of a page touch few places.
create table seen (
  key blob primary key,
  page_id integer not null,
  shard integer not null
) without rowid;

-- URLs that were found and will not be fetched; never one that is a page.
create table refusal (
  key blob not null,
  url text not null,
  reason text not null,
  detail text not null,
  parent text,
  at_us integer not null,
  depth integer not null,
  shard integer not null,
  primary key (key, shard)
) without rowid;

-- Number of pages and stored refusals by their last outcome and reason.
create table tally (
  outcome text not null,
  reason text not null,
  urls integer not null,
  shard integer not null,
  primary key (outcome, reason, shard)
) without rowid;

create table visit (
  id integer primary key,
  page_id integer not null,
  at_us integer not null,
  outcome text not null,
  reason text not null,
  status integer,
  took_ms integer not null,
  wire_bytes integer not null,
  version integer not null,
  shard integer not null
);
create index visit_of_page on visit (page_id);

-- changed_after_us: the last visit that still saw the version before; the change lies between it and seen_us.
create table version (
  page_id integer not null,
  number integer not null,
  seen_us integer not null,
  changed_after_us integer,
  status integer,
  digest blob not null,
  payload_sha1 blob not null,
  text_digest blob,
  signature blob,
  content_type text,
  encoding text,
  title text,
  lang text,
  body_bytes integer not null,
  words integer not null,
  etag text,
  last_modified text,
  file text not null,
  offset integer not null,
  length integer not null,
  record_id blob not null,
  truncated text,
  change_class text,
  change_size real,
  shard integer not null,
  primary key (page_id, number, shard)
);

-- The main text of each version as a zstd frame; base is the version whose text is the frame's dictionary (raw content),
-- null if the frame has none.
create table text (
  page_id integer not null,
  number integer not null,
  base integer,
  frame blob not null,
  shard integer not null,
  primary key (page_id, number, shard)
);

-- What the next answer of a page is compared with, for pages whose bytes have differed. Other pages are compared with
-- their newest version in the archive.
create table baseline (
  page_id integer primary key,
  digest blob not null,
  payload_sha1 blob not null,
  seen_us integer not null,
  record_id blob not null,
  file text not null,
  offset integer not null,
  length integer not null,
  snapshot blob not null,
  memory blob not null,
  shard integer not null
);

-- Learned state of a site, by kind; losing it costs some visits of learning.
create table site_state (
  site_id integer not null,
  kind text not null,
  value blob not null,
  shard integer not null,
  primary key (site_id, kind, shard)
) without rowid;

-- The edits that visits found; edits is a JSON array: the number of edits left out, then those of `pack_edit`.
create table change (
  page_id integer not null,
  at_us integer not null,
  kind text not null,
  size real not null,
  edits text not null,
  shard integer not null,
  primary key (page_id, at_us, shard)
) without rowid;
create index change_at on change (at_us);

-- Changes whose verdict came after their visit, in the order of their verdicts, for readers that were past the visit.
create table late_change (
  id integer primary key,
  page_id integer not null,
  at_us integer not null,
  shard integer not null
);

-- Archive files without references that are still to be deleted.
create table dropped_file (
  name text primary key,
  shard integer not null
) without rowid;

-- The first version that held some content.
create table content (
  digest blob primary key,
  page_id integer not null,
  number integer not null,
  shard integer not null
) without rowid;

-- Responses that are not pages: redirects, and assets that pages need to look right. One row for each content of a URL,
-- seen from seen_us to last_us; digest of a redirect is that of its target. refers_to: the record that holds the body.
create table resource (
  key blob not null,
  digest blob not null,
  url text not null,
  seen_us integer not null,
  last_us integer not null,
  fresh_until_us integer not null,
  status integer not null,
  moved_to text,
  payload_sha1 blob not null,
  content_type text,
  body_bytes integer not null,
  etag text,
  last_modified text,
  file text not null,
  offset integer not null,
  length integer not null,
  record_id blob not null,
  truncated text,
  refers_to blob,
  shard integer not null,
  primary key (key, digest, shard)
) without rowid;
create index resource_digest on resource (digest) where refers_to is null;

-- The versions of pages whose assets are stored; `marks` has the last 8 bytes of each asset's key.
create table assets_of (
  page_id integer not null,
  number integer not null,
  marks blob not null,
  shard integer not null,
  primary key (page_id, number, shard)
) without rowid;

-- Links for other shards, until their target has committed them.
create table outbox (
  seq integer primary key,
  source integer not null,
  target integer not null,
  links blob not null,
  shard integer not null
);

create table inbox (
  source integer not null,
  seq integer not null,
  shard integer not null,
  primary key (source, shard)
) without rowid;

-- What the last visit to a page called noise; edits is a JSON array of those of `pack_edit`.
create table noise (
  page_id integer not null,
  at_us integer not null,
  edits text not null,
  shard integer not null,
  primary key (page_id, shard)
) without rowid;

-- What analysers found in a version, as a JSON object.
create table analysis (
  page_id integer not null,
  number integer not null,
  fields text not null,
  shard integer not null,
  primary key (page_id, number, shard)
) without rowid;

-- Headings and links of the newest content of each page (core/document/compression.py), for search and the link graph.
create table outline (
  page_id integer primary key,
  at_us integer not null,
  frame blob not null,
  shard integer not null
);
