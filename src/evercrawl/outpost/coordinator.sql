create table code (id text primary key, key blob not null, name text not null, routes text not null,
    expires_us integer not null, nonce blob) strict;
create table outpost (id text primary key, name text not null unique, key blob not null,
    routes text not null, paired_us integer not null, seen_us integer not null default 0,
    acknowledged integer not null default 0, until_us integer not null default 0) strict;
create table counter (outpost text not null, name text not null, value integer not null,
    primary key (outpost, name)) strict, without rowid;
create table exchange (url text primary key, body_digest blob not null, digest blob not null, size integer not null,
    used_us integer not null, frame blob not null) strict;
create index exchange_by_use on exchange (used_us);
create table result (url text primary key, outpost text not null, at_us integer not null,
    began_us integer not null, item blob not null) strict
