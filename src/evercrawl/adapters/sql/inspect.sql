-- view_page --
-- Everything known about a page.
select p.id, p.key, p.url, s.name, p.depth, p.hops, p.priority, p.seq is not null, o.url, p.found_us,
       coalesce(p.outcome, 'queued'), coalesce(p.reason, 'waiting'), coalesce(p.detail, ''), p.status, p.last_us,
       p.due_us, p.visits, p.tries, p.interval_s, p.version, p.digest, p.etag, p.last_modified, p.moved_to, d.url,
       p.rate_estimate
  from seen k join page p on p.shard = :shard and p.id = k.page_id join site s on s.shard = :shard and s.id = p.site_id
       left join page o on o.shard = :shard and o.id = p.parent_id
       left join page d on d.shard = :shard and d.id = p.duplicate_of
 where k.shard = :shard and k.key = :key

-- page_credit --
-- The credit of a page.
select p.credit, p.earned, p.generation from seen k join page p on p.shard = :shard and p.id = k.page_id
 where k.shard = :shard and k.key = :key

-- richest_pages --
-- The pages with the most credit.
select url, credit, earned, generation, visits, seq is not null from page where shard = :shard
 order by credit desc, id limit :most

-- view_refusal --
-- A refused URL by its key.
select key, url, reason, detail, parent, at_us, depth from refusal where shard = :shard and key = :key

-- decisions --
-- Number of URLs by outcome and reason.
select outcome, reason, urls from tally where shard = :shard and urls > 0

-- sites --
-- The next sites.
select id, name, domain, open_us, delay_ms, backoff, failures, closed_reason, pages, pending, priority, requests, wire_bytes,
       fetched_us, expires_us, status, body, etag, last_modified, policy, detail, unreachable_since_us
  from site_row where shard = :shard and id > :after order by id limit :most

-- visits_of_page --
-- The last visits of a page, newest first.
select at_us, outcome, reason, status, took_ms, wire_bytes, version
  from visit where shard = :shard and page_id = :page_id order by id desc limit :most

-- versions_of_page --
-- The versions of a page, oldest first.
select v.seen_us, v.changed_after_us, v.status, v.number, v.digest, v.payload_sha1, v.text_digest, v.signature,
       v.content_type, v.encoding, v.title, v.lang, v.body_bytes, v.words, v.etag, v.last_modified, v.file, v.offset,
       v.length, v.record_id, v.truncated, v.change_class, v.change_size
  from version v where v.shard = :shard and v.page_id = :page_id order by v.number

-- totals --
-- Totals of the shard; a page is due when its time has passed.
select (select count(*) from site where shard = :shard), cast(coalesce(sum(pages), 0) as bigint),
       cast(coalesce(sum(pending), 0) as bigint), cast(coalesce(sum(requests), 0) as bigint),
       cast(coalesce(sum(wire_bytes), 0) as bigint),
       (select count(*) from page where shard = :shard and due_us <= :now_us),
       (select refusals_kept from shard where shard = :shard),
       (select refusals_dropped from shard where shard = :shard),
       (select count(*) from version where shard = :shard)
  from site where shard = :shard

-- page_decisions --
-- The next pages: URL, reason, detail, URL of the parent, number, depth, redirects in a row, outcome, target.
select p.url, coalesce(p.reason, 'waiting'), coalesce(p.detail, ''), o.url, p.id, p.depth, p.hops,
       coalesce(p.outcome, 'queued'), p.moved_to
  from page p left join page o on o.shard = :shard and o.id = p.parent_id
 where p.shard = :shard and p.id > :after order by p.id limit :most

-- rejected_pages --
-- The same for pages that were refused at their turn.
select p.url, coalesce(p.reason, 'waiting'), coalesce(p.detail, ''), o.url, p.id, p.depth, p.hops,
       coalesce(p.outcome, 'queued'), p.moved_to
  from page p left join page o on o.shard = :shard and o.id = p.parent_id
 where p.shard = :shard and p.id > :after and p.outcome = 'rejected' order by p.id limit :most

