-- write_outline --
-- The newest sight replaces the one before: page, when, frame.
insert into outline (page_id, at_us, frame) values (?, ?, ?)
    on conflict (page_id) do update set at_us = excluded.at_us, frame = excluded.frame

-- outline --
-- The outline of one page.
select frame from outline where page_id = ?

-- outlines --
-- A portion of the outlines in order of page: page, frame.
select page_id, frame from outline where page_id > ? order by page_id limit ?

-- graph_pages --
-- A portion of the pages in order of number: number, key, site, depth, version, status, reason, where it leads.
select id, key, site_id, depth, version, status, reason, moved_to from page where id > ? order by id limit ?

-- page_urls --
-- URLs of some pages; the ids come as a JSON array.
select p.id, p.url from json_each(?) wanted join page p on p.id = wanted.value

-- site_names --
-- Every site: number, name.
select id, name from site

-- log_end --
-- The newest line of the log of visits: its number, moment and page.
select id, at_us, page_id from visit order by id desc limit 1

-- log_line --
-- One line of the log by its number: number, moment, page.
select id, at_us, page_id from visit where id = ?

-- followed_visits --
-- The next lines of the log: what came of each, and the version that it brought, if it did.
select w.id, w.page_id, w.at_us, w.reason, w.version, v.number,
       (select x.reason from visit x where x.page_id = w.page_id and x.id < w.id order by x.id desc limit 1)
  from visit w left join version v on v.page_id = w.page_id and v.number = w.version and v.seen_us = w.at_us
 where w.id > ? order by w.id limit ?

-- indexed_versions --
-- What is indexed of some versions; they come as a JSON array of page * 2^20 + number.
select v.page_id, v.number, p.url, v.seen_us, v.title, v.lang, v.words, v.text_digest, t.base, t.frame, p.reason,
       p.last_us, p.version, o.frame,
       (select min(n.seen_us) from version n where n.page_id = v.page_id and n.number > v.number)
  from json_each(?) wanted
       join version v on v.page_id = (wanted.value >> 20) and v.number = (wanted.value & 1048575)
       join page p on p.id = v.page_id
       left join text t on t.page_id = v.page_id and t.number = v.number
       left join outline o on o.page_id = v.page_id and v.number = p.version

-- version_before --
-- The version that a page had before this one.
select max(number) from version where page_id = ? and number < ?

-- version_count --
-- How many versions there are.
select count(*) from version

-- version_places --
-- A portion of the versions in order: page, number.
select page_id, number from version where (page_id, number) > (?, ?) order by page_id, number limit ?

-- found_versions --
-- What a list of hits shows, for versions as in indexed_versions.
select v.page_id, v.number, p.url, v.title, v.lang, v.seen_us, v.words, v.signature, v.text_digest, p.reason, p.last_us,
       p.version, v.content_type
  from json_each(?) wanted
       join version v on v.page_id = (wanted.value >> 20) and v.number = (wanted.value & 1048575)
       join page p on p.id = v.page_id
