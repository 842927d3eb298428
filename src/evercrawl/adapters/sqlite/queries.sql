-- read_shard --
-- The one row of the shard.
select epoch, is_clean, next_id, next_seq, next_site_id, next_parcel, archive_file, archive_size from shard

-- claim_shard --
-- A new owner: every older epoch is fenced off, and a crash from here on is noticed.
update shard set epoch = epoch + 1, is_clean = 0

-- release_shard --
-- The owner lets go; without effect for anybody else.
update shard set is_clean = 1 where epoch = ?

-- advance_shard --
-- Numbers only grow, so that none is given twice. The archive is acknowledged up to the end that is given.
update shard set next_id = max(next_id, ?), next_seq = max(next_seq, ?), next_site_id = max(next_site_id, ?),
                 next_parcel = max(next_parcel, ?), archive_file = coalesce(?, archive_file),
                 archive_size = coalesce(?, archive_size)

-- set_archive_end --
-- The archive is acknowledged up to here.
update shard set archive_file = ?, archive_size = ?

-- count_refusals --
-- Refused URLs that are remembered, and those beyond the limit that are only counted.
update shard set refusals_kept = refusals_kept + ?, refusals_dropped = refusals_dropped + ?

-- refusals_kept --
-- How many refused URLs are remembered.
select refusals_kept from shard

-- sum_sites --
-- All pages and all queued pages of the shard.
select coalesce(sum(pages), 0), coalesce(sum(pending), 0) from site

-- write_site --
-- Insert or replace what the engine decides about a site; the counts are not its business.
insert into site (id, name, domain, open_us, gap_ms, strain, failures, closed_reason, requests, wire_bytes)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (id) do update set name = excluded.name, domain = excluded.domain, open_us = excluded.open_us,
       gap_ms = excluded.gap_ms, strain = excluded.strain, failures = excluded.failures,
       closed_reason = excluded.closed_reason, requests = excluded.requests, wire_bytes = excluded.wire_bytes

-- write_robots --
-- A body of up to half a megabyte is written only when something differs: a busy site is committed every second.
insert into robots (site_id, fetched_us, expires_us, status, body, etag, last_modified, policy, detail,
                    unreachable_since_us)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (site_id) do update set fetched_us = excluded.fetched_us, expires_us = excluded.expires_us,
       status = excluded.status, body = excluded.body, etag = excluded.etag, last_modified = excluded.last_modified,
       policy = excluded.policy, detail = excluded.detail, unreachable_since_us = excluded.unreachable_since_us
 where (robots.fetched_us, robots.expires_us, robots.status, robots.etag, robots.last_modified, robots.policy,
        robots.detail, robots.unreachable_since_us)
       is not (excluded.fetched_us, excluded.expires_us, excluded.status, excluded.etag, excluded.last_modified,
               excluded.policy, excluded.detail, excluded.unreachable_since_us)
    or robots.body is not excluded.body

-- forget_robots --
-- The site has no robots record (any more).
delete from robots where site_id = ?

-- count_site --
-- Add to the counts; the band is exact because the queue's index gives its most urgent one in one step.
update site set pages = pages + ?2, pending = pending + ?3,
       band = coalesce((select q.band from page q where q.site_id = ?1 and q.seq is not null
                         order by q.band limit 1), band)
 where id = ?1

-- insert_page --
-- In the order of the NewPage tuple.
insert into page (id, key, url, site_id, depth, hops, band, seq, parent_id, found_us, credit, earned, generation)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- insert_seen --
-- Fails on a key that is known: the commit then takes the careful way.
insert into seen (key, page_id) values (?, ?)

-- is_seen --
-- The key itself, if it is a page's.
select key from seen where key = ?

-- seen_keys --
-- A portion of the keys of all pages.
select key from seen where key > ? order by key limit ?

-- decision_about --
-- Why a URL was refused before, and whether it is a page.
select r.reason, r.detail, exists (select 1 from seen where key = ?1)
  from (select 1) one left join refusal r on r.key = ?1