-- sampled_page (id bigint) --
-- What forecasts need of a page.
select id, site_id, url, version, visits, found_us, coalesce(confirmed_us, last_us), rate_estimate, outcome, reason,
       seq is not null or due_us is not null, due_us, tries
  from page where shard = :shard and id = :id

-- sampled_site (id bigint, kind text) --
-- A site of a sample with its learned state of one kind.
select s.id, s.name, s.pages, m.value
  from site s left join site_state m on m.shard = :shard and m.site_id = s.id and m.kind = :kind
 where s.shard = :shard and s.id = :id

-- count_not_due --
-- Number of pages outside the queue that are not due yet.
select count(*) from page where shard = :shard and due_us > :now_us

-- saved_bodies --
-- Number of 304 answers in a range of the log, and the wire size of the last body of the same page before each.
select count(*), cast(coalesce(sum((select w.wire_bytes from visit w
                                     where w.shard = :shard and w.page_id = v.page_id and w.id < v.id
                                       and w.status between 200 and 299
                                     order by w.id desc limit 1)), 0) as bigint)
  from visit v where v.shard = :shard and v.id > :after and v.id <= :upto and v.reason = 'not_modified'

-- last_visit_id --
-- The number of the newest visit in the log; 0: the log is empty.
select coalesce(max(id), 0) from visit where shard = :shard

-- version_times --
-- When the versions of a range of pages were seen: page, URL, found, number, moment, last visit before, last visit.
select p.id, p.url, p.found_us, v.number, v.seen_us, v.changed_after_us, p.last_us, p.reason
  from page p join version v on v.shard = :shard and v.page_id = p.id
 where p.shard = :shard and p.id > :after and p.id <= :upto order by p.id, v.number

-- analyses_of_page --
-- What analysers found in the versions of a page, oldest first.
select number, fields from analysis where shard = :shard and page_id = :page_id order by number

-- analyses_of_site --
-- What analysers found in the newest versions of the next pages of a site.
select p.id, p.url, a.fields
  from site s join page p on p.shard = :shard and p.site_id = s.id
       join analysis a on a.shard = :shard and a.page_id = p.id and a.number = p.version
 where s.shard = :shard and s.name = :site and p.id > :after order by p.id limit :most

-- changes_since --
-- The next changes after a moment and page, in order of time.
select c.at_us, c.page_id, p.url, c.kind, c.size, c.edits
  from change c join page p on p.shard = :shard and p.id = c.page_id
 where c.shard = :shard and (c.at_us, c.page_id) > (:at_us, :page_id) order by c.at_us, c.page_id limit :most

-- noise_after --
-- What the last visits to the next pages called noise, if they were after a moment.
select n.page_id, n.at_us, p.url, n.edits
  from noise n join page p on p.shard = :shard and p.id = n.page_id
 where n.shard = :shard and n.page_id > :after and n.at_us > :since_us order by n.page_id limit :most

-- largest_sites --
-- The sites with the most pages.
select s.id, s.name, s.domain, s.open_us, s.delay_ms, s.backoff, s.failures, s.closed_reason, s.requests, s.wire_bytes,
       s.pages, s.pending, r.status, r.fetched_us
  from site s left join robots r on r.shard = :shard and r.site_id = s.id
 where s.shard = :shard order by s.pages desc, s.id limit :most

-- busiest_sites --
-- The sites with the most queued pages.
select s.id, s.name, s.domain, s.open_us, s.delay_ms, s.backoff, s.failures, s.closed_reason, s.requests, s.wire_bytes,
       s.pages, s.pending, r.status, r.fetched_us
  from site s left join robots r on r.shard = :shard and r.site_id = s.id
 where s.shard = :shard and s.pending > 0 order by s.pending desc, s.id limit :most

-- sites_of_domain --
-- The origins of a registrable domain.
select name from site where shard = :shard and domain = :domain order by name limit :most

-- pages_of_site --
-- The next pages of a site in order of key, up to a last key.
select k.key, p.url, v.title, coalesce(p.outcome, 'queued'), coalesce(p.reason, 'waiting'), p.status, p.visits,
       p.version, p.last_us, p.due_us
  from seen k join page p on p.shard = :shard and p.id = k.page_id
       left join version v on v.shard = :shard and v.page_id = p.id and v.number = p.version
 where k.shard = :shard and k.key > :after and k.key <= :last and p.site_id = :site_id order by k.key limit :most

