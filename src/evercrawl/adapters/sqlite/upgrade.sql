-- from_1 --
-- Main texts of versions, the class and size of changes, archive files to be deleted.
alter table version add column change_class text;
alter table version add column change_size real;
create table text (
  page_id integer not null,
  number integer not null,
  base integer,
  frame blob not null,
  primary key (page_id, number)
);
create table dropped_file (
  name text primary key
) without rowid;

-- from_2 --
-- The last sights of pages, what was learned about sites, the edits that visits met.
create table look (
  page_id integer primary key,
  digest blob not null,
  payload_sha1 blob not null,
  seen_us integer not null,
  record_id blob not null,
  file text not null,
  offset integer not null,
  length integer not null,
  snapshot blob not null,
  memory blob not null
);
create table memory (
  site_id integer not null,
  kind text not null,
  value blob not null,
  primary key (site_id, kind)
) without rowid;
create table change (
  page_id integer not null,
  at_us integer not null,
  kind text not null,
  size real not null,
  edits text not null,
  primary key (page_id, at_us)
) without rowid;
create index change_at on change (at_us);

-- from_3 --
-- What the revisit policy knows about a page.
alter table page add column belief blob;

-- from_4 --
-- Credit and importance of pages.
alter table page add column credit integer not null default 0;
alter table page add column earned integer not null default 0;
alter table page add column generation integer not null default 0;