-- write_refusal --
-- The last decision counts.
insert into refusal (key, url, reason, detail, parent, at_us, depth) values (?, ?, ?, ?, ?, ?, ?)
    on conflict (key) do update set url = excluded.url, reason = excluded.reason, detail = excluded.detail,
       parent = excluded.parent, at_us = excluded.at_us, depth = excluded.depth

-- forget_refusals --
-- Refused URLs that became pages, by the number of the first such page.
delete from refusal where key in (select key from page where id >= ?) returning reason

-- refusals --
-- A portion of the refused URLs.
select key, url, reason, detail, parent, at_us, depth from refusal where key > ? order by key limit ?

-- count_tally --
-- Add to the number of URLs that ended so.
insert into tally (outcome, reason, urls) values (?, ?, ?)
    on conflict (outcome, reason) do update set urls = tally.urls + excluded.urls

-- touched_pages --
-- What a commit must know about the pages that it moves; the ids come as a JSON array.
select p.id, p.site_id, p.band, p.seq, p.due_us, p.outcome, p.reason, p.detail, p.status, p.last_us, p.confirmed_us,
       p.visits, p.tries, p.interval_s, p.version, p.digest, p.etag, p.last_modified, p.moved_to, p.duplicate_of,
       p.belief, p.credit
  from json_each(?) wanted join page p on p.id = wanted.value

-- update_page --
-- The state after a commit, whole.
update page set band = ?, seq = ?, due_us = ?, outcome = ?, reason = ?, detail = ?, status = ?, last_us = ?,
       confirmed_us = ?, visits = ?, tries = ?, interval_s = ?, version = ?, digest = ?, etag = ?, last_modified = ?,
       moved_to = ?, duplicate_of = ?, belief = ?, credit = ?
 where id = ?

-- pay_share --
-- A share of some link: amount, generation, page. What was earned before fades by half with each generation since.
update page set credit = credit + ?1, generation = ?2,
       earned = ?1 + case when ?2 - generation > 62 then 0 else earned >> cast(max(0, ?2 - generation) as integer) end
 where id = ?3

-- promote --
-- To the end of a better band, if the page still stands where it was seen: band, seq, page, old band, old seq.
update page set band = ?, seq = ? where id = ? and band = ? and seq = ?

-- standing --
-- Where a page stands in the queue, and what it holds.
select k.key, p.id, p.site_id, p.band, p.seq, p.credit from seen k join page p on p.id = k.page_id where k.key = ?

-- twin_by_key --
-- A page that another one may say the same as, by its key.
select p.id, p.url, p.version, v.signature, p.moved_to, p.duplicate_of, v.title, v.digest, p.status
  from seen k join page p on p.id = k.page_id left join version v on v.page_id = p.id and v.number = p.version
 where k.key = ?

-- twin_by_id --
-- The same by its number.
select p.id, p.url, p.version, v.signature, p.moved_to, p.duplicate_of, v.title, v.digest, p.status
  from page p left join version v on v.page_id = p.id and v.number = p.version
 where p.id = ?

-- reschedule --
-- A page that is not in the queue comes at another time; what is known about it stays unless more is known.
update page set due_us = coalesce(?, due_us), belief = coalesce(?, belief) where id = ? and seq is null

-- insert_visit --
-- One line of the log.
insert into visit (page_id, at_us, outcome, reason, status, took_ms, wire_bytes, version)
values (?, ?, ?, ?, ?, ?, ?, ?)

-- insert_version --
-- In the order: page, when, since when, status, then the Version tuple without its text.
insert into version (page_id, seen_us, changed_after_us, status, number, digest, payload_sha1, text_digest, signature,
                     content_type, encoding, title, lang, body_bytes, words, etag, last_modified, file, offset, length,
                     record_id, truncated, change_class, change_size)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- insert_text --
-- The main text of a version: page, number, base, frame.
insert into text (page_id, number, base, frame) values (?, ?, ?, ?)