-- due_by_hour --
-- Number of pages that become due in each hour of a span.
select (due_us - :from_us) / 3600000000, count(*) from page
 where shard = :shard and due_us > :from_us and due_us <= :until_us group by 1

-- queued_by_priority --
-- Number of sites with queued pages, and of their pages, by the site's most urgent priority.
select priority, count(*), cast(sum(pending) as bigint) from site where shard = :shard and pending > 0 group by priority

-- changes_before --
-- Changes before a moment and page, newest first, of one site or (null) of any, with the title of the newest version.
select c.at_us, c.page_id, p.url, c.kind, c.size, c.edits,
       (select v.title from version v where v.shard = :shard and v.page_id = p.id and v.number = p.version)
  from change c join page p on p.shard = :shard and p.id = c.page_id
 where c.shard = :shard and (c.at_us, c.page_id) < (:before_us, :before_id) and c.at_us > :since_us
   and p.site_id = coalesce(:site_id, p.site_id)
 order by c.at_us desc, c.page_id desc limit :most

-- change_times --
-- The moments of the newest changes.
select at_us from change where shard = :shard and at_us > :since_us order by at_us desc limit :most

-- changes_by_day --
-- Number of content and metadata changes by day since 1970, of one site or (null) of any.
select c.at_us / 86400000000, count(*)
  from change c join page p on p.shard = :shard and p.id = c.page_id
 where c.shard = :shard and c.at_us > :since_us and c.kind in ('content', 'metadata')
   and p.site_id = coalesce(:site_id, p.site_id)
 group by 1

-- newest_visits --
-- The newest visits after a number, newest first.
select v.id, v.at_us, p.url, v.outcome, v.reason, v.status, v.took_ms, v.wire_bytes, v.version
  from visit v join page p on p.shard = :shard and p.id = v.page_id
 where v.shard = :shard and v.id > :after order by v.id desc limit :most

-- next_visits --
-- The next visits after a number, oldest first.
select v.id, v.at_us, p.url, v.outcome, v.reason, v.status, v.took_ms, v.wire_bytes, v.version
  from visit v join page p on p.shard = :shard and p.id = v.page_id
 where v.shard = :shard and v.id > :after order by v.id limit :most

-- visits_of_site --
-- The newest visits to a site in a range of the log.
select v.id, v.at_us, p.url, v.outcome, v.reason, v.status, v.took_ms, v.wire_bytes, v.version
  from visit v join page p on p.shard = :shard and p.id = v.page_id
 where v.shard = :shard and p.site_id = :site_id and v.id > :after and v.id <= :upto order by v.id desc limit :most

-- visits_by_day --
-- Number and bytes of visits by day since 1970 and reason, after a number.
select at_us / 86400000000, reason, count(*), cast(sum(wire_bytes) as bigint)
  from visit where shard = :shard and id > :after group by 1, 2

-- crawl_log --
-- The visits of a range of the log, of one site or (null) of any, in a span of time, with what was found.
select v.id, v.at_us, p.url, v.outcome, v.reason, v.status, v.took_ms, v.wire_bytes, p.depth, o.url, w.content_type,
       w.payload_sha1
  from visit v join page p on p.shard = :shard and p.id = v.page_id
       left join page o on o.shard = :shard and o.id = p.parent_id
       left join version w on w.shard = :shard and w.page_id = v.page_id and w.number = v.version
 where v.shard = :shard and v.id > :after and v.id <= :upto and p.site_id = coalesce(:site_id, p.site_id)
   and v.at_us >= :from_us and v.at_us <= :until_us
 order by v.id

