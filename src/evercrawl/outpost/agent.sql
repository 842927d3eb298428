create table setting (name text primary key, value text not null) strict;
create table page (url text primary key, digest blob, run integer not null default 0,
    sent_us integer not null default 0, used_us integer not null default 0, shared_digest blob, frame blob)
    strict;
create index page_by_use on page (used_us) where frame is not null;
create table outbox (id integer primary key, batch integer, run text not null, number integer not null,
    url text not null, began_us integer not null, item blob not null) strict;
create table site (name text primary key, row text not null) strict