-- write_look --
-- The last sight of a page replaces the one before: page, then the Look tuple.
insert into look (page_id, digest, payload_sha1, seen_us, record_id, file, offset, length, snapshot, memory)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (page_id) do update set digest = excluded.digest, payload_sha1 = excluded.payload_sha1,
       seen_us = excluded.seen_us, record_id = excluded.record_id, file = excluded.file, offset = excluded.offset,
       length = excluded.length, snapshot = excluded.snapshot, memory = excluded.memory

-- look --
-- In the order of the Look tuple.
select digest, payload_sha1, seen_us, record_id, file, offset, length, snapshot, memory from look where page_id = ?

-- forget_looks --
-- The records of these sights are gone; the pages are compared with their newest versions.
delete from look where file = ?

-- write_memory --
-- What was learned about a site, whole.
insert into memory (site_id, kind, value) values (?, ?, ?)
    on conflict (site_id, kind) do update set value = excluded.value

-- memory --
-- What was learned about a site.
select value from memory where site_id = ? and kind = ?

-- memory_sites --
-- The sites about which something of a kind was learned.
select site_id from memory where kind = ? and site_id > 0 order by site_id

-- insert_change --
-- The edits that a visit met: page, moment, class, size, edits.
insert into change (page_id, at_us, kind, size, edits) values (?, ?, ?, ?, ?)
    on conflict (page_id, at_us) do nothing

-- view_changes_since --
-- A portion of the changes that were seen behind a moment and page, in order of time.
select c.at_us, c.page_id, p.url, c.kind, c.size, c.edits from change c join page p on p.id = c.page_id
 where (c.at_us, c.page_id) > (?, ?)
 order by c.at_us, c.page_id limit ?

-- text_chain --
-- The frames that lead to one text, the one that stands alone first; no more than a chain may have.
with recursive chain (base, frame, step) as (
  select base, frame, 1 from text where page_id = ?1 and number = ?2
  union all
  select t.base, t.frame, c.step + 1 from chain c join text t on t.page_id = ?1 and t.number = c.base
   where c.step < ?3
)
select frame, base from chain order by step desc

-- insert_content --
-- The first holder of some content stays its original.
insert into content (digest, page_id, number) values (?, ?, ?) on conflict (digest) do nothing

-- insert_parcel --
-- A parcel sent again under its number is the same parcel.
insert into outbox (seq, source, target, links) values (?, ?, ?, ?) on conflict (seq) do nothing

-- delete_parcel --
-- The target has it.
delete from outbox where seq = ?

-- mark_taken --
-- Marks only grow.
insert into inbox_mark (source, seq) values (?, ?)
    on conflict (source) do update set seq = max(inbox_mark.seq, excluded.seq)

-- parcels --
-- What is still on its way, in order.
select seq, source, target, links from outbox order by seq

-- taken --
-- How far each source was taken in.
select source, seq from inbox_mark

-- site_named --
-- A site by its origin.
select * from site_row where name = ?

-- site_by_id --
-- A site by its number.
select * from site_row where id = ?

-- waiting_sites --
-- Sites with queued pages whose most urgent band is this one.
select * from site_row where pending > 0 and band = ? and id > ? order by id limit ?

-- queue --
-- The next pages of a site in one band.
select id, key, url, site_id, depth, hops, band, seq, tries, visits, version, etag, last_modified, digest, interval_s,
       belief, last_us, credit, earned, generation, duplicate_of
  from page indexed by page_queued
 where site_id = ? and band = ? and seq > ?
 order by seq limit ?

-- due --
-- Pages whose due time has passed, earliest first; none of them is in the queue.
select id, key, url, site_id, depth, hops, band, 0, tries, visits, version, etag, last_modified, digest, interval_s,
       belief, last_us, credit, earned, generation, duplicate_of
  from page indexed by page_due
 where due_us <= ?
 order by due_us, id limit ?

-- unseen --
-- Pages outside the queue that wait for their time and of which nothing is stored.
select id, key, url, site_id, depth, hops, band, 0, tries, visits, version, etag, last_modified, digest, interval_s,
       belief, last_us, credit, earned, generation, duplicate_of
  from page
 where id > ? and version = 0 and due_us is not null
 order by id limit ?

