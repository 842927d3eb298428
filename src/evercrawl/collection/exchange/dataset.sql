create table pages (
  id integer primary key,
  url text not null unique,
  site text not null,
  versions integer not null
);
create table versions (
  page_id integer not null references pages (id),
  version integer not null,
  fetched_at text not null,
  status integer,
  content_type text,
  title text,
  lang text,
  text text not null,
  digest text not null,
  bytes integer not null,
  usage text,
  primary key (page_id, version)
);
create table redirects (
  url text not null,
  moved_to text not null,
  status integer,
  fetched_at text not null
);
create view latest as
select p.url, p.site, v.* from pages p join versions v on v.page_id = p.id
 where v.version = (select max(w.version) from versions w where w.page_id = p.id);
