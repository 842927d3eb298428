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