-- repeats --
-- Pages outside the queue that are duplicates of this one.
select id, key, url, site_id, depth, hops, band, 0, tries, visits, version, etag, last_modified, digest, interval_s,
       belief, last_us, credit, earned, generation, duplicate_of
  from page indexed by page_repeats
 where duplicate_of = ? and seq is null
 order by id limit ?

-- page_by_key --
-- A page that is not in the queue, by its key.
select p.id, p.key, p.url, p.site_id, p.depth, p.hops, p.band, coalesce(p.seq, 0), p.tries, p.visits, p.version, p.etag,
       p.last_modified, p.digest, p.interval_s, p.belief, p.last_us, p.credit, p.earned, p.generation, p.duplicate_of
  from seen k join page p on p.id = k.page_id
 where k.key = ?

-- next_due --
-- The earliest due time.
select min(due_us) from page where due_us is not null

-- original --
-- Where content lies that was stored before.
select c.page_id, p.url, v.seen_us, v.record_id, v.payload_sha1, v.file, v.offset, v.length
  from content c join version v on v.page_id = c.page_id and v.number = c.number join page p on p.id = c.page_id
 where c.digest = ?

-- look_original --
-- Where the content lies that was seen last, when that is not the newest version.
select p.id, p.url, l.seen_us, l.record_id, l.payload_sha1, l.file, l.offset, l.length
  from page p join look l on l.page_id = p.id and l.digest = p.digest
 where p.id = ?

-- version_original --
-- Where the content of a page's newest version lies; that may be a version of another page which had it first.
select o.id, o.url, v.seen_us, v.record_id, v.payload_sha1, v.file, v.offset, v.length
  from page p join version n on n.page_id = p.id and n.number = p.version join content c on c.digest = n.digest
       join version v on v.page_id = c.page_id and v.number = c.number join page o on o.id = c.page_id
 where p.id = ?

-- moved_to --
-- Where a page led to when it was last visited.
select p.moved_to from seen k join page p on p.id = k.page_id where k.key = ?

-- view_page --
-- All that is known about a page.
select p.id, p.key, p.url, s.name, p.depth, p.hops, p.band, p.seq is not null, o.url, p.found_us,
       coalesce(p.outcome, 'queued'), coalesce(p.reason, 'waiting'), coalesce(p.detail, ''), p.status, p.last_us,
       p.due_us, p.visits, p.tries, p.interval_s, p.version, p.digest, p.etag, p.last_modified, p.moved_to, d.url,
       p.belief
  from seen k join page p on p.id = k.page_id join site s on s.id = p.site_id
       left join page o on o.id = p.parent_id left join page d on d.id = p.duplicate_of
 where k.key = ?

-- view_credit --
-- Credit of a page by its key.
select p.credit, p.earned, p.generation from seen k join page p on p.id = k.page_id where k.key = ?

-- view_refusal --
-- A refused URL by its key.
select key, url, reason, detail, parent, at_us, depth from refusal where key = ?

-- view_tally --
-- Numbers of URLs by their last decision.
select outcome, reason, urls from tally where urls > 0

-- view_sites --
-- A portion of the sites.
select * from site_row where id > ? order by id limit ?

-- view_visits --
-- The last visits of a page, newest first.
select at_us, outcome, reason, status, took_ms, wire_bytes, version from visit
 where page_id = ? order by id desc limit ?

-- view_versions --
-- The versions of a page, oldest first.
select seen_us, changed_after_us, status, number, digest, payload_sha1, text_digest, signature, content_type, encoding,
       title, lang, body_bytes, words, etag, last_modified, file, offset, length, record_id, truncated, change_class,
       change_size
  from version where page_id = ? order by number

-- view_totals --
-- Sums over the shard; due pages are those whose time has passed.
select (select count(*) from site), coalesce(sum(pages), 0), coalesce(sum(pending), 0), coalesce(sum(requests), 0),
       coalesce(sum(wire_bytes), 0), (select count(*) from page indexed by page_due where due_us <= ?),
       (select refusals_kept from shard), (select refusals_dropped from shard), (select count(*) from version)
  from site