-- selected_versions --
-- The next versions that a selection names. site: origin, host, or host with port. newest_only: the last by until_us.
select p.id, p.url, v.number, v.seen_us, v.status, v.digest, v.payload_sha1, v.content_type, v.encoding, v.title, v.lang,
       v.body_bytes, v.words, v.file, v.offset, v.length, v.record_id, v.truncated
  from version v join page p on p.shard = :shard and p.id = v.page_id
       join site s on s.shard = :shard and s.id = p.site_id
 where v.shard = :shard and (v.page_id, v.number) > (:after_id, :after_number)
   and (cast(:site as text) is null or s.name in (:site, 'http://' || :site, 'https://' || :site)
        or substr(s.name, 1, length(:site) + 8) = 'http://' || :site || ':'
        or substr(s.name, 1, length(:site) + 9) = 'https://' || :site || ':')
   and (cast(:since_us as bigint) is null or v.seen_us >= :since_us)
   and (cast(:until_us as bigint) is null or v.seen_us <= :until_us)
   and (cast(:lang as text) is null or lower(v.lang) = :lang or substr(lower(v.lang), 1, length(:lang) + 1) = :lang || '-')
   and (not :newest_only or not exists (select 1 from version w
                                         where w.shard = :shard and w.page_id = v.page_id and w.number > v.number
                                           and (cast(:until_us as bigint) is null or w.seen_us <= :until_us)))
 order by v.page_id, v.number limit :most

-- asset_uses --
-- The next versions with the marks of their assets, of one site or (null) of any. site: as in selected_versions.
select a.page_id, a.number, p.url, a.marks
  from assets_of a join page p on p.shard = :shard and p.id = a.page_id
       join site s on s.shard = :shard and s.id = p.site_id
 where a.shard = :shard and (a.page_id, a.number) > (:after_id, :after_number)
   and (cast(:site as text) is null or s.name in (:site, 'http://' || :site, 'https://' || :site)
        or substr(s.name, 1, length(:site) + 8) = 'http://' || :site || ':'
        or substr(s.name, 1, length(:site) + 9) = 'https://' || :site || ':')
 order by a.page_id, a.number limit :most

-- resources --
-- The next resources in order of key, in the order of the Resource tuple.
select r.key, r.digest, r.url, r.seen_us, r.last_us, r.fresh_until_us, r.status, r.moved_to, r.payload_sha1,
       r.content_type, r.body_bytes, r.etag, r.last_modified, r.file, r.offset, r.length, r.record_id, r.truncated,
       r.refers_to
  from resource r where r.shard = :shard and (r.key, r.digest) > (:after_key, :after_digest)
 order by r.key, r.digest limit :most

-- visits_at --
-- Status and content digest of a page's visits at one moment; the digest is unknown if only noise differed.
select t.status, case when t.reason = 'noise' then null else v.digest end
  from visit t left join version v on v.shard = :shard and v.page_id = t.page_id and v.number = t.version
 where t.shard = :shard and t.page_id = :page_id and t.at_us = :at_us

-- events --
-- The visits of a range of the log that found a new version, an edit, or a page that is missing or back.
-- A visit that failed says nothing about whether the page was missing before.
with w as (
  select t.*, (select x.reason from visit x
                where x.shard = :shard and x.page_id = t.page_id and x.id < t.id
                  and (x.outcome in ('fetched', 'unchanged', 'duplicate', 'truncated')
                       or x.reason in ('gone', 'not_found', 'soft_404'))
                order by x.id desc limit 1) as before
    from visit t where t.shard = :shard and t.id > :after and t.id <= :upto
)
select w.id, w.page_id, w.at_us, p.url, w.reason, w.version, v.number, coalesce(v.title, n.title), v.change_class,
       v.change_size, c.kind, c.size, c.edits, w.before, w.outcome
  from w join page p on p.shard = :shard and p.id = w.page_id
       left join version v on v.shard = :shard and v.page_id = w.page_id and v.number = w.version
                              and v.seen_us = w.at_us
       left join version n on n.shard = :shard and n.page_id = w.page_id and n.number = w.version
       left join change c on c.shard = :shard and c.page_id = w.page_id and c.at_us = w.at_us
 where v.number is not null or c.kind in ('content', 'metadata') or w.reason in ('gone', 'not_found', 'soft_404')
    or w.before in ('gone', 'not_found', 'soft_404')
 order by w.id

