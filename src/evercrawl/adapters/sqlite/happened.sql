-- happened --
-- Visits between two lines of the log that met something: a new version, an edit, or that the page is gone.
select w.id, w.page_id, w.at_us, p.url, w.reason, w.version, v.number, coalesce(v.title, n.title), v.change_class,
       v.change_size, c.kind, c.size, c.edits,
       (select x.reason from visit x where x.page_id = w.page_id and x.id < w.id order by x.id desc limit 1)
  from visit w join page p on p.id = w.page_id
       left join version v on v.page_id = w.page_id and v.number = w.version and v.seen_us = w.at_us
       left join version n on n.page_id = w.page_id and n.number = w.version
       left join change c on c.page_id = w.page_id and c.at_us = w.at_us
 where w.id > ? and w.id <= ?
   and (v.number is not null or c.kind in ('content', 'metadata') or w.reason in ('gone', 'not_found'))
 order by w.id

-- version_before --
-- The newest version of a page before one of its versions that is still kept.
select max(number) from version where page_id = ? and number < ?

-- version_about --
-- Title and language of one version.
select title, lang from version where page_id = ? and number = ?

-- newest_line --
-- The number of the newest line of the log.
select coalesce(max(id), 0) from visit
