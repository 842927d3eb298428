-- cluster_tables --
-- Who works on the collection, who owns which shard, which lives the database has had, what sites are asked for others.
create table if not exists {space}.worker (
  id uuid primary key,
  until timestamptz not null,
  dead boolean not null default false,
  draining boolean not null default false,
  capacity integer not null,
  host text not null,
  pid integer not null,
  began timestamptz not null default clock_timestamp(),
  quiet text,
  visits bigint not null default 0,
  wire_bytes bigint not null default 0
);
create table if not exists {space}.lease (
  shard integer primary key,
  owner uuid
);
create table if not exists {space}.incarnation (
  timeline text not null,
  started timestamptz not null,
  seen timestamptz not null,
  primary key (timeline, started)
);
create table if not exists {space}.errand (
  id uuid primary key,
  shard integer not null,
  asked timestamptz not null default clock_timestamp(),
  request bytea not null,
  answer bytea
);
create table if not exists {space}.adopted (
  number bigint generated always as identity primary key,
  seed text not null,
  target text not null,
  unique (seed, target)
);
create index if not exists outbox_for on {space}.outbox (target, shard, seq);

-- make_leases --
-- A row for every shard, without an owner.
insert into {space}.lease (shard) select generate_series(0, $1 - 1) on conflict do nothing

-- register --
-- Every start of a process is a new worker.
insert into {space}.worker (id, until, capacity, host, pid) values ($1, clock_timestamp() + $2, $3, $4, $5)

-- renew --
-- The heartbeat, with what the worker has spent; no row: it was declared dead.
update {space}.worker set until = clock_timestamp() + $2, quiet = $3, visits = $4, wire_bytes = $5
 where id = $1 and not dead returning draining

-- note_incarnation --
-- A restart or a promotion of the database begins a life in which nobody is buried at first.
insert into {space}.incarnation
select substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), pg_postmaster_start_time(), clock_timestamp()
    on conflict do nothing

-- bury --
-- Workers whose time has run out, unless the database itself has come up within their time.
update {space}.worker set dead = true
 where not dead and until < clock_timestamp()
   and exists (select 1 from {space}.incarnation
                where timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
                  and started = pg_postmaster_start_time() and seen < clock_timestamp() - $1::interval)
returning id

-- hang_up --
-- End the connections of workers that are dead.
select pg_terminate_backend(pid) from pg_stat_activity where application_name = any($1::text[])

-- take --
-- Shards without an owner that lives, at most so many, and those that are ours already: an answer of an earlier time may have been
-- lost. Who gets one is busy until it says otherwise: if it dies before its next heartbeat, nobody may take the run for finished.
with free as (select l.shard from {space}.lease l left join {space}.worker w on w.id = l.owner
               where l.owner is null or w.dead order by l.shard limit $2 for update of l skip locked),
     mine as (update {space}.lease l set owner = $1 from free where l.shard = free.shard returning l.shard),
     awake as (update {space}.worker set quiet = null where id = $1 and exists (select 1 from mine))
select shard from mine union select shard from {space}.lease where owner = $1 order by shard

-- let_go --
-- The shard has no owner any more; without effect when somebody else has it.
update {space}.lease set owner = null where shard = $1 and owner = $2

-- leave --
-- The worker ends cleanly.
update {space}.worker set dead = true where id = $1

-- shares --
-- Capacity of all workers that live and stay, the number of shards, how many shards workers lack to the whole part of their share
-- (those do not count that have not been heard of for a third of their lease), how many shards are free, and how many workers.
with member as (select id, capacity, until from {space}.worker where not dead and not draining),
     whole as (select coalesce(sum(capacity), 0) as capacity from member),
     shards as (select count(*) as count from {space}.lease),
     owned as (select owner, count(*) as count from {space}.lease where owner is not null group by owner)
select whole.capacity, shards.count,
       coalesce((select sum(greatest(shards.count * m.capacity / whole.capacity - coalesce(o.count, 0), 0))
                   from member m left join owned o on o.owner = m.id
                  where m.until > clock_timestamp() + $1::interval * 2 / 3), 0),
       (select count(*) from {space}.lease l left join {space}.worker w on w.id = l.owner
         where l.owner is null or w.dead),
       (select count(*) from member)
  from whole, shards

-- soonest_end --
-- In how many seconds the first lease of a worker runs out, if it is not renewed.
select extract(epoch from min(until) - clock_timestamp())::float8 from {space}.worker where not dead

-- spent_by_others --
-- Visits and bytes of the other workers that live.
select coalesce(sum(visits), 0), coalesce(sum(wire_bytes), 0) from {space}.worker where id <> $1 and not dead

-- unrest --
-- Does anybody have anything left to do? Workers that are busy, links on their way, shards without an owner.
select exists (select 1 from {space}.worker where not dead and quiet is null and id <> $1)
    or exists (select 1 from {space}.outbox)
    or exists (select 1 from {space}.lease l left join {space}.worker w on w.id = l.owner
                where l.owner is null or w.dead)
    or exists (select 1 from {space}.errand where answer is null)

-- parcels_for --
-- Links for some shards that are not taken in yet, in order.
select o.seq, o.source, o.target, o.links
  from {space}.outbox o left join {space}.inbox_mark m on m.shard = o.target and m.source = o.source
 where o.target = any($1::integer[]) and o.seq > coalesce(m.seq, 0)
 order by o.source, o.seq limit $2

-- taken_from --
-- How far shards have taken in what some shards sent and still keep: source, target, number of the last parcel.
select distinct m.source, m.shard, m.seq
  from {space}.outbox o join {space}.inbox_mark m on m.shard = o.target and m.source = o.source
 where o.shard = any($1::integer[]) and o.seq <= m.seq

-- ask --
-- A request at a site of somebody else.
insert into {space}.errand (id, shard, request) values ($1, $2, $3)

-- errands_for --
-- What others want from sites of some shards.
select id, request from {space}.errand where shard = any($1::integer[]) and answer is null order by asked limit 20

-- answer --
-- How it ended.
update {space}.errand set answer = $2 where id = $1

-- answered --
-- The answers to some errands.
select id, answer from {space}.errand where id = any($1::uuid[]) and answer is not null

-- forget_errands --
-- They are answered, or nobody waits for them any more.
delete from {space}.errand where id = any($1::uuid[]) or asked < clock_timestamp() - interval '1 hour'

-- adopt --
-- A seed has moved to another host.
insert into {space}.adopted (seed, target) values ($1, $2) on conflict do nothing

-- adopted_since --
-- Seeds that moved, behind a number.
select number, seed, target from {space}.adopted where number > $1 order by number

-- members --
-- The workers that live, with the number of their shards, oldest first.
select w.id, w.host, w.pid, w.began, w.until, w.capacity, w.draining, w.quiet, w.visits, w.wire_bytes,
       (select count(*) from {space}.lease l where l.owner = w.id)
  from {space}.worker w where not w.dead order by w.began

-- drain --
-- These workers let go of their shards and end.
update {space}.worker set draining = true where not dead and (id::text like $1 || '%' or $1 = 'all') returning id