-- late_events --
-- The visits of a range of late verdicts, if the verdict is a change; columns as in events.
select w.id, w.page_id, w.at_us, p.url, w.reason, w.version, v.number, coalesce(v.title, n.title), v.change_class,
       v.change_size, c.kind, c.size, c.edits, null, w.outcome
  from late_change l join change c on c.shard = :shard and c.page_id = l.page_id and c.at_us = l.at_us
       join visit w on w.shard = :shard and w.page_id = l.page_id and w.at_us = l.at_us
       join page p on p.shard = :shard and p.id = w.page_id
       left join version v on v.shard = :shard and v.page_id = w.page_id and v.number = w.version
                              and v.seen_us = w.at_us
       left join version n on n.shard = :shard and n.page_id = w.page_id and n.number = w.version
 where l.shard = :shard and l.id > :after and l.id <= :upto and c.kind in ('content', 'metadata')
 order by l.id

-- last_late_change --
-- The number of the newest late verdict; 0: there is none.
select coalesce(max(id), 0) from late_change where shard = :shard

-- version_before --
-- The newest stored version of a page before a number.
select max(number) from version where shard = :shard and page_id = :page_id and number < :number

-- version_title --
-- Title and language of a version.
select title, lang from version where shard = :shard and page_id = :page_id and number = :number

-- outline --
-- The outline of a page.
select frame from outline where shard = :shard and page_id = :page_id

-- outlines --
-- The next outlines.
select page_id, frame from outline where shard = :shard and page_id > :after order by page_id limit :most

-- graph_pages --
-- The next pages as the link graph needs them.
select id, key, site_id, depth, version, status, reason, moved_to
  from page where shard = :shard and id > :after order by id limit :most

-- problem_pages --
-- The next pages that redirect, or that may have failed.
select id, key, site_id, depth, version, status, reason, moved_to
  from page where shard = :shard and id > :after
   and (moved_to is not null or reason not in ('new', 'changed', 'same_content', 'noise', 'not_modified', 'duplicate'))
 order by id limit :most

-- page_url (id bigint) --
-- The URL of a page.
select id, url from page where shard = :shard and id = :id

-- last_log_entry --
-- The newest visit in the log: number, moment, page.
select id, at_us, page_id from visit where shard = :shard order by id desc limit 1

-- visit_from --
-- The first visit from a number on: number, moment.
select id, at_us from visit where shard = :shard and id >= :id order by id limit 1

-- log_entry --
-- A visit by its number: number, moment, page.
select id, at_us, page_id from visit where shard = :shard and id = :id

-- visits_to_index --
-- The next visits of the log, each with the version that it stored and the reason of the visit before.
select w.id, w.page_id, w.at_us, w.reason, w.version, v.number,
       (select x.reason from visit x where x.shard = :shard and x.page_id = w.page_id and x.id < w.id
         order by x.id desc limit 1)
  from visit w left join version v on v.shard = :shard and v.page_id = w.page_id and v.number = w.version
                                      and v.seen_us = w.at_us
 where w.shard = :shard and w.id > :after order by w.id limit :most

-- indexed_version (page_id bigint, number bigint) --
-- What the search index holds of a version.
select v.page_id, v.number, p.url, v.seen_us, v.title, v.lang, v.words, v.text_digest, t.base, t.frame, p.reason,
       p.last_us, p.version, o.frame,
       (select min(n.seen_us) from version n where n.shard = :shard and n.page_id = v.page_id and n.number > v.number)
  from version v join page p on p.shard = :shard and p.id = v.page_id
       left join text t on t.shard = :shard and t.page_id = v.page_id and t.number = v.number
       left join outline o on o.shard = :shard and o.page_id = v.page_id and v.number = p.version
 where v.shard = :shard and v.page_id = :page_id and v.number = :number

-- found_version (page_id bigint, number bigint) --
-- What a search result shows of a version.
select v.page_id, v.number, p.url, v.title, v.lang, v.seen_us, v.words, v.signature, v.text_digest, p.reason, p.last_us,
       p.version, v.content_type
  from version v join page p on p.shard = :shard and p.id = v.page_id
 where v.shard = :shard and v.page_id = :page_id and v.number = :number

-- count_versions --
-- Number of versions.
select count(*) from version where shard = :shard
