-- Headings and links of the newest sight of each page (core/document/compression.py); what search and the link graph read.
create table outline (
  page_id integer primary key,
  at_us integer not null,
  frame blob not null
);
