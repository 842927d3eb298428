-- The alerts of a collection and their messages. pragma user_version is the number of this schema.
-- Times are microseconds since 1970.

-- uid: unique to the collection, so that the ids of messages are unique. link_key signs the links in messages.
create table about (
  uid text not null,
  link_key blob not null
);

-- definition is the alert as JSON, with its secret. Events before since_us are not reported. is_paused: 1 after
-- somebody unsubscribed; nothing is reported or sent.
create table alert (
  id integer primary key autoincrement,
  name text not null unique,
  definition text not null,
  since_us integer not null,
  is_paused integer not null default 0
);

-- The last line read from the visit log of each shard, and the last of its late verdicts.
create table cursor (
  shard integer primary key,
  line integer not null,
  late integer not null
);

-- Events to report to an alert; message is null until they are part of one.
create table event (
  number integer primary key autoincrement,
  alert_id integer not null,
  shard integer not null,
  line integer not null,
  at_us integer not null,
  noted_us integer not null,
  event text not null,
  message text,
  unique (alert_id, shard, line, at_us)
);
create index event_pending on event (alert_id, number) where message is null;
create index event_of_message on event (message);

-- Messages in the order of their creation. state is pending, sending, sent or failed.
create table message (
  place integer primary key autoincrement,
  id text not null unique,
  alert_id integer not null,
  created_us integer not null,
  state text not null,
  tries integer not null,
  next_us integer not null,
  ended_us integer,
  detail text not null
);
create index message_open on message (alert_id, place) where state in ('pending', 'sending');
create index message_ended on message (ended_us) where ended_us is not null;

-- WebSub subscriptions as JSON; token is the last part of the callback URL.
create table subscription (
  token text primary key,
  topic text not null unique,
  state text not null
);
