-- site_portion --
-- A portion of the sites in order of number, without the bodies of robots.txt.
select s.id, s.name, s.domain, s.open_us, s.gap_ms, s.strain, s.failures, s.closed_reason, s.requests, s.wire_bytes,
       s.pages, s.pending, r.status, r.fetched_us
  from site s left join robots r on r.site_id = s.id
 where s.id > ? order by s.id limit ?

-- largest_sites --
-- The sites with most pages.
select s.id, s.name, s.domain, s.open_us, s.gap_ms, s.strain, s.failures, s.closed_reason, s.requests, s.wire_bytes,
       s.pages, s.pending, r.status, r.fetched_us
  from site s left join robots r on r.site_id = s.id
 order by s.pages desc, s.id limit ?

-- busiest_sites --
-- The sites with most pages in the queue.
select s.id, s.name, s.domain, s.open_us, s.gap_ms, s.strain, s.failures, s.closed_reason, s.requests, s.wire_bytes,
       s.pages, s.pending, r.status, r.fetched_us
  from site s left join robots r on r.site_id = s.id
 where s.pending > 0 order by s.pending desc, s.id limit ?

-- sites_of_domain --
-- The origins of a registrable domain.
select name from site where domain = ? order by name limit ?

-- site_pages --
-- A portion of the pages of a site, in order of key: ?1 behind this key, ?2 up to this one, ?3 the site.
select k.key, p.url, v.title, coalesce(p.outcome, 'queued'), coalesce(p.reason, 'waiting'), p.status, p.visits,
       p.version, p.last_us, p.due_us
  from seen k join page p on p.id = k.page_id left join version v on v.page_id = p.id and v.number = p.version
 where k.key > ?1 and k.key <= ?2 and p.site_id = ?3 order by k.key limit ?4

-- due_pages --
-- A portion of the pages outside the queue in order of their due time, behind this moment and page.
select p.id, p.url, p.due_us, p.visits, p.version, p.last_us, p.interval_s
  from page p indexed by page_due
 where p.due_us is not null and (p.due_us, p.id) > (?, ?) order by p.due_us, p.id limit ?

-- due_by_hour --
-- How many pages come due in each hour from ?1 on, until ?2.
select (due_us - ?1) / 3600000000, count(*) from page indexed by page_due
 where due_us > ?1 and due_us <= ?2 group by 1

-- queued_by_band --
-- Sites with work and their queued pages, by the most urgent band of the site.
select band, count(*), sum(pending) from site where pending > 0 group by band

-- changes_before --
-- A portion of the changes, newest first: before this moment and page, and not before ?3; of site ?4 or any.
select c.at_us, c.page_id, p.url, c.kind, c.size, c.edits from change c indexed by change_at
       join page p on p.id = c.page_id
 where (c.at_us, c.page_id) < (?1, ?2) and c.at_us > ?3 and p.site_id = coalesce(?4, p.site_id)
 order by c.at_us desc, c.page_id desc limit ?5

-- change_moments --
-- When the newest changes were seen, not before a moment.
select at_us from change indexed by change_at where at_us > ? order by at_us desc limit ?

-- refusals_of_reason --
-- A portion of the refused URLs of one reason.
select key, url, reason, detail, parent, at_us, depth from refusal where key > ?1 and reason = ?2 order by key limit ?3

-- rejected_of_reason --
-- A portion of the pages that were refused for one reason when their turn came.
select p.url, p.reason, p.detail, o.url, p.id from page p left join page o on o.id = p.parent_id
 where p.id > ?1 and p.outcome = 'rejected' and p.reason = ?2 order by p.id limit ?3

-- changes_by_day --
-- Changes that a reader would notice, by day since 1970, not before a moment; of a site or (null) of any.
select c.at_us / 86400000000, count(*) from change c indexed by change_at join page p on p.id = c.page_id
 where c.at_us > ?1 and c.kind in ('content', 'metadata') and p.site_id = coalesce(?2, p.site_id) group by 1

-- last_visits --
-- The newest lines of the log behind a line, newest first.
select v.id, v.at_us, p.url, v.outcome, v.reason, v.status, v.took_ms, v.wire_bytes, v.version
  from visit v join page p on p.id = v.page_id where v.id > ? order by v.id desc limit ?

-- next_visits --
-- The lines of the log behind a line, oldest first.
select v.id, v.at_us, p.url, v.outcome, v.reason, v.status, v.took_ms, v.wire_bytes, v.version
  from visit v join page p on p.id = v.page_id where v.id > ? order by v.id limit ?

-- visits_of_site --
-- The newest lines of the log that are about a site, among those from ?2 to ?3.
select v.id, v.at_us, p.url, v.outcome, v.reason, v.status, v.took_ms, v.wire_bytes, v.version
  from visit v join page p on p.id = v.page_id
 where p.site_id = ?1 and v.id > ?2 and v.id <= ?3 order by v.id desc limit ?4

-- visits_by_day --
-- Lines of the log by day since 1970 and reason, behind a line.
select at_us / 86400000000, reason, count(*), sum(wire_bytes) from visit where id > ? group by 1, 2

-- last_line --
-- The newest line of the log.
select coalesce(max(id), 0) from visit

-- logged_visits --
-- The lines of the log from behind ?1 up to ?2, of site ?3 or any, from moment ?4 to ?5, with what was found.
select v.id, v.at_us, p.url, v.outcome, v.reason, v.status, v.took_ms, v.wire_bytes, p.depth, o.url, w.content_type,
       w.payload_sha1
  from visit v join page p on p.id = v.page_id left join page o on o.id = p.parent_id
       left join version w on w.page_id = v.page_id and w.number = v.version
 where v.id > ?1 and v.id <= ?2 and p.site_id = coalesce(?3, p.site_id) and v.at_us >= ?4 and v.at_us <= ?5
 order by v.id
