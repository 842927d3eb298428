-- cluster_tables --
-- Workers, owners of shards, incarnations of the database, requests for other workers' sites, and moved seeds.
create table if not exists worker (
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
create table if not exists lease (
  shard integer primary key,
  owner uuid
);
create table if not exists incarnation (
  timeline text not null,
  started timestamptz not null,
  seen timestamptz not null,
  primary key (timeline, started)
);
create table if not exists request (
  id uuid primary key,
  shard integer not null,
  asked timestamptz not null default clock_timestamp(),
  request bytea not null,
  answer bytea
);
create table if not exists moved_seed (
  number bigint generated always as identity primary key,
  seed text not null,
  target text not null,
  unique (seed, target)
);
create index if not exists outbox_for on outbox (target, shard, seq);

-- create_leases --
-- Insert a row for every shard, without an owner.
insert into lease (shard) select generate_series(0, cast(:shards as integer) - 1) on conflict do nothing

-- register --
-- Insert a worker; every start of a process is a new one.
insert into worker (id, until, capacity, host, pid) values (:worker, clock_timestamp() + :lease, :capacity, :host, :pid)

-- renew --
-- Extend the lease of a worker and record what it has spent; no row: it was declared dead.
update worker set until = clock_timestamp() + :lease, quiet = :quiet, visits = :visits, wire_bytes = :wire_bytes
 where id = :worker and not dead returning draining

-- note_incarnation --
-- Record a restart or promotion of the database; for a while afterwards no worker is declared dead.
insert into incarnation
select substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), pg_postmaster_start_time(), clock_timestamp()
    on conflict do nothing

-- declare_dead --
-- Declare workers dead whose lease has expired, unless the database itself started within that lease.
update worker set dead = true
 where not dead and until < clock_timestamp()
   and exists (select 1 from incarnation
                where timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
                  and started = pg_postmaster_start_time() and seen < clock_timestamp() - cast(:lease as interval))
returning id

-- terminate_connections --
-- Terminate the connections of dead workers.
select pg_terminate_backend(pid) from pg_stat_activity where application_name = any(cast(:names as text[]))

-- take_shards --
-- Take shards without a living owner, up to a number; return them and those that the worker owns already, because an
-- earlier answer may have been lost. The worker counts as busy until it reports otherwise: if it dies before its next
-- heartbeat, the run must not count as finished.
with free as (select l.shard from lease l left join worker w on w.id = l.owner
               where l.owner is null or w.dead order by l.shard limit :most for update of l skip locked),
     taken as (update lease l set owner = :worker from free where l.shard = free.shard returning l.shard),
     busy as (update worker set quiet = null where id = :worker and exists (select 1 from taken))
select shard from taken union select shard from lease where owner = :worker order by shard

-- free_shard --
-- Remove the owner of a shard; no effect if it has another owner.
update lease set owner = null where shard = :shard_number and owner = :worker

-- leave --
-- Record that a worker ended cleanly.
update worker set dead = true where id = :worker

-- shares --
-- Total capacity of the living workers that stay, number of shards, how many shards workers lack to the whole part of
-- their share (except workers silent for a third of their lease), number of free shards, number of workers.
with member as (select id, capacity, until from worker where not dead and not draining),
     whole as (select coalesce(sum(capacity), 0) as capacity from member),
     shards as (select count(*) as count from lease),
     owned as (select owner, count(*) as count from lease where owner is not null group by owner)
select whole.capacity, shards.count,
       coalesce((select sum(greatest(shards.count * m.capacity / whole.capacity - coalesce(o.count, 0), 0))
                   from member m left join owned o on o.owner = m.id
                  where m.until > clock_timestamp() + cast(:lease as interval) * 2 / 3), 0),
       (select count(*) from lease l left join worker w on w.id = l.owner where l.owner is null or w.dead),
       (select count(*) from member)
  from whole, shards

-- next_expiry --
-- Seconds until the first lease of a worker expires.
select cast(extract(epoch from min(until) - clock_timestamp()) as double precision) from worker where not dead

-- spent_by_others --
-- Visits and bytes of the other living workers.
select coalesce(sum(visits), 0), coalesce(sum(wire_bytes), 0) from worker where id <> :worker and not dead

-- is_busy --
-- Whether work is left: a busy worker, links on their way, a shard without an owner, or an unanswered request.
select exists (select 1 from worker where not dead and quiet is null and id <> :worker)
    or exists (select 1 from outbox)
    or exists (select 1 from lease l left join worker w on w.id = l.owner where l.owner is null or w.dead)
    or exists (select 1 from request where answer is null)

-- incoming_links --
-- Batches of links for some shards that they have not received yet, in order.
select o.seq, o.source, o.target, o.links
  from outbox o left join inbox m on m.shard = o.target and m.source = o.source
 where o.target = any(cast(:shards as integer[])) and o.seq > coalesce(m.seq, 0)
 order by o.source, o.seq limit :most

-- received_links --
-- How far other shards have received what some shards still have in their outbox: source, target, last number.
select distinct m.source, m.shard, m.seq
  from outbox o join inbox m on m.shard = o.target and m.source = o.source
 where o.shard = any(cast(:shards as integer[])) and o.seq <= m.seq

-- send_request --
-- Ask the owner of a shard to send a request to one of its sites.
insert into request (id, shard, request) values (:id, :shard_number, :request)

-- open_requests --
-- Unanswered requests for sites of some shards.
select id, request from request where shard = any(cast(:shards as integer[])) and answer is null order by asked limit 20

-- answer_request --
-- Store the answer to a request.
update request set answer = :answer where id = :id

-- answered_requests --
-- The answers to some requests.
select id, answer from request where id = any(cast(:ids as uuid[])) and answer is not null

-- delete_requests --
-- Delete some requests, and old ones that no one waits for.
delete from request where id = any(cast(:ids as uuid[])) or asked < clock_timestamp() - interval '1 hour'

-- add_moved_seed --
-- Record that a seed redirects to another host.
insert into moved_seed (seed, target) values (:seed, :target) on conflict do nothing

-- moved_seeds --
-- The moved seeds after a number.
select number, seed, target from moved_seed where number > :after order by number

-- members --
-- The living workers with the number of their shards, oldest first.
select w.id, w.host, w.pid, w.began, w.until, w.capacity, w.draining, w.quiet, w.visits, w.wire_bytes,
       (select count(*) from lease l where l.owner = w.id)
  from worker w where not w.dead order by w.began

-- drain --
-- Ask workers by the beginning of their id, or all, to release their shards and end.
update worker set draining = true where not dead and (cast(id as text) like :prefix || '%' or :prefix = 'all') returning id