-- view_site --
-- A site by its name.
select * from site_row where name = ?

-- view_rejected --
-- A portion of the pages that were refused when their turn came: URL, reason, detail, URL of the parent, number.
select p.url, p.reason, p.detail, o.url, p.id from page p left join page o on o.id = p.parent_id
 where p.id > ? and p.outcome = 'rejected' order by p.id limit ?

-- prune_versions --
-- A portion of the versions, page by page, oldest first.
select page_id, number, seen_us, digest, record_id, length from version
 where (page_id, number) > (?, ?) order by page_id, number limit ?

-- content_holder --
-- The first version that held this content.
select page_id, number from content where digest = ?

-- delete_version --
-- A version that a retention rule takes away.
delete from version where page_id = ? and number = ?

-- delete_content --
-- Content whose only holder is taken away; another holder stays.
delete from content where digest = ? and page_id = ? and number = ?

-- texts_of_page --
-- The stored texts of a page, oldest first.
select number, base, frame from text where page_id = ? order by number

-- delete_texts --
-- They are written again without those of versions that went.
delete from text where page_id = ?

-- versions_in_file --
-- Versions whose record lies in an archive file.
select page_id, number, offset from version where file = ?

-- move_version --
-- A version's record lies elsewhere now.
update version set file = ?, offset = ? where page_id = ? and number = ?

-- note_dropped_file --
-- An archive file that nothing points into any more.
insert into dropped_file (name) values (?) on conflict (name) do nothing

-- dropped_files --
-- Archive files that are still to be deleted.
select name from dropped_file order by name

-- forget_dropped_file --
-- It is deleted.
delete from dropped_file where name = ?

-- view_sample --
-- What forecasts need of some pages; the ids come as a JSON array.
select p.id, p.site_id, p.url, p.version, p.visits, p.found_us, coalesce(p.confirmed_us, p.last_us), p.belief, p.outcome,
       p.reason, p.seq is not null or p.due_us is not null, p.due_us, p.tries
  from json_each(?) wanted join page p on p.id = wanted.value

-- view_sampled_sites --
-- The sites of a sample with what was learned about them: the ids as a JSON array, the kind.
select s.id, s.name, s.pages, m.value
  from json_each(?) wanted join site s on s.id = wanted.value left join memory m on m.site_id = s.id and m.kind = ?

-- view_not_due --
-- Pages outside the queue whose time has not come.
select count(*) from page indexed by page_due where due_us > ?

-- view_spared --
-- Answers 304 in a range of the log, and the wire size of the last body of the same page before each of them.
select count(*), coalesce(sum((select w.wire_bytes from visit w
                                where w.page_id = v.page_id and w.id < v.id and w.status between 200 and 299
                                order by w.id desc limit 1)), 0)
  from visit v where v.id > ? and v.id <= ? and v.reason = 'not_modified'

-- view_last_visit --
-- The newest line of the log.
select coalesce(max(id), 0) from visit

-- view_history --
-- When the versions of a range of pages were seen: page, URL, found, number, moment, last visit before, last visit.
select p.id, p.url, p.found_us, v.number, v.seen_us, v.changed_after_us, p.last_us, p.reason
  from page p join version v on v.page_id = p.id
 where p.id > ? and p.id <= ? order by p.id, v.number

-- write_analysis --
-- What analysers said about a version, as a JSON object.
insert into analysis (page_id, number, fields) values (?, ?, ?)
    on conflict (page_id, number) do update set fields = excluded.fields

-- delete_analysis --
-- The version is gone.
delete from analysis where page_id = ? and number = ?

-- view_analyses --
-- What was said about the versions of a page, oldest first.
select number, fields from analysis where page_id = ? order by number

-- view_analyses_of_site --
-- A portion of what was said about the newest versions of a site's pages. ?1: site; ?2: behind this page; ?3: most rows.
select p.id, p.url, a.fields
  from site s join page p on p.site_id = s.id join analysis a on a.page_id = p.id and a.number = p.version
 where s.name = ?1 and p.id > ?2 order by p.id limit ?3
