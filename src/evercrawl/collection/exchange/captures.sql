create table capture (
  id integer primary key, shard integer not null, at_us integer not null, url text not null,
  kind text not null, source integer not null, offset integer not null, nth integer not null,
  record_id text, concurrent text, refers_to text, refers_url text, refers_us integer, payload text
);
create table request (
  record_id text, concurrent text, source integer not null, offset integer not null, nth integer not null
);
