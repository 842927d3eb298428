-- The state of all shards, in the namespace of their collection: the tables and columns of sqlite/schema.sql, which
-- explains them. Every key begins with the shard. Text is compared by its bytes, as SQLite does.

create table outline (
  shard integer not null,
  page_id bigint not null,
  at_us bigint not null,
  frame bytea not null,
  primary key (shard, page_id)
);
