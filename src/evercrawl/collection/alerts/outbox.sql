-- The outbox of a collection; pragma user_version is the number of this schema. Times are microseconds since 1970.

-- uid: a word that no other collection has, so that the ids of messages are unique.
create table about (
  uid text not null
);

-- wish is the alert as JSON, its secret too; nothing that was met before since_us is told to it.
create table alert (
  id integer primary key autoincrement,
  name text not null unique,
  wish text not null,
  since_us integer not null
);

-- How far the log of visits of each shard was read.
create table cursor (
  shard integer primary key,
  line integer not null
);

-- What is to be told to an alert; message is null until it is part of one.
create table notice (
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
create index notice_waiting on notice (alert_id, number) where message is null;
create index notice_of_message on notice (message);

-- Messages in the order of their making. state is waiting, sending, delivered or failed.
create table message (
  place integer primary key autoincrement,
  id text not null unique,
  alert_id integer not null,
  made_us integer not null,
  state text not null,
  tries integer not null,
  next_us integer not null,
  ended_us integer,
  detail text not null
);
create index message_open on message (alert_id, place) where state in ('waiting', 'sending');
create index message_ended on message (ended_us) where ended_us is not null;

-- Subscriptions at WebSub hubs, as JSON; token is the last part of the callback's address.
create table subscription (
  token text primary key,
  topic text not null unique,
  state text not null
);
